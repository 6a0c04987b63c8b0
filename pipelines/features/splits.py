"""Frozen splits: which side each program is on, the same today and in a year.

Belongs here: the rule of each named split. Does not: reading or writing the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.identity import content_hash
from pipelines.schemas import ProgramRow, SplitRow

TEST_SHARE = 0.2
VALIDATION_SHARE = 0.15

BY_KERNEL = "by_kernel_v1"
_SALTS = {BY_KERNEL: 0}
"""Part of each rule. Chosen before any label existed: with it every suite has programs in train and in
test."""


class SplitError(ValueError):
    """A split would change, or is not known."""


def _part(split: str, group: str) -> str:
    """Side of a group: a fixed function of its name, so that a subset of programs never moves one."""
    share = int(content_hash(split, _SALTS[split], group)[:8], 16) / 2**32
    if share < TEST_SHARE:
        return "test"
    return "validation" if share < TEST_SHARE + VALIDATION_SHARE else "train"


def freeze_split(
    programs: Sequence[ProgramRow], *, name: str = BY_KERNEL, existing: Sequence[SplitRow] = ()
) -> list[SplitRow]:
    """Place programs in a split; all programs of one name (its sizes) are on one side.

    Args:    existing: rows that were written before; they stay as they are.
    Returns: the existing rows of that split and a row for each new program, by program id.
    Raises:  SplitError: the split is not known, or an existing row puts a group on two sides.
    """
    if name not in _SALTS:
        raise SplitError(f"split must be one of {', '.join(_SALTS)}, got {name!r}")
    rows = {r.program_id: r for r in existing if r.split == name}
    sides: dict[str, str] = {}
    for row in rows.values():
        if sides.setdefault(row.group, row.part) != row.part:
            raise SplitError(f"a group must be on one side of {name}, got {row.group!r} on two")
    for program in programs:
        if program.program_id not in rows:
            part = sides.get(program.name) or _part(name, program.name)
            rows[program.program_id] = SplitRow(
                split=name, program_id=program.program_id, group=program.name, part=part
            )
    return [rows[k] for k in sorted(rows)]
