"""The state of one search by Algorithm 1: measured designs, what follows from them, and the log.

A design that does not fit may fit with a longer interval, for units, and registers between them, are then
shared. The convex program knows a few intervals, and theorem 6.17 counts units alone. A pipeline as deep as a
sum of 200 terms has more area in registers than in units, and the interval that a tool reaches may be longer
than any that the program knows. So `relax_ii` asks for intervals that follow from measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pipelines.pragmas.bound import Target, bound, complete, dsp_count, leaf
from pipelines.pragmas.configuration import FINE, OFF, Configuration, LoopChoice, configuration_key
from pipelines.pragmas.exploration import NLP_DSE
from pipelines.pragmas.nlp import INCUMBENT, OPTIMAL, Solution, unrolled_size
from pipelines.pragmas.search.budgets import ResourceBudget, Sizes, Use, is_fine, resource_budget
from pipelines.pragmas.search.evaluation import (
    EVALUATED,
    NO_DESIGN,
    PRUNED,
    REPEATED,
    DesignExecutor,
    Evaluation,
    Exploration,
    Step,
)
from pipelines.pragmas.summary import Summary
from pipelines.schemas import INFEASIBLE, TIMEOUT, TOOL_ERROR

LADDER: tuple[int | None, ...] = (None, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 1)
"""Most partitions of an array, NLP-DSE section 8.2.1; None = unlimited."""
MATTERS = 1.15
"""Factor by which a bound must grow without a loop's directives for them to matter."""
LEAST_IMPROVEMENT = 0.05
"""A design may improve on the best one where its bound is less than the best one's bound by this share."""
LEAST_SHARE = 0.01
"""Least share of a resource limit, by the bound, from which a design's use is recorded."""
MOST_INTERVAL = 1 << 12
"""Largest initiation interval that is asked for, in cycles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderOptions:
    """Limits of a search by Algorithm 1.

    Attributes:
        rungs: most partitions, falling; together: designs measured at a time.
        solver_timeout_s, solver_nodes: of each sub-problem; None = unlimited.
        most_evaluations: designs after which the search ends; None = unlimited.
        proof_evaluations: designs that are measured after the ladder to prove the best one.
        budget_s: seconds of solving and measuring after which no design is begun; None = unlimited.
        most_copies: of operations and accesses in a design that surely ends in time; None when unknown.
        design_s: seconds that a design may take; None when unknown.
        size: operations and accesses that a tool makes of a configuration; None when unknown. A limit on them
            is learned as one on copies is. The convex program does not know them, so a sub-problem whose
            solution exceeds the limit is solved again with fewer copies and partitions.
    """

    rungs: tuple[int | None, ...] = LADDER
    together: int = 2
    solver_timeout_s: float | None = 30.0
    solver_nodes: int | None = None
    most_evaluations: int | None = None
    proof_evaluations: int = 0
    budget_s: float | None = None
    most_copies: int | None = None
    design_s: float | None = None
    size: Callable[[Configuration], int] | None = None

    @property
    def in_steps(self) -> bool:
        """Whether no measured time decides anything, so that every machine takes the same steps."""
        return self.budget_s is None and self.solver_timeout_s is None and self.design_s is None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubProblem:
    """A rung, with copies of whole modules or without, and its solution.

    Attributes:
        narrowed: it has limits beside the rung's, so that its design ends in time.
        relaxed_ii: its configuration is one that did not fit, with a longer interval.
    """

    most_partitions: int | None
    fine_only: bool
    solution: Solution
    solver_s: float
    narrowed: bool = False
    relaxed_ii: bool = False


@dataclass(slots=True, kw_only=True)
class SearchState:
    """The state of one search.

    Attributes:
        executor: designs that are being measured, and the time of the search.
        seen: configurations that were begun, by key.
        best_cycles, best_bound: of the best design, measured and by its bound.
        unknown: the least bound of a design that was begun and whose latency is not known.
        uses: resources of measured designs, by whether they have no copies of modules.
        sizes: limits on designs that likely end in time; narrowed: sub-problems solved within such limits.
        remainder: bound of all that was not begun; settled: the best measured latency is not above it.
        closed: no further rung can have a faster design.
        relaxed: designs that did not fit, with longer intervals, that are still to be measured.
    """

    summary: Summary
    target: Target
    executor: DesignExecutor[SubProblem]
    options: LadderOptions
    listen: Callable[[Step], None]
    sizes: Sizes
    steps: list[Step] = field(default_factory=list[Step])
    seen: dict[str, Configuration] = field(default_factory=dict[str, Configuration])
    evaluations: int = 0
    best_cycles: int | None = None
    best_bound: float = math.inf
    remainder: float | None = None
    uses: dict[bool, list[Use]] = field(default_factory=lambda: {False: [], True: []})
    narrowed: dict[tuple[bool, int | None, int | None, float, float], SubProblem] = field(
        default_factory=dict[tuple[bool, int | None, int | None, float, float], SubProblem]
    )
    unknown: float = math.inf
    settled: bool = False
    closed: bool = False
    relaxed: list[SubProblem] = field(default_factory=list[SubProblem])

    # ---- limits ------------------------------------------------------------------------------------

    @property
    def is_timed(self) -> bool:
        """Whether a size that likely ends in time is known from the beginning."""
        return self.options.most_copies is not None

    @property
    def ended(self) -> bool:
        """Whether no further design may be measured."""
        budget = self.options.budget_s
        return self.allowed() <= 0 or (budget is not None and self.executor.elapsed_s >= budget)

    @property
    def least_begun(self) -> float:
        """The least bound of a design that was begun; infinite without one."""
        return min((self._bound(c) for c in self.seen.values()), default=math.inf)

    def allowed(self) -> int:
        """Return the number of designs that may still be measured."""
        most = self.options.most_evaluations
        return 1 << 30 if most is None else most - self.evaluations - self.executor.running

    def budget(self, *, fine_only: bool) -> ResourceBudget:
        """Return the resources of designs that likely fit: those without copies of modules share units
        otherwise than those with copies.
        """
        return resource_budget(self.target, self.uses[fine_only])

    def is_likely(self, configuration: Configuration) -> bool:
        """Tell whether a design is not larger than what ended in time, and likely fits."""
        units = bound(self.summary, configuration, self.target).dsp_count
        copies = unrolled_size(self.summary, configuration)
        fits = self.budget(fine_only=is_fine(self.summary, configuration)).fits(units, copies)
        return fits and self.sizes.allow(configuration)

    # ---- what a sub-problem may bring ----------------------------------------------------------------

    def settles(self, problem: SubProblem) -> bool:
        """Tell whether a sub-problem needs no measurement: it has no design, or none that can be the best."""
        self.executor.elapsed_s += problem.solver_s
        if problem.solution.configuration is None:
            self._add(problem, NO_DESIGN)
            return True
        if not self.cannot_win(problem):
            return False
        self._add(problem, PRUNED)
        continues = self.is_timed and self.options.proof_evaluations > 0  # with other rungs
        self.closed = self.closed or not (problem.fine_only or (problem.narrowed and not continues))
        return True

    def cannot_win(self, problem: SubProblem) -> bool:
        """Tell whether no configuration of a sub-problem can be faster than the best one so far."""
        return self.best_cycles is not None and problem.solution.lower_bound >= self.best_cycles

    def may_improve(self, problem: SubProblem) -> bool:
        """Tell whether a design is clearly faster by its bound than the best one is by its own bound."""
        return (problem.solution.latency_cycles or math.inf) < (1.0 - LEAST_IMPROVEMENT) * self.best_bound

    def ends_ladder(self, problem: SubProblem) -> bool:
        """Tell whether the rest of the ladder is left to the proof that follows, which solves for faster
        designs first. Where rungs are solved within what likely ends in time, lower rungs have slower guesses
        alone.
        """
        guessed = self.is_timed and problem.narrowed and self.options.proof_evaluations > 0
        return guessed and self.best_cycles is not None and not self.may_improve(problem)

    def repeats(self, problem: SubProblem) -> bool:
        """Tell whether its configuration was begun before, or, where it is a guess that the proof may return
        to, one that hardly differs.
        """
        later = problem.narrowed and self.options.proof_evaluations > 0
        if not (self.was_begun(problem) or (later and self._varies_begun(problem))):
            return False
        self._add(problem, REPEATED)
        return True

    def turn(self, problem: SubProblem) -> tuple[int, float]:
        """Return order of sub-problems: that of the kind that was begun less often, then the faster one."""
        begun = sum(is_fine(self.summary, c) == problem.fine_only for c in self.seen.values())
        return begun, problem.solution.latency_cycles or math.inf

    def was_begun(self, problem: SubProblem) -> bool:
        """Tell whether its configuration was measured or is being measured."""
        configuration = problem.solution.configuration
        return configuration is not None and configuration_key(configuration) in self.seen

    def _varies_begun(self, problem: SubProblem) -> bool:
        """Tell whether it makes the choices of a begun configuration for all loops that matter there."""
        asked = problem.solution.configuration
        return asked is not None and any(
            all(asked.of(loop) == known.of(loop) for loop in decisive_loops(self.summary, known, self.target))
            for known in self.seen.values()
        )

    def is_duplicate(self, problem: SubProblem) -> bool:
        """Tell whether its configuration makes a design that was begun; it is then excluded from now on."""
        configuration = problem.solution.configuration
        if configuration is None:
            return False
        known = {design_key(self.summary, c) for c in self.seen.values()}
        if design_key(self.summary, configuration) not in known:
            return False
        self.seen[configuration_key(configuration)] = configuration
        return True

    # ---- measuring -----------------------------------------------------------------------------------

    def begin(self, problem: SubProblem) -> None:
        """Measure the configuration of a sub-problem, and wait until another one may be begun."""
        configuration = problem.solution.configuration
        if configuration is None:
            raise ValueError("sub-problem without a configuration cannot be measured")
        self.seen[configuration_key(configuration)] = configuration
        self.executor.begin(problem, configuration)
        while self.executor.full:
            self._learn()

    def begin_relaxed(self) -> None:
        """Measure designs that did not fit with longer intervals, where they may be clearly faster.

        Also where nothing that the convex program knows can win any more: it may not know the interval.
        """
        while self.relaxed and not self.ended:
            problem = self.relaxed.pop()
            cycles = problem.solution.latency_cycles or math.inf
            if self.best_cycles is None or cycles < (1.0 - LEAST_IMPROVEMENT) * self.best_cycles:
                self.begin(problem)

    def finish(self) -> None:
        """Wait for all that is being measured."""
        while self.executor.running:
            self._learn()

    def _learn(self) -> None:
        """Wait for the next design that ends, and learn from it."""
        problem, answer = self.executor.next()
        self.evaluations += 1
        configuration = problem.solution.configuration
        if configuration is not None:
            self.sizes.learn(configuration, answer, fine_only=problem.fine_only)
            if not problem.relaxed_ii:
                self._record_use(configuration, answer)
            self._queue_relaxed(problem, configuration, answer)
        if answer.valid and answer.latency_cycles is not None:
            least = self.best_cycles
            if least is None or answer.latency_cycles < least:
                self.best_cycles = answer.latency_cycles
                self.best_bound = problem.solution.latency_cycles or math.inf
        if answer.status in (TIMEOUT, TOOL_ERROR):
            self.unknown = min(self.unknown, problem.solution.latency_cycles or 0.0)
        self._add(problem, EVALUATED, answer)

    def _queue_relaxed(self, problem: SubProblem, configuration: Configuration, answer: Evaluation) -> None:
        """Queue the design with a longer interval where this one does not fit."""
        asked = relax_ii(self.summary, configuration, self.target, answer)
        if asked is None or configuration_key(asked) in self.seen:
            return
        solution = Solution(
            status=INCUMBENT,
            configuration=asked,
            latency_cycles=self._bound(asked),
            lower_bound=0.0,
            gap=None,
            nodes=0,
        )
        self.relaxed.append(replace(problem, solution=solution, solver_s=0.0, relaxed_ii=True))

    def _record_use(self, configuration: Configuration, answer: Evaluation) -> None:
        available = self.target.dsp_available
        units = bound(self.summary, configuration, self.target).dsp_count
        if answer.used_share is not None and available and units > LEAST_SHARE * available:
            copies = unrolled_size(self.summary, configuration)
            use = Use(units=units, copies=copies, taken=answer.used_share * available)
            self.uses[is_fine(self.summary, configuration)].append(use)

    def _bound(self, configuration: Configuration) -> float:
        return bound(self.summary, configuration, self.target).latency_cycles

    # ---- the log -------------------------------------------------------------------------------------

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
            elapsed_s=self.executor.elapsed_s,
            best_cycles=self.best_cycles,
        )
        self.steps.append(step)
        self.listen(step)

    def bound_remainder(self, problem: SubProblem) -> None:
        """Record what the solver proves of all configurations that were not measured."""
        self.remainder = problem.solution.lower_bound  # infinite when nothing remains
        self.settled = self.best_cycles is not None and self.remainder >= self.best_cycles

    def result(self) -> Exploration:
        """Return the log."""
        known = [float(c) for c in (self.remainder, self.best_cycles, self.unknown) if c is not None]
        return Exploration(
            method=NLP_DSE,
            steps=tuple(self.steps),
            lower_bound_cycles=min(known, default=None),
            proven=self.settled and self.best_cycles is not None and self.unknown >= self.best_cycles,
        )


# ---- configurations --------------------------------------------------------------------------------


def design_key(summary: Summary, configuration: Configuration) -> str:
    """Return a configuration's key without pipelines of fully unrolled loops, which have no effect."""
    loops = {
        name: replace(choice, pipeline=OFF, interval=1)
        if summary.loops[name].constant and choice.unroll >= summary.loops[name].trip_count_max
        else choice
        for name, choice in configuration.loops.items()
    }
    return configuration_key(replace(configuration, loops=loops))


def decisive_loops(summary: Summary, configuration: Configuration, target: Target) -> frozenset[str]:
    """Return all loops but those whose directives hardly change the bound of a configuration."""
    least = bound(summary, configuration, target).latency_cycles * MATTERS
    idle: set[str] = set()
    for loop, choice in configuration.loops.items():
        others = {name: c for name, c in configuration.loops.items() if name != loop}
        plain = replace(configuration, loops=others)
        if choice != LoopChoice() and bound(summary, plain, target).latency_cycles < least:
            idle.add(loop)
    return frozenset(set(summary.loops) - idle)


def relax_ii(
    summary: Summary, configuration: Configuration, target: Target, answer: Evaluation
) -> Configuration | None:
    """Return a configuration that did not fit, with a longer interval of its largest pipeline.

    The interval is the least power of two that makes the bound longer than the measured latency, for the
    tool's own interval is as long as any shorter one.

    Returns: None for a design that fits or whose latency is not known, without a pipeline, and where no
        interval of at most MOST_INTERVAL is longer than the tool's.
    """
    if answer.status != INFEASIBLE or answer.latency_cycles is None:
        return None
    name = _largest_pipeline(summary, configuration, target)
    if name is None:
        return None
    choice = configuration.of(name)
    interval = 2 * choice.interval
    while interval <= MOST_INTERVAL:
        asked = replace(choice, interval=interval)
        relaxed = replace(configuration, loops={**configuration.loops, name: asked})
        if bound(summary, relaxed, target).latency_cycles > answer.latency_cycles:
            return relaxed
        interval *= 2
    return None


def _largest_pipeline(summary: Summary, configuration: Configuration, target: Target) -> str | None:
    """Return the pipelined loop whose units take most of the target; of equal ones the first."""
    full = complete(summary, configuration, target)

    def dsps(name: str) -> float:
        choice = full.of(name)
        return dsp_count(leaf(summary, name, choice.unroll, target, choice.interval).units, target)

    pipelined = [name for name in summary.loops if configuration.of(name).pipeline == FINE]
    return max(pipelined, key=dsps, default=None)
