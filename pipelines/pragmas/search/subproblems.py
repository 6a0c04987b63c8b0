"""Sub-problems of Algorithm 1 within limits: designs that likely end in time and likely fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from pipelines.base.tools import stopwatch
from pipelines.pragmas.bound import Target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.nlp import UNKNOWN, SearchOptions, solve, unrolled_size
from pipelines.pragmas.search.budgets import most_partitions
from pipelines.pragmas.search.state import SearchState, SubProblem
from pipelines.pragmas.summary import Summary

GUESS_SHARE = 0.15
"""Share of a design's time that the solver may take for a guess: a design that only likely ends in time."""
GUESS_GAP = 0.1
"""Gap to which a guess is solved; it takes a third of the time of an exact solution."""
LEAST_SHRINK, MOST_SHRINK, MOST_SHRINKS = 0.35, 0.7, 4
"""Share of the copies and partitions of a design that is too large, for the next one: the root of its margin,
within these limits; and the number of such steps."""
BOLD = (4.0, 8.0)
"""Size of a first bold design over the size that surely ends in time."""
BOLD_GAIN = 2.0
"""A bold design is measured where its bound is less by this factor and by how much larger it may be."""
BOLD_SHARE = 0.05
"""Share of a design's time that the solver may take for a bold one."""


def solve_subproblem(
    state: SearchState, target: Target, options: SearchOptions, *, guess_s: float | None = None
) -> SubProblem:
    """Solve a sub-problem; one with a gap first within a share of a design's time.

    Args: guess_s: the solver's only time limit in seconds; None: that share, then the usual limit where it
        did not suffice.
    """
    start, limit_s = stopwatch(), state.options.solver_timeout_s
    usual_s = None if state.options.design_s is None else GUESS_SHARE * state.options.design_s
    first_s = (guess_s or usual_s) if options.gap else limit_s
    options = replace(options, most_nodes=state.options.solver_nodes)
    solution = solve(state.summary, target, replace(options, time_limit_s=first_s))
    if first_s != limit_s and guess_s is None and solution.status == UNKNOWN:
        solution = solve(state.summary, target, replace(options, time_limit_s=limit_s))
    return SubProblem(
        most_partitions=options.most_partitions,
        fine_only=options.fine_only,
        solution=solution,
        solver_s=stopwatch() - start,
    )


def solve_within_size(
    state: SearchState, target: Target, options: SearchOptions, *, guess_s: float | None = None
) -> SubProblem:
    """Solve a sub-problem, again with fewer copies and partitions where a tool makes too much of it."""

    def solve_again(options: SearchOptions) -> SubProblem:
        return solve_subproblem(state, target, options, guess_s=guess_s)

    return within_size(state.summary, options, solve_again, state.sizes.size_margin)


def within_size(
    summary: Summary,
    options: SearchOptions,
    solve_again: Callable[[SearchOptions], SubProblem],
    margin_of: Callable[[Configuration], float],
) -> SubProblem:
    """Solve a sub-problem, again with fewer copies and partitions while its configuration is too large.

    Args: margin_of: the most that a tool likely takes over the size of a configuration; 1 or more fits.
    """
    problem = solve_again(options)
    for _ in range(MOST_SHRINKS):
        configuration = problem.solution.configuration
        if configuration is None or (margin := margin_of(configuration)) >= 1.0:
            break
        share = min(MOST_SHRINK, max(LEAST_SHRINK, math.sqrt(margin)))
        options = replace(
            options,
            most_copies=max(1, int(share * unrolled_size(summary, configuration))),
            most_partitions=max(1, int(share * most_partitions(summary, configuration))),
        )
        smaller = solve_again(options)
        if smaller.solution.configuration is None:
            break
        problem = replace(smaller, solver_s=problem.solver_s + smaller.solver_s)
    return problem


def likely_subproblem(state: SearchState, rung: int | None, *, fine_only: bool) -> SubProblem | None:
    """Return the best design of a rung that likely ends in time and likely fits; None where there is none.

    It is not solved again where only the limit on partitions is lower now, and the last solution keeps to it.
    """
    most, budget = _least(rung, state.sizes.partitions.whole), state.budget(fine_only=fine_only)
    copies, available = state.sizes.copies[fine_only].whole, budget.target.dsp_available
    key = (fine_only, copies, available, budget.copy_dsps, state.sizes.size.most)
    before = state.narrowed.get(key)
    if before is None or not _keeps_to(state.summary, before, most):
        asked = SearchOptions(
            most_partitions=most,
            fine_only=fine_only,
            most_copies=copies,
            copy_dsps=budget.copy_dsps,
            plain_copies=True,
            gap=GUESS_GAP,
        )
        problem = solve_within_size(state, budget.target, asked)
        before = replace(problem, narrowed=True, most_partitions=most)
        state.narrowed[key] = replace(before, solver_s=0.0)
    return replace(before, most_partitions=rung) if before.solution.configuration is not None else None


def bold_subproblem(state: SearchState, sure: SubProblem) -> SubProblem | None:
    """Return a design that is larger than what surely ends in time, where its bound is far lower: of BOLD the
    smaller size that has one.

    A design that gains as much as it grows is left to limits that grow with what was measured. A nest whose
    rows are unrolled whole may gain a hundred times by growing three times, which doubled limits reach late.

    Returns: None where no size has one, and where the solver takes long to say.
    """
    guess_s = None if state.options.design_s is None else BOLD_SHARE * state.options.design_s
    if guess_s is not None and sure.solver_s > guess_s:
        return None
    sure_cycles = min(sure.solution.latency_cycles or math.inf, state.least_begun)
    before, larger = state.sizes.snapshot(), None
    for times in sorted(BOLD, reverse=True):  # no smaller one is faster than the largest
        state.sizes.restore(tuple(times * most for most in before))
        asked = SearchOptions(
            most_partitions=state.sizes.partitions.whole,
            most_copies=state.sizes.copies[False].whole,
            plain_copies=True,
            gap=GUESS_GAP,
        )
        one = solve_within_size(state, state.target, asked, guess_s=guess_s)
        state.executor.elapsed_s += one.solver_s
        configuration = one.solution.configuration
        cycles = BOLD_GAIN * (one.solution.latency_cycles or math.inf)
        if configuration is not None and cycles * times <= sure_cycles and state.sizes.allow(configuration):
            larger = replace(one, narrowed=True, most_partitions=sure.most_partitions, solver_s=0.0)
        elif cycles * min(BOLD) > sure_cycles:
            break
    state.sizes.restore(before)
    return larger


def _keeps_to(summary: Summary, solved: SubProblem, most: int | None) -> bool:
    """Tell whether the solution of a sub-problem is also one with so many partitions."""
    before, configuration = solved.most_partitions, solved.solution.configuration
    if before == most or most is None or (before is not None and before < most):
        return before == most
    return configuration is None or most_partitions(summary, configuration) <= most


def _least(first: int | None, second: int | None) -> int | None:
    return min((n for n in (first, second) if n is not None), default=None)
