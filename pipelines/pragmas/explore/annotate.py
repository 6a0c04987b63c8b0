"""C with the pragmas of a configuration: Merlin's above loops, or Vitis' inside them.

Works on the text as it is, so that everything else stays: loops are found by the line of their `for`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipelines.pragmas.bound import complete
from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.explore.directives import partition_factors
from pipelines.pragmas.explore.places import LoopPlace, find_loops
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
