"""A configuration as directives of the project's own high-level synthesis.

Belongs here: which directives make the design that a bound speaks of. Does not: whether they are applied.

The engine does by itself less than Merlin and Vitis do: what completion adds (`bound/completion.py`) and the
partitions of equations 10 and 11 are written out.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm

from pipelines.hls import Directive
from pipelines.pragmas.bound import complete
from pipelines.pragmas.configuration import FINE, Configuration
from pipelines.pragmas.summary import Access, Summary


def hls_directives(summary: Summary, configuration: Configuration) -> tuple[Directive, ...]:
    """The directives of a configuration, loops in source order, then arrays."""
    full = complete(summary, configuration)
    loops = [d for name in summary.loops for d in _of_loop(summary, full, name)]
    return (*loops, *_partitions(summary, full))


def unroll_factors(summary: Summary, configuration: Configuration) -> Mapping[str, int]:
    """Copies of each loop's body, those inside pipelined loops included."""
    full = complete(summary, configuration)
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


def partition_factors(summary: Summary, configuration: Configuration) -> Mapping[str, tuple[int, ...]]:
    """Banks of each array by dimension: a multiple of every factor of a loop that runs over the dimension.

    Source: NLP-DSE equations 10 and 11.
    """
    factors = unroll_factors(summary, configuration)
    banks = {name: [1] * len(array.shape) for name, array in summary.arrays.items()}
    for statement in summary.statements:
        for access in statement.accesses:
            _widen(banks[access.array], access, factors)
    return {
        name: tuple(min(b, e) for b, e in zip(found, summary.arrays[name].shape, strict=True))
        for name, found in banks.items()
    }


def _widen(banks: list[int], access: Access, factors: Mapping[str, int]) -> None:
    for dimension, subscript in enumerate(access.subscripts):
        for loop, _ in subscript.terms:
            banks[dimension] = lcm(banks[dimension], factors[loop])


def _partitions(summary: Summary, full: Configuration) -> list[Directive]:
    found: list[Directive] = []
    for name, banks in partition_factors(summary, full).items():
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
