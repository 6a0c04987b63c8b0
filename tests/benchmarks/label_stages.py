"""What each stage of labelling costs: the kernels, and generated programs, one core, nothing cached.

    python -m tests.benchmarks.label_stages [--generated N] [--no-glitches] [--json FILE]
    python -m tests.benchmarks.label_stages --release releases/v1 --count 60

One line a program: cells, cycles, seconds by stage. Then means, shares and designs a core-hour. Seconds are
processor seconds of the stage and its tools, save `native` and `cycle_model`: confined programs hide theirs,
so these are by the clock and mean something on an idle machine alone. `rest` is drawing data, rows and the
cache. No design is audited: Verilator is a stage of a sample.

Of a release: designs drawn from all of its designs up to --cells but the evaluation programs', under their
own directives, delays and periods, so the mix of its stages and mappings. Beside the summary stands what the
same designs took when the release was made, by its own rows: how fast this machine is meanwhile.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.tools import stopwatch
from pipelines.dataset.labelling import (
    LabelContext,
    LabelOptions,
    flows,
    label_design,
    runs,
    synthesis,
)
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from pipelines.dataset.releases import open_release
from pipelines.hls import HlsOptions, options_of
from pipelines.power import build_engine
from pipelines.programs import SUITES, Generation, SuiteOptions, kernel_programs, suite_programs
from pipelines.schemas import OK, ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty, load_liberty
from tests.benchmarks.harness import options_parser, processor_s, write_json
from tests.support.labelling import label_options

STAGES: dict[str, tuple[Any, str, bool]] = {
    "hls": (flows, "compile_program", False),
    "native": (runs, "run_native_sets", True),
    "cycle_model": (runs, "count_cycles_of", True),
    "synthesis": (synthesis, "synthesize_design", False),
    "power": (synthesis, "estimate_power", False),
}
"""Stages: module and function that do it, and whether its tools are confined."""

CONFIGURATION = HlsOptions()
RUN_TIMES = ("native_wall_s", "build_wall_s", "simulate_wall_s", "power_wall_s")


class Meter:
    """Seconds spent in each stage since the last reset."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.hidden = 0.0  # processor seconds inside stages that are taken by the clock

    def reset(self) -> None:
        self.spent = dict.fromkeys(STAGES, 0.0)
        self.hidden = 0.0

    def metered(self, stage: str, function: Callable[..., Any], *, by_clock: bool) -> Callable[..., Any]:
        """The function, adding what it takes to a stage."""

        def run(*given: Any, **arguments: Any) -> Any:
            clock, processor = stopwatch(), processor_s()
            try:
                return function(*given, **arguments)
            finally:
                used = processor_s() - processor
                self.spent[stage] += stopwatch() - clock if by_clock else used
                self.hidden += used if by_clock else 0.0

        return run


def measure(
    program: ProgramRow,
    meter: Meter,
    cache: ContentCache,
    target: Target,
    options: LabelOptions,
    configuration: HlsOptions = CONFIGURATION,
) -> dict[str, Any]:
    """Seconds of each stage of one program, and what it is."""
    meter.reset()
    start = processor_s()
    made = label_design(program, configuration, LabelContext(target=target, cache=cache, options=options))
    used = processor_s() - start - meter.hidden
    unconfined = sum(meter.spent[s] for s, (_, _, confined) in STAGES.items() if not confined)
    run = made.runs[0] if made.runs else None
    stages = {**meter.spent, "rest": used - unconfined}
    return {
        "name": program.name,
        "suite": program.suite,
        "status": made.label.status,
        "power_status": None if run is None else run.power_status,
        "cells": made.label.cell_count,
        "cycles": None if run is None else run.latency_cycles,
        **stages,
        "total": sum(stages.values()),
    }


def line_of(row: dict[str, Any]) -> str:
    return " ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{v}" for k, v in row.items())


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Means, shares and designs a core-hour of rows."""
    total = sum(row["total"] for row in rows)
    parts = [
        f"{name} {sum(row[name] for row in rows) / len(rows):.2f} s "
        f"({sum(row[name] for row in rows) / total:.0%})"
        for name in (*STAGES, "rest")
    ]
    return f"{len(rows)} designs, {total / len(rows):.2f} s, {3600 * len(rows) / total:.0f} a core-hour: " + (
        ", ".join(parts)
    )


def drawn(release: Path, count: int, cells: int) -> tuple[list[tuple[ProgramRow, HlsOptions]], float]:
    """Designs of a release that are not for evaluation, those whose id has the lowest hash.

    Args:    cells: the most that a design may have.
    Returns: programs with their configurations; the mean of the elapsed seconds of their rows.
    """
    opened = open_release(release)
    programs, designs, labels, runs = (
        [row for part in opened.partitions(table) for row in opened.rows(table, part)]
        for table in ("programs", "designs", "labels", "runs")
    )
    by_id = {program.program_id: program for program in programs}
    label_of = {label.design_id: label for label in labels if label.tool == SYNTHESIS_TOOL}
    run_of = {run.design_id: run for run in runs}
    chosen = [
        d
        for d in designs
        if by_id[d.program_id].stage != "evaluation" and (label_of[d.design_id].cell_count or 0) <= cells
    ]
    chosen = sorted(chosen, key=lambda d: content_hash("drawn", d.design_id))[:count]
    elapsed = [
        d.hls_wall_s
        + (label_of[d.design_id].synthesis_wall_s or 0.0)
        + sum(getattr(run_of.get(d.design_id), name, None) or 0.0 for name in RUN_TIMES)
        for d in chosen
    ]
    return [(by_id[d.program_id], options_of(d)) for d in chosen], sum(elapsed) / max(1, len(elapsed))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line a program, then the summaries."""
    parser = options_parser(__doc__)
    parser.add_argument("--generated", type=int, default=10, help="programs of each of ast and dataflow")
    parser.add_argument("--no-glitches", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--release", type=Path, help="measure designs of a release instead")
    parser.add_argument("--count", type=int, default=60, help="of them")
    parser.add_argument("--cells", type=int, default=10_000, help="the most that a design of it may have")
    chosen = parser.parse_args(arguments)
    count = Generation(count=chosen.generated, seed=5)
    options = label_options(workers=1, audit_fraction=0.0, glitches=not chosen.no_glitches)
    suites = SuiteOptions(sizes=("small",), ast=count, dataflow=count)
    groups: dict[str, list[tuple[ProgramRow, HlsOptions]]] = {}
    before_s = 0.0
    if chosen.release is not None:
        groups["release"], before_s = drawn(chosen.release, chosen.count, chosen.cells)
    else:
        kernels = kernel_programs(suites=SUITES, sizes=("small",))
        generated = [p for s in ("ast", "dataflow") for p in suite_programs(s, suites) if p.status == OK]
        groups["kernels"] = [(program, CONFIGURATION) for program in kernels]
        groups["generated"] = [(program, CONFIGURATION) for program in generated]
    target = Target(liberty=find_liberty("osu018"), clock_period_ns=10.0)
    load_liberty(target.liberty)
    meter, found = Meter(), {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        cache = ContentCache(folder=Path(name))
        build_engine(cache.folder / "engines")
        for stage, (module, function, confined) in STAGES.items():
            metered = meter.metered(stage, getattr(module, function), by_clock=confined)
            stack.enter_context(patch.object(module, function, metered))
        for group, programs in groups.items():
            found[group] = []
            for program, configuration in programs:
                found[group].append(measure(program, meter, cache, target, options, configuration))
                print(line_of(found[group][-1]), flush=True)
    for group, rows in found.items():
        print(f"{group}: {summary(rows)}")
    if before_s:
        sys.stdout.write(
            f"the same when the release was made: {before_s:.2f} s, {3600 / before_s:.0f} a core-hour\n"
        )
    write_json(chosen.json, found)


if __name__ == "__main__":
    main()
