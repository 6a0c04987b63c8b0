"""All configurations of a small program and the least bound among them, one `bound` each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from pipelines.pragmas import Configuration, LoopChoice
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, bound, complete
from pipelines.pragmas.configuration import FINE, OFF
from pipelines.pragmas.nlp import SearchOptions, partitions, unrolled_size
from pipelines.pragmas.summary import ROOT, Summary
from pipelines.programs import polybench_program


def small_polybench(kernel: str, **sizes: int) -> Summary:
    """A kernel of PolyBench with sizes of its own."""
    row = polybench_program(kernel, data_type="float")
    text = row.source.replace("#define MINI_DATASET\n", "", 1)
    given = "".join(f"#define {name} {value}\n" for name, value in sizes.items())
    return summarise(given + text, row.top)


def configurations(summary: Summary, target: Target) -> Iterator[Configuration]:
    """Every pipeline position and every divisor of every loop (equations 1, 3 and 12), and where units are
    limited every interval."""
    intervals = (1,) if target.dsp_available is None else target.intervals
    rows = [
        [
            LoopChoice(pipeline=pipeline, unroll=unroll, interval=interval)
            for pipeline in (OFF, FINE)
            for interval in (intervals if pipeline == FINE else (1,))
            for unroll in _factors(summary, target, name)
        ]
        for name in summary.loops
    ]
    for choices in itertools.product(*rows):
        yield Configuration(loops=dict(zip(summary.loops, choices, strict=True)))


def _factors(summary: Summary, target: Target, name: str) -> list[int]:
    """Divisors; of innermost loops without a constant trip count the target's that the average fills."""
    loop = summary.loops[name]
    if loop.constant:
        return [n for n in range(1, loop.trip_count_max + 1) if loop.trip_count_max % n == 0] or [1]
    inner = loop.fixed_start and not summary.loops_inside(name)
    return [1, *(n for n in target.varying_factors if inner and n <= loop.trip_count_average)]


def admitted(summary: Summary, target: Target, options: SearchOptions, asked: Configuration) -> float | None:
    """The bound of a configuration, None where an equation excludes it."""
    made = complete(summary, asked, target)
    if any(complete(summary, other, target).loops == made.loops for other in options.excluded):
        return None
    found = bound(summary, asked, target)
    most = max(partitions(summary, asked).values(), default=1)
    dsps = found.dsp_count + options.copy_dsps * unrolled_size(summary, asked)
    broken = (
        _beyond_distance(summary, made, asked)
        or _shares_little(summary, made)
        or (options.fine_only and _has_coarse_copies(summary, made, asked))
        or (options.most_partitions is not None and most > options.most_partitions)
        or (options.most_copies is not None and unrolled_size(summary, asked) > options.most_copies)
        or (options.plain_copies and _copies_a_factor(summary, asked))
        or (target.dsp_available is not None and dsps > target.dsp_available * (1 + 1e-9))
        or not _fits(summary, target, made)
    )
    return None if broken else found.latency_cycles


def _copies_a_factor(summary: Summary, asked: Configuration) -> bool:
    """Whether a loop is asked for copies around one of no constant trip count that has a factor."""
    varying = [n for n, loop in summary.loops.items() if not loop.constant and asked.of(n).unroll > 1]
    return any(asked.of(outer).unroll > 1 for name in varying for outer in summary.loops_around(name))


def least_bound(summary: Summary, target: Target, options: SearchOptions) -> float | None:
    """The least bound of all configurations, None where there are none."""
    found = (admitted(summary, target, options, asked) for asked in configurations(summary, target))
    return min((cycles for cycles in found if cycles is not None), default=None)


def _beyond_distance(summary: Summary, made: Configuration, asked: Configuration) -> bool:
    """Equation 8; equation 5 alone counts inside a pipelined loop and in straight-line code (rule 5)."""
    return any(
        loop.distance is not None
        and 1 < loop.distance < asked.of(name).unroll
        and not any(made.of(other).pipeline == FINE for other in summary.loops_around(name))
        and not _is_straight(summary, made, name)
        for name, loop in summary.loops.items()
    )


def _shares_little(summary: Summary, made: Configuration) -> bool:
    """An interval is asked for of a loop with copies, where a smaller factor saves as many units, or of an
    innermost loop."""
    asked = [n for n, c in made.loops.items() if c.pipeline == FINE and c.interval > 1]
    return any(made.of(name).unroll > 1 or not summary.loops_inside(name) for name in asked)


def _is_straight(summary: Summary, made: Configuration, name: str) -> bool:
    loops = (name, *summary.loops_inside(name))
    return all(made.of(n).unroll >= summary.loops[n].trip_count_max for n in loops)


def _has_coarse_copies(summary: Summary, made: Configuration, asked: Configuration) -> bool:
    """Equation 14."""
    return any(
        asked.of(name).unroll > 1
        and summary.loops_inside(name)
        and made.of(name).pipeline != FINE
        and not _is_straight(summary, made, name)
        and not any(
            made.of(other).pipeline == FINE or _is_straight(summary, made, other)
            for other in summary.loops_around(name)
        )
        for name in summary.loops
    )


def _fits(summary: Summary, target: Target, made: Configuration) -> bool:
    """Equations 4, 7 and 16: whether some choice of caches above the leaves is small enough."""
    if target.onchip_bits is None or target.burst_bits is None:
        return True
    moved = [
        a.name
        for a in summary.arrays.values()
        if a.external and a.shape and (a.elements_in or a.elements_out)
    ]
    least = [_least_bits(summary, made, array) for array in moved]
    return sum(least) <= target.onchip_bits


def _least_bits(summary: Summary, made: Configuration, array: str) -> int:
    """Least bits of one array, over all sets of places that hold it for each of its accesses."""
    around = {s.loops for s in summary.statements for a in s.accesses if a.array == array}
    places = [p for p in {ROOT, *itertools.chain(*around)} if p == ROOT or _above(summary, made, p)]
    found: list[int] = []
    for count in range(1, len(places) + 1):
        for kept in itertools.combinations(places, count):
            if all(ROOT in kept or set(kept) & set(loops) for loops in around):
                found.append(sum(summary.footprints[p, array] for p in kept))
    return min(found) * summary.arrays[array].element_bits


def _above(summary: Summary, made: Configuration, name: str) -> bool:
    loops = (name, *summary.loops_around(name))
    return not any(made.of(n).pipeline == FINE or _is_straight(summary, made, n) for n in loops)
