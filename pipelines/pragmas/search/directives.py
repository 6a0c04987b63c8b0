"""A configuration as directives of our own synthesis, and as pragmas in the C text.

Our own synthesis does less by itself than Merlin and Vitis. So what completion adds (`bound/completion.py`)
and the partitions of equations 10 and 11 are written out for it, and factors may be strips in the text.
Pragmas are inserted into the text as it is, on lines of their own: Vitis' inside loops, others above them.
Loops are identified by the line of their `for` or `while`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import lcm, prod

from pipelines.c import Directive, pragma_of
from pipelines.pragmas.bound import Target, complete, read_target
from pipelines.pragmas.bound.completion import flattened
from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.search.source_text import (
    Edit,
    LoopPlace,
    above,
    at_start,
    blanked,
    body_of,
    edited,
    find_loops,
    indent_of,
    labelled_loops,
    lanes_of,
    named,
    rest_of,
    strip_loops,
    strips_of,
)
from pipelines.pragmas.summary import ROOT, WRITE, Access, Summary

OWN, MERLIN, VITIS = "simfoundry", "merlin", "vitis"
STYLES = (OWN, MERLIN, VITIS)


def hls_directives(summary: Summary, configuration: Configuration) -> tuple[Directive, ...]:
    """Return the directives of a configuration for the text as it is, loops in source order, then arrays."""
    full = complete(summary, configuration, own_target())
    loops = [d for name in summary.loops for d in _of_loop(summary, full, name)]
    return (*loops, *_partitions(summary, full))


def given_directives(
    summary: Summary, configuration: Configuration, most_banks: int
) -> tuple[Directive, ...]:
    """Return the directives of choices as they are: no loop is pipelined that has no pipeline in them.

    Args: most_banks: of an array dimension; 1 for no partition.
    """
    factors = _given_factors(summary, configuration)
    full = Configuration(
        loops={name: replace(configuration.of(name), unroll=factors[name]) for name in summary.loops}
    )
    loops = [d for name in summary.loops for d in _of_loop(summary, full, name)]
    return (*loops, *_partitions_of(summary, banks_of(summary, configuration, most_banks)))


def banks_of(summary: Summary, configuration: Configuration, most_banks: int) -> dict[str, tuple[int, ...]]:
    """Return the banks of each array by dimension in the design of `given_directives`."""
    return _banks_of(summary, _given_factors(summary, configuration), most_banks)


def _given_factors(summary: Summary, configuration: Configuration) -> dict[str, int]:
    """Return the copies of each loop's body without completion; loops inside pipelined ones are unrolled."""
    return {
        name: loop.trip_count_max
        if _below_pipeline(summary, configuration, name)
        else configuration.of(name).unroll
        for name, loop in summary.loops.items()
    }


def strips_design(
    source: str, summary: Summary, configuration: Configuration
) -> tuple[str, tuple[Directive, ...]] | None:
    """Return text with a configuration's factors as strips, and its directives; None without any strip."""
    full = complete(summary, configuration, own_target())
    factors = {
        name: full.of(name).unroll
        for name, loop in summary.loops.items()
        if 1 < full.of(name).unroll < loop.trip_count_max and not _below_pipeline(summary, full, name)
    }
    strips = strip_loops(source, summary, factors) if factors else None
    if strips is None:
        return None
    directives: list[Directive] = []
    for name in summary.loops:
        for directive in _of_loop(summary, full, name):
            labels = [named(name)]
            if name in strips.stripped and directive.kind == "pipeline":
                labels = [strips_of(name), rest_of(name)] if strips.stripped[name] else [strips_of(name)]
            elif name in strips.stripped:
                labels = [lanes_of(name)]
            directives += [replace(directive, loop=label) for label in labels]
    return strips.source, (*directives, *_partitions(summary, full))


def likely_waits(summary: Summary, configuration: Configuration) -> bool:
    """Tell whether a pipeline likely waits for an array when factors are directives.

    It does where it belongs to a flattened nest or has no constant trip count, reads and writes an array, and
    a loop of the nest has a factor and indexes the array, so that the address within a bank is a quotient.
    """
    full = complete(summary, configuration, own_target())
    for name in summary.loops:
        if full.of(name).pipeline != FINE:
            continue
        nest = _flattened_nest(summary, name)
        stepped = {loop for loop in nest if full.of(loop).unroll > 1}
        if (len(nest) > 1 or not summary.loops[name].constant) and any(
            _updates(summary, name, loop) for loop in stepped
        ):
            return True
    return False


def _flattened_nest(summary: Summary, name: str) -> tuple[str, ...]:
    """Return a loop and those around it that make one pipeline with it."""
    nest = [name]
    while (parent := summary.loops[nest[-1]].parent) is not None and flattened(summary, parent):
        nest.append(parent)
    return tuple(nest)


def _updates(summary: Summary, name: str, stepped: str) -> bool:
    """Tell whether a loop reads and writes an array that another loop's counter indexes."""
    kinds: dict[str, set[str]] = {}
    for statement in summary.statements:
        for access in statement.accesses if name in statement.loops else ():
            if any(loop == stepped for subscript in access.subscripts for loop, _ in subscript.terms):
                kinds.setdefault(access.array, set()).add(access.kind)
    return any(len(accesses) > 1 for accesses in kinds.values())


@cache
def own_target() -> Target:
    """Return the project's own synthesis as a target."""
    return read_target("simfoundry")


def unroll_factors(
    summary: Summary, configuration: Configuration, target: Target | None = None
) -> Mapping[str, int]:
    """Return the copies of each loop's body, those inside pipelined loops included."""
    full = complete(summary, configuration, target)
    return {name: full.of(name).unroll for name in summary.loops}


def _of_loop(summary: Summary, full: Configuration, name: str) -> list[Directive]:
    choice, directives = full.of(name), list[Directive]()
    if _below_pipeline(summary, full, name):
        return []  # the pipeline around it unrolls it
    if choice.pipeline == FINE:
        directives.append(Directive(kind="pipeline", loop=name, value=choice.interval))
    if choice.unroll > 1:
        above = choice.pipeline != FINE and _holds_pipeline(summary, full, name)
        kind = "parallel" if above and summary.loops[name].parallel else "unroll"
        directives.append(Directive(kind=kind, loop=name, value=choice.unroll))
    return directives


def _below_pipeline(summary: Summary, full: Configuration, name: str) -> bool:
    return any(full.of(outer).pipeline == FINE for outer in summary.loops_around(name))


def _holds_pipeline(summary: Summary, full: Configuration, name: str) -> bool:
    return any(full.of(inner).pipeline == FINE for inner in summary.loops_inside(name))


def partition_factors(
    summary: Summary, configuration: Configuration, target: Target | None = None
) -> Mapping[str, tuple[int, ...]]:
    """Return the banks of each array by dimension: a multiple of every factor of a loop that runs over the
    dimension.

    Source: NLP-DSE equations 10 and 11.
    """
    return _banks_of(summary, unroll_factors(summary, configuration, target), None)


def _banks_of(summary: Summary, factors: Mapping[str, int], most: int | None) -> dict[str, tuple[int, ...]]:
    """Return the banks of each array by dimension, at most `most` of a dimension (None = unlimited)."""
    banks = {name: [1] * len(array.shape) for name, array in summary.arrays.items()}
    for statement in summary.statements:
        for access in statement.accesses:
            _widen(banks[access.array], access, factors)
    return {
        name: tuple(min(b, e, most or b) for b, e in zip(counts, summary.arrays[name].shape, strict=True))
        for name, counts in banks.items()
    }


def banked_size(summary: Summary, configuration: Configuration) -> int:
    """Return the operations and accesses of the unrolled program, an access once for each bank that it may
    address.

    An access may address any bank of a dimension that the factors of the loops in its subscript do not rule
    out: copies for `i` alone, of a factor that divides the banks, know their bank up to multiples of the
    factor. Each copy of a loop that is unrolled completely has its own constant counter, and so one bank. The
    engine schedules all of these, and its time follows this size more closely than the unrolled size.
    """
    factors = unroll_factors(summary, configuration, own_target())
    return _size_of(summary, factors, partition_factors(summary, configuration, own_target()))


def given_size(summary: Summary, configuration: Configuration, most_banks: int) -> int:
    """Return `banked_size` of the design of `given_directives`."""
    factors = _given_factors(summary, configuration)
    return _size_of(summary, factors, banks_of(summary, configuration, most_banks))


def _size_of(summary: Summary, factors: Mapping[str, int], banks: Mapping[str, tuple[int, ...]]) -> int:
    whole = {n for n, loop in summary.loops.items() if loop.constant and factors[n] >= loop.trip_count_max}
    total = 0
    for statement in summary.statements:
        each = len(statement.operations)
        for access in statement.accesses:
            each += prod(
                _banks_of_access(count, [factors[loop] for loop, _ in subscript.terms if loop not in whole])
                if subscript.exact
                else count
                for count, subscript in zip(banks[access.array], access.subscripts, strict=True)
            )
        total += each * prod(factors[loop] for loop in statement.loops)
    return total


def _banks_of_access(banks: int, factors: list[int]) -> int:
    """Return the banks of a dimension that one access may address, by its subscript's loop factors."""
    if not factors:
        return 1
    known = min(factors[0], banks) if len(factors) == 1 else 1
    return banks // known if banks % known == 0 else banks


def _widen(banks: list[int], access: Access, factors: Mapping[str, int]) -> None:
    for dimension, subscript in enumerate(access.subscripts):
        for loop, _ in subscript.terms:
            banks[dimension] = lcm(banks[dimension], factors[loop])


def _partitions(summary: Summary, full: Configuration) -> list[Directive]:
    return _partitions_of(summary, partition_factors(summary, full, own_target()))


def _partitions_of(summary: Summary, banks_of: Mapping[str, tuple[int, ...]]) -> list[Directive]:
    """Return the partitions of arrays; none of tables that nothing writes: the engine has no memory."""
    written = {a.array for s in summary.statements for a in s.accesses if a.kind == WRITE}
    directives: list[Directive] = []
    for name, banks in banks_of.items():
        if name not in written and not summary.arrays[name].external:
            continue
        shape = summary.arrays[name].shape
        for dimension, (count, extent) in enumerate(zip(banks, shape, strict=True), 1):
            if count >= extent > 1:
                directives.append(
                    Directive(kind="partition", variable=name, style="complete", dimension=dimension)
                )
            elif count > 1:
                directives.append(
                    Directive(
                        kind="partition", variable=name, style="cyclic", value=count, dimension=dimension
                    )
                )
    return directives


# ---- pragmas in the text ---------------------------------------------------------------------------


def annotate(source: str, summary: Summary, configuration: Configuration, *, style: str = MERLIN) -> str:
    """Return the program's text with the pragmas of a configuration.

    Args:   style: MERLIN (`#pragma ACCEL`, above each loop), VITIS (`#pragma HLS`, in each loop's body, which
            gets braces where it has none) or OWN (what our own synthesis reads, see `annotate_directives`).
    Raises: PragmaError: an unknown style, or a loop that is not in the text (it comes from a macro or another
            file).
    """
    if style not in STYLES:
        raise PragmaError(f"unknown style: {style}; accepted: {', '.join(STYLES)}")
    if style == OWN:
        return annotate_directives(source, summary, hls_directives(summary, configuration))
    places = find_loops(source, summary)
    if style == MERLIN:
        return edited(source, _merlin(summary, configuration, places, source))
    full = complete(summary, configuration)
    pipelined = {name for name in summary.loops if full.of(name).pipeline == FINE}
    lines = {
        loop: vitis_pragmas(full, loop, below=not pipelined.isdisjoint(summary.loops_around(loop)))
        for loop in places
    }
    of_arrays, starts = _array_pragmas(summary, configuration), [place.start for place in places.values()]
    return edited(
        source,
        [*_in_bodies(source, places, lines), *_above_loops(source, summary.top, starts, {}, of_arrays)],
    )


def annotate_directives(
    source: str, summary: Summary, directives: Sequence[Directive], *, style: str = OWN
) -> str:
    """Return the program's text with directives as pragmas, which make the design of the directives.

    Args:   directives: their loops are those of the program, or labels of the text where it has strips. The
            loops of a function that is called several times get the pragmas of the first call.
            style: spelling of the pragmas. Those of Vitis stand in the bodies of loops, and in style VITIS
            loops without a pipeline say so. Merlin reads Vitis' words for what it has none for.
    Raises: PragmaError: a loop is not in the text.
    """
    loops = dict.fromkeys(d.loop for d in directives if d.loop)
    has_strips = any(loop not in summary.loops for loop in loops)
    places = labelled_loops(source, loops) if has_strips else find_loops(source, summary)
    lines = {loop: [_spelled(d, style) for d in directives if d.loop == loop] for loop in loops}
    of_arrays = [_spelled(d, style) for d in directives if not d.loop]
    if style == VITIS and not has_strips:
        pipelined = {d.loop for d in directives if d.kind == "pipeline"}
        for loop in places:
            if pipelined.isdisjoint((*summary.loops_around(loop), loop)):
                lines[loop] = ["HLS pipeline off", *lines.get(loop, [])]
    above_loops: dict[int, list[str]] = {}
    for loop in loops:
        above_loops.setdefault(places[loop].start, [line for line in lines[loop] if not _is_inside(line)])
    inside = {loop: [line for line in texts if _is_inside(line)] for loop, texts in lines.items()}
    starts = [place.start for place in places.values()]
    return edited(
        source,
        [
            *_in_bodies(source, places, inside),
            *_above_loops(source, summary.top, starts, above_loops, of_arrays),
        ],
    )


def _is_inside(pragma: str) -> bool:
    """Tell whether a pragma of a loop stands in its body."""
    return pragma.startswith("HLS ")


def _spelled(directive: Directive, style: str) -> str:
    """Return the pragma of a directive of the search, without `#pragma`."""
    factor = "" if directive.value is None else f" factor={directive.value}"
    interval = "" if directive.value is None else f" II={directive.value}"
    if directive.kind == "pipeline" and style != OWN:
        return f"HLS pipeline{interval}" if style == VITIS else f"ACCEL pipeline flatten{interval}"
    if (directive.kind == "unroll" and style != OWN) or (directive.kind == "parallel" and style == VITIS):
        return f"HLS unroll{factor}"
    if directive.kind == "parallel" and style == MERLIN:
        return f"ACCEL parallel{factor}"
    pragma = pragma_of(directive)
    if pragma is None:
        raise PragmaError(f"no pragma says {directive}")
    return pragma


def _above_loops(
    source: str,
    top: str,
    starts: Iterable[int],
    above_loops: Mapping[int, Sequence[str]],
    of_arrays: Sequence[str],
) -> list[Edit]:
    """Return edits: pragmas of loops above them, of arrays above the top function's first loop."""
    blank = blanked(source)
    low, high = body_of(blank, top) or (0, len(source))
    first = min((start for start in starts if low <= start < high), default=None)
    lines = {start: [f"#pragma {text}" for text in texts] for start, texts in above_loops.items() if texts}
    arrays = [f"#pragma {text}" for text in of_arrays]
    if first is not None and arrays:
        lines[first] = [*arrays, *lines.get(first, [])]
    edits = [above(source, blank, start, texts) for start, texts in lines.items()]
    if first is None and arrays:
        edits.append(at_start(source, low, "", indent_of(source, low) + "  ", arrays))
    return edits


def merlin_pragmas(summary: Summary, configuration: Configuration, loop: str) -> list[str]:
    """Return the pragmas above one loop, in the order Merlin's documentation lists them."""
    choice, pragmas = configuration.of(loop), list[str]()
    caches = [a for place, a in configuration.caches or () if place == loop]
    pragmas += [f"ACCEL cache variable={array}" for array in caches]
    if choice.tile > 1:
        pragmas.append(f"ACCEL tile factor={choice.tile}")
    if choice.pipeline == COARSE:
        pragmas.append("ACCEL pipeline")
    if choice.pipeline == FINE:
        interval = f" II={choice.interval}" if choice.interval > 1 else ""
        pragmas.append(f"ACCEL pipeline flatten{interval}")
    if choice.unroll > 1:
        pragmas.append(f"ACCEL parallel factor={choice.unroll}{_reductions(summary, loop)}")
    return pragmas


def _reductions(summary: Summary, loop: str) -> str:
    if not summary.loops[loop].reduction:
        return ""
    arrays = [
        a.array
        for s in summary.statements
        if loop in s.reduction_loops
        for a in s.accesses
        if a.kind == WRITE
    ]
    return "".join(f" reduction={array}" for array in dict.fromkeys(arrays))


def _merlin(
    summary: Summary, configuration: Configuration, places: Mapping[str, LoopPlace], source: str
) -> list[Edit]:
    above_loops: dict[int, list[str]] = {}
    for loop, place in places.items():
        above_loops.setdefault(place.start, merlin_pragmas(summary, configuration, loop))
    whole = [f"ACCEL cache variable={a}" for p, a in configuration.caches or () if p == ROOT]
    return _above_loops(source, summary.top, above_loops, above_loops, whole)


def vitis_pragmas(full: Configuration, loop: str, *, below: bool) -> list[str]:
    """Return the pragmas inside one loop; below a pipelined loop Vitis unrolls by itself.

    Args: full: completed.
    """
    choice, pragmas = full.of(loop), list[str]()
    if choice.pipeline == FINE:
        pragmas.append(f"HLS pipeline II={choice.interval}")
    if choice.pipeline == OFF and not below:
        pragmas.append("HLS pipeline off")
    if choice.unroll > 1:
        pragmas.append(f"HLS unroll factor={choice.unroll}")
    return pragmas


def _in_bodies(
    source: str, places: Mapping[str, LoopPlace], pragmas: Mapping[str, Sequence[str]]
) -> list[Edit]:
    """Return the pragmas of loops at the starts of their bodies."""
    edits = list[Edit]()
    first_copies = {place.start: (loop, place) for loop, place in reversed(list(places.items()))}
    for loop, place in first_copies.values():  # inner loops close before outer ones at one place
        lines = [f"#pragma {text}" for text in pragmas.get(loop, ())]
        indent = indent_of(source, place.start)
        if not lines:
            continue
        edits.append(at_start(source, place.body_start, "" if place.braced else " {", indent + "  ", lines))
        if not place.braced:
            edits.append(Edit(place.body_end, place.body_end, f"\n{indent}}}"))
    return edits


def _array_pragmas(summary: Summary, configuration: Configuration) -> list[str]:
    return [
        f"HLS array_partition variable={name} type=cyclic factor={count} dim={dimension}"
        for name, banks in partition_factors(summary, configuration).items()
        for dimension, count in enumerate(banks, 1)
        if count > 1
    ]
