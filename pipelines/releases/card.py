"""The card of a release: what is in it, how it was made, how to use it, what it does not say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.releases.manifest import Manifest
from pipelines.schemas import OK, table_spec
from pipelines.schemas.documentation import markdown_table, table_section

Tables = Mapping[str, pa.Table]

REASONS_SHOWN = 12
REASON_LENGTH = 110
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
LABELS = {
    "designs": ("state_count", "functional_unit_count", "register_bits"),
    "labels": ("area_um2", "cell_count", "flip_flop_count", "delay_ns", "leakage_mw"),
    "runs": ("latency_cycles", "power_mw", "energy_nj"),
    "network_runs": ("delay_mean_ns", "rtt_mean_ns", "rtt_p99_ns", "busiest_utilisation"),
}
"""Columns whose distribution the card shows, by table, as far as they are declared."""


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
    """The card.

    Args: tables: rows of each released table, all partitions.
    """
    parts = [
        _introduction(manifest),
        _contents(manifest),
        _counts(tables),
        _networks(tables),
        _distributions(tables),
        _failures(tables),
        _making(manifest, reproduction),
        _LIMITS + (_NETWORK_LIMITS if NETWORKS in tables else ""),
        _LICENCE,
        _columns(manifest),
    ]
    return "\n".join(part for part in parts if part)


def _introduction(manifest: Manifest) -> str:
    return _INTRODUCTION.replace("NAME", manifest.name)


_INTRODUCTION = """\
# NAME

C programs under hardware configurations, with labels from high-level synthesis, cycle-exact runs, logic
synthesis and power. Each label that is `ok` was checked: every output of the hardware equals the same C
compiled natively.

    simfoundry import releases/NAME

checks every file against its SHA-256 and fills the tables and the content cache, so that nothing is
labelled again. The files are plain Parquet: DuckDB, pandas and polars read them directly.

    SELECT * FROM 'releases/NAME/tables/labels/*.parquet' WHERE status = 'ok'
"""


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
    """Rows by stage of the program, suite and status, of every table that has a status."""
    stage_of = _lookup(tables.get("programs"), "program_id", ("stage", "suite"))
    program_of = _lookup(tables.get("designs"), "design_id", ("program_id",))
    statuses: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    for table, content in tables.items():
        if "status" not in content.column_names or table in ("cross_checks", NETWORKS):
            continue
        for place, status in zip(
            _places(content, stage_of, program_of), _column(content, "status"), strict=True
        ):
            statuses.setdefault(place, Counter())[(table, status)] += 1
    rows = [
        (
            stage,
            suite,
            table,
            str(sum(n for (t, _), n in counts.items() if t == table)),
            _shares(counts, table),
        )
        for (stage, suite), counts in sorted(statuses.items())
        for table in tables
        if any(t == table for t, _ in counts)
    ]
    return "## Rows by stage and status\n\n" + markdown_table(
        ("stage", "suite", "table", "rows", "status"), rows
    )


def _networks(tables: Tables) -> str:
    """Runs by group, network and status; nothing when there are none."""
    if NETWORKS not in tables:
        return ""
    columns = [_column(tables[NETWORKS], name) for name in ("group", "network", "protocol", "status")]
    statuses: dict[tuple[str, ...], Counter[tuple[str, str]]] = {}
    for *place, status in zip(*columns, strict=True):
        statuses.setdefault(tuple(place), Counter())[(NETWORKS, status)] += 1
    rows = [
        (*place, str(counts.total()), _shares(counts, NETWORKS)) for place, counts in sorted(statuses.items())
    ]
    head = ("group", "network", "protocol", "runs", "status")
    return "## Simulated networks\n\n" + _NETWORKS + "\n" + markdown_table(head, rows)


NETWORKS = "network_runs"
_NETWORKS = """\
Packets through whole networks: each run with its flows, and each flow at each queue of its way, beside what
queueing theory says of them. `configuration` of a run is all that it can be made again from.
"""


def _shares(counts: Mapping[tuple[str, str], int], table: str) -> str:
    own = {status: n for (t, status), n in counts.items() if t == table}
    return ", ".join(f"{n} {status}" for status, n in sorted(own.items(), key=lambda s: (-s[1], s[0])))


def _places(
    content: pa.Table,
    stage_of: Mapping[str, tuple[str, ...]],
    program_of: Mapping[str, tuple[str, ...]],
) -> Iterable[tuple[str, str]]:
    """Stage and suite of each row's program."""
    if "program_id" in content.column_names:
        programs = _column(content, "program_id")
    else:
        programs = [program_of.get(d, ("",))[0] for d in _column(content, "design_id")]
    return [(found[0], found[1]) for found in (stage_of.get(p, ("", "")) for p in programs)]


def _lookup(content: pa.Table | None, key: str, values: Sequence[str]) -> dict[str, tuple[str, ...]]:
    if content is None:
        return {}
    return dict(
        zip(_column(content, key), zip(*(_column(content, v) for v in values), strict=True), strict=True)
    )


def _column(content: pa.Table, name: str) -> list[Any]:
    return content.column(name).to_pylist()


def _distributions(tables: Tables) -> str:
    rows: list[tuple[str, ...]] = []
    for table, columns in LABELS.items():
        content = tables.get(table)
        for name in columns:
            if content is None or name not in content.column_names:
                continue
            values = content.column(name).drop_null()
            if len(values):
                unit = next(c.unit for c in table_spec(table).columns if c.name == name) or ""
                found = pc.quantile(values, q=list(QUANTILES)).to_pylist()
                rows.append((f"{table}.{name}", unit, str(len(values)), *(f"{float(v):.4g}" for v in found)))
    head = ("column", "unit", "values", *(f"{q:.0%}" for q in QUANTILES))
    return "## Quantiles of the labels\n\n" + markdown_table(head, rows) if rows else ""


def _failures(tables: Tables) -> str:
    counts: Counter[tuple[str, str, str]] = Counter()
    for table, content in tables.items():
        if not {"status", "reason"} <= set(content.column_names):
            continue
        for status, reason in zip(_column(content, "status"), _column(content, "reason"), strict=True):
            if status != OK:
                counts[(table, status, " ".join((reason or "no reason").split())[:REASON_LENGTH])] += 1
    if not counts:
        return "## Failures\n\nNo row failed.\n"
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [(table, status, str(n), reason) for (table, status, reason), n in ordered[:REASONS_SHOWN]]
    more = len(ordered) - len(rows)
    hidden = f"\nand {more} more reasons, see the column `reason`.\n" if more else ""
    head = ("table", "status", "rows", "reason")
    return "## Failures\n\nA failed attempt is a row.\n\n" + markdown_table(head, rows) + hidden


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

_LIMITS = """\
## Limits

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
