"""Folders that are replaced whole, by writers that are killed at every step."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.base import folders
from pipelines.base.folders import link_tree, replacing_file, replacing_folder, restore_folder

WRITER = """
import json, os, signal, sys
from pathlib import Path
from pipelines.base import folders

OLD, NEW = {"a": "old", "b/c": "old"}, {"a": "new", "d": "new"}

def content(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}

def write(folder, files):
    with folders.replacing_folder(folder, keeps=True, leftover_age_s=0.0) as new:
        (new / "b" / "c").unlink(missing_ok=True)
        for name, text in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).unlink(missing_ok=True)
            (new / name).write_text(text)

def killed_after(events, folder):
    child = os.fork()
    if child == 0:
        left = [events]
        def count(event, arguments):
            left[0] -= event.startswith(("os.", "open", "shutil.", "ctypes."))
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        write(folder, NEW)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

if sys.argv[2] == "renames":
    def refused(one, other):
        raise OSError(22, "Invalid argument")
    folders.exchange_folders = refused
seen = []
for events in range(10_000):
    folder = Path(sys.argv[1]) / str(events) / "kept"
    write(folder, OLD)
    status = killed_after(events, folder)
    folders.restore_folder(folder)
    after = content(folder)
    write(folder, NEW)
    left = sorted(p.name for p in folder.parent.iterdir())
    seen.append(["old" if after == OLD else "new" if after == NEW else after, content(folder) == NEW, left])
    if status == 0:
        break
print(json.dumps(seen))
"""


@pytest.mark.parametrize("way", ["exchange", "renames"])
def test_a_killed_writer_leaves_the_former_folder_or_the_new_one(tmp_path: Path, way: str) -> None:
    argv = [sys.executable, "-c", WRITER, str(tmp_path), way]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    states = [state for state, _, _ in seen]
    assert {*states} == {"old", "new"}
    assert states == sorted(states, reverse=True), "once new, it stays new"
    assert all(went_on and left == ["kept"] for _, went_on, left in seen)
    assert len(seen) > 20


def test_a_writer_that_fails_leaves_the_folder_and_nothing_beside(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a").write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing_folder(tmp_path / "kept") as new:
        (new / "a").write_text("\ud800")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert (tmp_path / "kept" / "a").read_text() == "old"


def test_new_folders_of_other_writers_stay_for_an_hour(tmp_path: Path) -> None:
    other = tmp_path / ".kept.new-1"
    other.mkdir()
    with replacing_folder(tmp_path / "kept"):
        pass
    assert other.is_dir()
    os.utime(other, (0.0, 0.0))
    with replacing_folder(tmp_path / "kept"):
        pass
    assert not other.exists()


def test_other_errors_of_an_exchange_are_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(one: Path, other: Path) -> None:
        raise OSError(errno.EACCES, "Permission denied", str(one), None, str(other))

    (tmp_path / "kept").mkdir()
    monkeypatch.setattr(folders, "exchange_folders", refuse)
    with pytest.raises(PermissionError), replacing_folder(tmp_path / "kept"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_files_without_links_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(one: object, other: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_text("text")
    monkeypatch.setattr(os, "link", refuse)
    link_tree(tmp_path / "a", tmp_path / "z")
    assert (tmp_path / "z" / "b" / "c").read_text() == "text"
    assert not (tmp_path / "z" / "b" / "c").samefile(tmp_path / "a" / "b" / "c")


def test_a_folder_that_is_there_is_not_restored(tmp_path: Path) -> None:
    for name in ("kept", ".kept.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name").write_text(name)
    restore_folder(tmp_path / "kept")
    assert (tmp_path / "kept" / "name").read_text() == "kept"


def test_replacing_file_leaves_the_former_file_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "out.vcd"
    with replacing_file(path) as new:
        new.write_text("first")
        assert new.suffix == ".vcd"
    with pytest.raises(NotADirectoryError), replacing_file(path) as new:
        (new / "beyond").write_text("second")
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.vcd"]
    assert path.read_text() == "first"


def test_replacing_file_writes_into_a_device(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to("/dev/null")
    with replacing_file(tmp_path / "null") as new:
        new.write_text("first")
    assert (tmp_path / "null").is_symlink()
