"""All configurations of a small program and the least bound among them, one `bound` each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A configuration and all that limits are compared with; they do not change it."""

    made: Configuration
    cycles: float
    dsps: float
    most_partitions: int
    size: int
    has_coarse_copies: bool
    copies_a_factor: bool


def points(summary: Summary, target: Target) -> list[Point]:
    """Every configuration that the equations without a limit admit."""
    found = (_point(summary, target, asked) for asked in configurations(summary, target))
    return [point for point in found if point is not None]


def _point(summary: Summary, target: Target, asked: Configuration) -> Point | None:
    made = complete(summary, asked, target)
    if (
        _shares_little(summary, made)
        or _beyond_distance(summary, made, asked)
        or not _fits(summary, target, made)
    ):
        return None
    least = bound(summary, asked, target)
    return Point(
        made=made,
        cycles=least.latency_cycles,
        dsps=least.dsp_count,
        most_partitions=max(partitions(summary, asked).values(), default=1),
        size=unrolled_size(summary, asked),
        has_coarse_copies=_has_coarse_copies(summary, made, asked),
        copies_a_factor=_copies_a_factor(summary, asked),
    )


def least_within(points: Sequence[Point], target: Target, options: SearchOptions) -> float | None:
    """The least bound of the points within the limits, None where there are none."""
    return min((p.cycles for p in points if _is_within(p, target, options)), default=None)


def _is_within(point: Point, target: Target, options: SearchOptions) -> bool:
    dsps = point.dsps + options.copy_dsps * point.size
    return (
        not (options.fine_only and point.has_coarse_copies)
        and not (options.plain_copies and point.copies_a_factor)
        and (options.most_partitions is None or point.most_partitions <= options.most_partitions)
        and (options.most_copies is None or point.size <= options.most_copies)
        and (target.dsp_available is None or dsps <= target.dsp_available * (1 + 1e-9))
    )


def _copies_a_factor(summary: Summary, asked: Configuration) -> bool:
    """Whether a loop is asked for copies around one of no constant trip count that has a factor."""
    varying = [n for n, loop in summary.loops.items() if not loop.constant and asked.of(n).unroll > 1]
    return any(asked.of(outer).unroll > 1 for name in varying for outer in summary.loops_around(name))


def least_bound(summary: Summary, target: Target, options: SearchOptions) -> float | None:
    """The least bound of all configurations, None where there are none."""
    without = [complete(summary, other, target).loops for other in options.excluded]
    kept = [p for p in points(summary, target) if p.made.loops not in without]
    return least_within(kept, target, options)


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
