"""C text: where loops stand, and loops with a factor written as strips.

A text is searched with comments, strings and preprocessor lines blanked, so that positions stay the same.

The project's own synthesis unrolls in steps: the counter of a loop with factor 4 takes the values 0, 4, 8. In
an array of 4 banks the address within a bank is then a quotient of the counter. In flattened nests, and in
loops without a constant trip count, the dependence test fails on quotients. The counter of a loop over strips
takes the values 0, 1, 2, and all subscripts stay affine. So

    for (j = low; j < high; j++) body

with factor u becomes

    for (strip = 0; strip < (high - low) / u; strip++)
      for (lane = 0; lane < u; lane++) { int j = low + u * strip + lane; body }

and, where u may not divide the trip count, a loop over the rest. The order of iterations is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import Loop, Summary


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
    loops: dict[str, LoopPlace] = {}
    for name, loop in summary.loops.items():
        here = by_line.get(loop.line, [])
        if not here:
            raise PragmaError(
                f"no `for` of loop {name} in line {loop.line}: it comes from a macro or another file"
            )
        loops[name] = _place(source, blank, here.pop(0))
    return loops


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
        raise PragmaError("text ends before the body of a loop")
    return position


def _closing(blank: str, opening: int, pair: str) -> int:
    """Position after the bracket that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(blank)):
        depth += (blank[position] == pair[0]) - (blank[position] == pair[1])
        if depth == 0:
            return position + 1
    raise PragmaError(f"unclosed bracket: {pair[0]} without {pair[1]}")


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
    characters, position = list[str](), 0
    while position < len(source):
        end = _skipped(source, position)
        if end == position:
            characters.append(source[position])
            position += 1
            continue
        characters += ["\n" if c == "\n" else " " for c in source[position:end]]
        position = end
    return "".join(characters)


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


_STEPS = r"(?:{0}\+\+|\+\+{0}|{0}\+=1|{0}={0}\+1|{0}=1\+{0})"
_NAME = r"[A-Za-z_]\w*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header of a counted loop: `for (counter = low; counter < high; counter++)`, as C expressions."""

    counter: str
    low: str
    high: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Strips:
    """A text in which some loops are strips.

    Attributes:
        source: the text; every loop of the program has a label, `named` or one of the three of its strips.
        stripped: loops that became strips, and whether a rest follows.
    """

    source: str
    stripped: Mapping[str, bool]


def named(loop: str) -> str:
    """Label of a loop that has no strips."""
    return f"{loop}_loop"


def strips_of(loop: str) -> str:
    """Label of the loop over a loop's strips."""
    return f"{loop}_strips"


def lanes_of(loop: str) -> str:
    """Label of the loop over the lanes of a strip."""
    return f"{loop}_lanes"


def rest_of(loop: str) -> str:
    """Label of the loop over iterations that fill no strip."""
    return f"{loop}_rest"


def strip_loops(source: str, summary: Summary, factors: Mapping[str, int]) -> Strips | None:
    """The text with loops as strips.

    Args:    factors: lanes of loops, each above 1 and below the trip count. Loops stay as they are where they
             have none, and where the header does not count an `int` by one.
    Returns: the text, or None when no loop became strips or loops have labels of their own.
    """
    if any(not re.fullmatch(r"L\d+", name) for name in summary.loops):
        return None
    blank, places = blanked(source), find_loops(source, summary)
    headers = {
        name: header
        for name, lanes in factors.items()
        if (header := _header(blank, places[name], summary.loops[name], lanes)) is not None
    }
    if not headers or any(f"{name}_{end}" in blank for name in summary.loops for end in ("strip", "lane")):
        return None
    edits, stripped = list[Edit](), dict[str, bool]()
    for name in reversed(tuple(summary.loops)):  # inner loops close before outer ones at one place
        place = places[name]
        if name not in headers:
            edits.append(Edit(place.start, place.start, f"{named(name)}: "))
            continue
        loop, lanes = summary.loops[name], factors[name]
        stripped[name] = not (loop.constant and loop.trip_count_max % lanes == 0)
        edits += _strip(source, name, headers[name], place, lanes, rest=stripped[name])
    return Strips(source=edited(source, edits), stripped=stripped)


# ---- one loop --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edit:
    """A text that replaces that from `start` to `end`; an insertion where the two are equal."""

    start: int
    end: int
    text: str


def _strip(source: str, name: str, header: Header, place: LoopPlace, lanes: int, *, rest: bool) -> list[Edit]:
    """A loop as strips. A rest repeats the body, so a loop with a rest has no loops inside."""
    strip, lane, counter = f"{name}_strip", f"{name}_lane", header.counter
    trips = f"(({header.high}) - ({header.low})) / {lanes}"
    opening = (
        f"{strips_of(name)}: for (int {strip} = 0; {strip} < {trips}; {strip}++) "
        f"{lanes_of(name)}: for (int {lane} = 0; {lane} < {lanes}; {lane}++) "
        f"{{ int {counter} = ({header.low}) + {lanes} * {strip} + {lane};"
    )
    closing = " }"
    if rest:
        body = source[place.header_end : place.body_end]
        first = f"({header.low}) + {trips} * {lanes}"
        counted = f"int {counter} = {first}; {counter} < {header.high}; {counter}++"
        closing += f" {rest_of(name)}: for ({counted}){body} }}"
        opening = "{ " + opening
    return [
        Edit(place.start, place.header_end, opening),
        Edit(place.body_end, place.body_end, closing),
    ]


def _header(blank: str, place: LoopPlace, loop: Loop, lanes: int) -> Header | None:
    """The header of a loop that can become strips, None for any other."""
    inside = blank[blank.index("(", place.start) + 1 : place.header_end - 1]
    parts = inside.split(";")
    if len(parts) != 3 or "," in parts[0] or (not loop.constant and _has_loops(loop)):
        return None
    first = re.fullmatch(rf"\s*(int\s+)?({_NAME})\s*=\s*(\S.*?)\s*", parts[0], re.DOTALL)
    if first is None:
        return None
    declared, counter, low = first.groups()
    while_ = re.fullmatch(rf"\s*{counter}\s*(<=?)\s*([^=\s].*?)\s*", parts[1], re.DOTALL)
    stepped = re.fullmatch(_STEPS.format(counter), re.sub(r"\s", "", parts[2]))
    if while_ is None or stepped is None or not 1 < lanes < max(2, loop.trip_count_max):
        return None
    if not declared and not (_is_int(blank, counter) and _is_set_next(blank, counter, place.body_end)):
        return None
    if loop.constant and loop.trip_count_max % lanes and _has_loops(loop):
        return None
    high = while_[2] if while_[1] == "<" else f"({while_[2]}) + 1"
    return Header(counter=counter, low=low, high=high)


def _has_loops(loop: Loop) -> bool:
    return any(isinstance(child, str) for child in loop.children)


def _is_int(blank: str, counter: str) -> bool:
    """Whether every declaration of a counter in the text is of an `int`."""
    kinds = re.findall(rf"(?:^|[;{{}}(])\s*((?:\w+\s+)*?\w+)\s+(?:[\w\s,=]*,\s*)?{counter}\s*[;,=)]", blank)
    return bool(kinds) and all(kind in ("int", "register int") for kind in kinds if kind != "return")


def _is_set_next(blank: str, counter: str, position: int) -> bool:
    """Whether the text after a loop sets its counter before it reads it."""
    following = re.search(rf"\b{counter}\b", blank[position:])
    if following is None:
        return True
    before = blank[: position + following.start()]
    return re.search(r"(?:\bfor\s*\(\s*(?:int\s+)?|\bint\s+(?:[\w\s,=]*,\s*)?)$", before) is not None


def edited(source: str, edits: Sequence[Edit]) -> str:
    """The text with edits applied; those at one position in their order."""
    pieces, last = list[str](), 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += [source[last : edit.start], edit.text]
        last = max(last, edit.end)
    return "".join([*pieces, source[last:]])
