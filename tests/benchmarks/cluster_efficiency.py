"""How much of two local processes' speed two nodes of a Ray cluster have, and what a task costs.

    python -m tests.benchmarks.cluster_efficiency [--designs 32] [--cells 6000] [--rounds 3] [--record]

The same designs of a release are labelled with an empty cache: by two processes of this machine, and by a
cluster on loopback with a head without processors and two nodes of one processor each; rounds alternate. Rows
must be equal. Efficiency is the median of local over cluster seconds; a start of the cluster is not part of
it, a start of its workers is. Overhead is what an empty batch takes beyond its work, over the mean label.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assets.cluster.ray_fanout import RayFanout, connected
from assets.figures import Figure
from assets.settings import Cluster
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.workers import Outcome, fanning_out, run_all
from pipelines.dataset.labelling import LabelContext, label_designs
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from pipelines.dataset.releases import open_release
from pipelines.schemas import OK, DesignRow, ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty
from tests.benchmarks.harness import ROOT, options_parser, print_header, print_machine, print_row
from tests.benchmarks.recording import add_record_option, record
from tests.support.labelling import label_options

sys.path.insert(0, str(ROOT / "tests" / "cluster"))
from ray_nodes import ray_cluster

NODES = 2
EMPTY_TASKS = 500
MEMORY_GIB = 4.0
COMMAND = "python -m tests.benchmarks.cluster_efficiency"


def drawn_designs(release: Path, count: int, cells: int) -> tuple[list[ProgramRow], list[DesignRow]]:
    """Designs of a release of at most so many cells, and their programs."""
    reader = open_release(release)
    programs, designs, labels = (
        [row for part in reader.partitions(table) for row in reader.rows(table, part)]
        for table in ("programs", "designs", "labels")
    )
    by_id = {row.program_id: row for row in programs}
    small = {
        row.design_id
        for row in labels
        if row.tool == SYNTHESIS_TOOL and row.status == OK and 500 <= (row.cell_count or 0) <= cells
    }
    chosen = [row for row in designs if row.design_id in small]
    chosen = sorted(chosen, key=lambda row: content_hash("drawn", row.design_id))[:count]
    return list({d.program_id: by_id[d.program_id] for d in chosen}.values()), chosen


def label_all(
    programs: Sequence[ProgramRow], designs: Sequence[DesignRow], fanout: RayFanout | None
) -> tuple[list[dict[str, Any]], float]:
    """Rows of all labels without wall-clock columns, and the seconds that they took."""
    with tempfile.TemporaryDirectory() as folder:
        context = LabelContext(
            target=Target(liberty=find_liberty("osu018"), clock_period_ns=10.0),
            cache=ContentCache(folder=Path(folder)),
            options=label_options(workers=NODES, audit_fraction=0.0, cross_check_fraction=0.0),
        )
        start = time.perf_counter()
        with nullcontext() if fanout is None else fanning_out(fanout):
            tables = label_designs(programs, designs, context)
        wall_s = time.perf_counter() - start
    rows = [asdict(row) for row in sorted(tables.labels, key=lambda row: row.design_id)]
    return [{k: v for k, v in row.items() if not k.endswith("_wall_s")} for row in rows], wall_s


def do_nothing(item: int) -> Outcome[int]:
    """An empty item."""
    return Outcome(result=item, failed=False, name="")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--release", type=Path, default=ROOT / "releases" / "v2")
    parser.add_argument("--designs", type=int, default=32)
    parser.add_argument("--cells", type=int, default=6_000, help="the most that a design may have")
    parser.add_argument("--rounds", type=int, default=3)
    add_record_option(parser)
    chosen = parser.parse_args()
    print_machine()
    programs, designs = drawn_designs(chosen.release, chosen.designs, chosen.cells)
    print_header("round", "two local processes s", "two nodes s", "local / nodes", "rows equal")
    local: list[float] = []
    nodes: list[float] = []
    with ray_cluster(NODES, memory_gib=MEMORY_GIB) as cluster:
        settings = Cluster(kind="ray", address=cluster.address, memory_gib=MEMORY_GIB)
        for number in range(chosen.rounds):
            rows, local_s = label_all(programs, designs, None)
            with connected(settings) as fanout:
                cluster_rows, nodes_s = label_all(programs, designs, fanout)
            if rows != cluster_rows:
                raise SystemExit("rows differ")
            local.append(local_s)
            nodes.append(nodes_s)
            print_row(number + 1, f"{local_s:.1f}", f"{nodes_s:.1f}", f"{local_s / nodes_s:.0%}", "yes")
        with connected(settings.model_copy(update={"batch_s": 1e-9})) as fanout, fanning_out(fanout):
            run_all("warm", range(8), do_nothing, workers=1)
            start = time.perf_counter()
            run_all("empty", range(EMPTY_TASKS), do_nothing, workers=1)
            task_s = (time.perf_counter() - start) / EMPTY_TASKS
    efficiency = statistics.median(a / b for a, b in zip(local, nodes, strict=True))
    label_s = statistics.median(local) * NODES / len(designs)
    print(f"\nEfficiency {efficiency:.0%} (goal 90 %), {len(designs)} designs, {label_s:.2f} core s a label.")
    print(f"A task costs {task_s * 1000:.1f} ms, {task_s / label_s:.2%} of a label (goal below 5 %).")
    if chosen.record:
        _record(
            "two nodes of one core against two local processes", efficiency, "", "≥ 0.9", efficiency < 0.9
        )
        _record("overhead of a task", task_s / label_s, "of a label", "< 0.05", task_s / label_s >= 0.05)
        _record("tasks without work", 1 / task_s, "per s", "", False)


def _record(figure: str, value: float, unit: str, goal: str, missed: bool) -> None:
    new = Figure(
        figure=figure,
        area="cluster",
        section="Fan-out",
        value=0.0,
        unit=unit,
        goal=goal,
        command=COMMAND,
        commit="",
        machine="",
        date="",
    )
    record("cluster", figure, round(value, 4), missed=missed, new=new)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
