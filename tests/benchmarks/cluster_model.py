"""What saturates first on a thousand nodes, and the price of a million labels, from measured constants.

    python -m tests.benchmarks.cluster_model [--nodes 1000] [--cores 16] [--labels 1000000]
    python -m tests.benchmarks.cluster_model --measure [--designs 8] --record     the constants of this file

Other constants are rows of figures.jsonl that other benchmarks write: `publication_race --rates`,
`cluster_resume`, `release_reproduced`. `--measure` labels a few designs with an empty cache and counts what
they write, and gives a cluster on loopback tasks without work. The answer is two tables of docs/cluster.md.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assets.cluster.ray_fanout import connected
from assets.figures import Figure, Value, read_figures
from assets.settings import Cluster
from assets.steps import step_named
from pipelines.base.cache import ContentCache
from pipelines.base.workers import fanning_out, run_all
from pipelines.dataset.labelling import LabelContext
from pipelines.dataset.labelling.label import label_compiled
from pipelines.schemas import table_spec
from pipelines.silicon.synthesis import Target, find_liberty
from tests.benchmarks.cluster_efficiency import do_nothing, drawn_designs
from tests.benchmarks.harness import ROOT, options_parser, print_header, print_machine, print_row, processor_s
from tests.benchmarks.recording import add_record_option, record
from tests.support.labelling import label_options

sys.path.insert(0, str(ROOT / "tests" / "cluster"))
from ray_nodes import ray_cluster

SECTION = "A thousand nodes, on paper"
COMMAND = "python -m tests.benchmarks.cluster_model --measure"
TASKS = 2000
NODES = 2
MEMORY_GIB = 4.0
HOUR_S = 3600
GB = 1e9
HEAD_GIB = 64.0
"""Memory of the machine of the head and of the driver."""
NETWORK_BYTES_S = 1.25e9
"""Bandwidth of the driver's machine: 10 Gbit/s."""


# ---- constants -------------------------------------------------------------------------------------------


def constant(section: str, figure: str, name: str = "measured") -> float:
    """Return a number that a benchmark recorded.

    Raises: SystemExit: there is no such row.
    """
    for row in read_figures():
        if (row.section, row.figure) == (section, figure) and name in row.values:
            return float(row.values[name])
    raise SystemExit(
        f"no figure {figure!r} ({name}) of section {section!r} in figures.jsonl; measure it first"
    )


def processor_of(pid: int) -> float:
    """Return the processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Return the resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    [size] = [line.split()[1] for line in lines if line.startswith("VmRSS")]
    return int(size) / 1024


def measure_designs(release: Path, count: int) -> dict[str, Value]:
    """Return what one design writes into an empty cache, and what goes between the driver and a worker."""
    programs, designs = drawn_designs(release, count, 6_000)
    by_id = {program.program_id: program for program in programs}
    with tempfile.TemporaryDirectory() as folder:
        context = LabelContext(
            target=Target(liberty=find_liberty("osu018"), clock_period_ns=10.0),
            cache=ContentCache(folder=Path(folder)),
            options=label_options(audit_fraction=0.0, cross_check_fraction=0.0),
        )
        items = [(by_id[design.program_id], design) for design in designs]
        before = processor_s()
        results = [label_compiled(program, design, context) for program, design in items]
        used = processor_s() - before
        files = list(Path(folder).rglob("*.json"))
        size = sum(path.stat().st_size for path in files)
    return {
        "processor s": round(used / count, 2),
        "entries": round(len(files) / count, 1),
        "bytes of entries": round(size / count),
        "bytes to a worker": round(sum(len(pickle.dumps(item)) for item in items) / count),
        "bytes of the result": round(sum(len(pickle.dumps(result)) for result in results) / count),
    }


def measure_driver() -> dict[str, Value]:
    """Return the rate of tasks without work, their processor time, and the memory of the head."""
    settings = Cluster(kind="ray", memory_gib=MEMORY_GIB, batch_s=1e-9)
    with ray_cluster(NODES, memory_gib=MEMORY_GIB) as cluster:
        settings = settings.model_copy(update={"address": cluster.address})
        [head] = cluster.head_node.all_processes["gcs_server"]
        pid = head.process.pid
        with connected(settings) as fanout, fanning_out(fanout):
            run_all("warm", range(8), do_nothing, workers=1)
            base_mib, before, own = resident_mib(pid), processor_of(pid), processor_of(os.getpid())
            start = time.perf_counter()
            run_all("empty", range(TASKS), do_nothing, workers=1)
            wall_s = time.perf_counter() - start
            used, driver = processor_of(pid) - before, processor_of(os.getpid()) - own
            grown_mib = resident_mib(pid) - base_mib
    return {
        "tasks per s": round(TASKS / wall_s),
        "driver, processor ms of a task": round(1000 * driver / TASKS, 2),
        "head, processor ms of a task": round(1000 * used / TASKS, 2),
        "head, MiB at start": round(base_mib),
        "head, KiB of a task": round(1024 * max(grown_mib, 0.0) / TASKS, 1),
    }


# ---- the model -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What all nodes ask of one part of the system per second, and what it gives."""

    name: str
    demand: float
    capacity: float
    unit: str

    def nodes(self, options: Namespace) -> float:
        """Return the number of nodes whose demand is its capacity."""
        return options.nodes * self.capacity / self.demand


def resources(options: Namespace) -> list[Resource]:
    """Return the parts of the system, the one that saturates first at the top."""
    of_design, of_tasks = partial(constant, SECTION, "a design labelled"), partial(constant, SECTION, "tasks")
    rate = partial(constant, "Store and catalogue")
    core_s = label_core_s()
    cores = options.nodes * options.cores
    labels = cores / core_s
    batches = cores / max(options.batch_s, core_s)
    driver_s = driver_label_s()
    entries = of_design("entries")
    traffic = of_design("bytes to a worker") + of_design("bytes of the result")
    commits = labels / options.shard_designs * suite_transactions()
    in_memory = HEAD_GIB * 2**20 - 1024 * of_tasks("head, MiB at start")
    parts = [
        Resource(name="rows of labels in the driver", demand=labels, capacity=1 / driver_s, unit="labels/s"),
        Resource(
            name="tasks of the driver", demand=batches, capacity=of_tasks("tasks per s"), unit="tasks/s"
        ),
        Resource(
            name="processor of the head",
            demand=batches * of_tasks("head, processor ms of a task") / 1000,
            capacity=float(options.cores),
            unit="cores",
        ),
        Resource(
            name="memory of the head, tasks under way",
            demand=1.5 * cores * max(of_tasks("head, KiB of a task"), 1.0),
            capacity=in_memory,
            unit="KiB",
        ),
        Resource(
            name="network of the driver",
            demand=labels * traffic / 1e6,
            capacity=NETWORK_BYTES_S / 1e6,
            unit="MB/s",
        ),
        Resource(
            name="puts of entries",
            demand=labels * entries,
            capacity=rate("puts of 2 kB per second"),
            unit="puts/s",
        ),
        Resource(
            name="gets of entries that are missing",
            demand=labels * entries,
            capacity=rate("gets of 2 kB per second"),
            unit="gets/s",
        ),
        Resource(
            name="commits, PostgreSQL and Iceberg",
            demand=commits,
            capacity=rate("commits of shards per second, PostgreSQL"),
            unit="commits/s",
        ),
    ]
    return sorted(parts, key=lambda part: part.capacity / part.demand)


def suite_transactions() -> int:
    """Return transactions that publish designs and labels of a suite: one per table, wall-clock ones too."""
    specs = [table_spec(table) for name in ("designs", "labels") for table in step_named(name).tables]
    return sum(1 + spec.has_measured for spec in specs)


def label_core_s() -> float:
    """Return core seconds of a label, from designs per core-hour of a release."""
    return HOUR_S / constant("Release v1", "designs per core-hour, up to 10,000 cells")


def driver_label_s() -> float:
    """Return processor seconds that the driver spends on the rows of a label: reading them from the cache."""
    resumed = constant("Cached designs resumed", "folder", "processor s")
    return resumed / constant(
        "Cached designs resumed", "entries of designs, labels and configurations", "designs"
    )


def prices(options: Namespace) -> Mapping[str, tuple[str, float]]:
    """Return amount and dollars of each part of the price of labels."""
    of_design = partial(constant, SECTION, "a design labelled")
    core_hours = options.labels * label_core_s() / HOUR_S
    driver_hours = options.labels * driver_label_s() / HOUR_S
    stored_gb = options.labels * of_design("bytes of entries") / GB
    requests = options.labels * of_design("entries")
    return {
        "core hours": (f"{core_hours:,.0f}", core_hours * options.core_price),
        "core hours of the driver": (f"{driver_hours:,.1f}", driver_hours * options.core_price),
        "GB stored for a month": (f"{stored_gb:,.1f}", stored_gb * options.storage_price),
        "puts": (f"{requests:,.0f}", requests / 1000 * options.put_price),
        "gets": (f"{requests:,.0f}", requests / 1000 * options.get_price),
    }


def print_model(options: Namespace) -> None:
    """Print the tables of docs/cluster.md."""
    cores, core_s = options.nodes * options.cores, label_core_s()
    print(
        f"{options.nodes:,} nodes of {options.cores} cores, {core_s:.2f} core s of a label: "
        f"{cores / core_s:,.0f} labels/s, {options.labels:,} labels in "
        f"{options.labels * core_s / cores:,.0f} s if nothing saturates.\n"
    )
    print_header("part", "asked for", "measured capacity", "saturated from, nodes")
    for part in resources(options):
        amounts = [
            f"{amount:,.{0 if amount >= 10 else 1}f} {part.unit}" for amount in (part.demand, part.capacity)
        ]
        print_row(part.name, *amounts, f"{part.nodes(options):,.0f}")
    print()
    own = prices(options)
    print_header("part of the price", "amount", "dollars")
    for name, (amount, dollars) in own.items():
        print_row(name, amount, f"{dollars:,.2f}")
    print_row("sum", "", f"{sum(dollars for _, dollars in own.values()):,.2f}")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--batch-s", type=float, default=Cluster(kind="ray").batch_s)
    parser.add_argument("--shard-designs", type=int, default=2_000, help="designs of a suite")
    parser.add_argument("--core-price", type=float, default=0.04, help="dollars per core hour")
    parser.add_argument("--storage-price", type=float, default=0.023, help="dollars per GB and month")
    parser.add_argument("--put-price", type=float, default=0.005, help="dollars per 1,000")
    parser.add_argument("--get-price", type=float, default=0.0004, help="dollars per 1,000")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--designs", type=int, default=8, help="that are labelled by --measure")
    parser.add_argument("--release", type=Path, default=ROOT / "releases" / "v2")
    add_record_option(parser)
    options = parser.parse_args()
    if not options.measure:
        print_model(options)
        return
    print_machine()
    figures = {
        "a design labelled": measure_designs(options.release, options.designs),
        "tasks": measure_driver(),
    }
    for name, values in figures.items():
        print(f"{name}: {values}")
        if options.record:
            new = Figure(
                figure=name,
                area="cluster",
                section=SECTION,
                value=0,
                command=COMMAND,
                commit="",
                machine="",
                date="",
            )
            record("cluster", name, values, new=new)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
