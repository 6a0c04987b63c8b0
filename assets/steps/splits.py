"""Splits: the place of every program in the frozen split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any

from assets.checks import CheckedFile, CheckRule
from assets.engines import FEATURES, PROGRAMS
from assets.settings import Group, Listener, Settings
from assets.step import Output, Step, read_rows, whole
from assets.suites import partitions
from pipelines.dataset.splits import EVALUATION, evaluation_twins, freeze_split
from pipelines.programs import cached_ast_hash, cached_signature
from pipelines.schemas import OK, ProgramRow, SchemaError, read_table, table_spec


class Features(Group):
    """The frozen split."""

    split: str


def make_splits(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the place of every program in the frozen split; earlier places stay.

    The file has no places of programs that the configuration leaves out, so that it does not depend on
    earlier runs; the rule of the split gives them the same place when they return.
    """
    del listen  # seconds at most
    programs = [
        row for suite in partitions(settings.configuration) for row in read_rows(settings, "programs", suite)
    ]
    places = freeze_split(
        programs,
        name=partition,
        existing=_existing_places(settings, partition),
        signature_of=partial(cached_signature, cache=settings.cache),
    )
    present = {program.program_id for program in programs}
    return Output(rows={"splits": [place for place in places if place.program_id in present]})


def _existing_places(settings: Settings, split: str) -> list[Any]:
    """Return the earlier places; none when there is no readable file, for then they are drawn again."""
    try:
        return read_table(settings.deployment.data_dir, table_spec("splits"), [split])
    except (FileNotFoundError, SchemaError):
        return []


def split_leaks(file: CheckedFile) -> list[str]:
    """Return the programs without a place, and groups, names or sources of ok programs on two sides."""
    places = {row["program_id"]: row for row in file.rows}
    programs = file.neighbour("programs")
    problems = [
        f"no place in the split: {p['name']} ({p['program_id']})"
        for p in programs
        if p["program_id"] not in places
    ]
    problems += _two_sides("group", ((r["group"], r["part"]) for r in places.values()))
    placed = [(p, places[p["program_id"]]["part"]) for p in programs if p["program_id"] in places]
    problems += _two_sides("program name", ((p["name"], part) for p, part in placed))
    problems += _two_sides("source", ((p["source"], part) for p, part in placed if p["status"] == OK))
    return problems


def _two_sides(what: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    sides: defaultdict[str, set[str]] = defaultdict(set)
    for value, part in pairs:
        sides[value].add(part)
    return [
        f"a {what} must stand on one side of the split, got {value[:60]!r} on {sorted(parts)}"
        for value, parts in sides.items()
        if len(parts) > 1
    ]


def mixed_evaluation_programs(file: CheckedFile) -> list[str]:
    """Return training programs that equal an evaluation program, and evaluation programs in another part."""
    rows = file.rows if file.table == "programs" else file.neighbour("programs")
    programs = [ProgramRow(**row) for row in rows]
    problems = evaluation_twins(programs, partial(cached_ast_hash, cache=file.settings.cache))
    parts = {r["program_id"]: r["part"] for r in file.rows} if file.table == "splits" else {}
    return problems + [
        f"an evaluation program must be in part {EVALUATION}, got {p.name} in {part}"
        for p in programs
        for part in [parts.get(p.program_id)]
        if part is not None and p.stage == EVALUATION and part != EVALUATION
    ]


_NO_LEAK = CheckRule("no_leak", "No program, name or source stands on two sides of the split.", split_leaks)
EVALUATION_APART = CheckRule(
    "evaluation_apart",
    "No program for training equals an evaluation program by its normalised syntax tree.",
    mixed_evaluation_programs,
)
BY_SPLIT = whole(lambda configuration: configuration.features.split)
"""One file, named after the split."""

STEP = Step(
    name="splits",
    description="The frozen split, over the programs of all suites.",
    run=make_splits,
    tables=("splits",),
    reads=("programs",),
    partitioned=BY_SPLIT,
    configuration={"features": Features},
    parameters=("features",),
    engines=(PROGRAMS, FEATURES),
    checks={"splits": [_NO_LEAK, EVALUATION_APART]},
    persist=("splits",),
)
