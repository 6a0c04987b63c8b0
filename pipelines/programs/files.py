"""Reading text that a person hands over."""

from __future__ import annotations

from pathlib import Path

from pipelines.files import read_bounded
from pipelines.programs.errors import ProgramError


def read_text(path: Path, *, what: str, limit_bytes: int) -> str:
    """Text of a regular file in UTF-8, not empty and not larger than a limit.

    Args:    what: what the file is, for messages.
    Raises:  ProgramError: the file is missing, unreadable, empty, too large, or not text.
    """
    content = read_bounded(path, what=what, most_bytes=limit_bytes, error=ProgramError)
    if not content.strip():
        raise ProgramError(f"a {what} must have text in it, got an empty file ({path})")
    return _decode(content, path, what)


def _decode(content: bytes, path: Path, what: str) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ProgramError(
            f"a {what} must be UTF-8, got byte 0x{content[error.start]:02x} ({path}:{line})"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ProgramError(f"a {what} must be text, got a zero byte ({path}:{line})")
    return text
