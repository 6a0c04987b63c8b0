"""What follows the ladder of Algorithm 1: the best unmeasured design, until none can win."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pipelines.pragmas.bound import Target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.explore.guesses import GUESS_GAP, GUESS_SHARE, small, solved
from pipelines.pragmas.explore.resources import Room
from pipelines.pragmas.explore.walking import SubProblem, Walk, telling_loops
from pipelines.pragmas.program import UNKNOWN, SearchOptions, solve
from pipelines.pragmas.summary import Summary
from pipelines.tools import stopwatch

MOST_DOUBLINGS = 2
"""How often limits are doubled for a design that is faster by its bound than the best one is by its own."""
MOST_WIDENINGS = 6
"""How often limits are doubled for one design."""
SLACKS = (1.5, 3.0)
"""Of a limit that designs are expected to take and may be tried all the same, when nothing else can win."""
Parts = tuple[tuple[Configuration, frozenset[str]], ...]
"""Configurations of which the choices of some loops are not wanted again."""


def measure_remainders(summary: Summary, target: Target, walk: Walk) -> None:
    """Measure the best of all that was not measured, until nothing of it can win."""
    rest, begun = None, 0
    while True:
        if rest is None or walk.was_measured(rest):
            rest = _remainder(summary, Room(target=without_limit(target)), walk)
        walk.bound_remainder(rest)
        walk.begin_rarer()
        found = None
        if not (walk.settled or walk.ended or begun >= walk.options.proof_evaluations):
            found = _guided(summary, target, walk)
        if found is not None and found.solution.configuration is not None and not walk.ended:
            begun += 1
            walk.begin(found)
        elif walk.beside.running:
            walk.finish()
        else:
            return


def _remainder(
    summary: Summary,
    within: Room,
    walk: Walk,
    parts: Parts = (),
    *,
    narrowed: bool = False,
    fine_only: bool = False,
) -> SubProblem:
    """The best of all that is neither measured nor being measured.

    Args: parts: configurations that are not wanted with the same choices of the named loops either;
          narrowed: to what is likely done in time.
    """
    asked = SearchOptions(
        most_partitions=walk.sizes.parts.whole if narrowed else None,
        fine_only=fine_only,
        most_copies=walk.sizes.copies[fine_only].whole if narrowed else None,
        copy_dsps=within.copy_dsps,
        plain_copies=narrowed and bool(parts),
        gap=GUESS_GAP if narrowed else 0.0,
        excluded=tuple(walk.seen.values()),
        excluded_parts=parts,
    )
    problem = (small if narrowed else solved)(summary, within.target, walk, asked)
    walk.beside.elapsed_s += problem.solver_s
    return problem


def _guided(summary: Summary, target: Target, walk: Walk) -> SubProblem:
    """The best of what remains that can win, will likely fit and is no variation of what was measured.

    What is slower by its bound than the best design is by its own comes after larger designs that are not.
    Where nothing is left within what is likely done in time, the limits are doubled, but not up to
    what ran out of time; where they cannot be: variations; where nothing is left of these: what fits when it
    takes less than is expected; then what is as large as what ran out of time, for one may be done in time
    where another of its size is not; where nothing is left of these either: what will not fit. Designs with
    copies of modules and without take turns, for what is known of either comes from its own.
    """
    narrow = {fine: walk.fitting(target, fine_only=fine) for fine in (False, True)}
    parts = tuple((c, telling_loops(summary, c, target)) for c in walk.seen.values())
    found = _able(summary, walk, narrow, parts)
    if found is not None:
        return found if walk.hopes(found) else _larger(summary, walk, narrow, parts) or found
    left = _is_left(summary, target, walk, parts)
    widenings = ((parts, 1.0, True) for _ in range(MOST_WIDENINGS if left else 0))
    kinds = (((), 1.0, False), *(((), slack, False) for slack in SLACKS))
    for without, slack, wider in (*widenings, *kinds):
        if wider and not walk.sizes.widen():
            continue
        rooms = {fine: within.wider(slack) for fine, within in narrow.items()}
        found = _able(summary, walk, rooms, without)
        if found is not None:
            return found
    found = _past_late(summary, walk, narrow, parts) if left else None
    if found is not None:
        return found
    free = Room(target=without_limit(target))
    found = _unspelled(summary, free, walk, (), narrowed=False)
    return found if found.solution.configuration is not None else _remainder(summary, free, walk)


def _able(summary: Summary, walk: Walk, rooms: Mapping[bool, Room], without: Parts) -> SubProblem | None:
    """The best of what remains within the limits and can win, of the kind whose turn it is; first of all what
    is faster than the best design by its bound."""
    found = [_unspelled(summary, rooms[fine], walk, without, fine_only=fine) for fine in (False, True)]
    able = [one for one in found if one.solution.configuration is not None and not walk.loses(one)]
    return min(able, key=lambda one: (not walk.hopes(one), *walk.turn(one)), default=None)


def _larger(summary: Summary, walk: Walk, rooms: Mapping[bool, Room], without: Parts) -> SubProblem | None:
    """What may be faster than the best design by its bound within limits that are doubled once or twice; when
    there is nothing the limits stay as they are."""
    before = walk.sizes.kept()
    for _ in range(MOST_DOUBLINGS):
        if walk.sizes.widen():
            found = _able(summary, walk, rooms, without)
            if found is not None and walk.hopes(found):
                return found
    walk.sizes.restore(before)
    return None


def _is_left(summary: Summary, target: Target, walk: Walk, without: Parts) -> bool:
    """Whether something of any size may be left that can win and is no variation; true when it takes long to
    know."""
    start, free = stopwatch(), without_limit(target)
    guess_s = None if walk.options.design_s is None else GUESS_SHARE * walk.options.design_s
    asked = SearchOptions(
        gap=GUESS_GAP,
        time_limit_s=guess_s,
        most_nodes=walk.options.solver_nodes,
        excluded=tuple(walk.seen.values()),
        excluded_parts=without,
    )
    solution = solve(summary, free, asked)
    walk.beside.elapsed_s += stopwatch() - start
    if solution.configuration is None:
        return solution.status == UNKNOWN
    return walk.best_cycles is None or solution.lower_bound < walk.best_cycles


def _past_late(summary: Summary, walk: Walk, rooms: Mapping[bool, Room], without: Parts) -> SubProblem | None:
    """What can win within limits that are doubled up to what ran out of time and past it; when there is
    nothing the limits stay as they are."""
    before = walk.sizes.kept()
    for _ in range(MOST_WIDENINGS):
        if walk.sizes.widen(past_late=True):
            found = _able(summary, walk, rooms, without)
            if found is not None:
                return found
    walk.sizes.restore(before)
    return None


def _unspelled(
    summary: Summary,
    within: Room,
    walk: Walk,
    parts: Parts,
    *,
    narrowed: bool = True,
    fine_only: bool = False,
) -> SubProblem:
    """The best of what remains that is no other spelling of what was measured."""
    while True:
        found = _remainder(summary, within, walk, parts, narrowed=narrowed, fine_only=fine_only)
        if not walk.is_spelling(found):
            return found


def without_limit(target: Target) -> Target:
    """A target with any number of units: a tool that starts iterations more rarely than the bound supposes
    needs fewer of them, so a design may fit that theorem 6.17 says does not."""
    return replace(target, dsp_available=None)
