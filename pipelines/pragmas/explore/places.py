"""Where loops stand in a C text.

A text is searched with comments, strings and preprocessor lines blanked, all else at its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPlace:
    """Where a loop stands in a text, in characters from its start.

    Attributes:
        line_start: of the line with its `for`; start: of the `for`; header_end: after its `)`.
        braced: whether its body is a block; body_start: after the brace, or after the header; body_end: after
            the body, its brace included.
    """

    line_start: int
    start: int
    header_end: int
    braced: bool
    body_start: int
    body_end: int


def find_loops(source: str, summary: Summary) -> dict[str, LoopPlace]:
    """Where the loops of a program stand in its text."""
    blank = blanked(source)
    by_line: dict[int, list[int]] = {}
    for position in _words(blank, "for"):
        by_line.setdefault(source.count("\n", 0, position) + 1, []).append(position)
    found: dict[str, LoopPlace] = {}
    for name, loop in summary.loops.items():
        here = by_line.get(loop.line, [])
        if not here:
            raise PragmaError(f"a loop must stand in the program's own text, got {name} of line {loop.line}")
        found[name] = _place(source, blank, here.pop(0))
    return found


def _place(source: str, blank: str, position: int) -> LoopPlace:
    header_end = _closing(blank, blank.index("(", position), "()")
    body = _next(blank, header_end)
    braced = blank[body] == "{"
    return LoopPlace(
        line_start=source.rfind("\n", 0, position) + 1,
        start=position,
        header_end=header_end,
        braced=braced,
        body_start=body + 1 if braced else header_end,
        body_end=statement_end(blank, body),
    )


def statement_end(blank: str, start: int) -> int:
    """Position after the C statement that begins at `start`, in a text without comments and strings."""
    start = _next(blank, start)
    if blank[start] == "{":
        return _closing(blank, start, "{}")
    for word in ("for", "while", "if"):
        if next(_words(blank[start : start + len(word) + 1], word), None) == 0:
            end = statement_end(blank, _closing(blank, blank.index("(", start), "()"))
            return _after_else(blank, end) if word == "if" else end
    return blank.index(";", start) + 1


def _after_else(blank: str, end: int) -> int:
    following = _next(blank, end)
    if next(_words(blank[following : following + 5], "else"), None) == 0:
        return statement_end(blank, following + 4)
    return end


def _next(blank: str, position: int) -> int:
    while position < len(blank) and blank[position].isspace():
        position += 1
    if position == len(blank):
        raise PragmaError("a loop must have a body, got the end of the text")
    return position


def _closing(blank: str, opening: int, pair: str) -> int:
    """Position after the bracket that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(blank)):
        depth += (blank[position] == pair[0]) - (blank[position] == pair[1])
        if depth == 0:
            return position + 1
    raise PragmaError(f"brackets must close, got {pair[0]} without {pair[1]}")


def _words(blank: str, word: str) -> Iterator[int]:
    """Places of a word that is no part of a longer one."""
    position = blank.find(word)
    while position >= 0:
        around = blank[position - 1 : position] + blank[position + len(word) : position + len(word) + 1]
        if not any(c.isalnum() or c == "_" for c in around):
            yield position
        position = blank.find(word, position + 1)


def blanked(source: str) -> str:
    """The text with comments, strings, characters and preprocessor lines as spaces, line ends kept."""
    found, position = list[str](), 0
    while position < len(source):
        end = _skipped(source, position)
        if end == position:
            found.append(source[position])
            position += 1
            continue
        found += ["\n" if c == "\n" else " " for c in source[position:end]]
        position = end
    return "".join(found)


def _skipped(source: str, position: int) -> int:
    """End of the comment, string or preprocessor line that begins here; `position` when none does."""
    if source.startswith("/*", position):
        end = source.find("*/", position + 2)
        return len(source) if end < 0 else end + 2
    if source.startswith("//", position):
        end = source.find("\n", position)
        return len(source) if end < 0 else end
    if source[position] in "\"'":
        return _quoted(source, position)
    if source[position] == "#" and not source[source.rfind("\n", 0, position) + 1 : position].strip():
        return _directive_end(source, position)
    return position


def _quoted(source: str, position: int) -> int:
    end = position + 1
    while end < len(source) and source[end] != source[position]:
        end += 2 if source[end] == "\\" else 1
    return min(end + 1, len(source))


def _directive_end(source: str, position: int) -> int:
    end = source.find("\n", position)
    while end > 0 and source[end - 1] == "\\":
        end = source.find("\n", end + 1)
    return len(source) if end < 0 else end
