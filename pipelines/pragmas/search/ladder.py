"""Algorithm 1: measure the best configuration of each rung of partitions until none can be faster.

Source: NLP-DSE section 7, Algorithm 1. Differs in three things that it leaves open: several sub-problems'
designs are measured at a time; a configuration is measured once; and since constraints only grow along a
ladder, the search ends at the first rung whose bound, over coarse and fine together, is not below the best
measured latency.

That end says nothing of configurations of higher rungs that were not the best of their rung. So the search
then solves for the best of all configurations that were not measured: its bound holds for all that remain.
This is solved without equation 15, for theorem 6.17 supposes the bound's intervals, and a design that starts
iterations less often may fit all the same. While that bound is below the best measured latency, further
designs are measured, up to `proof_evaluations`. Measured designs guide the choice: how much of a resource
limit units and copies of operations took (`budgets.py`).

The time that a tool takes grows with the program it unrolls. Where a size that surely ends in time is known,
rungs are solved within such limits on copies of operations and on partitions, to a gap: the results are
guesses to be measured, and the proof is that of the end. Where it is not known, a rung is solved as it is,
and again within the size of what ran out of time. Sizes that end in time are learned (`budgets.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pipelines.base.tools import stopwatch
from pipelines.pragmas.bound import Target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.nlp import OPTIMAL, UNKNOWN, SearchOptions, solve
from pipelines.pragmas.search.budgets import ResourceBudget, first_sizes, most_partitions
from pipelines.pragmas.search.evaluation import DesignExecutor, Evaluator, Exploration, Step
from pipelines.pragmas.search.state import LadderOptions, SearchState, SubProblem, decisive_loops
from pipelines.pragmas.search.subproblems import (
    GUESS_GAP,
    GUESS_SHARE,
    bold_subproblem,
    likely_subproblem,
    solve_subproblem,
    solve_within_size,
)
from pipelines.pragmas.summary import Summary

MOST_DOUBLINGS = 2
"""How often limits are doubled for a design that is faster by its bound than the best one is by its own."""
MOST_WIDENINGS = 6
"""How often limits are doubled for one design."""
SLACKS = (1.5, 3.0)
"""Multiples of the resource limit within which designs are tried when nothing else can win."""

Variations = tuple[tuple[Configuration, frozenset[str]], ...]
"""Configurations with the loops whose choices a next design must not repeat together."""
Budgets = Mapping[bool, ResourceBudget]
"""Resource budgets, by whether designs have no copies of modules."""


def explore(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: LadderOptions | None = None,
    *,
    listen: Callable[[Step], None] = lambda _: None,
) -> Exploration:
    """Search by Algorithm 1.

    Args:    listen: called with each step as it ends.
    Returns: the log; proven when every configuration whose latency is not known, those that ran out of time
             among them, has a bound that is not below the best measured latency.
    """
    limits = options or LadderOptions()
    with ThreadPoolExecutor(max_workers=limits.together) as pool:
        state = SearchState(
            summary=summary,
            target=target,
            executor=DesignExecutor(
                pool=pool, evaluator=evaluator, together=limits.together, in_steps=limits.in_steps
            ),
            options=limits,
            listen=listen,
            sizes=first_sizes(
                summary, sure=limits.most_copies, design_s=limits.design_s, size_of=limits.size
            ),
        )
        for problem in _rungs(state):
            state.begin_relaxed()
            if state.settles(problem) or state.repeats(problem):
                continue
            if state.ends_ladder(problem) or state.ended:
                break
            state.begin(problem)
        _measure_remainder(state)
    return state.result()


# ---- the ladder ------------------------------------------------------------------------------------


def _rungs(state: SearchState) -> Iterator[SubProblem]:
    """Yield ladder's sub-problems until the search has ended; a higher rung's bound holds for lower ones."""
    known, solved = {False: 0.0, True: 0.0}, dict[bool, SubProblem]()
    for rung in state.options.rungs:
        for fine_only in (True, False) if state.is_timed else (False, True):  # what is solved sooner
            if state.ended or state.closed:
                return
            likely = likely_subproblem(state, rung, fine_only=fine_only) if state.is_timed else None
            if likely is not None:
                if not fine_only and rung == state.options.rungs[0]:
                    larger = bold_subproblem(state, likely)
                    yield from () if larger is None else (larger,)
                yield likely
                continue
            before = solved.get(fine_only)
            if before is not None and rung is not None and _solves_rung(state.summary, before, rung):
                problem = replace(before, most_partitions=rung, solver_s=0.0)
            else:
                least = max(known[False], known[fine_only])
                asked = SearchOptions(most_partitions=rung, fine_only=fine_only, at_least_cycles=least)
                problem = solve_subproblem(state, state.target, asked)
                known[fine_only] = max(least, problem.solution.lower_bound)
            solved[fine_only] = problem
            yield _within_time(state, problem)


def _solves_rung(summary: Summary, problem: SubProblem, rung: int) -> bool:
    """Tell whether the best configuration of a higher rung keeps to a rung, and so is its best one too."""
    solution = problem.solution
    if solution.status != OPTIMAL or solution.configuration is None:
        return False
    return most_partitions(summary, solution.configuration) <= rung


def _within_time(state: SearchState, problem: SubProblem) -> SubProblem:
    """Return sub-problem, or one with narrower limits where its design likely runs out of time or space."""
    configuration = problem.solution.configuration
    if configuration is None or state.cannot_win(problem) or state.is_likely(configuration):
        return problem
    narrower = likely_subproblem(state, problem.most_partitions, fine_only=problem.fine_only)
    return problem if narrower is None else replace(narrower, solver_s=problem.solver_s + narrower.solver_s)


# ---- what remains after the ladder -----------------------------------------------------------------


def _measure_remainder(state: SearchState) -> None:
    """Measure the best of all that was not measured, until nothing of it can win."""
    rest, begun = None, 0
    while True:
        if rest is None or state.was_begun(rest):
            rest = _solve_remainder(state, _unlimited(state.target))
        state.bound_remainder(rest)
        state.begin_relaxed()
        problem = None
        if not (state.settled or state.ended or begun >= state.options.proof_evaluations):
            problem = _next_design(state)
        if problem is not None and problem.solution.configuration is not None and not state.ended:
            begun += 1
            state.begin(problem)
        elif state.executor.running:
            state.finish()
        else:
            return


def _next_design(state: SearchState) -> SubProblem:
    """Return the best of what remains that can win, likely fits and is no variation of a measured design.

    A design that is slower by its bound than the best one by its own comes after larger ones that are not.
    The stages, each for when the one before has no design: within the limits; within doubled limits, up to
    the size of what ran out of time; variations of measured designs; more than the resource limit, for a
    design may take less than expected; as large as what ran out of time, for another of that size may end;
    whatever remains. Designs with copies of modules and without take turns, for limits on either kind are
    learned from its own designs.
    """
    budgets = {fine: state.budget(fine_only=fine) for fine in (False, True)}
    begun = state.seen.values()
    variations = tuple((c, decisive_loops(state.summary, c, state.target)) for c in begun)
    problem = _best_within(state, budgets, variations)
    if problem is not None:
        if state.may_improve(problem):
            return problem
        return _improving_beyond(state, budgets, variations) or problem
    left = _may_remain(state, variations)
    widenings = ((variations, 1.0, True) for _ in range(MOST_WIDENINGS if left else 0))
    others = (((), 1.0, False), *(((), slack, False) for slack in SLACKS))
    for excluded, slack, widens in (*widenings, *others):
        if widens and not state.sizes.widen():
            continue
        relaxed = {fine: budget.scaled(slack) for fine, budget in budgets.items()}
        problem = _best_within(state, relaxed, excluded)
        if problem is not None:
            return problem
    problem = _beyond_timeout(state, budgets, variations) if left else None
    if problem is not None:
        return problem
    unlimited = _unlimited(state.target)
    problem = _next_distinct(state, unlimited, (), narrowed=False)
    return problem if problem.solution.configuration is not None else _solve_remainder(state, unlimited)


def _best_within(state: SearchState, budgets: Budgets, excluded: Variations) -> SubProblem | None:
    """Return the best design within the limits that can win, of the kind whose turn it is; designs that may
    improve on the best one come first.
    """
    problems = [_next_distinct(state, budgets[fine], excluded, fine_only=fine) for fine in (False, True)]
    able = [one for one in problems if one.solution.configuration is not None and not state.cannot_win(one)]
    return min(able, key=lambda one: (not state.may_improve(one), *state.turn(one)), default=None)


def _improving_beyond(state: SearchState, budgets: Budgets, excluded: Variations) -> SubProblem | None:
    """Return a design that may improve on the best one within limits doubled once or twice; without one the
    limits stay as they are.
    """
    before = state.sizes.snapshot()
    for _ in range(MOST_DOUBLINGS):
        if state.sizes.widen():
            problem = _best_within(state, budgets, excluded)
            if problem is not None and state.may_improve(problem):
                return problem
    state.sizes.restore(before)
    return None


def _beyond_timeout(state: SearchState, budgets: Budgets, excluded: Variations) -> SubProblem | None:
    """Return a design that can win within limits doubled past the size of what ran out of time; without one
    the limits stay as they are.
    """
    before = state.sizes.snapshot()
    for _ in range(MOST_WIDENINGS):
        if state.sizes.widen(beyond_timeout=True):
            problem = _best_within(state, budgets, excluded)
            if problem is not None:
                return problem
    state.sizes.restore(before)
    return None


def _may_remain(state: SearchState, excluded: Variations) -> bool:
    """Tell whether a design of any size that is no variation may win; true if the solver is slow to say."""
    start = stopwatch()
    guess_s = None if state.options.design_s is None else GUESS_SHARE * state.options.design_s
    asked = SearchOptions(
        gap=GUESS_GAP,
        time_limit_s=guess_s,
        most_nodes=state.options.solver_nodes,
        excluded=tuple(state.seen.values()),
        excluded_parts=excluded,
    )
    solution = solve(state.summary, _unlimited(state.target).target, asked)
    state.executor.elapsed_s += stopwatch() - start
    if solution.configuration is None:
        return solution.status == UNKNOWN
    return state.best_cycles is None or solution.lower_bound < state.best_cycles


def _next_distinct(
    state: SearchState,
    budget: ResourceBudget,
    excluded: Variations,
    *,
    narrowed: bool = True,
    fine_only: bool = False,
) -> SubProblem:
    """Return the best of what remains that makes another design than those that were begun."""
    while True:
        problem = _solve_remainder(state, budget, excluded, narrowed=narrowed, fine_only=fine_only)
        if not state.is_duplicate(problem):
            return problem


def _solve_remainder(
    state: SearchState,
    budget: ResourceBudget,
    excluded: Variations = (),
    *,
    narrowed: bool = False,
    fine_only: bool = False,
) -> SubProblem:
    """Return the best of all that is neither measured nor being measured.

    Args: excluded: variations of these configurations are left out too; narrowed: to what likely ends in
        time.
    """
    asked = SearchOptions(
        most_partitions=state.sizes.partitions.whole if narrowed else None,
        fine_only=fine_only,
        most_copies=state.sizes.copies[fine_only].whole if narrowed else None,
        copy_dsps=budget.copy_dsps,
        plain_copies=narrowed and bool(excluded),
        gap=GUESS_GAP if narrowed else 0.0,
        excluded=tuple(state.seen.values()),
        excluded_parts=excluded,
    )
    problem = (solve_within_size if narrowed else solve_subproblem)(state, budget.target, asked)
    state.executor.elapsed_s += problem.solver_s
    return problem


def _unlimited(target: Target) -> ResourceBudget:
    """Return a budget of any number of units: a tool that starts iterations less often than the bound
    supposes needs fewer of them, so a design may fit that theorem 6.17 says does not.
    """
    return ResourceBudget(target=replace(target, dsp_available=None))
