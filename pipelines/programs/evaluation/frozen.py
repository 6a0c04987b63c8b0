"""The frozen evaluation set: which programs it has, and keeping them out of training."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from pipelines.schemas import OK, REJECTED, ProgramRow

FROZEN_FILE = Path(__file__).parent / "frozen.json"


def frozen_record(programs: Iterable[ProgramRow]) -> str:
    """The text of the list: id and syntax tree hash of every program, by suite, name and size."""
    rows = {
        f"{row.suite}/{row.name}/{row.size}": {"program_id": row.program_id, "ast_hash": row.ast_hash}
        for row in programs
    }
    return json.dumps(rows, indent=1, sort_keys=True) + "\n"


@cache
def frozen_hashes() -> Mapping[str, str]:
    """Name of an evaluation program by its syntax tree hash."""
    rows: dict[str, dict[str, str]] = json.loads(FROZEN_FILE.read_text(encoding="utf-8"))
    return {row["ast_hash"]: name for name, row in sorted(rows.items(), reverse=True)}


def find_duplicate(program: ProgramRow) -> str | None:
    """The evaluation program with the syntax tree of a program; None without one."""
    return frozen_hashes().get(program.ast_hash or "")


def reject_duplicates(programs: Sequence[ProgramRow]) -> list[ProgramRow]:
    """Programs for training; an ok one that equals an evaluation program is rejected with its reason."""
    return [_checked(program) if program.status == OK else program for program in programs]


def _checked(program: ProgramRow) -> ProgramRow:
    duplicate = find_duplicate(program)
    if duplicate is None:
        return program
    reason = (
        f"a generated program must differ from every evaluation program by its syntax tree, got {duplicate}"
    )
    return replace(program, status=REJECTED, reason=reason)
