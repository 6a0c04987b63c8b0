"""The one exception of the package, and how any failure reads on one line.

Belongs here: that class, and turning errors of engines into a message. Does not: retries (Dagster).
"""

from __future__ import annotations

import errno

from pipelines.synthesis import SynthesisError
from pipelines.tools import ToolMissing

PERMANENT_OS_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)


class FoundryError(RuntimeError):
    """What was asked cannot be done; the message says what was wrong, where, and what is right."""


def explain(error: BaseException) -> str:
    """One line that says what went wrong, for a person.

    A full disk is told apart from other system errors: there the way out is to make room.
    """
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        where = f" at {error.filename}" if error.filename else ""
        return (
            f"the disk must have room, got {error.strerror}{where}; make room and run again: "
            "finished work is in the cache and the tables are whole"
        )
    text = " ".join(str(error).split())
    return text or type(error).__name__


def is_permanent(error: BaseException) -> bool:
    """Whether trying again cannot help: bad input, a missing tool or file, no room on the disk."""
    if isinstance(error, OSError):
        return error.errno in PERMANENT_OS_ERRORS or isinstance(error, FileNotFoundError)
    return isinstance(error, ValueError | FoundryError | SynthesisError | ToolMissing)
