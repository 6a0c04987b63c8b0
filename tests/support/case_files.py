"""Case files: C programs, each with what is done with it and what is expected, in comments above it.

    // Stores that are forwarded to loads.              <- free text
    // run: forward                                     <- keys before the first case: for every case
    void f(int n, int A[8], int B[8]) { BODY }          <- code with the word BODY: around every case's code

    // case: a stored value                             <- a case: its name, its keys, its code
    // expect: accesses A = 0 + 1
    A[n & 7] = B[0] * 3; B[1] = A[n & 7];

A key of a case replaces the same key of the file. Code without BODY before the first case is the code of
every case that has none. `...` in an expected text stands for any text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

_KEY = re.compile(r"// ([a-z]+):(?: (.*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A program with its keys, in the order of the file; `path` and `line` say where it stands."""

    path: Path
    line: int
    name: str
    keys: tuple[tuple[str, str], ...]
    source: str

    def values(self, key: str) -> list[str]:
        """Values of a key, in the order of the file."""
        return [value for name, value in self.keys if name == key]

    def value(self, key: str, default: str = "") -> str:
        """The last value of a key."""
        return next(reversed(self.values(key)), default)


def read_cases(path: Path, accepted: Collection[str], starts: str = "case") -> list[Case]:
    """Read the cases of a file.

    Args:    accepted: keys that its runner knows; starts: the key that begins a case, "case" for its name.
             A case that begins with another key is named after it and its first line of code.
    Raises:  ValueError: another key, or two cases of one name, with the line.
    """
    parts = re.split(rf"^// {starts}:(?: (.*))?\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    shared_keys, shared_code = _keys_and_code(parts[0].lstrip("\n"), with_text=True)
    cases: list[Case] = []
    line = parts[0].count("\n") + 1
    for start, text in zip(parts[1::2], parts[2::2], strict=True):
        own_keys, code = _keys_and_code(text)
        name = start or ""
        if starts != "case":
            own_keys.insert(0, (starts, name))
            name = f"{name[:80]} {code.partition(chr(10))[0][:40]}".strip()
        own = {key for key, _ in own_keys}
        keys = (*(pair for pair in shared_keys if pair[0] not in own), *own_keys)
        unknown = sorted({key for key, _ in keys} - set(accepted))
        if unknown or any(case.name == name for case in cases):
            problem = f"unknown key: {unknown[0]}" if unknown else f"two cases: {name}"
            raise ValueError(f"{problem} ({path}:{line}); accepted: {', '.join(sorted(accepted))}")
        source = _around(shared_code, code)
        cases.append(Case(path=path, line=line, name=name, keys=keys, source=source))
        line += text.count("\n") + 1
    return cases


def sources_of(path: Path, accepted: Collection[str] = ()) -> dict[str, str]:
    """Programs of a file's cases, by name."""
    return {case.name: case.source for case in read_cases(path, accepted)}


def case_parameters(folder: Path, accepted: Collection[str], starts: str = "case") -> list[ParameterSet]:
    """Cases of all files of a folder as parameters of a test; a case's id is `file/name of the case`."""
    return [
        pytest.param(case, id=f"{path.stem}/{case.name}".replace(" ", "_"))
        for path in sorted(folder.glob("*.c"))
        for case in read_cases(path, accepted, starts)
    ]


def as_pattern(expected: str) -> re.Pattern[str]:
    """The pattern of a text in which `...` stands for any text."""
    return re.compile(".*".join(re.escape(part) for part in expected.split("...")), re.DOTALL)


def _keys_and_code(text: str, *, with_text: bool = False) -> tuple[list[tuple[str, str]], str]:
    """Keys of a part and the code after them; free text may stand between the keys of a file."""
    lines = text.split("\n")
    keys: list[tuple[str, str]] = []
    while lines:
        found = _KEY.fullmatch(lines[0])
        if found:
            keys.append((found[1], found[2] or ""))
        elif not (with_text and (lines[0].startswith("// ") or not lines[0])):
            break
        del lines[0]
    code = "\n".join(lines).rstrip("\n")
    return keys, f"{code}\n" if code else ""


def _around(shared: str, code: str) -> str:
    if re.search(r"\bBODY\b", shared):
        return re.sub(r"\bBODY\b", lambda _: code.rstrip("\n"), shared)
    return code or shared
