"""A configuration as directives of the project's own high-level synthesis.

The engine does by itself less than Merlin and Vitis do: what completion adds (`bound/completion.py`) and the
partitions of equations 10 and 11 are written out; factors may be strips in the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import lcm, prod

from pipelines.hls import Directive
from pipelines.pragmas.bound import Target, complete, read_target
from pipelines.pragmas.bound.completion import flattened
from pipelines.pragmas.configuration import FINE, Configuration
from pipelines.pragmas.explore.strips import lanes_of, named, rest_of, strip_loops, strips_of
from pipelines.pragmas.summary import Access, Summary


def hls_directives(summary: Summary, configuration: Configuration) -> tuple[Directive, ...]:
    """The directives of a configuration for the text as it is, loops in source order, then arrays."""
    full = complete(summary, configuration, own_target())
    loops = [d for name in summary.loops for d in _of_loop(summary, full, name)]
    return (*loops, *_partitions(summary, full))


def strips_design(
    source: str, summary: Summary, configuration: Configuration
) -> tuple[str, tuple[Directive, ...]] | None:
    """The text with a configuration's factors as strips, and its directives; None where there is no strip."""
    full = complete(summary, configuration, own_target())
    factors = {
        name: full.of(name).unroll
        for name, loop in summary.loops.items()
        if 1 < full.of(name).unroll < loop.trip_count_max and not _below_pipeline(summary, full, name)
    }
    strips = strip_loops(source, summary, factors) if factors else None
    if strips is None:
        return None
    found: list[Directive] = []
    for name in summary.loops:
        for directive in _of_loop(summary, full, name):
            labels = [named(name)]
            if name in strips.stripped and directive.kind == "pipeline":
                labels = [strips_of(name), rest_of(name)] if strips.stripped[name] else [strips_of(name)]
            elif name in strips.stripped:
                labels = [lanes_of(name)]
            found += [replace(directive, loop=label) for label in labels]
    return strips.source, (*found, *_partitions(summary, full))


def likely_waits(summary: Summary, configuration: Configuration) -> bool:
    """Whether a pipeline likely waits for an array when factors are directives.

    It does where it is of a flattened nest or has no constant trip count, reads and writes an array, and a
    loop of the nest has a factor and indexes the array, so that the place within a bank is a quotient.
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
    """A loop and those around it that make one pipeline with it."""
    found = [name]
    while (parent := summary.loops[found[-1]].parent) is not None and flattened(summary, parent):
        found.append(parent)
    return tuple(found)


def _updates(summary: Summary, name: str, stepped: str) -> bool:
    """Whether a loop reads and writes an array that another loop's counter indexes."""
    kinds: dict[str, set[str]] = {}
    for statement in summary.statements:
        for access in statement.accesses if name in statement.loops else ():
            if any(loop == stepped for subscript in access.subscripts for loop, _ in subscript.terms):
                kinds.setdefault(access.array, set()).add(access.kind)
    return any(len(found) > 1 for found in kinds.values())


@cache
def own_target() -> Target:
    """What the project's own synthesis is."""
    return read_target("simfoundry")


def unroll_factors(
    summary: Summary, configuration: Configuration, target: Target | None = None
) -> Mapping[str, int]:
    """Copies of each loop's body, those inside pipelined loops included."""
    full = complete(summary, configuration, target)
    return {name: full.of(name).unroll for name in summary.loops}


def _of_loop(summary: Summary, full: Configuration, name: str) -> list[Directive]:
    choice, found = full.of(name), list[Directive]()
    if _below_pipeline(summary, full, name):
        return []  # the pipeline around it unrolls it
    if choice.pipeline == FINE:
        found.append(Directive(kind="pipeline", loop=name, value=choice.interval))
    if choice.unroll > 1:
        above = choice.pipeline != FINE and _holds_pipeline(summary, full, name)
        kind = "parallel" if above and summary.loops[name].parallel else "unroll"
        found.append(Directive(kind=kind, loop=name, value=choice.unroll))
    return found


def _below_pipeline(summary: Summary, full: Configuration, name: str) -> bool:
    return any(full.of(outer).pipeline == FINE for outer in summary.loops_around(name))


def _holds_pipeline(summary: Summary, full: Configuration, name: str) -> bool:
    return any(full.of(inner).pipeline == FINE for inner in summary.loops_inside(name))


def partition_factors(
    summary: Summary, configuration: Configuration, target: Target | None = None
) -> Mapping[str, tuple[int, ...]]:
    """Banks of each array by dimension: a multiple of every factor of a loop that runs over the dimension.

    Source: NLP-DSE equations 10 and 11.
    """
    factors = unroll_factors(summary, configuration, target)
    banks = {name: [1] * len(array.shape) for name, array in summary.arrays.items()}
    for statement in summary.statements:
        for access in statement.accesses:
            _widen(banks[access.array], access, factors)
    return {
        name: tuple(min(b, e) for b, e in zip(found, summary.arrays[name].shape, strict=True))
        for name, found in banks.items()
    }


def banked_size(summary: Summary, configuration: Configuration) -> int:
    """Operations and accesses of the unrolled program, an access once for each bank that it may go to.

    It may go to any bank of a dimension but as far as the factors of the loops that index it say: copies for
    `i` alone, of a factor that divides the banks, know their bank up to multiples of the factor. That is what
    the engine schedules, and the time that it takes follows it more closely than the unrolled size does. Each
    copy of a loop that is unrolled completely has its own constant counter, and so one bank.
    """
    factors = unroll_factors(summary, configuration, own_target())
    whole = {n for n, loop in summary.loops.items() if loop.constant and factors[n] >= loop.trip_count_max}
    banks = partition_factors(summary, configuration, own_target())
    total = 0
    for statement in summary.statements:
        each = len(statement.operations)
        for access in statement.accesses:
            each += prod(
                _ways(count, [factors[loop] for loop, _ in subscript.terms if loop not in whole])
                for count, subscript in zip(banks[access.array], access.subscripts, strict=True)
            )
        total += each * prod(factors[loop] for loop in statement.loops)
    return total


def _ways(banks: int, factors: list[int]) -> int:
    """Banks of a dimension that one access may go to, by the factors of the loops in its subscript."""
    if not factors:
        return 1
    known = min(factors[0], banks) if len(factors) == 1 else 1
    return banks // known if banks % known == 0 else banks


def _widen(banks: list[int], access: Access, factors: Mapping[str, int]) -> None:
    for dimension, subscript in enumerate(access.subscripts):
        for loop, _ in subscript.terms:
            banks[dimension] = lcm(banks[dimension], factors[loop])


def _partitions(summary: Summary, full: Configuration) -> list[Directive]:
    found: list[Directive] = []
    for name, banks in partition_factors(summary, full, own_target()).items():
        shape = summary.arrays[name].shape
        for dimension, (count, extent) in enumerate(zip(banks, shape, strict=True), 1):
            if count >= extent > 1:
                found.append(
                    Directive(kind="partition", variable=name, style="complete", dimension=dimension)
                )
            elif count > 1:
                found.append(
                    Directive(
                        kind="partition", variable=name, style="cyclic", value=count, dimension=dimension
                    )
                )
    return found
