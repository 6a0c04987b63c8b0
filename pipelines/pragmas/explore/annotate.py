"""C with the pragmas of a configuration: Merlin's above loops, or Vitis' inside them.

Belongs here: where in the text a pragma goes. Does not: which directives there are (`directives.py`).

Works on the text as it is, so that everything else stays: loops are found by the line of their `for`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.pragmas.bound import complete
from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.explore.directives import partition_factors
from pipelines.pragmas.summary import ROOT, Summary

MERLIN, VITIS = "merlin", "vitis"
STYLES = (MERLIN, VITIS)


def annotate(source: str, summary: Summary, configuration: Configuration, *, style: str = MERLIN) -> str:
    """The program's text with the pragmas of a configuration.

    Args:   style: MERLIN (`#pragma ACCEL`, above each loop) or VITIS (`#pragma HLS`, in each loop's body,
            which gets braces where it has none).
    Raises: PragmaError: an unknown style, or a loop whose `for` is not in the text (it comes from a macro or
            another file).
    """
    if style not in STYLES:
        raise PragmaError(f"a style must be one of {', '.join(STYLES)}, got {style!r}")
    places = find_loops(source, summary)
    if style == MERLIN:
        return _with_insertions(source, _merlin(summary, configuration, places, source))
    return _with_insertions(source, _vitis(summary, configuration, places, source))


# ---- Merlin ----------------------------------------------------------------------------------------------


def merlin_pragmas(summary: Summary, configuration: Configuration, loop: str) -> list[str]:
    """The pragmas above one loop, in the order Merlin's documentation lists them."""
    choice, found = configuration.of(loop), list[str]()
    caches = [a for place, a in configuration.caches or () if place == loop]
    found += [f"ACCEL cache variable={array}" for array in caches]
    if choice.tile > 1:
        found.append(f"ACCEL tile factor={choice.tile}")
    if choice.pipeline == COARSE:
        found.append("ACCEL pipeline")
    if choice.pipeline == FINE:
        interval = f" II={choice.interval}" if choice.interval > 1 else ""
        found.append(f"ACCEL pipeline flatten{interval}")
    if choice.unroll > 1:
        found.append(f"ACCEL parallel factor={choice.unroll}{_reductions(summary, loop)}")
    return found


def _reductions(summary: Summary, loop: str) -> str:
    if not summary.loops[loop].reduction:
        return ""
    arrays = [
        a.array
        for s in summary.statements
        if loop in s.reduction_loops
        for a in s.accesses
        if a.kind == "write"
    ]
    return "".join(f" reduction={array}" for array in dict.fromkeys(arrays))


def _merlin(
    summary: Summary, configuration: Configuration, places: Mapping[str, LoopPlace], source: str
) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for loop, place in places.items():
        lines = merlin_pragmas(summary, configuration, loop)
        found.append((place.line_start, _lines(lines, _indent(source, place.line_start))))
    first = min((p.line_start for p in places.values()), default=0)
    whole = [f"ACCEL cache variable={a}" for p, a in configuration.caches or () if p == ROOT]
    return [(first, _lines(whole, _indent(source, first))), *found]


def _lines(pragmas: Sequence[str], indent: str) -> str:
    return "".join(f"{indent}#pragma {text}\n" for text in pragmas)


def _indent(source: str, line_start: int) -> str:
    rest = source[line_start:]
    return rest[: len(rest) - len(rest.lstrip(" \t"))]


# ---- Vitis -----------------------------------------------------------------------------------------------


def vitis_pragmas(full: Configuration, loop: str, *, below: bool) -> list[str]:
    """The pragmas inside one loop; below a pipelined loop Vitis unrolls by itself.

    Args: full: completed.
    """
    choice, found = full.of(loop), list[str]()
    if choice.pipeline == FINE:
        found.append(f"HLS pipeline II={choice.interval}")
    if choice.pipeline == OFF and not below:
        found.append("HLS pipeline off")
    if choice.unroll > 1:
        found.append(f"HLS unroll factor={choice.unroll}")
    return found


def _vitis(
    summary: Summary, configuration: Configuration, places: Mapping[str, LoopPlace], source: str
) -> list[tuple[int, str]]:
    full, found = complete(summary, configuration), list[tuple[int, str]]()
    for loop, place in places.items():
        below = any(full.of(outer).pipeline == FINE for outer in summary.loops_around(loop))
        indent = _indent(source, place.line_start) + "  "
        lines = _lines(vitis_pragmas(full, loop, below=below), indent)
        if not lines:
            continue
        if place.braced:
            found.append((place.body_start, "\n" + lines.rstrip("\n")))
        else:
            found += [
                (place.body_start, " {\n" + lines.rstrip("\n")),
                (place.body_end, "\n" + indent[:-2] + "}"),
            ]
    first = min((p.line_start for p in places.values()), default=0)
    return [(first, _lines(_array_pragmas(summary, configuration), _indent(source, first))), *found]


def _array_pragmas(summary: Summary, configuration: Configuration) -> list[str]:
    return [
        f"HLS array_partition variable={name} type=cyclic factor={count} dim={dimension}"
        for name, banks in partition_factors(summary, configuration).items()
        for dimension, count in enumerate(banks, 1)
        if count > 1
    ]


def _with_insertions(source: str, insertions: Sequence[tuple[int, str]]) -> str:
    """The text with others put in; at one place in the order given."""
    pieces, last = list[str](), 0
    for position, text in sorted(insertions, key=lambda insertion: insertion[0]):
        pieces += [source[last:position], text]
        last = position
    return "".join([*pieces, source[last:]])


# ---- loops in the text ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPlace:
    """Where a loop stands in a text, in characters from its start.

    Attributes:
        line_start: of the line with its `for`; braced: whether its body is a block.
        body_start: after the brace, or after the header; body_end: after a body without braces.
    """

    line_start: int
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
