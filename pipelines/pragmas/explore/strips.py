"""Factors of loops as strips in the text: a loop over strips, and one over the lanes of a strip.

The project's own synthesis unrolls in steps: the counter of a loop with factor 4 goes 0, 4, 8. Where an array
has as many banks, the place of an element within its bank is then a quotient of the counter, and in nests
that are flattened, or where the trip count varies, what a pipeline writes and reads again can no longer be
told apart. A counter of strips goes 0, 1, 2, and all subscripts stay sums of multiples of counters. So

    for (j = low; j < high; j++) body

with factor u becomes

    for (strip = 0; strip < (high - low) / u; strip++)
      for (lane = 0; lane < u; lane++) { int j = low + u * strip + lane; body }

and, where u may not divide the trip count, a loop over the rest. The order of iterations is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.pragmas.explore.places import LoopPlace, blanked, find_loops
from pipelines.pragmas.summary import Loop, Summary

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
        stripped: loops that are strips now, and whether a rest follows.
    """

    source: str
    stripped: Mapping[str, bool]


def named(loop: str) -> str:
    """Label of a loop that is as it was; likewise of the loop over strips, over lanes, over the rest."""
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
    """Write loops as strips.

    Args:    factors: lanes of loops, each above 1 and below the trip count; others stay as they are, and so
             do those whose header is no plain count of an `int` by one.
    Returns: the text, or None when nothing became a strip or loops have labels of their own.
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
    edits, stripped = list[_Edit](), dict[str, bool]()
    for name in reversed(tuple(summary.loops)):  # inner loops close before outer ones at one place
        place = places[name]
        if name not in headers:
            edits.append(_Edit(place.start, place.start, f"{named(name)}: "))
            continue
        loop, lanes = summary.loops[name], factors[name]
        stripped[name] = not (loop.constant and loop.trip_count_max % lanes == 0)
        edits += _strip(source, name, headers[name], place, lanes, rest=stripped[name])
    return Strips(source=_edited(source, edits), stripped=stripped)


# ---- one loop --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Edit:
    """A text in place of that from `start` to `end`."""

    start: int
    end: int
    text: str


def _strip(
    source: str, name: str, header: Header, place: LoopPlace, lanes: int, *, rest: bool
) -> list[_Edit]:
    """A loop as strips. A rest repeats the body, so that such a loop must have no loops inside."""
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
        _Edit(place.start, place.header_end, opening),
        _Edit(place.body_end, place.body_end, closing),
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
    """Whether every declaration of a counter that is found is of an `int`."""
    kinds = re.findall(rf"(?:^|[;{{}}(])\s*((?:\w+\s+)*?\w+)\s+(?:[\w\s,=]*,\s*)?{counter}\s*[;,=)]", blank)
    return bool(kinds) and all(kind in ("int", "register int") for kind in kinds if kind != "return")


def _is_set_next(blank: str, counter: str, position: int) -> bool:
    """Whether what follows a loop in the text sets its counter before it reads it."""
    following = re.search(rf"\b{counter}\b", blank[position:])
    if following is None:
        return True
    before = blank[: position + following.start()]
    return re.search(r"(?:\bfor\s*\(\s*(?:int\s+)?|\bint\s+(?:[\w\s,=]*,\s*)?)$", before) is not None


def _edited(source: str, edits: Sequence[_Edit]) -> str:
    pieces, last = list[str](), 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += [source[last : edit.start], edit.text]
        last = max(last, edit.end)
    return "".join([*pieces, source[last:]])
