"""Files that carry the hash of their content, so that damage is noticed when they are read back."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

from pipelines.schemas import write_bytes_atomically

_DIGEST_BYTES = 32
_LOG = logging.getLogger(__name__)


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, behind the hash of its name and content.

    Raises: OSError: the disk is full or not writable.
    """
    write_bytes_atomically(path, _digest(path.name, content) + content)


def read_sealed(path: Path) -> bytes | None:
    """Read the content that was written; None when the file is missing or, with a warning, damaged."""
    try:
        sealed = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _say_damaged(path, error.strerror or str(error))
        return None
    content = sealed[_DIGEST_BYTES:]
    if sealed[:_DIGEST_BYTES] != _digest(path.name, content):
        _say_damaged(path, "its content does not have its hash")
        return None
    return content


def build_once(folder: Path, name: str, build: Callable[[Path], Path]) -> Path:
    """Build a program, compiled unless the folder holds it undamaged.

    The file is called `<name>-<hash of its content>`. A hash inside would have to be written by this process,
    and a program that a child of another thread still holds open for writing cannot be started.

    Args:    name: identifies sources and options; build: compiles it in a folder and returns its path.
    Raises:  what `build` raises. OSError: the disk is full or not writable.
    """
    for path in sorted(folder.glob(f"{name}-*")):
        if path.name == f"{name}-{_digest(name, path.read_bytes()).hex()[:16]}":
            return path
        _say_damaged(path, "its content does not have its hash")
        path.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        built = build(Path(scratch))
        target = folder / f"{name}-{_digest(name, built.read_bytes()).hex()[:16]}"
        built.replace(target)
    return target


def _digest(name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(content)
    return digest.digest()


def _say_damaged(path: Path, problem: str) -> None:
    _LOG.warning("damaged file, made again: %s (%s)", path, problem)
