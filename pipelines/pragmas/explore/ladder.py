"""Algorithm 1: the best configuration of each rung of partitions, measured until none can win.

Belongs here: the order of sub-problems, when to stop, and measuring several designs side by side. Does not:
solving a sub-problem (`program/`), or measuring (an `Evaluator`).

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

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from pipelines.pragmas.bound import Target, bound
from pipelines.pragmas.configuration import OFF, Configuration, LoopChoice
from pipelines.pragmas.explore.evaluation import Evaluation, Evaluator
from pipelines.pragmas.explore.keys import configuration_key
from pipelines.pragmas.explore.resources import Room, Use, room
from pipelines.pragmas.explore.side_by_side import SideBySide
from pipelines.pragmas.explore.sizes import Sizes, first_sizes, is_fine, most_parts
from pipelines.pragmas.explore.steps import EVALUATED, NO_DESIGN, PRUNED, REPEATED, Exploration, Step
from pipelines.pragmas.program import (
    OPTIMAL,
    UNKNOWN,
    SearchOptions,
    Solution,
    partitions,
    solve,
    unrolled_size,
)
from pipelines.pragmas.summary import Summary
from pipelines.schemas import TIMEOUT, TOOL_ERROR
from pipelines.tools import stopwatch

NLP_DSE = "nlp_dse"
LADDER: tuple[int | None, ...] = (None, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 1)
"""Most partitions of an array, NLP-DSE section 8.2.1; None for no limit."""

MATTERS = 1.15
"""Factor by which a bound must grow without a loop's directives for them to matter."""
GUESS_SHARE = 0.15
"""Share of the time of a design that the solver may take for one that is only guessed to be done in time."""
LEAST_SHRINK, MOST_SHRINK, MOST_SHRINKS = 0.35, 0.7, 4
"""Share of copies and partitions of what is too large for which another design is asked: the root of what may
be made of it over what is, within these; and how often."""
GUESS_GAP = 0.1
"""How far from the best a design may be that is only guessed to be done in time: a third of the time."""
LEAST_HOPE = 0.05
"""Share of the best design's bound by which that of another is less, for it not to wait for larger ones."""
MOST_DOUBLINGS = 2
"""How often limits are doubled for a design that is faster by its bound than the best one is by its own."""
MOST_WIDENINGS = 6
"""How often limits are doubled for one design."""
SLACKS = (1.5, 3.0)
"""Of a limit that designs are expected to take and may be tried all the same, when nothing else can win."""
LEAST_SHARE = 0.01
"""Share of a limit from which a bound on it is compared with what a design took."""


Parts = tuple[tuple[Configuration, frozenset[str]], ...]
"""Configurations of which the choices of some loops are not wanted again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderOptions:
    """How the ladder is walked.

    Attributes:
        rungs: most partitions, falling; together: designs measured at a time.
        solver_timeout_s: of each sub-problem; None for none.
        most_evaluations: designs after which the search ends; None for no limit.
        proof_evaluations: designs that are measured after the ladder to prove the best one.
        budget_s: seconds of solving and measuring after which nothing new is begun; None for no limit.
        most_copies: of operations and accesses in a design that is surely done in time; None when unknown.
        design_s: seconds that a design may take; None when unknown.
        size: operations and accesses that a tool makes of a configuration; None when unknown. A limit on them
            is learned as one on copies is; the program does not know them, so what exceeds it is asked for
            again with fewer copies and partitions.
    """

    rungs: tuple[int | None, ...] = LADDER
    together: int = 2
    solver_timeout_s: float | None = 30.0
    most_evaluations: int | None = None
    proof_evaluations: int = 0
    budget_s: float | None = None
    most_copies: int | None = None
    design_s: float | None = None
    size: Callable[[Configuration], int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubProblem:
    """A rung, with copies of whole modules or without, and its solution.

    Attributes:
        narrowed: it has other limits than the rung's, for a design that is done in time.
    """

    most_partitions: int | None
    fine_only: bool
    solution: Solution
    solver_s: float
    narrowed: bool = False


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
        walk = _Walk(
            summary=summary,
            target=target,
            beside=SideBySide(pool=pool, evaluator=evaluator, together=limits.together),
            options=limits,
            listen=listen,
            sizes=first_sizes(
                summary, sure=limits.most_copies, design_s=limits.design_s, made_of=limits.size
            ),
        )
        for problem in _rungs(summary, target, walk):
            if walk.answers(problem) or walk.repeats(problem):
                continue
            if walk.leaves(problem) or walk.ended:
                break
            walk.begin(problem)
        _measure_remainders(summary, target, walk)
    return walk.result()


def _rungs(summary: Summary, target: Target, walk: _Walk) -> Iterator[SubProblem]:
    """The ladder's sub-problems until the search has ended; a larger rung's bound holds in smaller ones."""
    known, solved = {False: 0.0, True: 0.0}, dict[bool, SubProblem]()
    for rung in walk.options.rungs:
        for fine_only in (True, False) if walk.is_timed else (False, True):  # what is solved sooner
            if walk.ended or walk.closed:
                return
            likely = _likely(summary, target, walk, rung, fine_only=fine_only) if walk.is_timed else None
            if likely is not None:
                yield likely
                continue
            before = solved.get(fine_only)
            if before is not None and rung is not None and _keeps(summary, before, rung):
                found = replace(before, most_partitions=rung, solver_s=0.0)
            else:
                least = max(known[False], known[fine_only])
                asked = SearchOptions(most_partitions=rung, fine_only=fine_only, at_least_cycles=least)
                found = _solved(summary, target, walk, asked)
                known[fine_only] = max(least, found.solution.lower_bound)
            solved[fine_only] = found
            yield _in_time(summary, target, walk, found)


def _keeps(summary: Summary, problem: SubProblem, rung: int) -> bool:
    """Whether the best configuration of a larger rung is one of a rung, and so its best one too."""
    solution = problem.solution
    if solution.status != OPTIMAL or solution.configuration is None:
        return False
    return max(partitions(summary, solution.configuration).values(), default=1) <= rung


def _in_time(summary: Summary, target: Target, walk: _Walk, found: SubProblem) -> SubProblem:
    """The sub-problem, or with narrower limits where its design would likely run out of time or space."""
    configuration = found.solution.configuration
    if configuration is None or walk.loses(found) or walk.is_likely(configuration):
        return found
    fewer = _likely(summary, target, walk, found.most_partitions, fine_only=found.fine_only)
    return found if fewer is None else replace(fewer, solver_s=found.solver_s + fewer.solver_s)


def _likely(
    summary: Summary, target: Target, walk: _Walk, rung: int | None, *, fine_only: bool
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
        small = _small(summary, within.target, walk, asked)
        before = replace(small, narrowed=True, most_partitions=most_parts)
        walk.narrowed[key] = replace(before, solver_s=0.0)
    return replace(before, most_partitions=rung) if before.solution.configuration is not None else None


def _holds(summary: Summary, solved: SubProblem, most_parts: int | None) -> bool:
    """Whether the answer to a sub-problem is one with so many partitions, too."""
    before, configuration = solved.most_partitions, solved.solution.configuration
    if before == most_parts or most_parts is None or (before is not None and before < most_parts):
        return before == most_parts
    return configuration is None or max(partitions(summary, configuration).values(), default=1) <= most_parts


def _least(first: int | None, second: int | None) -> int | None:
    return min((n for n in (first, second) if n is not None), default=None)


def _measure_remainders(summary: Summary, target: Target, walk: _Walk) -> None:
    """Measure the best of all that was not measured, until nothing of it can win."""
    rest, begun = None, 0
    while True:
        if rest is None or walk.was_measured(rest):
            rest = _remainder(summary, Room(target=without_limit(target)), walk)
        walk.bound_remainder(rest)
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
    walk: _Walk,
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
    solved = _small if narrowed else _solved
    problem = solved(summary, within.target, walk, asked)
    walk.beside.elapsed_s += problem.solver_s
    return problem


def _guided(summary: Summary, target: Target, walk: _Walk) -> SubProblem:
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


def _able(summary: Summary, walk: _Walk, rooms: Mapping[bool, Room], without: Parts) -> SubProblem | None:
    """The best of what remains within the limits and can win, of the kind whose turn it is; first of all what
    is faster than the best design by its bound."""
    found = [_unspelled(summary, rooms[fine], walk, without, fine_only=fine) for fine in (False, True)]
    able = [one for one in found if one.solution.configuration is not None and not walk.loses(one)]
    return min(able, key=lambda one: (not walk.hopes(one), *walk.turn(one)), default=None)


def _larger(summary: Summary, walk: _Walk, rooms: Mapping[bool, Room], without: Parts) -> SubProblem | None:
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


def _is_left(summary: Summary, target: Target, walk: _Walk, without: Parts) -> bool:
    """Whether something of any size may be left that can win and is no variation; true when it takes long to
    know."""
    start, free = stopwatch(), without_limit(target)
    guess_s = None if walk.options.design_s is None else GUESS_SHARE * walk.options.design_s
    asked = SearchOptions(
        gap=GUESS_GAP, time_limit_s=guess_s, excluded=tuple(walk.seen.values()), excluded_parts=without
    )
    solution = solve(summary, free, asked)
    walk.beside.elapsed_s += stopwatch() - start
    if solution.configuration is None:
        return solution.status == UNKNOWN
    return walk.best_cycles is None or solution.lower_bound < walk.best_cycles


def _past_late(
    summary: Summary, walk: _Walk, rooms: Mapping[bool, Room], without: Parts
) -> SubProblem | None:
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
    walk: _Walk,
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


def spelled(summary: Summary, configuration: Configuration) -> str:
    """The key of a configuration without pipelines of loops that are unrolled fully, which do nothing."""
    loops = {
        name: replace(choice, pipeline=OFF, interval=1)
        if summary.loops[name].constant and choice.unroll >= summary.loops[name].trip_count_max
        else choice
        for name, choice in configuration.loops.items()
    }
    return configuration_key(replace(configuration, loops=loops))


def telling_loops(summary: Summary, configuration: Configuration, target: Target) -> frozenset[str]:
    """Loops whose choices make a configuration what it is: all but those whose directives hardly matter."""
    least = bound(summary, configuration, target).latency_cycles * MATTERS
    idle: set[str] = set()
    for loop, choice in configuration.loops.items():
        others = {name: c for name, c in configuration.loops.items() if name != loop}
        plain = replace(configuration, loops=others)
        if choice != LoopChoice() and bound(summary, plain, target).latency_cycles < least:
            idle.add(loop)
    return frozenset(set(summary.loops) - idle)


def _solved(summary: Summary, target: Target, walk: _Walk, asked: SearchOptions) -> SubProblem:
    start, limit_s = stopwatch(), walk.options.solver_timeout_s
    guess_s = None if walk.options.design_s is None else GUESS_SHARE * walk.options.design_s
    solution = solve(summary, target, replace(asked, time_limit_s=guess_s if asked.gap else limit_s))
    if asked.gap and solution.status == UNKNOWN:
        solution = solve(summary, target, replace(asked, time_limit_s=limit_s))
    return SubProblem(
        most_partitions=asked.most_partitions,
        fine_only=asked.fine_only,
        solution=solution,
        solver_s=stopwatch() - start,
    )


def _small(summary: Summary, target: Target, walk: _Walk, asked: SearchOptions) -> SubProblem:
    """The best of a sub-problem, or with fewer copies and partitions where a tool makes too much of it."""
    found = _solved(summary, target, walk, asked)
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
        smaller = _solved(summary, target, walk, asked)
        if smaller.solution.configuration is None:
            break
        found = replace(smaller, solver_s=found.solver_s + smaller.solver_s)
    return found


@dataclass(slots=True, kw_only=True)
class _Walk:
    """The state of one search.

    Attributes:
        beside: designs that are being measured, and the time of the search.
        best_cycles, best_bound: of the best design, measured and by its bound.
        unknown: the least bound of a design that was begun and whose latency is not known.
        sizes: limits on designs that are likely done in time. narrowed: sub-problems within such limits.
        remainder: bound of all that was not begun; settled: the best measured latency is not above it.
        closed: no further rung can win.
    """

    summary: Summary
    target: Target
    beside: SideBySide[SubProblem]
    options: LadderOptions
    listen: Callable[[Step], None]
    steps: list[Step] = field(default_factory=list[Step])
    seen: dict[str, Configuration] = field(default_factory=dict[str, Configuration])
    evaluations: int = 0
    best_cycles: int | None = None
    best_bound: float = math.inf
    remainder: float | None = None
    uses: dict[bool, list[Use]] = field(default_factory=lambda: {False: [], True: []})
    sizes: Sizes
    narrowed: dict[tuple[bool, int | None, int | None, float, float], SubProblem] = field(
        default_factory=dict[tuple[bool, int | None, int | None, float, float], SubProblem]
    )
    unknown: float = math.inf
    settled: bool = False
    closed: bool = False

    @property
    def is_timed(self) -> bool:
        """Whether it is known from the beginning what is likely done in time."""
        return self.options.most_copies is not None

    def fitting(self, target: Target, *, fine_only: bool) -> Room:
        """What designs have that likely fit: those without copies of modules, which share units otherwise, or
        those with them."""
        return room(target, self.uses[fine_only])

    def allowed(self) -> int:
        """Designs that may still be measured."""
        most = self.options.most_evaluations
        return 1 << 30 if most is None else most - self.evaluations - self.beside.running

    @property
    def ended(self) -> bool:
        """Whether no further design may be measured."""
        budget = self.options.budget_s
        return self.allowed() <= 0 or (budget is not None and self.beside.elapsed_s >= budget)

    def answers(self, problem: SubProblem) -> bool:
        """Whether the solver alone decides: there is nothing to measure."""
        self.beside.elapsed_s += problem.solver_s
        solution = problem.solution
        if solution.configuration is None:
            self._add(problem, NO_DESIGN)
            return True
        if not self.loses(problem):
            return False
        self._add(problem, PRUNED)
        goes_on = self.is_timed and self.options.proof_evaluations > 0  # with what other rungs have
        self.closed = self.closed or not (problem.fine_only or (problem.narrowed and not goes_on))
        return True

    def loses(self, problem: SubProblem) -> bool:
        """Whether no configuration of a sub-problem can be faster than the best one so far."""
        return self.best_cycles is not None and problem.solution.lower_bound >= self.best_cycles

    def hopes(self, problem: SubProblem) -> bool:
        """Whether a design is clearly faster by its bound than the best one is by its own."""
        return (problem.solution.latency_cycles or math.inf) < (1.0 - LEAST_HOPE) * self.best_bound

    def leaves(self, problem: SubProblem) -> bool:
        """Whether the rest of the ladder is left to what follows it, which asks for faster designs first.

        Where rungs are solved within what is likely done in time, smaller ones have slower guesses alone.
        """
        guessed = self.is_timed and problem.narrowed and self.options.proof_evaluations > 0
        return guessed and self.best_cycles is not None and not self.hopes(problem)

    def repeats(self, problem: SubProblem) -> bool:
        """Whether its configuration was measured before, or is being measured.

        Or one that hardly differs, where it is only guessed to be done in time and may be asked for later.
        """
        later = problem.narrowed and self.options.proof_evaluations > 0
        if not (self.was_measured(problem) or (later and self._varies_measured(problem))):
            return False
        self._add(problem, REPEATED)
        return True

    def turn(self, problem: SubProblem) -> tuple[int, float]:
        """Order of sub-problems: that of the kind that was begun less often, then the faster one."""
        begun = sum(is_fine(self.summary, c) == problem.fine_only for c in self.seen.values())
        return begun, problem.solution.latency_cycles or math.inf

    def was_measured(self, problem: SubProblem) -> bool:
        """Whether its configuration was, or is being measured."""
        configuration = problem.solution.configuration
        return configuration is not None and configuration_key(configuration) in self.seen

    def _varies_measured(self, problem: SubProblem) -> bool:
        """Whether it makes the choices of one that was measured for all loops that matter there."""
        asked = problem.solution.configuration
        return asked is not None and any(
            all(asked.of(loop) == known.of(loop) for loop in telling_loops(self.summary, known, self.target))
            for known in self.seen.values()
        )

    def is_spelling(self, problem: SubProblem) -> bool:
        """Whether its configuration makes a design that was measured; it is not asked for again."""
        configuration = problem.solution.configuration
        if configuration is None:
            return False
        known = {spelled(self.summary, c) for c in self.seen.values()}
        if spelled(self.summary, configuration) not in known:
            return False
        self.seen[configuration_key(configuration)] = configuration
        return True

    def begin(self, problem: SubProblem) -> None:
        """Measure the configuration of a sub-problem, and wait until another one may be begun."""
        configuration = problem.solution.configuration
        if configuration is None:
            raise ValueError("a sub-problem that is measured must have a configuration, got none")
        self.seen[configuration_key(configuration)] = configuration
        self.beside.begin(problem, configuration)
        while self.beside.full:
            self._learn()

    def finish(self) -> None:
        """Wait for all that is being measured."""
        while self.beside.running:
            self._learn()

    def _learn(self) -> None:
        """Wait for the next design that ends, and learn from it."""
        problem, answer = self.beside.next()
        self.evaluations += 1
        if problem.solution.configuration is not None:
            self.sizes.learn(problem.solution.configuration, answer, fine_only=problem.fine_only)
            self._compare_use(problem.solution.configuration, answer)
        if answer.valid and answer.latency_cycles is not None:
            least = self.best_cycles
            if least is None or answer.latency_cycles < least:
                self.best_cycles = answer.latency_cycles
                self.best_bound = problem.solution.latency_cycles or math.inf
        if answer.status in (TIMEOUT, TOOL_ERROR):
            self.unknown = min(self.unknown, problem.solution.latency_cycles or 0.0)
        self._add(problem, EVALUATED, answer)

    def _compare_use(self, configuration: Configuration, answer: Evaluation) -> None:
        available = self.target.dsp_available
        units = bound(self.summary, configuration, self.target).dsp_count
        if answer.used_share is not None and available and units > LEAST_SHARE * available:
            copies = unrolled_size(self.summary, configuration)
            use = Use(units=units, copies=copies, taken=answer.used_share * available)
            self.uses[is_fine(self.summary, configuration)].append(use)

    def is_likely(self, configuration: Configuration) -> bool:
        """Whether a design is not larger than what was done in time, and likely fits."""
        fine = is_fine(self.summary, configuration)
        units = bound(self.summary, configuration, self.target).dsp_count
        copies = unrolled_size(self.summary, configuration)
        fits = self.fitting(self.target, fine_only=fine).holds(units, copies)
        return fits and self.sizes.allow(configuration)

    def _add(self, problem: SubProblem, decision: str, answer: Evaluation | None = None) -> None:
        solution = problem.solution
        step = Step(
            index=len(self.steps),
            method=NLP_DSE,
            most_partitions=problem.most_partitions,
            fine_only=problem.fine_only,
            configuration=solution.configuration,
            decision=decision,
            bound_cycles=None if solution.configuration is None else solution.latency_cycles,
            space_bound_cycles=None if solution.configuration is None else solution.lower_bound,
            proven=solution.status == OPTIMAL,
            evaluation=answer,
            solver_s=problem.solver_s,
            elapsed_s=self.beside.elapsed_s,
            best_cycles=self.best_cycles,
        )
        self.steps.append(step)
        self.listen(step)

    def bound_remainder(self, problem: SubProblem) -> None:
        """Note what the solver proves of all configurations that were not measured."""
        self.remainder = problem.solution.lower_bound  # infinite when nothing remains
        self.settled = self.best_cycles is not None and self.remainder >= self.best_cycles

    def result(self) -> Exploration:
        """The log."""
        known = [float(c) for c in (self.remainder, self.best_cycles, self.unknown) if c is not None]
        return Exploration(
            method=NLP_DSE,
            steps=tuple(self.steps),
            lower_bound_cycles=min(known, default=None),
            proven=self.settled and self.best_cycles is not None and self.unknown >= self.best_cycles,
        )
