"""What a `PredictorSpec` must say of its predictor: names, types and columns, before anything is trained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from models.catalogue import PredictorSpec, predictors
from models.options import LABEL_LEVELS
from models.tasks import Column, Task

MOST_CHARACTERS = 64
"""Of a name: it is a folder, and part of the names of others."""
_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MOST_CHARACTERS - 1}}}", re.ASCII)
_COLUMN_KINDS = ("string", "long", "double")


def declaration_problem(spec: PredictorSpec[Any]) -> str:
    """Return what is wrong with the fields of a predictor, and what is accepted; empty where nothing is."""
    return next(_problems(spec), "")


def _problems(spec: PredictorSpec[Any]) -> Iterator[str]:
    yield from _name_problems(spec)
    for name in ("version", "description"):
        if problem := _text_problem(getattr(spec, name)):
            yield f"{name}: {problem}"
    kinds: dict[str, tuple[type, str]] = {
        "task": (Task, "a Task"),
        "checks_ranges": (bool, "True or False"),
    }
    yield from _options_problems(spec.options)
    for name, (kind, words) in kinds.items():
        if not isinstance(getattr(spec, name), kind):
            yield f"{name}: {_shown(getattr(spec, name))}; accepted: {words}"
    for name in ("train_with", "load_with"):
        if not callable(getattr(spec, name)):
            yield f"{name}: {_shown(getattr(spec, name))}; accepted: a function"
    for name in ("libraries", "requirements"):
        yield from _distribution_problems(name, getattr(spec, name))
    yield from _answer_problems(spec)


def _name_problems(spec: PredictorSpec[Any]) -> Iterator[str]:
    name: Any = spec.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        accepted = f"letters, digits, - and _, a letter first, at most {MOST_CHARACTERS}"
        yield f"name: {_shown(name)}; accepted: {accepted}"
        return
    for other in predictors():
        if other is not spec and _folded(other.name) == _folded(name):
            yield f"name: {_shown(name)} is taken by predictor {other.name} of the project; accepted: another"


def _folded(name: str) -> str:
    """Return a name without what a file system or a module's name may not tell apart."""
    return name.lower().replace("-", "_")


def _options_problems(options: Any) -> Iterator[str]:
    if isinstance(options, type):
        return
    if is_dataclass(options):
        name = type(options).__name__
        yield f"options: an object of {name}; accepted: the class of the options, {name} without ()"
    else:
        yield f"options: {_shown(options)}; accepted: the class of the options"


def _text_problem(value: Any) -> str:
    if isinstance(value, str) and value.strip():
        return ""
    example = f', as "{value}"' if isinstance(value, int | float) else ""
    return f"{_shown(value)}; accepted: text in quotes{example}"


def _distribution_problems(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
        yield f'{name}: {_shown(value)}; accepted: a tuple of distributions, as ("numpy",)'
        return
    for distribution in value:
        try:
            version(distribution)
        except (PackageNotFoundError, ValueError):
            accepted = "names that pip list shows"
            yield f"{name}: no such distribution is installed: {_shown(distribution)}; accepted: {accepted}"


def _answer_problems(spec: PredictorSpec[Any]) -> Iterator[str]:
    columns: Any = spec.answers
    if not isinstance(columns, tuple) or not columns or not all(isinstance(one, Column) for one in columns):
        yield f"answers: {_shown(columns)}; accepted: a tuple of Column, one at least"
        return
    names = [column.name for column in columns]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        yield f"answers: column {repeated[0]} is declared twice"
    if wrong := [column for column in columns if column.kind not in _COLUMN_KINDS]:
        accepted = ", ".join(_COLUMN_KINDS)
        yield f"answers: kind of column {wrong[0].name}: {_shown(wrong[0].kind)}; accepted: {accepted}"
    task = spec.task
    if "labels" in task.tables and task.level not in LABEL_LEVELS:
        yield f"task: level {_shown(task.level)}; accepted: {', '.join(LABEL_LEVELS)}"
    empty = [column.name for column in task.question if column.required and column.example is None]
    if empty:
        yield f"task: column {empty[0]} of the question has no example"


def _shown(value: Any) -> str:
    """Return a value with its type, where it is no text."""
    return repr(value) if isinstance(value, str) else f"{value!r:.60} of type {type(value).__name__}"
