"""Growth of the nightly run: more generated programs every night, as many as a budget of core-hours labels.

A night has the programs of the night before, whose labels are in the cache, and further ones. They are drawn
by number and not chosen by value, since every choice missed its goal; see docs/labelling.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from assets.errors import FoundryError
from assets.settings import Configuration, Run
from assets.suites import shards
from pipelines.programs import AST, DATAFLOW
from pipelines.schemas import OK, read_arrow, scan_table, table_spec, write_bytes_atomically

GROWING = (AST, DATAFLOW)
"""Suites that grow: programs of any number, each by its own seed."""
GROWTH_FILE = "growth.json"
_SECONDS = "_wall_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Generated programs of a night.

    Attributes:
        counts: programs by suite. added: of them, more than the night before.
        program_s: measured seconds of labelling a program, by suite; a suite that is not labelled has none.
    """

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    added: Mapping[str, int] = field(default_factory=dict[str, int])
    program_s: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def expected_core_hours(self) -> float:
        """Core-hours of labelling the programs that are added."""
        return sum(count * self.program_s[suite] for suite, count in self.added.items() if count) / 3600


def choose_growth(configuration: Configuration, data_dir: Path) -> Growth:
    """Choose how many programs the next night has, and keep it beside the tables.

    The budget `run.nightly.budget_core_hours` is shared equally among the suites. A suite whose last night
    did not label every program does not grow, so that a night that failed is made up first.

    Raises: OSError: the folder is not writable. FoundryError: the file of the night before is damaged.
            SchemaError: a table is damaged.
    """
    suites = [suite for suite in GROWING if suite in configuration.programs.suites]
    before = _read_counts(data_dir)
    budget_s = 3600 * configuration.group(Run).nightly.budget_core_hours / max(1, len(suites))
    counts, added, program_s = dict[str, int](), dict[str, int](), dict[str, float]()
    for suite in suites:
        counts[suite] = max(before.get(suite, 0), getattr(configuration, suite).count)
        known_s = _program_seconds(grow_configuration(configuration, counts), suite, data_dir)
        if known_s is not None:
            program_s[suite] = known_s
        added[suite] = 0 if known_s is None else int(budget_s / known_s)
        counts[suite] += added[suite]
    growth = Growth(counts=counts, added=added, program_s=program_s)
    if any(added.values()):
        write_bytes_atomically(data_dir / GROWTH_FILE, json.dumps(asdict(growth)).encode())
    return growth


def grow_configuration(configuration: Configuration, counts: Mapping[str, int]) -> Configuration:
    """Return the configuration with more generated programs."""
    groups = {
        name: getattr(configuration, name).model_copy(update={"count": n}) for name, n in counts.items()
    }
    return configuration.model_copy(update=groups)


def _read_counts(data_dir: Path) -> dict[str, int]:
    """Return the programs by suite of the night before.

    Raises: FoundryError: the file is damaged.
    """
    path = data_dir / GROWTH_FILE
    try:
        counts = json.loads(path.read_bytes())["counts"]
        return {suite: int(counts[suite]) for suite in GROWING if suite in counts}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise FoundryError(f"damaged: {path}; remove it to begin with the programs of the scale") from error


def _program_seconds(configuration: Configuration, suite: str, data_dir: Path) -> float | None:
    """Return the mean seconds of labelling a program of a suite; None unless all are labelled."""
    parts = [shard.partition for shard in shards(configuration) if shard.suite == suite]
    names = ("programs", "designs", "labels")
    try:
        tables = {name: scan_table(data_dir, table_spec(name), parts).collect() for name in names}
    except FileNotFoundError:  # the suite has had no night
        return None
    programs, designs = tables["programs"], tables["designs"].filter(status=OK)
    waiting = programs.filter(status=OK).join(tables["designs"], on="program_id", how="anti").height
    waiting += designs.join(tables["labels"], on="design_id", how="anti").height
    if waiting or programs.height < getattr(configuration, suite).count:
        return None
    timed = (path for part in parts for path in (data_dir / "measured").glob(f"*/{part}.parquet"))
    return sum(map(_seconds_of, timed)) / programs.height or None


def _seconds_of(path: Path) -> float:
    content = read_arrow(path)
    times = (content[name].to_pylist() for name in content.column_names if name.endswith(_SECONDS))
    return sum(value for column in times for value in column if value is not None)
