"""The exceptions of the package, and how any failure reads on one line."""

from __future__ import annotations

import errno
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SQLITE_FULL_DISK = ("database or disk is full", "disk I/O error")
PERMANENT_OS_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)
_PERMANENT = (
    ("models.registry", "RegistryError"),
    ("pipelines.base.sandbox", "SandboxError"),
    ("pipelines.silicon.synthesis", "SynthesisError"),
    ("pipelines.base.tools", "ToolMissing"),
)
"""Errors that trying again cannot mend, by module: who meets one has loaded its module, which takes 1 s."""


class FoundryError(RuntimeError):
    """What was asked cannot be done; the message says what was wrong, where, and what is right."""


class ExtraMissing(FoundryError, ImportError):
    """A package is not installed that an extra of the project has."""


_PASSWORD = re.compile(r"(?<=://)(?P<user>[^/\s:@]*):[^/\s@]+@")


def hide_passwords(text: str) -> str:
    """Return a text without the passwords of its URLs."""
    return _PASSWORD.sub(r"\g<user>:***@", text)


def explain(error: BaseException) -> str:
    """Return one line that says what went wrong, for a person.

    A full disk is told apart from other system errors: there the way out is to make room.
    """
    text = hide_passwords(" ".join(str(error).split()))
    if _lacks_room(error):
        return (
            f"the disk must have room, got {text}; make room and run again: "
            "finished work is in the cache and the tables are whole"
        )
    return text or type(error).__name__


def explain_fully(error: BaseException) -> str:
    """Explain an error as `explain`; for an unexpected one add its type, its place, and how to see more."""
    if is_permanent(error):
        return explain(error)
    return unexpected(type(error).__name__, explain(error), traceback.format_tb(error.__traceback__))


def unexpected(kind: str, message: str, frames: Sequence[str]) -> str:
    """Return one line about an unexpected error.

    Args: frames: of its traceback, as `traceback.format_tb` formats them.
    """
    place = place_of(frames)
    where = f" ({place})" if place else ""
    return f"unexpected {kind}: {message}{where}; --debug shows the traceback"


_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("simfoundry", "assets", "models", "pipelines")


def place_of(frames: Sequence[str]) -> str | None:
    """Return the file and line of the innermost frame in the project's packages."""
    for match in map(_FRAME.search, reversed(frames)):
        path = Path(match["file"]) if match else _ROOT
        if match and path.is_relative_to(_ROOT) and path.relative_to(_ROOT).parts[0] in _PACKAGES:
            return f"{path.relative_to(_ROOT)}:{match['line']}"
    return None


def is_permanent(error: BaseException) -> bool:
    """Tell whether a retry cannot help: bad input, a refused model, a missing tool or file, a full disk."""
    if isinstance(error, OSError):
        return error.errno in PERMANENT_OS_ERRORS or isinstance(error, FileNotFoundError)
    if isinstance(error, ValueError | FoundryError) or _lacks_room(error):
        return True
    kinds = [getattr(sys.modules.get(module), name, None) for module, name in _PERMANENT]
    return isinstance(error, tuple(kind for kind in kinds if kind is not None))


def _lacks_room(error: BaseException) -> bool:
    """Return a full disk, as the system says it, or as SQLite does through whatever wraps it."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return any(sign in str(error) for sign in SQLITE_FULL_DISK)


# ---- extras ------------------------------------------------------------------------------------------

_DISTRIBUTIONS = {
    "google": "protobuf",
    "hydra": "hydra-core",
    "psycopg2": "psycopg2-binary",
    "ruamel": "ruamel-yaml-clib",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Distributions by module, where the names differ by more than `_` for `-`."""
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*extra == ['\"](?P<extra>[\w-]+)['\"]")


def extras_of(module: str) -> list[str]:
    """Return the project's extras for users whose requirements have a module, in order of declaration."""
    from importlib.metadata import PackageNotFoundError, requires  # lazy import: takes 20 ms

    try:
        lines = requires("simfoundry") or []
    except PackageNotFoundError:  # a checkout on the path
        lines = []
    wanted = _DISTRIBUTIONS.get(module, module.replace("_", "-").lower())
    matches = [m for m in map(_REQUIREMENT.match, lines) if m and m["extra"] != "dev"]
    return [m["extra"] for m in matches if re.sub(r"[._]", "-", m["name"]).lower() == wanted]


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Name the extra that has a package which is not installed.

    Args:   extra: that has all that the work needs; another one is named for a package that it lacks.
    Raises: ExtraMissing: a package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        known = extras_of(module)
        if not known:
            raise
        chosen = extra if extra in known else known[0]
        raise ExtraMissing(
            f'{module} is not installed; the extra `{chosen}` has it: pip install ".[{chosen}]" '
            "in the folder of the project"
        ) from error
