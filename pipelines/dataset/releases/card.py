"""The card of a release: contents, use, reproduction, limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from pipelines.dataset.releases.croissant import hub_header
from pipelines.dataset.releases.manifest import Manifest
from pipelines.dataset.releases.review import review_text
from pipelines.hls import later_rules
from pipelines.schemas import OK, table_spec, to_frame
from pipelines.schemas.documentation import markdown_table, ordered_tables, table_section

Tables = Mapping[str, pa.Table]

NETWORKS = "network_runs"
PLACEMENTS = "placements"
SEARCHES = "pragma_designs"
REASONS_SHOWN = 12
REASON_LENGTH = 110
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
MAKERS = {"labels": ("tool", "liberty")}
"""Columns by table that say what made a row: figures of different tools and libraries are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """How the tables come to be again.

    Attributes:
        commands: to type, in order.
        seeds: by what is drawn from them.
        notes: anything else that must be the same, a line each.
    """

    commands: tuple[str, ...]
    seeds: Mapping[str, str]
    notes: tuple[str, ...] = ()


def card_text(manifest: Manifest, tables: Tables, reproduction: Reproduction) -> str:
    """Return the card.

    Args: tables: rows of each released table, all partitions.
    """
    parts = [
        _introduction(manifest),
        _contents(manifest),
        _counts(tables),
        _networks(tables),
        _placements(tables),
        _searches(tables),
        _distributions(tables),
        _failures(tables),
        review_text(manifest.name, tables),
        _making(manifest, reproduction),
        _limits(manifest, tables),
        _LICENCE,
        _columns(manifest),
    ]
    return hub_header(manifest) + "\n".join(part for part in parts if part)


def about_release(manifest: Manifest) -> str:
    """Describe a release in one paragraph."""
    return _ABOUT[main_table(manifest)].replace("\n", " ")


def main_table(manifest: Manifest) -> str:
    """Return the table that says what a release is about; `programs` where no other one is released."""
    return next((table for table in _ABOUT if table in manifest.rows), "programs")


def _introduction(manifest: Manifest) -> str:
    shown = main_table(manifest)
    about = _ABOUT[shown] + (_PENDING.format(len(manifest.pending)) if manifest.pending else "")
    return _INTRODUCTION.replace("ABOUT", about).replace("TABLE", shown).replace("NAME", manifest.name)


_INTRODUCTION = """\
# NAME

ABOUT

    simfoundry import releases/NAME

checks every file against its SHA-256 and fills the tables and the content cache, so that nothing is
labelled again. The files are plain Parquet: DuckDB, pandas and polars read them directly.

    SELECT * FROM 'releases/NAME/tables/TABLE/*.parquet' WHERE status = 'ok'
"""

_PENDING = """

**The release is being made**: {} of its partitions are pending; their rows are not there yet."""

_ABOUT = {
    NETWORKS: """\
Networks simulated packet by packet: runs, their flows, and each flow at each queue of its path, with the
estimates of queueing theory.""",
    "labels": """\
C programs under hardware configurations, with labels from high-level synthesis, cycle-exact runs, logic
synthesis and power. Each label that is `ok` was checked: every output of the hardware equals the same C
compiled natively.""",
    PLACEMENTS: """\
Dataflow graphs and their placements on reconfigurable fabrics, with routes, simulated throughput and the
heuristic's estimate.""",
    SEARCHES: """\
C programs and the directive configurations that searches tried, with measured cycles and proven lower
bounds.""",
    "accelerator_labels": """\
Neural networks compiled for systolic accelerators, and for a part of them power, energy and cycles of the
netlist on the network's data.""",
    "fixed_networks": """\
Neural networks as fixed-point pipelines, with cycles of every one and power and energy of a part of
them.""",
    "simulations": """\
Hardware designs with random inputs, each simulated by several engines: time of the build, time per cycle,
and a digest of the outputs.""",
    "programs": """\
C programs and some of the tables about them, without labels.""",
}
"""What a release is about, by its main table: the first of these that it has."""


def _contents(manifest: Manifest) -> str:
    sizes: Counter[str] = Counter()
    for file in manifest.files:
        if file.table is not None:
            sizes[file.table] += file.bytes
    rows = [
        (f"`{name}`", str(count), f"{sizes[name] / 1024:.0f}", table_spec(name).description)
        for name, count in manifest.rows.items()
    ]
    text = "## What is in it\n\n" + markdown_table(("table", "rows", "KiB", "one row is"), rows)
    left = "".join(f"\n`{name}` is left out: {why}.\n" for name, why in manifest.left_out.items())
    return text + left + _FILES


_FILES = """
`tables/<table>/<partition>-<shard>.parquet` are the rows, a partition a suite; `measured/` has the wall-clock
columns of the same rows by key; `params.yaml` is the configuration; `manifest.json` and `measured.json` have
the SHA-256, rows and bytes of each file.
"""


# ---- counts ----------------------------------------------------------------------------------------


def _counts(tables: Tables) -> str:
    """Return the rows by stage and suite of the program, table and status, of all tables of attempts."""
    programs = _scan(tables, "programs", "program_id", "stage", "suite")
    designs = _scan(tables, "designs", "design_id", "program_id")
    attempts: list[pl.LazyFrame] = []
    for place, (table, content) in enumerate(tables.items()):
        keys = [key for key in ("program_id", "design_id") if key in content.column_names]
        if "status" not in content.column_names or table in ("cross_checks", SEARCHES) or not keys:
            continue
        key = keys[0]
        rows = _scan(tables, table, key, "status")
        rows = rows if key == "program_id" else rows.join(designs, on=key, how="left")
        rows = rows.join(programs, on="program_id", how="left")
        stage_and_suite = pl.col("stage", "suite").fill_null("")
        attempts.append(rows.select(stage_and_suite, "status", table=pl.lit(table), place=pl.lit(place)))
    statuses = _statuses(pl.concat(attempts), ("stage", "suite", "place", "table")) if attempts else ()
    head = ("stage", "suite", "table", "rows", "status")
    rows = [(stage, suite, *others) for stage, suite, _, *others in statuses]
    return "## Rows by stage and status\n\n" + markdown_table(head, rows)


def _scan(tables: Tables, table: str, *names: str) -> pl.LazyFrame:
    """Return the columns of a table; text columns without rows when it is not released."""
    if table not in tables:
        return pl.LazyFrame(schema=dict.fromkeys(names, pl.String))
    return to_frame(tables[table].select(names)).lazy()


def _statuses(rows: pl.LazyFrame, places: Sequence[str]) -> list[tuple[str, ...]]:
    """Return places in order, each with the number of its rows and with its statuses, the commonest first."""
    counts = rows.group_by(*places, "status").agg(rows=pl.len())
    counts = counts.sort("rows", "status", descending=[True, False])
    shown = pl.format("{} {}", "rows", "status").str.join(", ").alias("statuses")
    by_place = counts.group_by(places, maintain_order=True).agg(pl.col("rows").sum(), shown)
    return [tuple(map(str, row)) for row in by_place.sort(places).collect().iter_rows()]


_NETWORKS = """\
Packets through whole networks: each run with its flows, and each flow at each queue of its way, beside what
queueing theory says of them. `configuration` of a run is all that it can be made again from.
"""


def _networks(tables: Tables) -> str:
    """Return the runs by group, network and status; nothing when there are none."""
    if NETWORKS not in tables:
        return ""
    head = ("group", "network", "protocol", "runs", "status")
    rows = _statuses(_scan(tables, NETWORKS, *head[:3], "status"), head[:3])
    return "## Simulated networks\n\n" + _NETWORKS + "\n" + markdown_table(head, rows)


_PLACEMENTS = """\
Dataflow graphs on reconfigurable fabrics: placements, routes, simulated throughput, and the
heuristic's estimate. `configuration` of a graph is its fabric.
"""


def _placements(tables: Tables) -> str:
    """Return the placements by group, fabric, family and status; nothing when there are none."""
    if PLACEMENTS not in tables:
        return ""
    graphs = _scan(tables, "fabric_graphs", "graph_id", "group", "fabric", "family")
    rows = _scan(tables, PLACEMENTS, "graph_id", "status").join(graphs, on="graph_id", how="left")
    head = ("group", "fabric", "family", "placements", "status")
    table = markdown_table(head, _statuses(rows, head[:3]))
    return "## Placements\n\n" + _PLACEMENTS + "\n" + table


_SEARCHES = """\
Configurations of directives that searches tried, each with a lower bound on its cycles and the cycles that
were measured.
"""


def _searches(tables: Tables) -> str:
    """Return the steps of searches by suite, method and status; nothing when there are none."""
    if SEARCHES not in tables:
        return ""
    head = ("suite", "method", "steps", "status")
    rows = _statuses(_scan(tables, SEARCHES, *head[:2], "status"), head[:2])
    return "## Searches for directives\n\n" + _SEARCHES + "\n" + markdown_table(head, rows)


def _distributions(tables: Tables) -> str:
    rows: list[tuple[str, ...]] = []
    for spec in ordered_tables(table_spec(name) for name in tables):
        table, declared = spec.name, tables[spec.name].column_names
        names, makers = ([n for n in group if n in declared] for group in (spec.card, MAKERS.get(table, ())))
        for maker, values in _by_maker(_scan(tables, table, *makers, *names), makers):
            for column in (values[name] for name in names if values[name].count()):
                unit = next(c.unit for c in table_spec(table).columns if c.name == column.name) or ""
                levels = [f"{column.quantile(q, 'linear'):.4g}" for q in QUANTILES]
                rows.append((f"{table}.{column.name}", maker, unit, str(column.count()), *levels))
    head = ("column", "tool, library", "unit", "values", *(f"{q:.0%}" for q in QUANTILES))
    return "## Quantiles of the labels\n\n" + markdown_table(head, rows) if rows else ""


def _by_maker(rows: pl.LazyFrame, makers: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the rows of each combination of some columns, with its name, in order of the names."""
    content = rows.collect()
    if not makers:
        yield "", content
        return
    for key, own in sorted(content.partition_by(makers, as_dict=True).items(), key=str):
        yield ", ".join(str(value) for value in key if value is not None), own


def _failures(tables: Tables) -> str:
    failed = [
        _scan(tables, table, "status", "reason")
        .filter(pl.col("status") != OK)
        .with_columns(table=pl.lit(table))
        for table, content in tables.items()
        if {"status", "reason"} <= set(content.column_names)
    ]
    reason = pl.col("reason").fill_null("").replace("", "no reason")
    shown = reason.str.replace_all(r"\s+", " ").str.strip_chars().str.slice(0, REASON_LENGTH)
    key = ("table", "status", "reason")
    rows = pl.concat(failed) if failed else pl.LazyFrame(schema=dict.fromkeys(key, pl.String))
    counts = rows.with_columns(reason=shown).group_by(key).agg(rows=pl.len())
    ordered = counts.sort("rows", *key, descending=[True, False, False, False]).collect()
    if ordered.is_empty():
        return "## Failures\n\nNo row failed.\n"
    columns = ordered.head(REASONS_SHOWN).select("table", "status", pl.col("rows").cast(pl.String), "reason")
    more = ordered.height - columns.height
    hidden = f"\nand {more} more reasons, see the column `reason`.\n" if more else ""
    head = ("table", "status", "rows", "reason")
    return "## Failures\n\nA failed attempt is a row.\n\n" + markdown_table(head, columns.rows()) + hidden


# ---- making ----------------------------------------------------------------------------------------


def _making(manifest: Manifest, reproduction: Reproduction) -> str:
    commands = "".join(f"    {command}\n" for command in reproduction.commands)
    seeds = markdown_table(("seed of", "value"), [(k, v) for k, v in reproduction.seeds.items()])
    tools = markdown_table(
        ("tool", "version"),
        [
            *((name, version) for name, version in manifest.toolset.tools.items()),
            *((f"library {name}", f"{digest}") for name, digest in manifest.toolset.liberties.items()),
        ],
    )
    notes = "".join(f"\n{note}\n" for note in reproduction.notes)
    return f"## How to make it again\n\n{commands}\n{_SAME_BYTES}{notes}\n{seeds}\n{tools}"


_SAME_BYTES = """\
With the tools below, every file but `measured.json` and those it lists comes out with the same bytes.
Wall-clock times differ between any two runs.
"""

_LABEL_LIMITS = """\
* Area, delay, leakage and power are those of a mapped netlist before placement and routing: no wire beyond
  the library's pin capacitances, no clock tree.
* There are no memory macros. Arrays of the interface lie outside of the design with the delays of the row;
  arrays inside are flip-flops.
* `latency_cycles` holds for the data of the row's seed. Programs whose control flow depends on data have
  other counts on other data.
* A time limit decides between `ok` and `timeout`; on a much slower machine more rows can be `timeout`.
* Programs of the generated stages are random: their distribution is that of the generators and their options
  in `params.yaml`, not that of programs people write.
"""

_CHANGED = """\
* Programs that write objects of file scope or static variables, that have no outputs, or that use `volatile`
  have other designs, or none, in later versions of the engine: {programs} of {all_programs} programs that are
  ok, {designs} of {all_designs} designs.
"""


def _limits(manifest: Manifest, tables: Tables) -> str:
    labelled = _LABEL_LIMITS if "labels" in manifest.rows else ""
    networks = _NETWORK_LIMITS if NETWORKS in tables else ""
    limits = labelled + _changed_designs(tables) + networks
    return f"## Limits\n\n{limits}" if limits else ""


def _changed_designs(tables: Tables) -> str:
    """Return the number of designs that later rules of the engine change, in words."""
    if not {"programs", "designs"} <= tables.keys():
        return ""
    programs = [row for row in tables["programs"].to_pylist() if row["status"] == OK]
    changed = {p["program_id"] for p in programs if later_rules(p["source"], p["top"])}
    designs = tables["designs"].column("program_id").to_pylist()
    return _CHANGED.format(
        programs=len(changed),
        all_programs=f"{len(programs):,}",
        designs=sum(identity in changed for identity in designs),
        all_designs=f"{len(designs):,}",
    )


_NETWORK_LIMITS = """\
* Networks are simulated packet by packet, not measured on machines; packets of the warm-up are not counted.
  Columns `entropy_*` and `tree_*` are estimates of queueing theory.
"""

_LICENCE = """\
## Licence

The text of this card, the tables and the programs that the project wrote or generated are under the project's
licence, Apache-2.0.
"""


def _columns(manifest: Manifest) -> str:
    sections = "\n".join(table_section(table_spec(name)) for name in manifest.rows)
    return f"# Columns\n\n{sections}"
