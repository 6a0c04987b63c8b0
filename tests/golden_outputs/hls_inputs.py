"""Programs that reach the lines of high-level synthesis, and their designs as values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from engine_outputs import Folders, Output, outcome

from pipelines.c import bundle_source, default_top, directives_json, parse_directives, read_function
from pipelines.c.text.preprocess import defined_functions
from pipelines.hls import (
    CompiledDesign,
    HlsOptions,
    TransformOptions,
    compile_program,
    design_row,
    mapping_space,
    options_of,
    outcome_rows,
)
from pipelines.programs import kernel_programs, machsuite_programs, polybench_program
from pipelines.programs.ast import AstOptions, ast_programs
from pipelines.programs.dataflow import DataflowOptions, dataflow_programs
from pipelines.schemas import ProgramRow

PROGRAMS = Path(__file__).with_name("hls_programs.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class HlsInput:
    """A program and its configuration."""

    name: str
    source: str
    top: str
    options: HlsOptions


def options_text(options: HlsOptions) -> dict[str, Any]:
    """What differs from the default options, as plain values; directives as JSON."""
    default = HlsOptions()
    plain: dict[str, Any] = {
        name: getattr(options, name)
        for name in ("memory_read_delay_cycles", "memory_write_delay_cycles", "clock_period_ns", "liberty")
        if getattr(options, name) != getattr(default, name)
    }
    plain |= {
        name: getattr(options.transforms, name)
        for name in TransformOptions.__slots__
        if getattr(options.transforms, name) != getattr(default.transforms, name)
    }
    if options.directives:
        plain["directives"] = directives_json(options.directives)
    if options.unit_limits:
        plain["unit_limits"] = dict(options.unit_limits)
    return plain


def read_options(plain: dict[str, Any]) -> HlsOptions:
    """The options of `options_text`."""
    values = dict(plain)
    transforms = {name: values.pop(name) for name in TransformOptions.__slots__ if name in values}
    return HlsOptions(
        directives=parse_directives(values.pop("directives", "[]")),
        unit_limits=tuple(sorted(values.pop("unit_limits", {}).items())),
        transforms=TransformOptions(**transforms),
        **values,
    )


@cache
def _shipped() -> dict[str, ProgramRow]:
    """Small shipped programs by suite and name."""
    rows = kernel_programs(suites=("linear_algebra", "stencil", "irregular"), sizes=("small",))
    return {f"kernel {row.name}": row for row in rows}


def shipped_program(name: str) -> ProgramRow:
    """A program by its kind and name, as `kernel gemm`, `polybench atax`, `machsuite aes`, `ast 3`.

    Raises: KeyError: no such program.
    """
    kind, _, rest = name.partition(" ")
    match kind:
        case "polybench":
            return polybench_program(rest, size="mini", data_type="int")
        case "ast":
            return ast_programs(count=1, seed=11, first=int(rest), options=AstOptions())[0]
        case "dataflow":
            return dataflow_programs(count=1, seed=11, first=int(rest), options=DataflowOptions())[0]
        case "machsuite":
            return next(row for row in machsuite_programs(sizes=("mini",)) if row.name == rest)
        case _:
            return _shipped()[name]


def hls_inputs() -> Iterator[HlsInput]:
    """All programs, in the order of the file."""
    entries = yaml.load(
        PROGRAMS.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    for name, entry in entries.items():
        options = read_options(entry.get("options", {}))
        if "program" in entry:
            row = shipped_program(entry["program"])
            yield HlsInput(name=name, source=row.source, top=row.top, options=options)
        else:
            yield HlsInput(name=name, source=entry["source"], top=entry["top"], options=options)


def _design(compiled: CompiledDesign) -> object:
    """All that rows and later engines read of a design; reasons of directives excluded."""
    return [
        compiled.verilog,
        compiled.module,
        compiled.interface,
        [[outcome.directive, outcome.applied] for outcome in compiled.outcomes],
        compiled.intervals,
        compiled.report,
        compiled.banks,
        compiled.caches,
        [[s.starts, s.length_cycles, s.interval_cycles] for s in compiled.scheduled.schedules],
    ]


def hls_outputs(folders: Folders) -> Iterator[Output]:
    """The design of every program, its mapping space, and what is read of files and options."""
    for item in hls_inputs():
        yield (
            item.name,
            outcome(lambda i=item: _design(compile_program(i.source, top=i.top, options=i.options))),
        )
    for item in list(hls_inputs())[::4]:
        yield (
            f"space of {item.name}",
            outcome(lambda i=item: mapping_space(read_function(i.source, top=i.top))),
        )
    row = shipped_program("kernel gemm")
    options = read_options({"clock_period_ns": 5.0, "unit_limits": {"mul_32": 1}, "unsafe_math": True})
    compiled = compile_program(row.source, top=row.top, options=options)
    design = design_row(row, options, compiled, 0.0)
    yield "row", design
    yield "row of a failure", design_row(row, options, ("rejected", "so"), 0.0)
    yield "options of a row", json.dumps(options_text(options_of(design)))
    yield "outcome rows", outcome_rows(row, options, compiled)
    yield "functions", [defined_functions(row.source), default_top(row.source, stem="kernel_gemm")]
    yield "no function", outcome(lambda: default_top("int x;", stem="f"))
    yield from _bundles(folders.scratch)
    for number, text in enumerate(
        ("{", "[1]", '[{"kind": "x"}]', '[{"kind": "unroll", "value": 0, "loop": "L"}]')
    ):
        yield f"wrong directives {number}", outcome(lambda t=text: parse_directives(t))
    for number, changes in enumerate(
        ({"memory_read_delay_cycles": 0}, {"clock_period_ns": 0.0}, {"liberty": "x"})
    ):
        yield (
            f"wrong options {number}",
            outcome(
                lambda c=changes: compile_program(row.source, top=row.top, options=read_options(c)).verilog
            ),
        )


def _bundles(folder: Path) -> Iterator[Output]:
    (folder / "part.h").write_text("#pragma once\n#define PART 3\n")
    (folder / "again.h").write_text('#include "part.h"\n/* "a" // b\n#include "none.h" */\n')
    (folder / "circle.h").write_text('#include "circle.h"\n')
    (folder / "bytes.h").write_bytes(b"\xff\xfe")
    texts = {
        "headers": '#include <stdint.h>\n#include "part.h"\n#include "again.h"\nint f() { return PART; }\n',
        "none": "int f(int a) { return a; }\n",
        "endless circle": '#include "circle.h"\n',
        "absent": '#include "absent.h"\nint f(int a) { return a; }\n',
        "outside": '#include "../../etc/passwd"\n',
        "bytes": '#include "bytes.h"\n',
    }
    for name, text in texts.items():
        path = folder / f"{name}.c"
        path.write_text(text)
        yield f"bundle {name}", outcome(lambda p=path: bundle_source(p))
