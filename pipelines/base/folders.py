"""Folders that are replaced whole: written beside, then exchanged, so that a kill leaves one of both.

File systems that cannot exchange two folders (NFS for example) get two renames. Between them the folder is
absent; `restore_folder` gives it back.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

LEFTOVER_AGE_S = 3600.0
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_NO_EXCHANGE = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def replacing_file(path: Path) -> Generator[Path]:
    """Yield a new file beside another, with its ending; it replaces that when the block ends well.

    A device or a pipe is written to, and stays.

    Raises: OSError: not writable.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.new-", suffix=path.suffix)
    os.close(handle)
    new = Path(name)
    try:
        yield new
        new.chmod(0o644)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


@contextmanager
def replacing_folder(
    folder: Path, *, keeps: bool = False, leftover_age_s: float = LEFTOVER_AGE_S
) -> Generator[Path]:
    """Yield a new folder beside another; it replaces that when the block ends well.

    Args:
        keeps: the new folder begins with the present files, as second names (see `link_tree`).
        leftover_age_s: age of new folders of killed processes that are removed; 0 under a lock.

    Raises: OSError: not writable.
    """
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    restore_folder(folder)
    prefix = f".{folder.name}.new-"
    lefts = [*folder.parent.glob(f"{glob.escape(prefix)}*")]
    new = Path(tempfile.mkdtemp(dir=folder.parent, prefix=prefix))
    try:
        for left in lefts:
            if new.stat().st_mtime - left.stat().st_mtime >= leftover_age_s:
                shutil.rmtree(left, ignore_errors=True)
        new.chmod(0o755)
        if keeps and folder.is_dir():
            link_tree(folder, new)
        yield new
        put_in_place(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)  # after an exchange the former one


def put_in_place(new: Path, folder: Path) -> None:
    """Give a new folder the name of another one, which then has the new one's name or is gone."""
    if not folder.exists():
        new.replace(folder)
        return
    try:
        exchange_folders(new, folder)
    except OSError as error:
        if error.errno not in _NO_EXCHANGE:
            raise
        former = _former(folder)
        shutil.rmtree(former, ignore_errors=True)
        folder.replace(former)
        new.replace(folder)
        shutil.rmtree(former, ignore_errors=True)


def restore_folder(folder: Path) -> None:
    """Give a folder back whose writer was killed between two renames; else do nothing."""
    if not folder.exists() and _former(folder).is_dir():
        _former(folder).replace(folder)


def _former(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def link_tree(source: Path, target: Path) -> None:
    """Give every file of a folder a second name under another folder.

    Files of either are replaced by a rename (`write_bytes_atomically`), never written in place.
    """
    shutil.copytree(source, target, symlinks=True, copy_function=link_file, dirs_exist_ok=True)


def link_file(path: str | Path, target: str | Path) -> None:
    """Give a file a second name, or copy it where there are no links."""
    try:
        os.link(path, target)
    except OSError:  # a file system without links
        shutil.copyfile(path, target)


def exchange_folders(one: Path, other: Path) -> None:
    """Give each of two folders of one file system the other's name, at once.

    Raises: OSError: the file system cannot.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one), None, str(other))
