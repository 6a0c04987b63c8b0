"""A sub-problem's options and solution, and the space of a program: every option of every loop.

Its constants come from the functions of the bound.

Source: NLP-DSE section 5.1 and 5.2, decision 012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipelines.pragmas.bound import Target, complete, has_copies, inner_unroll, leaf
from pipelines.pragmas.bound.composition import cost_of, level_cycles, onchip_bits, transfers
from pipelines.pragmas.bound.leaf import iterations, predecessors
from pipelines.pragmas.configuration import Configuration, LoopChoice
from pipelines.pragmas.nlp.space import (
    ABOVE,
    INSIDE,
    PIPELINED,
    STRAIGHT,
    Body,
    Dimension,
    Option,
    Space,
    Transfer,
    Units,
)
from pipelines.pragmas.summary import ROOT, Summary

OPTIMAL, INCUMBENT, INFEASIBLE, UNKNOWN = "optimal", "incumbent", "infeasible", "unknown"
"""End of a search: proven best; best within the time; no configuration keeps to the limits; none within the
time."""

PARTITIONS, DSPS, MEMORY, SIZE, EXCLUDED = "partitions", "dsps", "memory", "size", "excluded"
"""Groups of constraints that can clash: equation 9; equation 15; equations 4, 7 and 16; the size of the
unrolled program; what was excluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """A sub-problem of Algorithm 1.

    Attributes:
        most_partitions: of an array (equation 9, the ladder's rung), None = unlimited.
        fine_only: no copies of loops above the pipelined ones (equation 14).
        most_copies: of operations and accesses in the unrolled program (`unrolled_size`), which a tool has to
            process; None = unlimited.
        copy_dsps: DSP blocks that each of these takes beside equation 15's units, as measured: where a limit
            stands for area, registers and multiplexers take some of it.
        plain_copies: loops with copies have no loop inside with a factor and without a constant trip count.
            Such a loop becomes two loops, over its groups and over the rest, which run one after the other.
        time_limit_s, most_nodes: of the solver, None = unlimited; nodes are the same on every machine.
        gap: relative gap to the proven bound at which the solver may end; 0 for the best configuration.
        excluded: configurations that are left out, compared as tools complete them.
        excluded_parts: likewise, with all that make the same choices of the named loops.
        start: a configuration to begin from; it is ignored where it breaks a limit.
        at_least_cycles: a known lower bound, such as the optimum of a higher rung.
    """

    most_partitions: int | None = None
    fine_only: bool = False
    most_copies: int | None = None
    copy_dsps: float = 0.0
    plain_copies: bool = False
    time_limit_s: float | None = None
    most_nodes: int | None = None
    gap: float = 0.0
    excluded: tuple[Configuration, ...] = ()
    excluded_parts: tuple[tuple[Configuration, frozenset[str]], ...] = ()
    start: Configuration | None = None
    at_least_cycles: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The answer of the program.

    Attributes:
        status: OPTIMAL, INCUMBENT, INFEASIBLE or UNKNOWN; configuration: the best one found.
        latency_cycles: its bound; lower_bound: no configuration of the sub-problem has less.
        gap: latency over lower bound, less 1; nodes: of the solver's tree.
        clashing: when infeasible, groups of constraints that cannot hold together; all but any one can.
    """

    status: str
    configuration: Configuration | None
    latency_cycles: float | None
    lower_bound: float
    gap: float | None
    nodes: int
    clashing: tuple[str, ...] = ()


def build_space(summary: Summary, target: Target, options: SearchOptions) -> Space:
    """Build all configurations that equations 1 to 8 and 12 to 14 admit, with the cost of each choice."""
    into, out = transfers(summary, target)
    bodies = {ROOT: _body(summary, target, ROOT)}
    bodies |= {loop: _body(summary, target, loop) for loop in summary.loops if summary.child_loops(loop)}
    return Space(
        options={loop: _options(summary, target, loop, options) for loop in summary.loops},
        parents={name: loop.parent or ROOT for name, loop in summary.loops.items()},
        bodies=bodies,
        swapped={loop: only for loop in summary.loops if (only := _swapped(summary, target, loop))},
        always_entered=frozenset(n for n, loop in summary.loops.items() if loop.trip_count_min > 0),
        dimensions=array_dimensions(summary),
        most_partitions=options.most_partitions,
        dsp={key: cost.dsp_count for key, cost in target.operations.items() if cost.dsp_count},
        dsp_available=target.dsp_available,
        most_copies=options.most_copies,
        copy_dsps=options.copy_dsps,
        sizes=statement_sizes(summary),
        plain=_varying_pairs(summary) if options.plain_copies else (),
        transfer_cycles=level_cycles(into.values()) + level_cycles(out.values()),
        transfers=_transfers(summary, target, {*into, *out}),
        onchip_bits=target.onchip_bits,
    )


def _varying_pairs(summary: Summary) -> tuple[tuple[str, str], ...]:
    """Return the pairs of a loop and one inside it, both without a constant trip count."""
    varying = [name for name, loop in summary.loops.items() if not loop.constant]
    return tuple((outer, name) for name in varying for outer in summary.loops_around(name))


def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a number, 1 for 0."""
    return tuple(n for n in range(1, max(1, number) + 1) if max(1, number) % n == 0)


def array_dimensions(summary: Summary) -> dict[str, tuple[Dimension, ...]]:
    """Return the dimensions of each array; loops of a subscript that is not affine do not count."""
    loops_by_array: dict[str, list[set[str]]] = {}
    for statement in summary.statements:
        for access in statement.accesses:
            rows = loops_by_array.setdefault(access.array, [])
            rows.extend(set[str]() for _ in range(len(access.subscripts) - len(rows)))
            for row, subscript in zip(rows, access.subscripts, strict=False):
                row.update(loop for loop, coefficient in subscript.terms if coefficient and subscript.exact)
    return {
        array: tuple(
            Dimension(tuple(sorted(row)), extent)
            for row, extent in zip(rows, summary.arrays[array].shape, strict=True)
        )
        for array, rows in loops_by_array.items()
    }


# ---- options of loops ------------------------------------------------------------------------------


def _options(summary: Summary, target: Target, name: str, search: SearchOptions) -> tuple[Option, ...]:
    """Return the options of a loop (equations 1, 3, 5, 8, 12, 14). Dominated options are left out when no
    configuration is excluded.
    """
    loop, options = summary.loops[name], list[Option]()
    enabling = _enables(summary, target, name, search)
    if summary.child_loops(name):
        options += _copies(summary, target, name, search)
    if all(summary.loops[inside].constant for inside in summary.loops_inside(name)):
        leaves = _pipelined(summary, target, name, search, enabling=enabling)
        if _may_be_straight(summary, name):
            leaves.append(_straight(summary, target, name))
        excludes = bool(search.excluded or search.excluded_parts)
        options += leaves if excludes else undominated(leaves, enabling)
    if loop.parent is not None and loop.constant:
        whole = loop.trip_count_max
        options.append(Option(state=INSIDE, unroll=whole, copies=whole, full=True))
    return tuple(options)


def _copies(summary: Summary, target: Target, name: str, search: SearchOptions) -> list[Option]:
    """Return the factors of a loop above the pipelined one: copies of whole modules (theorem 6.16), factors
    that tools ignore, and 1 (equation 14).
    """
    loop = summary.loops[name]
    factors = divisors(loop.trip_count_max) if loop.constant and not search.fine_only else (1,)
    copied = factors if _freely_copied(summary, target, name) or _swapped(summary, target, name) else (1,)
    pairs = [(u, u) for u in copied]
    if _enables(summary, target, name, search) and not _freely_copied(summary, target, name):
        pairs += [(u, 1) for u in factors if is_prime(u)]
    return [
        Option(state=ABOVE, unroll=u, copies=copies, factor=float(iterations(loop, copies)))
        for u, copies in pairs
    ]


def _freely_copied(summary: Summary, target: Target, name: str) -> bool:
    """Tell whether a factor makes copies for all factors of the loops inside."""
    return has_copies(summary, Configuration(), name, target)


def _swapped(summary: Summary, target: Target, name: str) -> str | None:
    """Return the one loop inside whose factor decides whether this loop's factor makes copies."""
    inside = summary.child_loops(name)
    if len(inside) != 1 or _freely_copied(summary, target, name):
        return None
    asked = Configuration(loops={inside[0]: LoopChoice(unroll=summary.loops[inside[0]].trip_count_max)})
    return inside[0] if has_copies(summary, asked, name, target) else None


def _enables(summary: Summary, target: Target, name: str, search: SearchOptions) -> bool:
    """Tell whether a factor that tools ignore helps the loop around."""
    parent = summary.loops[name].parent
    possible = parent is not None and not search.fine_only and summary.loops[name].constant
    return possible and _swapped(summary, target, parent or ROOT) == name


def is_prime(number: int) -> bool:
    """Tell whether a number has two divisors."""
    return len(divisors(number)) == 2


def _pipelined(
    summary: Summary, target: Target, name: str, search: SearchOptions, *, enabling: bool
) -> list[Option]:
    """Return the factors of a pipelined loop, up to its distance (equation 8; rule 3 of decision 012)."""
    loop = summary.loops[name]
    factors = pipeline_factors(summary, target, name)
    pairs = [(u, u) for u in factors if u == inner_unroll(loop, u) or u == 1]
    if enabling and loop.distance == 1:
        pairs += [(u, 1) for u in factors if is_prime(u)]
    options = list[Option]()
    for unroll, copies in pairs:
        least = _leaf_option(summary, target, name, unroll, copies)
        longer = _longer_intervals(target, least, search) if summary.child_loops(name) else []
        others = [_leaf_option(summary, target, name, unroll, copies, asked) for asked in longer]
        options += [least, *(option for option in others if option.interval > least.interval)]
    alone = loop.parent is not None and len(summary.child_loops(loop.parent)) == 1
    return [option for option in options if not (alone and option.full)]


def pipeline_factors(summary: Summary, target: Target, name: str) -> tuple[int, ...]:
    """Return the factors of a pipelined loop: divisors of a constant trip count (equation 12), else the
    target's that the average execution fills, for innermost loops with a fixed start.
    """
    loop = summary.loops[name]
    if loop.constant:
        return divisors(loop.trip_count_max)
    varying = target.varying_factors if loop.fixed_start and not summary.child_loops(name) else ()
    return (1, *(u for u in varying if u <= loop.trip_count_average))


def _longer_intervals(target: Target, least: Option, search: SearchOptions) -> list[int]:
    """Return the intervals of a loop with loops inside, beside the least one.

    A longer one saves limited units alone, and a smaller factor saves as many. Without a limit on units the
    least interval is never worse, unless its design is excluded.
    """
    limited = target.dsp_available is not None and any(target.cost(*key).dsp_count for key in least.units)
    if least.unroll > 1 or not (limited or search.excluded or search.excluded_parts):
        return []
    return [asked for asked in target.intervals if asked > 1]


def _leaf_option(
    summary: Summary, target: Target, name: str, unroll: int, copies: int, asked: int = 1
) -> Option:
    loop, constants = summary.loops[name], leaf(summary, name, copies, target, asked)
    full = loop.constant and copies >= loop.trip_count_max
    return Option(
        state=PIPELINED,
        unroll=unroll,
        copies=copies,
        factor=constants.cycles - constants.fill_cycles,
        fill=constants.fill_cycles,
        units=dict(constants.units),
        full=full,
        interval=constants.interval_cycles,
        asked=asked,
    )


def _may_be_straight(summary: Summary, name: str) -> bool:
    """Tell whether a loop can be the outermost of loops that are all unrolled: the tool pipelines the loop
    above when it has no other loop inside (rule 2 of decision 012).
    """
    loop = summary.loops[name]
    return loop.constant and (loop.parent is None or len(summary.child_loops(loop.parent)) > 1)


def _straight(summary: Summary, target: Target, name: str) -> Option:
    factors = {loop: summary.loops[loop].trip_count_max for loop in (name, *summary.loops_inside(name))}
    whole = Configuration(loops={loop: LoopChoice(unroll=unroll) for loop, unroll in factors.items()})
    cost = cost_of(summary, whole, name, target)
    return Option(
        state=STRAIGHT,
        unroll=max(1, factors[name]),
        copies=max(1, factors[name]),
        factor=cost.cycles,
        units=dict(cost.units),
        full=True,
    )


def undominated(options: list[Option], enabling: bool = False) -> list[Option]:
    """Return the leaves of a loop that no other one dominates in time and resources.

    Args: enabling: a factor above 1 helps the loop around.
    """
    kept: list[Option] = []
    for index, option in enumerate(options):
        others = [*kept, *options[index + 1 :]]
        others = [o for o in others if not enabling or (o.unroll > 1) == (option.unroll > 1)]
        if not any(never_worse(other, option) for other in others):
            kept.append(option)
    return kept


def never_worse(first: Option, second: Option) -> bool:
    """Tell whether a leaf can replace another in every design (docs/pragmas.md, 'Program').

    Partitions are least common multiples, so the factor has to divide the other's. A straight leaf takes its
    fill with every execution, and so does the replaced one: both are below loops that are not flattened.
    """
    faster = first.factor <= second.factor and first.fill <= second.fill
    if first.state == STRAIGHT:
        faster = first.factor <= second.factor + second.fill and second.full
    smaller = second.unroll % first.unroll == 0 and first.full <= second.full
    return faster and smaller and all(n <= second.units.get(key, 0) for key, n in first.units.items())


# ---- bodies and memory -----------------------------------------------------------------------------


def _body(summary: Summary, target: Target, place: str) -> Body:
    """Return the children of a place, dependences among them, and the cycles and units of its statements."""
    children = summary.children(place)
    where = {child: index for index, child in enumerate(children)}
    edges = [
        (where[b], where[a]) for a, before in predecessors(summary, place, target).items() for b in before
    ]
    cycles, units = dict[int, float](), dict[int, Units]()
    for child in children:
        if isinstance(child, int):
            cost = cost_of(summary, Configuration(), child, target)
            cycles[child], units[child] = cost.cycles, dict(cost.units)
    return Body(children=children, edges=tuple(sorted(edges)), cycles=cycles, units=units)


def _transfers(summary: Summary, target: Target, moved: set[str]) -> tuple[Transfer, ...]:
    """Return arrays and their places, when not all of them can be on chip at once (equations 4, 7, 16)."""
    whole = Configuration(caches=tuple((ROOT, array) for array in sorted(moved)))
    if target.onchip_bits is None or onchip_bits(summary, whole) <= target.onchip_bits:
        return ()
    return tuple(_transfer(summary, array) for array in sorted(moved))


def _transfer(summary: Summary, array: str) -> Transfer:
    around = {s.loops for s in summary.statements for a in s.accesses if a.array == array}
    places = {ROOT, *(loop for loops in around for loop in loops)}
    bits = {p: onchip_bits(summary, Configuration(caches=((p, array),))) for p in sorted(places)}
    return Transfer(array=array, bits=bits, places=frozenset((ROOT, *loops) for loops in around))


# ---- size ------------------------------------------------------------------------------------------


def statement_sizes(summary: Summary) -> dict[str, int]:
    """Return operations and accesses of the statements by innermost loop; ROOT for those outside loops."""
    sizes: dict[str, int] = {}
    for statement in summary.statements:
        place = statement.loops[-1] if statement.loops else ROOT
        sizes[place] = sizes.get(place, 0) + len(statement.operations) + len(statement.accesses)
    return sizes


def unrolled_size(summary: Summary, configuration: Configuration) -> int:
    """Return the operations and accesses of the unrolled program, which a tool has to process."""
    factors = requested_factors(summary, configuration)
    total = 0
    for place, size in statement_sizes(summary).items():
        chain = () if place == ROOT else (*summary.loops_around(place), place)
        total += size * math.prod(factors[loop] for loop in chain)
    return total


def requested_factors(summary: Summary, configuration: Configuration) -> dict[str, int]:
    """Return the factors that are asked for, and trip counts inside pipelined loops."""
    completed = complete(summary, configuration)
    return {loop: max(configuration.of(loop).unroll, completed.of(loop).unroll) for loop in summary.loops}


# ---- configurations --------------------------------------------------------------------------------


def partitions(summary: Summary, configuration: Configuration) -> dict[str, int]:
    """Return the least partitions of each array that a configuration needs (equations 9 to 11).

    Equation 10 asks for a multiple of the factor of each loop that indexes a dimension: the least is their
    least common multiple, or all of its elements. Factors are those that are asked for, and trip counts
    inside pipelined loops.
    """
    factors = requested_factors(summary, configuration)
    return {
        array: math.prod(
            dimension.partitions(factors[loop] for loop in dimension.loops) for dimension in rows
        )
        for array, rows in array_dimensions(summary).items()
    }
