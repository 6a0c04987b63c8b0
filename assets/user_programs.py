"""Reading what `label` and `predict` are given: a C file and a configuration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from assets.errors import FoundryError
from pipelines.files import read_bounded
from pipelines.hls import Directive, bundle_source, default_top, parse_directives
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow

DIRECTIVES_LIMIT_BYTES = 1 << 20


def read_user_program(file: Path, top: str | None, *, define: Sequence[str] = ()) -> ProgramRow:
    """The program of a C file, with the local headers it includes.

    Args:    top: function that becomes hardware; None for the one the file is about.
             define: macros as NAME or NAME=TEXT, as a compiler's -D takes them.
    Raises:  ProgramError: the file or the name is not acceptable. HlsError: the file is not C, or nothing
             says which function is meant.
    """
    program_from_file(file, top=top or "any")  # a readable C file, whatever it includes
    source = _definitions(define, file) + bundle_source(file)
    if top is None:
        top = default_top(source, file.stem, file=str(file))
    return program_from_file(file, top=top, source=source)


def _definitions(macros: Sequence[str], file: Path) -> str:
    """Lines that define macros, and that leave the numbers of the file's own lines as they are."""
    lines: list[str] = []
    for macro in macros:
        name, _, text = macro.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name) or "\n" in text:
            raise FoundryError(f"a macro must be NAME or NAME=TEXT, got {macro!r}")
        lines.append(f"#define {name} {text or 1}\n")
    shown = file.name.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(lines) + (f'# 1 "{shown}"\n' if lines else "")


def read_directives(file: Path | None) -> tuple[Directive, ...]:
    """Directives of a JSON file; none without a file.

    Raises: FoundryError: the file cannot be read. HlsError: it is not a list of directives.
    """
    if file is None:
        return ()
    content = read_bounded(file, what="directives", most_bytes=DIRECTIVES_LIMIT_BYTES, error=FoundryError)
    try:
        return parse_directives(content.decode())
    except UnicodeDecodeError as error:
        raise FoundryError(f"directives must be UTF-8 text, got other bytes ({file})") from error
