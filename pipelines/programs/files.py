"""Reading text that a person hands over.

Belongs here: what makes a file acceptable as text. Does not: what the text means.
"""

from __future__ import annotations

from pathlib import Path

from pipelines.programs.errors import ProgramError


def read_text(path: Path, *, what: str, limit_bytes: int) -> str:
    """Text of a regular file in UTF-8, not empty and not larger than a limit.

    Args:    what: what the file is, with its article, for messages.
    Raises:  ProgramError: the file is missing, unreadable, empty, too large, or not text.
    """
    if not path.is_file():
        got = "something else" if path.exists() else "no such file"
        raise ProgramError(f"{what} must be a regular file, got {got} ({path})")
    try:
        with path.open("rb") as stream:
            content = stream.read(limit_bytes + 1)
    except OSError as error:
        raise ProgramError(f"{what} must be readable, got {error.strerror} ({path})") from error
    if len(content) > limit_bytes:
        size = path.stat().st_size
        raise ProgramError(f"{what} must be at most {limit_bytes >> 20} MiB, got {size} bytes ({path})")
    if not content.strip():
        raise ProgramError(f"{what} must have text in it, got an empty file ({path})")
    return _decode(content, path, what)


def _decode(content: bytes, path: Path, what: str) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ProgramError(
            f"{what} must be UTF-8, got byte 0x{content[error.start]:02x} ({path}:{line})"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ProgramError(f"{what} must be text, got a zero byte ({path}:{line})")
    return text
