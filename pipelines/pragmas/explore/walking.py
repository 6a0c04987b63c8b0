"""The state of one search by Algorithm 1: what was measured, what is known of it, and its log."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pipelines.pragmas.bound import Target, bound
from pipelines.pragmas.configuration import OFF, Configuration, LoopChoice
from pipelines.pragmas.explore.evaluation import Evaluation
from pipelines.pragmas.explore.keys import configuration_key
from pipelines.pragmas.explore.resources import Room, Use, room
from pipelines.pragmas.explore.sharing import rarer
from pipelines.pragmas.explore.side_by_side import SideBySide
from pipelines.pragmas.explore.sizes import Sizes, is_fine
from pipelines.pragmas.explore.steps import EVALUATED, NO_DESIGN, PRUNED, REPEATED, Exploration, Step
from pipelines.pragmas.program import INCUMBENT, OPTIMAL, Solution, unrolled_size
from pipelines.pragmas.summary import Summary
from pipelines.schemas import TIMEOUT, TOOL_ERROR

NLP_DSE = "nlp_dse"
LADDER: tuple[int | None, ...] = (None, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 1)
"""Most partitions of an array, NLP-DSE section 8.2.1; None for no limit."""
MATTERS = 1.15
"""Factor by which a bound must grow without a loop's directives for them to matter."""
LEAST_HOPE = 0.05
"""Share of the best design's bound by which that of another is less, for it not to wait for larger ones."""
LEAST_SHARE = 0.01
"""Share of a limit from which a bound on it is compared with what a design took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderOptions:
    """How the ladder is walked.

    Attributes:
        rungs: most partitions, falling; together: designs measured at a time.
        solver_timeout_s, solver_nodes: of each sub-problem; None for no limit.
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
    solver_nodes: int | None = None
    most_evaluations: int | None = None
    proof_evaluations: int = 0
    budget_s: float | None = None
    most_copies: int | None = None
    design_s: float | None = None
    size: Callable[[Configuration], int] | None = None

    @property
    def in_steps(self) -> bool:
        """Whether no seconds decide anything, so that every machine goes the same way."""
        return self.budget_s is None and self.solver_timeout_s is None and self.design_s is None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubProblem:
    """A rung, with copies of whole modules or without, and its solution.

    Attributes:
        narrowed: it has other limits than the rung's, for a design that is done in time.
        rarer: its configuration is one that did not fit, with a longer interval.
    """

    most_partitions: int | None
    fine_only: bool
    solution: Solution
    solver_s: float
    narrowed: bool = False
    rarer: bool = False


@dataclass(slots=True, kw_only=True)
class Walk:
    """The state of one search.

    Attributes:
        beside: designs that are being measured, and the time of the search.
        best_cycles, best_bound: of the best design, measured and by its bound.
        unknown: the least bound of a design that was begun and whose latency is not known.
        sizes: limits on designs that are likely done in time. narrowed: sub-problems within such limits.
        remainder: bound of all that was not begun; settled: the best measured latency is not above it.
        closed: no further rung can win.
        sharing: designs that did not fit, with longer intervals, that are still to be measured.
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
    sharing: list[SubProblem] = field(default_factory=list[SubProblem])

    @property
    def least_begun(self) -> float:
        """The least bound of a design that was begun; infinite without one."""
        bounds = (bound(self.summary, c, self.target).latency_cycles for c in self.seen.values())
        return min(bounds, default=math.inf)

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

    def begin_rarer(self) -> None:
        """Measure designs that did not fit with longer intervals, where they can win clearly.

        Also where nothing that the program knows can win any more: it may not know the interval.
        """
        while self.sharing and not self.ended:
            problem = self.sharing.pop()
            cycles = problem.solution.latency_cycles or math.inf
            if self.best_cycles is None or cycles < (1.0 - LEAST_HOPE) * self.best_cycles:
                self.begin(problem)

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
            if not problem.rarer:
                self._compare_use(problem.solution.configuration, answer)
            self._share(problem, problem.solution.configuration, answer)
        if answer.valid and answer.latency_cycles is not None:
            least = self.best_cycles
            if least is None or answer.latency_cycles < least:
                self.best_cycles = answer.latency_cycles
                self.best_bound = problem.solution.latency_cycles or math.inf
        if answer.status in (TIMEOUT, TOOL_ERROR):
            self.unknown = min(self.unknown, problem.solution.latency_cycles or 0.0)
        self._add(problem, EVALUATED, answer)

    def _share(self, problem: SubProblem, configuration: Configuration, answer: Evaluation) -> None:
        """Note the design with a longer interval where this one does not fit."""
        asked = rarer(self.summary, configuration, self.target, answer)
        if asked is None or configuration_key(asked) in self.seen:
            return
        cycles = bound(self.summary, asked, self.target).latency_cycles
        solution = Solution(
            status=INCUMBENT, configuration=asked, latency_cycles=cycles, lower_bound=0.0, gap=None, nodes=0
        )
        self.sharing.append(replace(problem, solution=solution, solver_s=0.0, rarer=True))

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
