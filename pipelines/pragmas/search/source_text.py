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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.summary import Loop, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPlace:
    """Where a loop stands in a text, in characters from its start.

    Attributes:
        start: of its keyword; header_end: after its `)`.
        braced: whether its body is a block; body_start: after the brace, or after the header; body_end: after
            the body, its brace included.
    """

    start: int
    header_end: int
    braced: bool
    body_start: int
    body_end: int


def find_loops(source: str, summary: Summary) -> dict[str, LoopPlace]:
    """Find the places of a program's loops in its text; inlined copies of a function share its loops."""
    blank, lines = blanked(source), _line_numbers(source)
    heads = sorted(position for word in ("for", "while") for position in _words(blank, word))
    copies: dict[tuple[int, ...], int] = {}
    loops: dict[str, LoopPlace] = {}
    for name, loop in summary.loops.items():
        on_line = [p for p in heads if lines[source.count("\n", 0, p)] == loop.line]
        bodies = _bodies(blank, name, summary.top)
        here = next((h for low, high in bodies if (h := tuple(p for p in on_line if low <= p < high))), None)
        if here is None:
            raise PragmaError(
                f"no `for` of loop {name} in line {loop.line}: it comes from a macro or another file"
            )
        place = copies[here] = copies.get(here, -1) + 1
        loops[name] = _loop_place(blank, here[place % len(here)])
    return loops


_LINE_MARKER = re.compile(r"#(?:line)? (\d+)")
_FUNCTION = re.compile(r"\b(?!(?:if|for|while|switch)\b)([A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{")


def _line_numbers(source: str) -> list[int]:
    """Return the number of each line, as `# 12 "file.c"` sets that of the next one."""
    numbers, number = list[int](), 1
    for line in source.split("\n"):
        numbers.append(number)
        marker = _LINE_MARKER.match(line)
        number = int(marker[1]) if marker else number + 1
    return numbers


def _bodies(blank: str, loop: str, top: str) -> list[tuple[int, int]]:
    """Return the start and end of the texts where a loop may stand, likely ones first: of the function that
    its name begins with (`f_L0`), of the top function, of the whole program.
    """
    names = [match[1] for match in _FUNCTION.finditer(blank) if loop.startswith(f"{match[1]}_")]
    bodies = [body_of(blank, name) for name in (*names, top)]
    return [*(body for body in bodies if body is not None), (0, len(blank))]


def _loop_place(blank: str, position: int) -> LoopPlace:
    header_end = _closing(blank, blank.index("(", position), "()")
    body = _next(blank, header_end)
    braced = blank[body] == "{"
    return LoopPlace(
        start=position,
        header_end=header_end,
        braced=braced,
        body_start=body + 1 if braced else header_end,
        body_end=statement_end(blank, body),
    )


def statement_end(blank: str, start: int) -> int:
    """Return the position after the C statement at `start`, in a text without comments and strings."""
    start = _next(blank, start)
    label = re.compile(r"(?!default\b)[A-Za-z_]\w*\s*:").match(blank, start)
    if label is not None:
        return statement_end(blank, label.end())
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


def body_of(blank: str, function: str) -> tuple[int, int] | None:
    """Return the start (after the opening brace) and end of a function's body; None if it is not defined."""
    opening = next((m.end() for m in _FUNCTION.finditer(blank) if m[1] == function), None)
    return None if opening is None else (opening, _closing(blank, opening - 1, "{}"))


def labelled_loops(source: str, labels: Iterable[str]) -> dict[str, LoopPlace]:
    """Find the places of the loops with these labels; each starts at its label."""
    blank = blanked(source)
    return {label: _loop_place(blank, next(_words(blank, label))) for label in labels}


def above(source: str, blank: str, position: int, lines: Sequence[str]) -> Edit:
    """Return the lines above the statement at a position, and above its label.

    Args: blank: the text as `blanked` gives it.
    """
    label = _LABEL.search(blank[:position])
    start = position if label is None else label.start()
    line_start = source.rfind("\n", 0, start) + 1
    indent = indent_of(source, line_start)
    if not source[line_start:start].strip():
        return Edit(line_start, line_start, "".join(f"{indent}{line}\n" for line in lines))
    return _broken(source, len(source[:start].rstrip(" \t")), "", indent + "  ", lines)


def at_start(source: str, position: int, opening: str, indent: str, lines: Sequence[str]) -> Edit:
    """Return the lines at the start of a body, after an opening text; what follows in the line of the
    position comes after them.
    """
    end = source.find("\n", position)
    if source[position : len(source) if end < 0 else end].strip():
        return _broken(source, position, opening, indent, lines)
    return Edit(position, position, opening + "".join(f"\n{indent}{line}" for line in lines))


_LABEL = re.compile(r"\b(?!default\b)[A-Za-z_]\w*\s*:\s*$")


def _broken(source: str, position: int, opening: str, indent: str, lines: Sequence[str]) -> Edit:
    """Return the lines between two parts of one line."""
    end = position + len(source[position:]) - len(source[position:].lstrip(" \t"))
    return Edit(position, end, opening + "".join(f"\n{indent}{line}" for line in (*lines, "")))


def indent_of(source: str, position: int) -> str:
    """Return the spaces at the start of a position's line."""
    rest = source[source.rfind("\n", 0, position) + 1 :]
    return rest[: len(rest) - len(rest.lstrip(" \t"))]


def _next(blank: str, position: int) -> int:
    while position < len(blank) and blank[position].isspace():
        position += 1
    if position == len(blank):
        raise PragmaError("text ends before the body of a loop")
    return position


def _closing(blank: str, opening: int, pair: str) -> int:
    """Return the position after the bracket that closes the one at `opening`."""
    depth = 0
    for position in range(opening, len(blank)):
        depth += (blank[position] == pair[0]) - (blank[position] == pair[1])
        if depth == 0:
            return position + 1
    raise PragmaError(f"unclosed bracket: {pair[0]} without {pair[1]}")


def _words(blank: str, word: str) -> Iterator[int]:
    """Yield the places of a word that is no part of a longer one."""
    position = blank.find(word)
    while position >= 0:
        around = blank[position - 1 : position] + blank[position + len(word) : position + len(word) + 1]
        if not any(c.isalnum() or c == "_" for c in around):
            yield position
        position = blank.find(word, position + 1)


def blanked(source: str) -> str:
    """Return the text with comments, strings, characters and preprocessor lines as spaces, line ends kept."""
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
    """Return end of the comment, string or preprocessor line that begins here; `position` when none does."""
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
    """Return the label of a loop that has no strips."""
    return f"{loop}_loop"


def strips_of(loop: str) -> str:
    """Return the label of the loop over a loop's strips."""
    return f"{loop}_strips"


def lanes_of(loop: str) -> str:
    """Return the label of the loop over the lanes of a strip."""
    return f"{loop}_lanes"


def rest_of(loop: str) -> str:
    """Return the label of the loop over iterations that fill no strip."""
    return f"{loop}_rest"


def strip_loops(source: str, summary: Summary, factors: Mapping[str, int]) -> Strips | None:
    """Return the text with loops as strips.

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
    """Return a loop as strips. A rest repeats the body, so a loop with a rest has no loops inside."""
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
    """Return the header of a loop that can become strips, None for any other."""
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
    """Tell whether every declaration of a counter in the text is of an `int`."""
    kinds = re.findall(rf"(?:^|[;{{}}(])\s*((?:\w+\s+)*?\w+)\s+(?:[\w\s,=]*,\s*)?{counter}\s*[;,=)]", blank)
    return bool(kinds) and all(kind in ("int", "register int") for kind in kinds if kind != "return")


def _is_set_next(blank: str, counter: str, position: int) -> bool:
    """Tell whether the text after a loop sets its counter before it reads it."""
    following = re.search(rf"\b{counter}\b", blank[position:])
    if following is None:
        return True
    before = blank[: position + following.start()]
    return re.search(r"(?:\bfor\s*\(\s*(?:int\s+)?|\bint\s+(?:[\w\s,=]*,\s*)?)$", before) is not None


def edited(source: str, edits: Sequence[Edit]) -> str:
    """Return the text with edits applied; those at one position in their order."""
    pieces, last = list[str](), 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += [source[last : edit.start], edit.text]
        last = max(last, edit.end)
    return "".join([*pieces, source[last:]])
