"""A pipelined loop with all loops inside unrolled, and straight-line nests: the constants of the bound.

An access `y[k - i - 1]` in copies for `i` goes to a bank that depends on `k`: every copy takes the read port
of every bank, so that a factor of u needs u cycles for it however many banks there are. `y[i]` in u copies
takes one port of each of u banks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from pipelines.pragmas.bound.completion import flattened
from pipelines.pragmas.bound.straight import critical_path, is_sum, path_from, sum_loops
from pipelines.pragmas.bound.target import Target
from pipelines.pragmas.summary import RAW, READ, WRITE, Access, Dependence, Loop, Statement, Summary

UNIT_OF = {"sub": "add"}
"""Kinds that share a unit with another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A pipelined loop with a factor, all loops inside unrolled: a constant of the two.

    Attributes:
        latency_cycles: of one iteration; interval_cycles: between iterations (both lower bounds).
        cycles: of one execution, latency + interval * (trip count / unroll - 1); the mean of executions
            where the trip count is not constant.
        fill_cycles: the part of them that a nest which is flattened into one pipeline takes only once, 0
            where the latency is below the interval.
        units: least units by (kind, type) that run at once for that interval (theorem 6.17).
        limit: cause of the interval, in words.
    """

    latency_cycles: int
    interval_cycles: int
    cycles: float
    fill_cycles: int
    units: Mapping[tuple[str, str], float]
    limit: str


def leaf(summary: Summary, loop: str, unroll: int, target: Target, asked: int = 1) -> Leaf:
    """Return a loop that is pipelined with a factor, all loops inside unrolled fully (theorems 6.13 and
    6.14).

    A negative fill may make the bound fall where the interval grows. A design of an interval is one of at
    least any shorter interval, so the best of their bounds holds: it is at the interval, or at one from which
    a fill is negative.

    Args: unroll: copies of the body that run at once, already completed (`completion.inner_unroll`).
          asked: the least interval that is asked for.
    """
    facts, together = summary.loops[loop], _most_at_once(summary, loop, target)
    surely = unroll if facts.constant else 1  # an execution may have too few iterations for the factor
    body = body_latency(summary, loop, target, {loop: surely})
    latency = max(1, body)  # an iteration of operations that are chained takes a cycle all the same
    least, limit = least_interval(summary, loop, unroll, target)
    interval = max(least, asked // together)

    def cycles_from(shorter: int) -> tuple[float, int]:
        fill = max(0, _fill(latency, shorter, together)) if facts.trip_count_min > 0 else 0
        return _repeated_cycles(summary, loop, unroll, target, latency, shorter), fill

    last = (latency + together) // together  # with a fill that is not negative, all steps of a group counted
    turns = (interval, latency, last, last + 1, 2, least)
    repeated, fill = max(
        (cycles_from(min(interval, max(least, turn))) for turn in turns),
        key=lambda parts: parts[0] + parts[1],
    )
    return Leaf(
        latency_cycles=body,
        interval_cycles=interval,
        cycles=repeated + fill if facts.trip_count_max else 0.0,
        fill_cycles=fill,
        units=units(summary, loop, unroll, interval),
        limit="asked for" if interval > least else limit,
    )


def _fill(latency: int, interval: int, together: int) -> int:
    """Return the cycles of a pipeline beside one interval per step; negative where the latency is below the
    interval.

    Proof: the last of n steps starts after n - 1 intervals and ends after the latency, so the fill is latency
    - interval. Where k steps start together, every k intervals, the last k start after n - k intervals; then
    k sums are joined, by a sum of k cycles at least, so the fill is latency + k - k * interval.
    """
    alone = latency - interval
    return alone if together == 1 else min(alone, latency + together - together * interval)


def _repeated_cycles(
    summary: Summary, loop: str, unroll: int, target: Target, latency: int, interval: int
) -> float:
    """Return the cycles that every execution of a pipelined loop takes: all but a positive fill.

    Proof that a negative fill is subtracted from each execution: a nest that is one pipeline subtracts it
    once, one whose loops stay apart once per execution of the inner one, and which of the two an engine makes
    is not known. An execution without an iteration takes no cycle, which is not below a negative fill either.
    The mean of executions is not negative, so it is cut at 0.
    """
    facts, together = summary.loops[loop], _most_at_once(summary, loop, target)
    starts = float(facts.trip_count_average / unroll) * interval
    ends = _negative(latency, interval, together)
    if facts.constant:
        whole = facts.trip_count_max // unroll
        starts = whole * interval + _remainder_cycles(summary, loop, unroll, target, interval)
        ends = min(0, _fill(latency, interval, together))
        ends += _rest_cycles(summary, loop, whole, target, latency, interval)
    elif unroll > 1:  # groups, then single iterations
        single = least_interval(summary, loop, 1, target)[0]
        groups = facts.groups_average.get(unroll) if unroll in target.varying_factors else None
        if groups is not None:
            rest = facts.trip_count_average - groups * unroll
            starts = float(groups) * interval + float(rest) * single
        ends += _negative(latency, max(single, interval), together)
    return max(0.0, starts + ends)


def _negative(latency: int, interval: int, together: int) -> int:
    """Return negative fill of a pipeline, and that of last steps which may be too few to start together."""
    rest = latency - interval if together > 1 else 0
    return min(0, _fill(latency, interval, together)) + min(0, rest)


def _remainder_cycles(summary: Summary, loop: str, unroll: int, target: Target, interval: int) -> int:
    """Return the cycles of the iterations that are too few for a factor.

    They are one more step, or a loop of their own after the pipeline, which takes one body at least. Where
    the factor fits once, nothing of the loop is left, and both may be straight-line code side by side.
    """
    trips = summary.loops[loop].trip_count_max
    if trips % unroll == 0 or trips // unroll == 1:
        return 0
    alone = max(1, body_latency(summary, loop, target, {loop: 1}))
    return alone if target.separate_rests else min(interval, alone)


def iterations(loop: Loop, unroll: int) -> Fraction:
    """Return steps of a loop with a factor, rounded up for a constant trip count: a remainder is one step."""
    if loop.constant:
        return Fraction(-(-loop.trip_count_max // unroll))
    return loop.trip_count_average / unroll


# ---- straight-line code ----------------------------------------------------------------------------


def body_latency(summary: Summary, place: str, target: Target, factors: dict[str, int]) -> int:
    """Return the cycles of one execution of a body of unrolled loops (theorem 6.9): its critical path."""
    cycles = {c: _unrolled(summary, c, target, factors) for c in summary.children(place)}
    return round(longest_path(summary, place, cycles, target)[0])


def _unrolled(summary: Summary, child: str | int, target: Target, factors: dict[str, int]) -> int:
    if isinstance(child, int):
        return statement_latency(summary, summary.statements[child], target, factors)
    loop = summary.loops[child]
    within = factors | {child: loop.trip_count_max}
    if loop.trip_count_max == 0:
        return 0
    return max(body_latency(summary, child, target, within), chain_latency(summary, child, target))


def statement_latency(summary: Summary, statement: Statement, target: Target, factors: dict[str, int]) -> int:
    """Return a statement's critical path, copies of its reduction in one tree (theorem 6.12).

    Where the target does not reorder sums in an array's element, those of loops inside the outermost one run
    one after the other.

    Args: factors: copies by loop, the outermost one first.
    """
    sums = sum_loops(summary, statement)
    written = next((a for a in statement.accesses if a.kind == WRITE), None)
    if target.chained_array_sums and written is not None and _is_in_memory(summary, written):
        chained = math.prod(n for loop, n in [*factors.items()][1:] if loop in sums)
        if chained > 1:
            return critical_path(statement, target) + (chained - 1) * _sum_latency(statement, target)
    return critical_path(statement, target, math.prod(factors.get(loop, 1) for loop in sums))


def _is_in_memory(summary: Summary, written: Access) -> bool:
    """Tell whether it is an element of an external array: an engine may make variables of a local one."""
    return bool(written.subscripts) and summary.arrays[written.array].external


def chain_latency(summary: Summary, loop: str, target: Target) -> int:
    """Return the cycles of dependent iterations of an unrolled loop (theorem 6.9)."""
    delay, distance, _ = _recurrence(summary, loop, target, chains=True)
    return (summary.loops[loop].trip_count_max // distance) * delay if delay else 0


def longest_path(
    summary: Summary, place: str, cycles: Mapping[str | int, float], target: Target
) -> tuple[float, tuple[str | int, ...]]:
    """Return length and children of the longest path over a body's children (section 5.4: others overlap)."""
    before = predecessors(summary, place, target)
    ends: dict[str | int, tuple[float, tuple[str | int, ...]]] = {}
    for child in summary.children(place):
        start, path = max((ends[b] for b in before[child]), key=lambda end: end[0], default=(0.0, ()))
        ends[child] = (start + cycles[child], (*path, child))
    return max(ends.values(), key=lambda end: end[0], default=(0.0, ()))


def predecessors(summary: Summary, place: str, target: Target) -> dict[str | int, list[str | int]]:
    """Return the children of a body that each child depends on within one iteration.

    Updates of one variable by operations that an engine may reorder do not wait for one another.
    """
    children = summary.children(place)
    owner = {s: c for c in children for s in statements_in(summary, c)}
    order = {c: n for n, c in enumerate(children)}
    before: dict[str | int, list[str | int]] = {c: [] for c in children}
    for dependence in summary.dependences:
        source, sink = owner.get(dependence.source), owner.get(dependence.target)
        if dependence.loop is not None or source is None or sink is None or order[source] >= order[sink]:
            continue
        both_straight = isinstance(source, int) and isinstance(sink, int)
        if _updates_again(summary, dependence, target):
            continue
        if (dependence.kind == RAW or not both_straight) and source not in before[sink]:
            before[sink].append(source)
    return before


def _updates_again(summary: Summary, dependence: Dependence, target: Target) -> bool:
    """Tell whether both statements of a RAW update one variable by operations of one reorderable family."""
    if not target.tree_reduction or dependence.kind != RAW:
        return False
    ends = summary.statements[dependence.source], summary.statements[dependence.target]
    if not all(a.array == dependence.array for s in ends for a in s.accesses if a.kind == WRITE):
        return False
    first, second = (path_from(statement, target, dependence.array) for statement in ends)
    return second.first is not None and first.last == second.first == first.first


def statements_in(summary: Summary, child: str | int) -> tuple[int, ...]:
    """Return the statements of a child of a body."""
    if isinstance(child, int):
        return (child,)
    return tuple(s.index for s in summary.statements if child in s.loops)


# ---- intervals -------------------------------------------------------------------------------------


def least_interval(summary: Summary, loop: str, unroll: int, target: Target) -> tuple[int, str]:
    """Return the least cycles between steps of a pipelined loop (section 6.1.4), and their cause."""
    intervals = [(1, "one step a cycle"), _reduction_interval(summary, loop, target)]
    delay, distance, what = slowest_recurrence(summary, loop, target, unroll)
    intervals.append((math.ceil(Fraction(delay * unroll, distance)), what))
    intervals.append(_port_interval(summary, loop, unroll, target))
    intervals.append(bank_interval(summary, loop, unroll, target))
    intervals.append(update_interval(summary, loop, unroll, target))
    return max(intervals, key=lambda interval: interval[0])


def _reduction_interval(summary: Summary, loop: str, target: Target) -> tuple[int, str]:
    """Return the cycles of the operation that a reduction carries to the next step (RecMII, distance 1)."""
    slowest = (0, "")
    for statement in summary.statements:
        if loop not in statement.sum_loops:
            continue
        latency = _sum_latency(statement, target)
        if target.partial_sums and target.tree_reduction:
            latency = min(latency, 1)
        written = next((a.array for a in statement.accesses if a.kind == WRITE), "?")
        slowest = max(slowest, (latency, f"sum of {written}"))
    return slowest


def _sum_latency(statement: Statement, target: Target) -> int:
    sums = [o for n, o in enumerate(statement.operations) if is_sum(statement, n)]
    return max((target.cost(o.kind, o.type).latency_cycles for o in sums), default=0)


def _sums_at_once(summary: Summary, loop: str, target: Target) -> int:
    """Return the iterations of a loop that start together to keep as many partial sums of its reductions: a
    requested interval is then between groups of them.
    """
    if not (target.partial_sums and target.tree_reduction):
        return 1
    sums = (s for s in summary.statements if loop in s.reduction_loops)
    return max((_sum_latency(s, target) for s in sums), default=1) or 1


def _most_at_once(summary: Summary, loop: str, target: Target) -> int:
    """Return the iterations of a loop that a tool may start together: also for a variable that several
    statements of its body update, and nothing else there reads, which is no reduction of one statement.
    """
    if not (target.partial_sums and target.tree_reduction):
        return 1
    inside = [s for s in summary.statements if loop in s.loops]
    most = _sums_at_once(summary, loop, target)
    for array in {a.array for s in inside for a in s.accesses if a.kind == WRITE}:
        touching = [s for s in inside if any(a.array == array for a in s.accesses)]
        if all(_accumulates(s, array, loop) for s in touching):
            kinds = {o.type for s in touching for o in s.operations}
            most = max(most, *(target.cost("add", kind).latency_cycles for kind in kinds))
    return most


def _accumulates(statement: Statement, array: str, loop: str) -> bool:
    """Tell whether a statement updates an element of an array that is the same in a loop's iterations."""
    loads = {a.subscripts for a in statement.accesses if a.array == array and a.kind == READ}
    stores = {a.subscripts for a in statement.accesses if a.array == array and a.kind == WRITE}
    return loads == stores and all(loop != name for row in stores for d in row for name, _ in d.terms)


def _rest_cycles(summary: Summary, loop: str, steps: int, target: Target, latency: int, interval: int) -> int:
    """Return the extra cycles of a reduction whose last steps are too few for all its partial sums.

    They run after the pipeline, one body from its operands to its result, where the loop is not one pipeline
    with another. Of S steps, k of them together, the pipeline takes k (S // k) - k intervals and its latency,
    and a body as much again, in place of S - 1 intervals and one latency. Where a body takes less than an
    interval, they may run so everywhere.
    """
    together = _most_at_once(summary, loop, target)
    left = steps % together
    if not left:
        return 0
    parent = summary.loops[loop].parent
    apart = target.separate_rests and (parent is None or not flattened(summary, parent))
    apart = apart and together == _sums_at_once(summary, loop, target)
    rest = latency - max(interval, together + left - 1)
    return rest if apart and steps >= 2 * together else min(0, rest)


def slowest_recurrence(summary: Summary, loop: str, target: Target, unroll: int = 1) -> tuple[int, int, str]:
    """Return cycles and distance of the recurrence that takes most cycles per iteration of a loop (RecMII).

    It is a chain through all iterations, or a cycle of the body of a loop without loops inside whose copies
    are one: all iterations have the same schedule, so a value that one iteration takes from another counts
    for all, whatever its distance elsewhere.

    Returns: delay and distance, (0, 1) without one, and the array it goes through.
    """
    chained = _recurrence(summary, loop, target, chains=True)
    alike = unroll == 1 and not summary.child_loops(loop) and _sums_at_once(summary, loop, target) == 1
    anywhere = _recurrence(summary, loop, target, chains=False) if alike else chained
    return max(chained, anywhere, key=lambda found: Fraction(found[0], found[1]))


def _recurrence(summary: Summary, loop: str, target: Target, *, chains: bool) -> tuple[int, int, str]:
    """Return `slowest_recurrence` of dependences that are chains, or of all."""
    slowest = (0, 1, "")
    for d in summary.dependences:
        distance = d.chain if chains else max(1, d.distance)
        if d.loop != loop or d.kind != RAW or d.reduction or distance is None:
            continue
        delay = _cycle_delay(summary, loop, d, target, chains=chains)
        if Fraction(delay, distance) > Fraction(slowest[0], slowest[1]):
            slowest = (delay, distance, f"{d.array} of {distance} before")
    return slowest


def _cycle_delay(summary: Summary, loop: str, carried: Dependence, target: Target, *, chains: bool) -> int:
    """Return the cycles from a carried value's load to the store that makes the next one, 0 when there is no
    path.

    Where an engine may reorder, operations of one family that follow one another in several statements count
    once: it may combine all operands but the carried one before.
    """
    first = path_from(summary.statements[carried.target], target, carried.array)
    if carried.source == carried.target:
        return first.cycles
    reached: dict[int, dict[str | None, int]] = {carried.target: {first.last: first.cycles}}
    inner = sorted(
        (d for d in summary.dependences if d.kind == RAW and d.loop is None and d.source < d.target),
        key=lambda d: (d.source, d.target),
    )
    for d in inner:
        used = d.source in reached and loop in summary.statements[d.target].loops
        if used and not (chains and d.chain is None):
            path = path_from(summary.statements[d.target], target, d.array)
            ends = reached.setdefault(d.target, {})
            for family, cycles in reached[d.source].items():
                after = cycles + path.cycles_after(family if target.tree_reduction else None)
                last = path.last if path.cycles else family
                ends[last] = max(ends.get(last, 0), after)
    around = first.first if target.tree_reduction else None
    ends = reached.get(carried.source, {})
    shared = {f: first.first_cycles if f is not None and f == around else 0 for f in ends}
    return max((cycles - shared[family] for family, cycles in ends.items()), default=0)


def update_interval(summary: Summary, loop: str, unroll: int, target: Target) -> tuple[int, str]:
    """Return the least cycles between steps where the nest is one pipeline and its next round updates the
    same elements.

    An element that a statement loads, changes and stores in each iteration of the loop around is in memory
    between two of them where this loop runs over it. So all steps of this loop take at least the time from
    its load to the next one: the operations, and the delays of memory. Where the engine makes two loops of
    the nest after all, each execution takes its steps and that time, which is more.
    """
    facts = summary.loops[loop]
    outer, left = facts.parent, facts.constant and unroll < facts.trip_count_max
    if not (target.update_cycles and left) or outer is None or not flattened(summary, outer):
        return 0, ""
    slowest = (0, "")
    for statement in summary.statements:
        if statement.always and statement.loops and statement.loops[-1] == loop:
            for array in updated_arrays(statement, outer, loop):
                if summary.arrays[array].external:
                    cycles = target.update_cycles + path_from(statement, target, array).cycles
                    slowest = max(slowest, (cycles, f"update of {array} of one {outer} before"))
    return math.ceil(slowest[0] / iterations(facts, unroll)), slowest[1]


def updated_arrays(statement: Statement, outer: str, inner: str) -> tuple[str, ...]:
    """Return the arrays of which a statement updates the same element in all iterations of an outer loop, and
    another element in each iteration of an inner one.
    """
    arrays: list[str] = []
    for written in statement.accesses:
        named = {name for a in written.subscripts for name, factor in a.terms if factor}
        exact = all(a.exact for a in written.subscripts)
        loads = (a for a in statement.accesses if a.kind == READ and a.array == written.array)
        if written.kind == WRITE and exact and inner in named and outer not in named:
            arrays += [written.array for a in loads if a.subscripts == written.subscripts][:1]
    return tuple(arrays)


def _port_interval(summary: Summary, loop: str, unroll: int, target: Target) -> tuple[int, str]:
    """Return the accesses of a step over ports (ResMII), where arrays are in one bank."""
    if target.ports is None:
        return 0, ""
    slowest = (0, "")
    for kind in (READ, WRITE):
        for array in summary.arrays.values():
            if array.shape and array.external:
                count = _accesses(summary, loop, unroll, array.name, kind)
                slowest = max(slowest, (-(-count // target.ports), f"{count} {kind}s of {array.name}"))
    return slowest


def _accesses(summary: Summary, loop: str, unroll: int, array: str, kind: str) -> int:
    """Count the elements that a step surely touches: by one access of one statement."""
    most = 0
    for statement in summary.statements:
        if loop not in statement.loops or not statement.always:
            continue
        inside = {i: summary.loops[i].trip_count_min for i in summary.loops_inside(loop)} | {loop: unroll}
        for access in statement.accesses:
            if access.array == array and access.kind == kind and all(a.exact for a in access.subscripts):
                named = {name for a in access.subscripts for name, factor in a.terms if factor}
                most = max(most, max((n for i, n in inside.items() if i in named), default=1))
    return most


# ---- units -----------------------------------------------------------------------------------------


def units(summary: Summary, loop: str, unroll: int, interval: int) -> dict[tuple[str, str], float]:
    """Return the units by (kind, type) that a pipelined loop keeps busy, sharing perfect (theorem 6.17)."""
    inside = set(summary.loops_inside(loop))
    return busy_units(
        (s for s in summary.statements if loop in s.loops),
        {i: summary.loops[i].trip_count_max for i in inside} | {loop: unroll},
        interval,
    )


def busy_units(
    statements: Iterable[Statement], factors: dict[str, int], cycles: int
) -> dict[tuple[str, str], float]:
    """Return the operations of copies of statements over the cycles in which they may share units."""
    units_by_kind: dict[tuple[str, str], float] = {}
    for statement in statements:
        copies = math.prod(factors.get(loop, 1) for loop in statement.loops)
        for operation in statement.operations:
            key = (UNIT_OF.get(operation.kind, operation.kind), operation.type)
            units_by_kind[key] = units_by_kind.get(key, 0.0) + copies / max(1, cycles)
    return units_by_kind


def bank_interval(summary: Summary, loop: str, unroll: int, target: Target) -> tuple[int, str]:
    """Return the least cycles between steps of a pipelined loop for the loads of one array, and these.

    Args: unroll: 1, or a factor of an innermost loop without a constant trip count that a search may use.
    """
    if not target.banked_reads or unroll not in (1, *target.varying_factors) or summary.loops[loop].constant:
        return 0, ""
    slowest = (0, "")
    inside = [s for s in summary.statements if s.loops and s.loops[-1] == loop]
    changed = {a.array for s in inside for a in s.accesses if a.kind == WRITE}
    for array in sorted(surely_banked(summary, target) - changed):
        forms = {_form(a): a for s in inside if s.always for a in s.accesses if _moves(a, array, loop)}
        count = sum(unroll if _unknown(summary, a, loop) else 1 for a in forms.values())
        slowest = max(slowest, (count, f"{count} loads of {array} from each bank"))
    return slowest


def surely_banked(summary: Summary, target: Target) -> frozenset[str]:
    """Return the external arrays of which no dimension can be partitioned completely: the loops that index
    them have no factor, or one of `varying_factors`.
    """
    most = lcm(1, *target.varying_factors)
    large = {
        a.name for a in summary.arrays.values() if a.external and a.shape and all(n > most for n in a.shape)
    }
    free = {name for name in summary.loops if _may_have_any_factor(summary, name)}
    indexed = {
        a.array
        for s in summary.statements
        for a in s.accesses
        if any(not d.exact or any(name in free for name, _ in d.terms) for d in a.subscripts)
    }
    return frozenset(large - indexed)


def _may_have_any_factor(summary: Summary, name: str) -> bool:
    """Tell whether a loop may have copies, or be unrolled in a pipeline: all but loops without a constant
    trip count, and sequential loops around these.
    """
    loop = summary.loops[name]
    varying = any(not summary.loops[i].constant for i in summary.loops_inside(name))
    return loop.constant and (loop.parallel or not varying)


def _moves(access: Access, array: str, loop: str) -> bool:
    named = (name for d in access.subscripts for name, factor in d.terms if factor)
    return access.array == array and access.kind == READ and loop in named


def _form(access: Access) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Return an access without its constants: shifted ones may share loads."""
    return tuple(tuple(sorted(d.terms)) for d in access.subscripts)


def _unknown(summary: Summary, access: Access, loop: str) -> bool:
    """Tell whether copies of a loop go to banks that a sequential loop around it decides."""
    along = [dict(d.terms) for d in access.subscripts if any(name == loop for name, _ in d.terms)]
    if len(along) != 1 or abs(along[0][loop]) != 1:
        return False
    others = {name: factor for name, factor in along[0].items() if name != loop}
    return any(abs(factor) == 1 and not summary.loops[name].parallel for name, factor in others.items())
