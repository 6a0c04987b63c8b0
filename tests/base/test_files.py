"""Files that people name: a regular one of the stated size is read, anything else is refused at once."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from pipelines.base.files import (
    MOST_SHOWN,
    open_regular,
    plain_json,
    read_bounded,
    read_yaml,
    shown,
)

LIMIT = 10


def _read(path: Path) -> bytes:
    return read_bounded(path, what="topology", most_bytes=LIMIT, error=LookupError)


def test_read_bounded_gives_the_content_up_to_the_limit_through_links(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("file")
    assert _read(tmp_path / "file") == _read(tmp_path / "link") == b"0123456789"


def test_read_bounded_rejects_what_is_not_a_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(tmp_path / "socket"))
    (tmp_path / "device").symlink_to("/dev/zero")
    accepted = "; accepted: a regular file of at most 10 bytes"
    for name, said in {
        "pipe": f"a pipe{accepted}",
        "link": f"a pipe{accepted}",
        "device": f"a character device{accepted}",
        "": f"a folder{accepted}",
        "socket": "No such device or address",
        "nothing": "No such file or directory",
    }.items():
        path = tmp_path / name
        with pytest.raises(LookupError, match=rf"^cannot read the topology {re.escape(f'{path}: {said}')}$"):
            _read(path)
    bound.close()


def test_read_bounded_rejects_what_is_larger_and_what_hides_its_size(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789a")
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    accepted = "accepted: a regular file of at most 10 bytes"
    for path, size in {
        tmp_path / "file": "11 bytes",
        sparse: f"{1 << 40} bytes",
        Path("/proc/self/status"): "more than 10 bytes",  # a regular file of 0 bytes, as the system says
    }.items():
        with pytest.raises(LookupError, match=rf"^cannot read the topology {path}: {size}; {accepted}$"):
            _read(path)


def test_open_regular_leaves_no_file_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in (tmp_path, Path("/dev/zero")):
        with pytest.raises(LookupError):
            open_regular(path, what="trace", most_bytes=1 << 20, error=LookupError)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_name_twice_in_a_mapping_of_yaml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hardware.yaml"
    path.write_text("a:\n  rows: 4\n  rows: 8\n")
    with pytest.raises(LookupError, match=r"hardware.yaml: the name 'rows' twice in one mapping, line 2$"):
        read_yaml(path, what="hardware", error=LookupError)


def test_plain_json_and_yaml_say_in_plain_words_what_python_cannot_read(tmp_path: Path) -> None:
    assert plain_json('{"a": [1, 2.5]}') == {"a": [1, 2.5]}
    digits = "9" * 6000
    (tmp_path / "big.yaml").write_text(f"a: 1\nb: {digits}\n")
    said = r"a number of 6000 digits in line 2; accepted: 4300 digits at most$"
    for text, problem in {
        "[" * 100_000 + "]" * 100_000: r"^values nested too deep; accepted: 64 levels$",
        '{"a":' * 100_000: r"^values nested too deep; accepted: 64 levels$",
        f'{{"a":\n{digits}}}': f"^{said}",
        '{"a": }': r"^Expecting value: line 1 column 7 \(char 6\)$",
    }.items():
        with pytest.raises(ValueError, match=problem):
            plain_json(text)
    with pytest.raises(LookupError, match=f"^not YAML: .*big.yaml: a value that cannot be read: {said}"):
        read_yaml(tmp_path / "big.yaml", what="fabric", error=LookupError)


def test_shown_gives_the_beginning_of_a_long_value() -> None:
    assert shown("9" * MOST_SHOWN) == "9" * MOST_SHOWN
    assert shown("9" * 5000) == f"{'9' * 50}... (5000 characters)"
