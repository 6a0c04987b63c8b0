"""What belongs to a program beside its file; importing it is cheap, for the commands do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.base.bounds import asked


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Options of a program's text; ranges and sizes win over those that the text gives."""

    ranges: Sequence[str] = asked(
        "Range of an argument's drawn values, HIGH excluded for integers.",
        (),
        flags=["--range"],
        metavar="NAME=LOW:HIGH",
    )
    sizes: Sequence[str] = asked(
        "Elements of a pointer argument.",
        (),
        flags=["--size"],
        metavar="NAME=N",
        unset="as its accesses reach",
    )
    include: Sequence[Path | str] = asked("Folder of headers.", ())
    others: Sequence[Path | str] = asked(
        "Further C file of the program, or a folder of them.", (), flags=["--source"]
    )
    define: Sequence[str] = asked("Macro of the program.", (), metavar="NAME=TEXT")
