"""Drawing a program's dialect, and its row in that dialect."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from random import Random

from pipelines.base.identity import content_hash
from pipelines.base.summation import ordered_sum
from pipelines.programs.dialects.styles import STYLES, set_includes
from pipelines.programs.dialects.unit import read_unit, write_unit
from pipelines.programs.errors import ProgramError
from pipelines.programs.mix import part_of
from pipelines.programs.rows import program_row
from pipelines.schemas import OK, ProgramRow

OWN = "own"
"""The dialect of the generators."""
DIALECTS = (OWN, *STYLES)
"""Every dialect, in the order of the options `dialect_weights`."""


def require_weights(weights: Sequence[float]) -> None:
    """Refuse weights that are no distribution over DIALECTS.

    Raises: ProgramError: neither none nor one per dialect, or one below 0, or none above 0.
    """
    good = all(math.isfinite(w) and w >= 0 for w in weights)
    if weights and not (good and len(weights) == len(DIALECTS) and ordered_sum(weights) > 0):
        raise ProgramError(
            f"dialect_weights must be empty, or weights >= 0 of {', '.join(DIALECTS)}, one above 0, "
            f"got {tuple(weights)}"
        )


def dialect_of(weights: Sequence[float], *, stage: str, seed: int, number: int) -> str:
    """Return the dialect of program `number` of a seed; OWN without weights."""
    if not weights:
        return OWN
    total = ordered_sum(weights)
    place = part_of([w / total for w in weights], stage=f"{stage}-dialect", seed=seed, number=number)
    return DIALECTS[min(place, max(k for k, w in enumerate(weights) if w > 0))]


def drawn_dialect(row: ProgramRow, weights: Sequence[float], *, seed: int, number: int) -> ProgramRow:
    """Return a program in the dialect that its seed and number draw; see `dialect_of` and `in_dialect`."""
    dialect = dialect_of(weights, stage=row.stage, seed=seed, number=number)
    return in_dialect(row, dialect, seed=seed, number=number)


def in_dialect(row: ProgramRow, dialect: str, *, seed: int, number: int) -> ProgramRow:
    """Return a program of a generator in a dialect: the same results on the same data.

    Args:    row: of the stages ast or dataflow; one that is not ok, or stays in OWN, is returned as it is.
             seed, number: of the program; they and the dialect decide every rewriting.
    Returns: the row with its text, id, hash of the syntax tree, top function and size macros; its name,
             operators and graph are those of the draw.
    Raises:  ProgramError: no such dialect, or a text that no generator writes.
    """
    if dialect not in DIALECTS:
        raise ProgramError(f"unknown dialect: {dialect}; accepted: {', '.join(DIALECTS)}")
    if dialect == OWN or row.status != OK:
        return row
    random = Random(int(content_hash(row.stage, "dialect", dialect, seed, number), 16))  # noqa: S311
    unit = read_unit(row.source, top=row.top, random=random)
    STYLES[dialect](unit)
    set_includes(unit, write_unit(unit))
    return program_row(
        name=row.name,
        suite=row.suite,
        stage=row.stage,
        size=row.size,
        parameters=unit.macros,
        source=write_unit(unit),
        top=unit.top,
        inputs=json.loads(row.inputs),
        operators=row.operators,
        graph=None if row.graph is None else json.loads(row.graph),
    )
