"""A rival: bottleneck-driven search without a solver, in the manner of AutoDSE.

From the plain program, each round looks at the loops of the nest that takes longest, inner before outer, and
tries every value of one directive of a loop. It goes on from the fastest ones; when no directive of that nest
helps, the next nest is looked at; when none helps at all, the search goes back to the best design whose other
values were not followed. A design whose directives were not all applied is rejected early.

Source: Sohrabizadeh, Yu, Gao and Cong 2022, "AutoDSE: Enabling Software Programmers to Design Efficient FPGA
Accelerators", ACM TODAES 27(4), as NLP-DSE sections 2.2 and 8.2.1 describe it. Differs in that a nest's share
of the time is that of the bound, where AutoDSE reads it from the report.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from pipelines.pragmas.bound import COMPUTATION, Target, bound
from pipelines.pragmas.configuration import FINE, OFF, Configuration, LoopChoice
from pipelines.pragmas.explore.evaluation import Evaluation, Evaluator
from pipelines.pragmas.explore.keys import configuration_key
from pipelines.pragmas.explore.side_by_side import SideBySide
from pipelines.pragmas.explore.steps import EVALUATED, Exploration, Step
from pipelines.pragmas.program import pipeline_factors
from pipelines.pragmas.summary import Summary

AUTODSE = "bottleneck"
ENOUGH_GAIN = 1.001


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalOptions:
    """Limits of a search without a solver.

    Attributes:
        together: designs measured at a time; most_evaluations, budget_s: when it ends; None for no limit.
        seed: of a random search.
    """

    together: int = 2
    most_evaluations: int | None = None
    budget_s: float | None = None
    seed: int = 0

    @property
    def in_steps(self) -> bool:
        """Whether no seconds decide anything, so that every machine goes the same way."""
        return self.budget_s is None


def loop_values(summary: Summary, target: Target, loop: str) -> Iterator[tuple[str, tuple[LoopChoice, ...]]]:
    """The directives of a loop in the order they are tried, each with its values.

    Copies double with each value where divisors allow it, as AutoDSE's generator does by default.
    """
    yield "pipeline", (LoopChoice(pipeline=FINE),)
    factors = pipeline_factors(summary, target, loop)
    if len(factors) > 1:
        yield "unroll", tuple(LoopChoice(unroll=d) for d in factors[1:])


@dataclass(slots=True, kw_only=True)
class Measuring:
    """Measures batches of configurations, remembers them, keeps the log."""

    method: str
    summary: Summary
    target: Target
    beside: SideBySide[Configuration]
    options: RivalOptions
    listen: Callable[[Step], None]
    steps: list[Step] = field(default_factory=list[Step])
    known: dict[str, Evaluation] = field(default_factory=dict[str, Evaluation])
    best_cycles: int | None = None

    def allowed(self) -> int:
        """Designs that may still be measured."""
        most = self.options.most_evaluations
        return 1 << 30 if most is None else most - len(self.steps) - self.beside.running

    def ended(self) -> bool:
        """Whether nothing more may be measured."""
        budget = self.options.budget_s
        return self.allowed() <= 0 or (budget is not None and self.beside.elapsed_s >= budget)

    def measure(self, configurations: Sequence[Configuration]) -> list[Evaluation | None]:
        """Evaluations in the order asked for; None for what was not measured because the search has ended."""
        fresh = {configuration_key(c): c for c in configurations}
        for configuration in (c for key, c in fresh.items() if key not in self.known):
            if self.ended():
                break
            self.beside.begin(configuration, configuration)
            while self.beside.full:
                self._learn()
        while self.beside.running:
            self._learn()
        return [self.known.get(configuration_key(c)) for c in configurations]

    def _learn(self) -> None:
        """Wait for the next design that ends."""
        configuration, answer = self.beside.next()
        self.known[configuration_key(configuration)] = answer
        self._add(configuration, answer)

    def _add(self, configuration: Configuration, answer: Evaluation) -> None:
        if answer.valid and answer.latency_cycles is not None:
            least = self.best_cycles
            self.best_cycles = answer.latency_cycles if least is None else min(least, answer.latency_cycles)
        step = Step(
            index=len(self.steps),
            method=self.method,
            configuration=configuration,
            decision=EVALUATED,
            bound_cycles=bound(self.summary, configuration, self.target).latency_cycles,
            evaluation=answer,
            elapsed_s=self.beside.elapsed_s,
            best_cycles=self.best_cycles,
        )
        self.steps.append(step)
        self.listen(step)

    def result(self) -> Exploration:
        """The log; nothing is proven."""
        return Exploration(method=self.method, steps=tuple(self.steps))


def explore_bottlenecks(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: RivalOptions | None = None,
    *,
    listen: Callable[[Step], None] = lambda _: None,
) -> Exploration:
    """Search by bottlenecks; see the module."""
    limits = options or RivalOptions()
    with ThreadPoolExecutor(max_workers=limits.together) as pool:
        measuring = Measuring(
            method=AUTODSE,
            summary=summary,
            target=target,
            beside=SideBySide(
                pool=pool, evaluator=evaluator, together=limits.together, in_steps=limits.in_steps
            ),
            options=limits,
            listen=listen,
        )
        _search(measuring)
    return measuring.result()


@dataclass(order=True, slots=True)
class _Place:
    """A design to go on from, the fastest first."""

    cycles: int
    order: int
    configuration: Configuration = field(compare=False)
    settled: frozenset[tuple[str, str]] = field(compare=False)


def _search(measuring: Measuring) -> None:
    plain = Configuration()
    first = measuring.measure([plain])[0]
    if first is None or first.latency_cycles is None:
        return
    heap, count = [_Place(first.latency_cycles, 0, plain, frozenset())], 1
    while heap and not measuring.ended():
        place = heapq.heappop(heap)
        for found in _better(measuring, place):
            heapq.heappush(heap, replace(found, order=count))
            count += 1


def _better(measuring: Measuring, place: _Place) -> list[_Place]:
    """The designs to go on from after the first directive, in order of bottlenecks, that gains something."""
    for loop in _slow_loops(measuring, place):
        for kind, values in loop_values(measuring.summary, measuring.target, loop):
            if (loop, kind) in place.settled or measuring.ended():
                continue
            tried = [changed(place.configuration, loop, kind, value) for value in values]
            answers = measuring.measure(tried)
            settled = place.settled | {(loop, kind)}
            gaining = [
                _Place(answer.latency_cycles, 0, configuration, settled)
                for configuration, answer in zip(tried, answers, strict=True)
                if answer is not None and _gains(answer, place.cycles) and answer.latency_cycles is not None
            ]
            if gaining:
                return sorted(gaining, key=lambda found: found.cycles)[:2]
    return []


def _gains(answer: Evaluation, cycles: int) -> bool:
    return (
        answer.valid
        and not answer.not_applied
        and answer.latency_cycles is not None
        and answer.latency_cycles * ENOUGH_GAIN < cycles
    )


def changed(configuration: Configuration, loop: str, kind: str, value: LoopChoice) -> Configuration:
    """A configuration with another value of one directive of a loop."""
    there = configuration.of(loop)
    choice = (
        replace(there, pipeline=value.pipeline) if kind == "pipeline" else replace(there, unroll=value.unroll)
    )
    return replace(configuration, loops={**configuration.loops, loop: choice})


def _slow_loops(measuring: Measuring, place: _Place) -> list[str]:
    """Loops of the nest that takes longest, inner before outer; then those of the next nest, and so on."""
    summary = measuring.summary
    found = bound(summary, place.configuration, measuring.target)
    cycles: Mapping[str, float] = {p.place: p.cycles for p in found.parts if p.kind == COMPUTATION}
    nests = [child for child in summary.body if isinstance(child, str)]
    order: list[str] = []
    for nest in sorted(nests, key=lambda name: -cycles.get(name, 0.0)):
        inside = [nest, *summary.loops_inside(nest)]
        order += sorted(inside, key=lambda name: -len(summary.loops_around(name)))
    return [loop for loop in order if not _is_unrolled(summary, place.configuration, loop)]


def _is_unrolled(summary: Summary, configuration: Configuration, loop: str) -> bool:
    """Whether a pipelined loop around it unrolls it anyway."""
    return any(configuration.of(outer).pipeline != OFF for outer in summary.loops_around(loop))
