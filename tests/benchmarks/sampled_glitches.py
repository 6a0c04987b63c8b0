"""Power from a share of timed cycles against power from all of them, on long runs of a release.

    python -m tests.benchmarks.sampled_glitches [RELEASE] [--designs 60] [--timed 8192]

Designs are drawn from the release (`releases/v2` by default) and labelled on their drawn data. Of each run
of more cycles than `--timed` it prints the cycles, the difference of power and of toggles from the whole
simulation, and the processor time of both simulations. The last line sums them up. Outputs and cycles are
compared with the cycle model in both, as in every label.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import LabelContext
from pipelines.dataset.labelling.label import label_compiled
from pipelines.schemas import OK, DesignRow, ProgramRow, RunRow, read_table, table_spec
from pipelines.silicon.synthesis import Target, find_liberty
from tests.benchmarks.harness import options_parser, processor_s
from tests.support.labelling import label_options


def run_of(program: ProgramRow, design: DesignRow, context: LabelContext) -> tuple[RunRow | None, float]:
    """The run on drawn data, and the processor time of its label."""
    start = processor_s()
    labels = label_compiled(program, design, context)
    run = labels.runs[0] if labels.label.status == OK else None
    return (run if run and run.power_mw else None), processor_s() - start


def main() -> None:
    """Print the table."""
    parser = options_parser(__doc__)
    parser.add_argument("release", type=Path, nargs="?", default=Path("releases/v2"))
    parser.add_argument("--designs", type=int, default=60)
    parser.add_argument("--timed", type=int, default=8192)
    arguments = parser.parse_args()
    programs = {p.program_id: p for p in read_table(arguments.release, table_spec("programs"))}
    designs = [d for d in read_table(arguments.release, table_spec("designs")) if d.status == OK]
    drawn = random.Random(0).sample(designs, min(arguments.designs, len(designs)))
    target = Target(liberty=find_liberty("osu018"), clock_period_ns=10.0)
    errors: list[tuple[float, float, float, float]] = []
    with tempfile.TemporaryDirectory() as scratch:
        whole = LabelContext(
            cache=ContentCache(folder=Path(scratch)),
            options=label_options(audit_fraction=0.0, workers=1),
            target=target,
        )
        sampled = replace(whole, options=replace(whole.options, timed_cycles=arguments.timed))
        for design in drawn:
            program = programs[design.program_id]
            run_of(program, design, replace(whole, options=replace(whole.options, power=False)))
            exact, long_s = run_of(program, design, whole)
            if exact is None or (exact.latency_cycles or 0) <= arguments.timed:
                continue
            near, short_s = run_of(program, design, sampled)
            if near is None:
                raise SystemExit(f"{program.name}: no power from a share of its cycles")
            power = 100 * (float(near.power_mw or 0) / float(exact.power_mw or 1) - 1)
            toggles = 100 * (float(near.toggle_count or 0) / float(exact.toggle_count or 1) - 1)
            errors.append((power, toggles, long_s, short_s))
            print(
                f"{program.name[:40]:40} {exact.latency_cycles:>9} cycles  power {power:+.3f} %"
                f"  toggles {toggles:+.3f} %  {long_s:6.1f} s  {short_s:6.1f} s",
                flush=True,
            )
    measured = np.array(errors)
    mean, most = np.abs(measured[:, :2]).mean(axis=0), np.abs(measured[:, :2]).max(axis=0)
    times = measured[:, 2:].sum(axis=0)
    print(
        f"{len(errors)} runs: power {mean[0]:.3f} % on average, at most {most[0]:.3f} %; "
        f"toggles {mean[1]:.3f} %, at most {most[1]:.3f} %; "
        f"processor time {times[0]:.0f} s whole, {times[1]:.0f} s sampled"
    )


if __name__ == "__main__":
    main()
