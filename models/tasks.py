"""Tasks: what predictors answer, from which tables, and the reference set that they are judged on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pipelines.schemas import tables_of_role

Level = Literal[
    "text", "static", "hls", "run", "network", "directives", "programs", "placements", "rtl", "compilation"
]
"""What a predictor may look at: source text, what a front end reads, what high-level synthesis gives, that
and a run of the cycle model, a network under traffic, a program with directives, programs that are varied, a
placed and routed graph, the structure of a Verilog design, what compilers of networks and hardware give."""
LABEL_LEVELS: tuple[Level, ...] = ("text", "static", "hls", "run")
"""Levels of predictors of labels, least information first."""
LABEL_TABLES = ("programs", "loops", "designs", "labels", "runs", "splits")
DERIVED_TABLES = ("features", "loop_profiles", "run_features")
"""Tables that follow from programs, designs and runs; the release v1 has none of them."""
NETWORK_TABLES = ("network_runs", "network_flows", "network_hops")


class DatasetError(ValueError):
    """The tables cannot be trained on: one is missing, a split leaks, or a part is empty."""


class TooFewRows(DatasetError):
    """The tables are right and have rows, but not those that a training needs; a run skips the predictor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a question or an answer.

    Attributes:
        kind: type in a DataFrame.
        unit: of its values.
        example: value of the input example; answers have none.
        required: of a question: it must have the column.
    """

    name: str
    kind: Literal["string", "long", "double"] = "double"
    unit: str = ""
    example: str | int | float | None = None
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Rows of a release on which every version of a model is scored. They are never trained on.

    Attributes:
        release: folder, relative to the project's folder.
        split: frozen split in the release; "group" where the parts are groups of runs.
        parts: sides of the split.
        minimum_programs: programs (networks, ...) that a score needs before a model may be promoted.
    """

    release: str
    split: str
    parts: tuple[str, ...]
    minimum_programs: int

    @property
    def name(self) -> str:
        """The reference in words, for tables and cards."""
        return f"{self.release}, {self.split}: {', '.join(self.parts)}"

    @property
    def folder(self) -> Path:
        """Where the release is."""
        return Path(__file__).resolve().parents[1] / self.release


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question that predictors answer.

    Attributes:
        tables: read for training.
        targets: unit by predicted quantity.
        level: what a predictor may look at.
        metric: error of one program, a fraction; the mean over programs is compared.
        baseline: the trivial answer that a model has to beat.
        question: columns of the DataFrame that a registered model is asked with.
        reference: None where no release holds one.
        reference_set: `module:function` from a reference to its `models.gate.ReferenceSet`.
    """

    name: str
    tables: tuple[str, ...]
    targets: Mapping[str, str]
    level: Level
    metric: str
    baseline: str
    question: tuple[Column, ...]
    reference: Reference | None
    reference_set: str


def hash_tables(data_dirs: Iterable[Path], tables: Iterable[str]) -> str:
    """Hash of tables as they are on disk; equal content has equal bytes.

    Optional tables of releases that a folder lacks are not read: they follow from its programs and designs.

    Returns: first 32 hexadecimal digits of the SHA-256.
    Raises:  DatasetError: a table is missing.
    """
    digest = hashlib.sha256()
    tables, optional = tuple(tables), tables_of_role("optional")
    for folder in data_dirs:
        for name in (t for t in tables if t not in optional or has_table(folder, t)):
            for path in table_files(folder, name):
                digest.update(f"{name}/{path.name}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def has_table(data_dir: Path, name: str) -> bool:
    """Whether a folder has files of a table."""
    return any((data_dir / "tables" / name).glob("*.parquet"))


def table_files(data_dir: Path, name: str) -> list[Path]:
    """Parquet files of a table.

    Raises: DatasetError: there are none.
    """
    files = sorted((data_dir / "tables" / name).glob("*.parquet"))
    if not files:
        raise DatasetError(
            f"no Parquet files of table {name} ({data_dir / 'tables' / name}); "
            "make the data first with `simfoundry run`"
        )
    return files


def labels_task(level: Level, question: tuple[Column, ...] = ()) -> Task:
    """Area, flip-flops and cycles of a program under one configuration, at a level of information."""
    return Task(
        name=f"labels-{level}",
        tables=LABEL_TABLES,
        targets=_LABELS,
        level=level,
        metric="absolute percentage error, at most 100 %, mean over targets and designs of a program",
        baseline="median of each target over the training part",
        question=question or QUERY,
        reference=Reference(
            release="releases/v2",
            split="by_kernel_v2",
            parts=("test", "evaluation"),
            minimum_programs=100,
        ),
        reference_set="models.gate:label_reference",
    )


def labels_and_power_task(level: Level) -> Task:
    """The same labels and power.

    At levels hls and run the trivial answers to area and flip-flops are the engine's own estimates.
    """
    task = labels_task(level)
    of_hls = level in ("hls", "run")
    hls = ("features", "loop_profiles")
    derived = {"hls": hls, "run": (*hls, "run_features")}
    return replace(
        task,
        name=f"labels-power-{level}",
        tables=(*task.tables, *derived.get(level, ())),
        question=RUN_QUERY if level == "run" else task.question,
        targets={**_LABELS, "power_mw": "mW"},
        baseline="the engine's own estimate of area and flip-flops; "
        "median of cycles and of power over the training part"
        if of_hls
        else task.baseline,
        reference_set=f"models.gate:{'hls_reference' if of_hls else 'label_power_reference'}",
    )


def all_labels_task(level: Level, *, tables: tuple[str, ...] = LABEL_TABLES) -> Task:
    """The same labels, power and the longest path.

    Args: tables: read for training.
    """
    task = labels_and_power_task(level)
    return replace(
        task,
        name=f"labels-power-delay-{level}",
        tables=tables,
        targets={**task.targets, "delay_ns": "ns"},
    )


_LABELS = {"area_um2": "um2", "flip_flop_count": "1", "latency_cycles": "cycle"}
_EXAMPLE_SOURCE = "void scale(int x[8]) { for (int i = 0; i < 8; i++) x[i] = 3 * x[i]; }\n"
QUERY = (
    Column(name="source", kind="string", example=_EXAMPLE_SOURCE),
    Column(name="top", kind="string", example="scale"),
    Column(name="memory_read_delay_cycles", kind="long", unit="cycle", example=2),
    Column(name="memory_write_delay_cycles", kind="long", unit="cycle", example=2),
    Column(name="clock_period_ns", unit="ns", example=10.0),
    Column(name="directives", kind="string", example="[]"),
    Column(name="data", kind="string", example="", required=False),
    Column(name="trips", kind="string", example="", required=False),
    Column(name="unsafe_math", kind="long", example=0, required=False),
)
"""Fields of `models.labelled.Query` but the input specification."""
RUN_QUERY = (*QUERY, Column(name="inputs", kind="string", example="{}"))
"""Fields of `models.labelled.Query`."""

NETWORK_LATENCY = Task(
    name="network-latency",
    tables=NETWORK_TABLES,
    targets={"rtt_mean_us": "us"},
    level="network",
    metric="absolute percentage error of mean round trips, at most 100 %, mean over flows of a network",
    baseline="queueing theory without correction",
    question=(
        Column(name="pods", kind="long", example=4),
        Column(name="pattern", kind="string", example="incast"),
        Column(name="load", example=0.5),
        Column(name="arrivals", kind="string", example="ge"),
        Column(name="scv", example=4.0),
        Column(name="routing", kind="string", example="ecmp"),
        Column(name="seed", kind="long", example=1),
    ),
    reference=Reference(
        release="releases/network-v1",
        split="group",
        parts=("grid-16", "grid-128"),
        minimum_programs=100,
    ),
    reference_set="models.gate:network_reference",
)

PRAGMA_LATENCY = Task(
    name="pragma-latency",
    tables=("programs", "splits", "pragma_designs"),
    targets={"latency_cycles": "cycle"},
    level="directives",
    metric="absolute percentage error, at most 100 %, mean over configurations of a program",
    baseline="the proven bound",
    question=(
        Column(name="source", kind="string", example=_EXAMPLE_SOURCE),
        Column(name="top", kind="string", example="scale"),
        Column(name="configuration", kind="string", example="{}"),
    ),
    reference=Reference(
        release="releases/pragmas-v1",
        split="by_kernel_v1",
        parts=("test", "evaluation"),
        minimum_programs=10,
    ),
    reference_set="models.gate:pragma_reference",
)

_EXAMPLE_FABRIC = (
    '{"name": "small", "rows": 1, "columns": 2, "pattern": ["CM"], "link_words": 1, "port_words": 1, '
    '"operations": {"gemm": {"unit": "compute", "rate": 1}, "buffer": {"unit": "memory", "rate": 1}}}'
)
_EXAMPLE_GRAPH = (
    '{"name": "one", "nodes": [{"name": "x", "kind": "buffer", "stage": 0, "work": 8}, '
    '{"name": "y", "kind": "gemm", "stage": 1, "work": 8}], '
    '"edges": [{"source": "x", "target": "y", "words": 8}]}'
)
PLACEMENT_THROUGHPUT = Task(
    name="placement-throughput",
    tables=("fabric_graphs", "fabric_nodes", "fabric_edges", "placements"),
    targets={"throughput": "1"},
    level="placements",
    metric="absolute percentage error of throughput, at most 100 %, mean over placements of a graph",
    baseline="the heuristic: isolated rates and estimated congestion",
    question=(
        Column(name="graph", kind="string", example=_EXAMPLE_GRAPH),
        Column(name="fabric", kind="string", example=_EXAMPLE_FABRIC),
        Column(name="units", kind="string", example="1 0"),
        Column(name="routes", kind="string", example="w"),
    ),
    reference=Reference(
        release="releases/fabric-v1",
        split="fold",
        parts=("blocks-present 0", "models-present"),
        minimum_programs=50,
    ),
    reference_set="models.gate:placement_reference",
)

_EXAMPLE_COMPILED = (
    '{"block_kinds": ["matmul"], "block_parameters": [20], "block_counts": '
    "[2, 2, 5, 5, 1, 2, 1, 1, 1, 0, 0, 1, 2, 4, 1, 1, 1, 1, 1, 0], "
    '"edge_sources": [], "edge_targets": [], "estimated_cycles": 60, "multiplications": 16}'
)
ACCELERATOR_POWER = Task(
    name="accelerator-power",
    tables=("accelerators", "compiled_networks", "accelerator_labels"),
    targets={"power_mw": "mW", "energy_nj": "nJ"},
    level="compilation",
    metric="absolute percentage error, at most 100 %, mean over power and energy of a pair",
    baseline="unit energies of commands, scaled to the median of the training part",
    question=(
        Column(name="hardware", kind="string", example="{}"),
        Column(name="compiled", kind="string", example=_EXAMPLE_COMPILED),
    ),
    reference=Reference(
        release="releases/accelerators-v2",
        split="random",
        parts=("test",),
        minimum_programs=40,
    ),
    reference_set="models.gate:accelerator_reference",
)

_EXAMPLE_FIXED = (
    '{"layer_kinds": ["matmul"], "layer_parameters": [20], "latency_cycles": 2, "reuse_factor": 1, '
    '"stage_counts": [4, 9, 0, 8, 0, 0, 0, 0, 32, 90, 0, 64, 0, 0, 0, 0, 32, 3], '
    '"stage_activity": [61, 0, 14]}'
)
FIXED_POWER = Task(
    name="fixed-power",
    tables=("fixed_networks",),
    targets={"power_mw": "mW", "energy_nj": "nJ"},
    level="compilation",
    metric="absolute percentage error, at most 100 %, mean over power and energy of a network",
    baseline="bits of adders and registers, scaled to the median of the training part",
    question=(Column(name="compiled", kind="string", example=_EXAMPLE_FIXED),),
    reference=Reference(
        release="releases/fixed-v2",
        split="random",
        parts=("test",),
        minimum_programs=40,
    ),
    reference_set="models.gate:fixed_reference",
)

PROGRAM_VARIANTS = Task(
    name="program-variants",
    tables=("programs", "splits"),
    targets={},
    level="programs",
    metric="share of programs of which no accepted variant is generated",
    baseline="a network with random weights under the same grammar",
    question=(
        Column(name="source", kind="string", example=_EXAMPLE_SOURCE),
        Column(name="seed", kind="long", example=0),
    ),
    reference=Reference(release="releases/v1", split="by_kernel_v1", parts=("test",), minimum_programs=50),
    reference_set="models.gate:program_reference",
)

RTL_ENGINE = Task(
    name="rtl-engine",
    tables=("simulations",),
    targets={},
    level="rtl",
    metric="time of the chosen engine over that of the fastest, minus 1, at most 1, mean over 10^3, 10^5 and "
    "10^7 cycles of a design",
    baseline="Verilator",
    question=(
        Column(
            name="verilog", kind="string", example="module top (input a, output b); assign b = a; endmodule"
        ),
        Column(name="top", kind="string", example="top"),
        Column(name="cycles", kind="long", unit="cycle", example=100_000),
        Column(name="engines", kind="string", example="reuse verilator"),
    ),
    reference=Reference(
        release="releases/rtl-v1",
        split="group",
        parts=("gemmini", "mesh", "soc_4", "wide"),
        minimum_programs=10,
    ),
    reference_set="models.gate:engine_reference",
)
