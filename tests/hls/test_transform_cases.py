"""What the front end makes of `cases/reading`, and transformations of `cases/transforms`.

    run: unroll L0 4 ; simplify      steps of transform_steps.STEPS with their arguments
    expect: loops = L0 L0_epilogue   a fact of transform_steps.FACTS about the result of the run above it, or
                                     of every run when it stands before them; =, !=, <=, >=, has, lacks
    expect: report.bytes_in = 4096   what the last step reports beside the function
    equals: STEPS                    the result of the run equals the result of other steps
    error: TEXT                      the run is refused with this message
    data: n = 0 1 7                  values of an argument in the data sets; `data: whole` = whole numbers
    draws: 3                         number of data sets; 0 = the meaning is not compared

Every function after every step must be valid and compute what the program computes, with gcc, on every data
set; all cases of a file are compiled together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from ir_rules import check_valid
from transform_steps import FACTS, apply_step
from transform_support import Comparison, assert_all_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.errors import NotApplicable
from pipelines.c.signature import DataSet
from tests.support.case_files import Case, as_pattern, case_parameters, read_cases

FOLDER = Path(__file__).parent / "cases"
KEYS = ("data", "draws", "equals", "error", "expect", "run")


def holds_words(value: str, text: str) -> bool:
    """Return whether a text stands in another, not as a part of a longer word."""
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", value) is not None


OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda value, text: as_pattern(text).fullmatch(value) is not None,
    "!=": lambda value, text: value != text,
    "<=": lambda value, text: int(value) <= int(text),
    ">=": lambda value, text: int(value) >= int(text),
    "has": lambda value, text: holds_words(value, text),
    "lacks": lambda value, text: not holds_words(value, text),
}


@dataclass(slots=True)
class Run:
    """Steps with what is expected of their result."""

    steps: list[str]
    checks: list[tuple[str, str]] = field(default_factory=list)


def runs_of(case: Case) -> list[Run]:
    """The runs of a case; what stands before the first one holds for all."""
    runs: list[Run] = []
    shared: list[tuple[str, str]] = []
    for key, value in case.keys:
        if key == "run":
            runs.append(Run(steps=[step.strip() for step in value.split(";")]))
        elif key in ("equals", "error", "expect"):
            (runs[-1].checks if runs else shared).append((key, value))
    for run in runs:
        run.checks += shared
    return runs


def apply_steps(function: ir.Function, steps: list[str]) -> tuple[list[ir.Function], object]:
    """Apply steps in order; returns the function after each, and the report of the last."""
    functions, report = [function], None
    for step in steps:
        function, report = apply_step(functions[-1], step)
        functions.append(function)
    return functions[1:], report


@cache
def program_of(case: Case) -> ir.Function:
    """The program of a case as the front end reads it."""
    return read_function(case.source, top="f")


@cache
def transformed(case: Case) -> list[tuple[Run, list[ir.Function], object]]:
    """Results of the runs of a case that are not refused."""
    before = program_of(case)
    accepted = [run for run in runs_of(case) if not any(key == "error" for key, _ in run.checks)]
    return [(run, *apply_steps(before, run.steps)) for run in accepted]


def comparison(case: Case) -> Comparison:
    """The program of a case and what its runs make of it."""
    before = program_of(case)
    functions = [before]
    for _, after, _ in transformed(case):
        functions += [f for f in after if f is not before and f is not functions[-1]]
    return Comparison(functions=tuple(functions), data_sets=data_of(case, before), label=case.name)


def data_of(case: Case, function: ir.Function) -> tuple[DataSet, ...]:
    """Drawn data sets of a case, with the values that it says."""
    values = {n: v.split() for n, sign, v in (line.partition(" = ") for line in case.values("data")) if sign}
    count = int(case.value("draws", str(max((len(v) for v in values.values()), default=3))))
    sets = [draw_arguments(function, seed) for seed in range(count)]
    if "whole" in case.values("data"):
        sets = [{n: np.round(v / 4).astype(v.dtype) for n, v in data.items()} for data in sets]
    for name, texts in values.items():
        for data, text in zip(sets, texts, strict=False):
            data[name] = data[name] * 0 + data[name].dtype.type(int(text))
    return tuple(sets)


def is_changed(case: Case) -> bool:
    """Return whether a case has a result other than the function that was read."""
    return any(run.steps != ["read"] for run, _, _ in transformed(case))


@cache
def file_keeps_meaning(path: Path) -> bool:
    """Return whether all cases of a file keep the meaning of their programs."""
    try:
        assert_all_same_meaning([comparison(c) for c in read_cases(path, KEYS) if is_changed(c)])
    except Exception:  # the tests of its cases say which and why
        return False
    return True


def check_result(run: Run, before: ir.Function, after: ir.Function, report: object) -> None:
    """Assert what a case says about the result of a run."""
    for key, text in run.checks:
        if key == "equals":
            assert after == apply_steps(before, [s.strip() for s in text.split(";")])[0][-1], text
            continue
        operator = next(o for o in OPERATORS if f" {o} " in f"{text} ")
        fact, _, expected = f"{text} ".partition(f" {operator} ")
        name, *arguments = fact.split()
        if name.startswith("report"):
            value = attrgetter(name.partition(".")[2])(report) if "." in name else report
        elif name == "changed":
            value = after != before
        else:
            value = FACTS[name](after, *arguments)
        assert OPERATORS[operator](str(value), expected.strip()), f"{text}; it is {value}"


@pytest.mark.parametrize(
    "case", [*case_parameters(FOLDER / "reading", KEYS), *case_parameters(FOLDER / "transforms", KEYS)]
)
def test_transform(case: Case) -> None:
    before = program_of(case)
    for run in runs_of(case):
        for text in (value for key, value in run.checks if key == "error"):
            with pytest.raises(NotApplicable) as refused:
                apply_steps(before, run.steps)
            assert as_pattern(text).fullmatch(str(refused.value)), str(refused.value)
    for run, functions, report in transformed(case):
        for function in functions:
            check_valid(function)
        check_result(run, before, functions[-1], report)
    if is_changed(case) and not file_keeps_meaning(case.path):
        assert_all_same_meaning([comparison(case)])
