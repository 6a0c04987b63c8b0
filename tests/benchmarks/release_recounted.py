"""Whether the present engine gives the runs and features of a release, design by design.

    python -m tests.benchmarks.release_recounted [--release releases/v1] [--designs 300] [--seed 0]

Designs of this project's engine whose runs are ok, drawn by a seed from all of them, are compiled again and
their cycles counted with an empty cache: status, cycles, bytes and equality of outputs to native C must be
the release's. Features of level hls, where the release has them, are made again too. That shows that a change
of the cycle model or of an estimate need not raise its version.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pipelines.base.cache import ContentCache
from pipelines.dataset.features import know_design
from pipelines.dataset.labelling import ToolContext, count_design
from pipelines.dataset.releases import Release, open_release
from pipelines.hls import TOOL, options_of
from pipelines.schemas import OK, DesignRow, FeatureRow, ProgramRow, RunRow
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row
from tests.support.labelling import label_options

OPTIONS = label_options(power=False, audit_fraction=0.0, cross_check_fraction=0.0)
FIELDS = ("status", "outputs_equal", "latency_cycles", "bytes_read", "bytes_written")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A design of a release, its run on the first data set, and its features."""

    program: ProgramRow
    design: DesignRow
    run: RunRow
    features: FeatureRow | None


def counted_designs(release: Release) -> Iterator[Counted]:
    """Designs of the release that ran."""
    seed = OPTIONS.data_seeds[0]
    for partition in release.partitions("designs"):
        programs = {row.program_id: row for row in release.rows("programs", partition)}
        runs = {row.design_id: row for row in release.rows("runs", partition) if row.seed == seed}
        known = partition in release.partitions("features")
        features = {row.design_id: row for row in release.rows("features", partition)} if known else {}
        for design in release.rows("designs", partition):
            run = runs.get(design.design_id)
            if design.tool == TOOL and run is not None and run.status == OK:
                yield Counted(
                    program=programs[design.program_id],
                    design=design,
                    run=run,
                    features=features.get(design.design_id),
                )


def features_differ(one: Counted) -> bool:
    """Whether features made again are other ones."""
    with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
        return know_design(one.program, one.design, folder=Path(folder)).features != one.features


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=Path("releases/v1"))
    parser.add_argument("--designs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    every = list(counted_designs(open_release(asked.release)))
    drawn = random.Random(asked.seed).sample(every, min(asked.designs, len(every)))
    print_machine()
    different, others, seconds = 0, 0, list[float]()
    with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
        for one in drawn:
            if one.features is not None and features_differ(one):
                others += 1
                print(f"{one.program.name} {one.design.design_id}: other features", flush=True)
            cache = ContentCache(folder=Path(folder))
            found = count_design(
                one.program, options_of(one.design), ToolContext(cache=cache, options=OPTIONS)
            )
            run = found.run
            if run is None or any(getattr(run, name) != getattr(one.run, name) for name in FIELDS):
                different += 1
                print(f"{one.program.name} {one.design.design_id}: {run} for {one.run}", flush=True)
            elif run.build_wall_s is not None:
                seconds.append(run.build_wall_s)
    print_header("designs drawn | of | runs that differ | features that differ | build, median s | most s")
    build = f"{median(seconds):.2f} | {max(seconds):.2f}"
    print_row(len(drawn), len(every), different, others, build)


if __name__ == "__main__":
    main()
