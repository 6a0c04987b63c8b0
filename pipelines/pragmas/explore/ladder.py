"""Algorithm 1: the best configuration of each rung of partitions, measured until none can win.

Source: NLP-DSE section 7, Algorithm 1. Differs in three things that it leaves open: designs of several
sub-problems are measured at a time; a configuration that was measured before is not measured again; and since
constraints only grow along a ladder, the search ends at the first rung whose bound, over coarse and fine
together, is not below the best measured latency.

That end says nothing of configurations of higher rungs that were not their best. So the search asks once
more, without what was measured: the answer bounds all that remains. It is asked without equation 15, for
theorem 6.17 supposes the bound's intervals, and a design that starts iterations more rarely may fit all the
same. While it is below the best measured latency, further designs are measured as far as `proof_evaluations`
allows. Which ones is guided by what was measured: how much of a limit on resources units took, and copies of
operations besides (`resources.py`).

The time that a tool takes grows with the program it unrolls. Where it is known what is surely done in time,
rungs are solved within such a limit on copies of operations, and one on partitions, to a gap: what comes out
is a guess to be measured, and the proof is that of the end. Where it is not known, a rung is solved as it is,
and once more within what was late so far. What is surely done in time is learned (`sizes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pipelines.pragmas.bound import Target
from pipelines.pragmas.explore.evaluation import Evaluator
from pipelines.pragmas.explore.guesses import bold, likely_of, solved
from pipelines.pragmas.explore.remaining import measure_remainders
from pipelines.pragmas.explore.side_by_side import SideBySide
from pipelines.pragmas.explore.sizes import first_sizes
from pipelines.pragmas.explore.steps import Exploration, Step
from pipelines.pragmas.explore.walking import LadderOptions, SubProblem, Walk
from pipelines.pragmas.program import OPTIMAL, SearchOptions, partitions
from pipelines.pragmas.summary import Summary


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
        walk = Walk(
            summary=summary,
            target=target,
            beside=SideBySide(
                pool=pool, evaluator=evaluator, together=limits.together, in_steps=limits.in_steps
            ),
            options=limits,
            listen=listen,
            sizes=first_sizes(
                summary, sure=limits.most_copies, design_s=limits.design_s, made_of=limits.size
            ),
        )
        for problem in _rungs(summary, target, walk):
            walk.begin_rarer()
            if walk.answers(problem) or walk.repeats(problem):
                continue
            if walk.leaves(problem) or walk.ended:
                break
            walk.begin(problem)
        measure_remainders(summary, target, walk)
    return walk.result()


def _rungs(summary: Summary, target: Target, walk: Walk) -> Iterator[SubProblem]:
    """The ladder's sub-problems until the search has ended; a larger rung's bound holds in smaller ones."""
    known, answered = {False: 0.0, True: 0.0}, dict[bool, SubProblem]()
    for rung in walk.options.rungs:
        for fine_only in (True, False) if walk.is_timed else (False, True):  # what is solved sooner
            if walk.ended or walk.closed:
                return
            likely = likely_of(summary, target, walk, rung, fine_only=fine_only) if walk.is_timed else None
            if likely is not None:
                if not fine_only and rung == walk.options.rungs[0]:
                    larger = bold(summary, target, walk, likely)
                    yield from () if larger is None else (larger,)
                yield likely
                continue
            before = answered.get(fine_only)
            if before is not None and rung is not None and _keeps(summary, before, rung):
                found = replace(before, most_partitions=rung, solver_s=0.0)
            else:
                least = max(known[False], known[fine_only])
                asked = SearchOptions(most_partitions=rung, fine_only=fine_only, at_least_cycles=least)
                found = solved(summary, target, walk, asked)
                known[fine_only] = max(least, found.solution.lower_bound)
            answered[fine_only] = found
            yield _in_time(summary, target, walk, found)


def _keeps(summary: Summary, problem: SubProblem, rung: int) -> bool:
    """Whether the best configuration of a larger rung is one of a rung, and so its best one too."""
    solution = problem.solution
    if solution.status != OPTIMAL or solution.configuration is None:
        return False
    return max(partitions(summary, solution.configuration).values(), default=1) <= rung


def _in_time(summary: Summary, target: Target, walk: Walk, found: SubProblem) -> SubProblem:
    """The sub-problem, or with narrower limits where its design would likely run out of time or space."""
    configuration = found.solution.configuration
    if configuration is None or walk.loses(found) or walk.is_likely(configuration):
        return found
    fewer = likely_of(summary, target, walk, found.most_partitions, fine_only=found.fine_only)
    return found if fewer is None else replace(fewer, solver_s=found.solver_s + fewer.solver_s)
