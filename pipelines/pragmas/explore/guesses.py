"""Sub-problems of Algorithm 1 within limits: designs that are likely done in time and likely fit."""

from __future__ import annotations

import math
from dataclasses import replace

from pipelines.pragmas.bound import Target
from pipelines.pragmas.explore.sizes import most_parts
from pipelines.pragmas.explore.walking import SubProblem, Walk
from pipelines.pragmas.program import UNKNOWN, SearchOptions, partitions, solve, unrolled_size
from pipelines.pragmas.summary import Summary
from pipelines.tools import stopwatch

GUESS_SHARE = 0.15
"""Share of the time of a design that the solver may take for one that is only guessed to be done in time."""
GUESS_GAP = 0.1
"""How far from the best a design may be that is only guessed to be done in time: a third of the time."""
LEAST_SHRINK, MOST_SHRINK, MOST_SHRINKS = 0.35, 0.7, 4
"""Share of copies and partitions of what is too large for which another design is asked: the root of what may
be made of it over what is, within these; and how often."""
BOLD = (4.0, 8.0)
"""How much larger than what is surely done in time the first bold design may be."""
BOLD_GAIN = 2.0
"""A bold design is measured where its bound is less by this and by how much larger it may be."""
BOLD_SHARE = 0.05
"""Share of the time of a design that the solver may take for a bold one."""


def likely_of(
    summary: Summary, target: Target, walk: Walk, rung: int | None, *, fine_only: bool
) -> SubProblem | None:
    """The best of a rung that is likely done in time and likely fits; None where there is none.

    It is not solved again where only the limit on partitions is lower now, and the last answer keeps to it.
    """
    most_parts, within = _least(rung, walk.sizes.parts.whole), walk.fitting(target, fine_only=fine_only)
    copies, available = walk.sizes.copies[fine_only].whole, within.target.dsp_available
    key = (fine_only, copies, available, within.copy_dsps, walk.sizes.made.most)
    before = walk.narrowed.get(key)
    if before is None or not _holds(summary, before, most_parts):
        asked = SearchOptions(
            most_partitions=most_parts,
            fine_only=fine_only,
            most_copies=copies,
            copy_dsps=within.copy_dsps,
            plain_copies=True,
            gap=GUESS_GAP,
        )
        found = small(summary, within.target, walk, asked)
        before = replace(found, narrowed=True, most_partitions=most_parts)
        walk.narrowed[key] = replace(before, solver_s=0.0)
    return replace(before, most_partitions=rung) if before.solution.configuration is not None else None


def bold(summary: Summary, target: Target, walk: Walk, sure: SubProblem) -> SubProblem | None:
    """A design that is larger than what is surely done in time, where it is by far faster by its bound: the
    smaller one of BOLD that is; None where none is, and where the solver takes long to say.

    What gains as much as it grows is left to limits that grow with what was done. A nest whose rows are
    unrolled whole may gain a hundred times by growing three times, which doubled limits come to too late.
    """
    guess_s = None if walk.options.design_s is None else BOLD_SHARE * walk.options.design_s
    if guess_s is not None and sure.solver_s > guess_s:
        return None
    sure_cycles = min(sure.solution.latency_cycles or math.inf, walk.least_begun)
    before, found = walk.sizes.kept(), None
    for times in sorted(BOLD, reverse=True):  # no smaller one is faster than the largest
        walk.sizes.restore(tuple(times * most for most in before))
        asked = SearchOptions(
            most_partitions=walk.sizes.parts.whole,
            most_copies=walk.sizes.copies[False].whole,
            plain_copies=True,
            gap=GUESS_GAP,
        )
        one = small(summary, target, walk, asked, guess_s=guess_s)
        walk.beside.elapsed_s += one.solver_s
        cycles, configuration = (
            BOLD_GAIN * (one.solution.latency_cycles or math.inf),
            one.solution.configuration,
        )
        if configuration is not None and cycles * times <= sure_cycles and walk.sizes.allow(configuration):
            found = replace(one, narrowed=True, most_partitions=sure.most_partitions, solver_s=0.0)
        elif cycles * min(BOLD) > sure_cycles:
            break
    walk.sizes.restore(before)
    return found


def solved(
    summary: Summary, target: Target, walk: Walk, asked: SearchOptions, *, guess_s: float | None = None
) -> SubProblem:
    """A sub-problem solved; one that is asked for to a gap in a share of a design's time, at first.

    Args: guess_s: seconds for it, and no more; None for that share, and for longer where it does not suffice.
    """
    start, limit_s = stopwatch(), walk.options.solver_timeout_s
    usual_s = None if walk.options.design_s is None else GUESS_SHARE * walk.options.design_s
    first_s = (guess_s or usual_s) if asked.gap else limit_s
    asked = replace(asked, most_nodes=walk.options.solver_nodes)
    solution = solve(summary, target, replace(asked, time_limit_s=first_s))
    if first_s != limit_s and guess_s is None and solution.status == UNKNOWN:
        solution = solve(summary, target, replace(asked, time_limit_s=limit_s))
    return SubProblem(
        most_partitions=asked.most_partitions,
        fine_only=asked.fine_only,
        solution=solution,
        solver_s=stopwatch() - start,
    )


def small(
    summary: Summary, target: Target, walk: Walk, asked: SearchOptions, *, guess_s: float | None = None
) -> SubProblem:
    """The best of a sub-problem, or with fewer copies and partitions where a tool makes too much of it."""
    found = solved(summary, target, walk, asked, guess_s=guess_s)
    for _ in range(MOST_SHRINKS):
        configuration = found.solution.configuration
        if configuration is None or walk.sizes.made_share(configuration) >= 1.0:
            break
        share = min(MOST_SHRINK, max(LEAST_SHRINK, math.sqrt(walk.sizes.made_share(configuration))))
        asked = replace(
            asked,
            most_copies=max(1, int(share * unrolled_size(summary, configuration))),
            most_partitions=max(1, int(share * most_parts(summary, configuration))),
        )
        smaller = solved(summary, target, walk, asked, guess_s=guess_s)
        if smaller.solution.configuration is None:
            break
        found = replace(smaller, solver_s=found.solver_s + smaller.solver_s)
    return found


def _holds(summary: Summary, solved: SubProblem, most_parts: int | None) -> bool:
    """Whether the answer to a sub-problem is one with so many partitions, too."""
    before, configuration = solved.most_partitions, solved.solution.configuration
    if before == most_parts or most_parts is None or (before is not None and before < most_parts):
        return before == most_parts
    return configuration is None or max(partitions(summary, configuration).values(), default=1) <= most_parts


def _least(first: int | None, second: int | None) -> int | None:
    return min((n for n in (first, second) if n is not None), default=None)
