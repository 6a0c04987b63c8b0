"""Code blocks of a Markdown page, and the comparison of what they print with what the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!-- not run: (.+) -->\n+\Z")
_MASKS = (
    (re.compile(r"\b[0-9a-f]{8,64}\b"), "HASH"),
    (re.compile(r"\b\d+(?:[.,]\d+)* ?(?:ms|s|min|seconds|minutes)\b"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?"), "DATE"),
    (re.compile(r"(?<![\w.:/])/[\w./ ;'-]+"), "PATH"),
    (re.compile(r"(127\.0\.0\.1|localhost):\d+"), "SERVER"),
    (re.compile(r"[ \t]+"), " "),
)
ANYTHING = "..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block.

    Attributes:
        language: console or python.
        line: of its fence in the page, from 1.
        not_run: reason of `<!-- not run: reason -->` above it; empty when it is executed.
    """

    language: str
    text: str
    line: int
    not_run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of a console block, and the output that the page shows for it."""

    text: str
    output: str


def read_blocks(page: str) -> list[Block]:
    """Blocks of a page in order."""
    blocks: list[Block] = []
    for match in _FENCE.finditer(page):
        before = page[: match.start()]
        reason = _NOT_RUN.search(before)
        blocks.append(
            Block(
                language=match[1],
                text=match[2],
                line=before.count("\n") + 1,
                not_run=reason[1] if reason else "",
            )
        )
    return blocks


def read_commands(block: Block) -> Iterator[Command]:
    """Commands of a console block: `$ ` begins one, `> ` continues it, other lines are its output."""
    command: list[str] = []
    output: list[str] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if command:
                yield Command(text="\n".join(command), output="\n".join(output))
            command, output = [line[2:]], []
        elif line.startswith("> ") or line == ">":
            command.append(line[2:])
        else:
            output.append(line)
    if command:
        yield Command(text="\n".join(command), output="\n".join(output))


def masked(text: str) -> str:
    """A text whose times, hashes, dates, paths, ports and widths of gaps are the same in every run."""
    for pattern, word in _MASKS:
        text = pattern.sub(word, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())


def agrees(expected: str, printed: str) -> bool:
    """Return whether a printed text is the expected one, both masked; a line `...` stands for any lines."""
    lines = masked(expected).splitlines()
    pattern = "".join(r"(?:.*\n)*" if line == ANYTHING else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(pattern, masked(printed) + "\n" * bool(printed.strip())) is not None
