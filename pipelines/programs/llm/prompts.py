"""Prompts: texts with places for a program."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.programs.errors import ProgramError
from pipelines.schemas import ProgramRow

PLACES = ("source", "top", "inputs")
LONGEST_BYTES = 1 << 16
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_NAME = re.compile(r"[a-z0-9_]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt with places `{{source}}`, `{{top}}` and `{{inputs}}`.

    Attributes:
        name: of its file without suffix; rows have it.

    Raises: ProgramError: no place for the source, an unknown place, or a name that is not of a-z, 0-9, _.
    """

    name: str
    text: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ProgramError(f"a prompt's name must be of a-z, 0-9 and _, got {self.name!r}")
        if len(self.text.encode()) > LONGEST_BYTES:
            raise ProgramError(f"a prompt must be at most {LONGEST_BYTES} bytes, got more ({self.name})")
        found = set(_PLACE.findall(self.text))
        unknown = sorted(found - set(PLACES))
        if unknown or "source" not in found:
            valid = ", ".join("{{" + place + "}}" for place in PLACES)
            got = ", ".join(unknown) or "no {{source}}"
            raise ProgramError(
                f"a prompt must have {{{{source}}}} and no other place than {valid}, got {got}"
            )

    def filled(self, parent: ProgramRow) -> str:
        """The prompt about a program; what the program says is not looked at for places again."""
        values = {"source": parent.source.rstrip("\n"), "top": parent.top, "inputs": parent.inputs}
        return _PLACE.sub(lambda place: values[place[1]], self.text)
