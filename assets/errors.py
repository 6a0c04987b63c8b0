"""The one exception of the package, and how any failure reads on one line."""

from __future__ import annotations

import errno

SQLITE_FULL_DISK = ("database or disk is full", "disk I/O error")
PERMANENT_OS_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)


class FoundryError(RuntimeError):
    """What was asked cannot be done; the message says what was wrong, where, and what is right."""


def explain(error: BaseException) -> str:
    """One line that says what went wrong, for a person.

    A full disk is told apart from other system errors: there the way out is to make room.
    """
    text = " ".join(str(error).split())
    if _lacks_room(error):
        return (
            f"the disk must have room, got {text}; make room and run again: "
            "finished work is in the cache and the tables are whole"
        )
    return text or type(error).__name__


def is_permanent(error: BaseException) -> bool:
    """Whether trying again cannot help: bad input, a refused model, a missing tool or file, a full disk."""
    if isinstance(error, OSError):
        return error.errno in PERMANENT_OS_ERRORS or isinstance(error, FileNotFoundError)
    if isinstance(error, ValueError | FoundryError) or _lacks_room(error):
        return True
    # lazy import: engines take 1 s
    from models.registry import RegistryError
    from pipelines.sandbox import SandboxError
    from pipelines.synthesis import SynthesisError
    from pipelines.tools import ToolMissing

    return isinstance(error, RegistryError | SandboxError | SynthesisError | ToolMissing)


def _lacks_room(error: BaseException) -> bool:
    """A full disk, as the system says it, or as SQLite does through whatever wraps it."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return any(sign in str(error) for sign in SQLITE_FULL_DISK)
