"""Searches without a solver, to compare with: by bottlenecks, by a predictor, exhaustive, random.

Bottlenecks, after AutoDSE. From the plain program, each round takes the loops of the nest that takes longest,
inner before outer, and tries every value of one directive of a loop. It continues from the fastest ones. When
no directive of that nest helps, the next nest follows; when none helps at all, the search returns to the best
design whose other values were not followed. A design whose directives were not all applied is rejected early.
Source: Sohrabizadeh, Yu, Gao and Cong 2022, "AutoDSE: Enabling Software Programmers to Design Efficient FPGA
Accelerators", ACM TODAES 27(4), as NLP-DSE sections 2.2 and 8.2.1 describe it. Differs in that a nest's share
of the time is that of the bound, where AutoDSE reads it from the report.

By a predictor, after HARP. Configurations are changed bottom up, one directive of one loop at a time, inner
loops before outer ones, starting from the best predicted ones, pass after pass, until the time for it ends.
Then the designs are measured, best predicted first. Nothing is learned from measurements.
Source: NLP-DSE sections 8.2.2 and 8.4, of Sohrabizadeh, Bai, Sun and Cong 2023, "Robust GNN-based
representation learning for HLS" (HARP).

Exhaustive and random searches draw from configurations that pipeline at most one loop on each path from the
root to a statement; loops inside it are unrolled by completion and have no choice of their own.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice, product

import numpy as np

from pipelines.base.tools import stopwatch
from pipelines.pragmas.bound import COMPUTATION, Bound, Target, bound, complete
from pipelines.pragmas.configuration import FINE, OFF, Configuration, LoopChoice, configuration_key
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.exploration import AUTODSE, EXHAUSTIVE, RANDOM
from pipelines.pragmas.nlp import pipeline_factors, unrolled_size
from pipelines.pragmas.search.evaluation import (
    EVALUATED,
    DesignExecutor,
    Evaluation,
    Evaluator,
    Exploration,
    Step,
)
from pipelines.pragmas.summary import ROOT, Summary

PREDICTED = "predicted"
ENOUGH_GAIN = 1.001
BEAM = 24
"""Configurations from which a pass of the predicted search starts."""
MOST_CONFIGURATIONS = 100_000
DRAWS_PER_BATCH = 100

Listen = Callable[[Step], None]
Predict = Callable[[Sequence[Configuration], Sequence[Bound]], Sequence[float]]
"""Latencies in cycles of configurations whose bounds are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineOptions:
    """Limits of a search without a solver.

    Attributes:
        together: designs measured at a time; most_evaluations, budget_s: end of the search; None = unlimited.
        seed: of a random search.
    """

    together: int = 2
    most_evaluations: int | None = None
    budget_s: float | None = None
    seed: int = 0

    @property
    def in_steps(self) -> bool:
        """Whether no measured time decides anything, so that every machine takes the same steps."""
        return self.budget_s is None


def _ignore(step: Step) -> None:
    del step


@dataclass(slots=True, kw_only=True)
class _Batches:
    """Measures batches of configurations, each once, and keeps the log.

    Attributes:
        known: evaluations by key of their configurations.
    """

    method: str
    summary: Summary
    target: Target
    executor: DesignExecutor[Configuration]
    options: BaselineOptions
    listen: Listen
    steps: list[Step] = field(default_factory=list[Step])
    known: dict[str, Evaluation] = field(default_factory=dict[str, Evaluation])
    best_cycles: int | None = None

    def ended(self) -> bool:
        """Tell whether no further design may be measured."""
        most, budget = self.options.most_evaluations, self.options.budget_s
        used_up = most is not None and len(self.steps) + self.executor.running >= most
        return used_up or (budget is not None and self.executor.elapsed_s >= budget)

    def measure(self, configurations: Sequence[Configuration]) -> list[Evaluation | None]:
        """Return the evaluations in the order of the configurations; None where the search ended before."""
        fresh = {configuration_key(c): c for c in configurations}
        for configuration in (c for key, c in fresh.items() if key not in self.known):
            if self.ended():
                break
            self.executor.begin(configuration, configuration)
            while self.executor.full:
                self._learn()
        while self.executor.running:
            self._learn()
        return [self.known.get(configuration_key(c)) for c in configurations]

    def _learn(self) -> None:
        """Wait for the next design that ends, and log it."""
        configuration, answer = self.executor.next()
        self.known[configuration_key(configuration)] = answer
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
            elapsed_s=self.executor.elapsed_s,
            best_cycles=self.best_cycles,
        )
        self.steps.append(step)
        self.listen(step)


def _run(
    method: str,
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: BaselineOptions,
    listen: Listen,
    search: Callable[[_Batches], None],
) -> Exploration:
    """Return the log of a search, which proves nothing."""
    with ThreadPoolExecutor(max_workers=options.together) as pool:
        batches = _Batches(
            method=method,
            summary=summary,
            target=target,
            executor=DesignExecutor(
                pool=pool, evaluator=evaluator, together=options.together, in_steps=options.in_steps
            ),
            options=options,
            listen=listen,
        )
        search(batches)
    return Exploration(method=method, steps=tuple(batches.steps))


def loop_values(summary: Summary, target: Target, loop: str) -> Iterator[tuple[str, tuple[LoopChoice, ...]]]:
    """Yield the directives of a loop in the order they are tried, each with its values.

    Copies double with each value where divisors allow it, as AutoDSE's generator does by default.
    """
    yield "pipeline", (LoopChoice(pipeline=FINE),)
    factors = pipeline_factors(summary, target, loop)
    if len(factors) > 1:
        yield "unroll", tuple(LoopChoice(unroll=d) for d in factors[1:])


def changed(configuration: Configuration, loop: str, kind: str, value: LoopChoice) -> Configuration:
    """Return a configuration with another value of one directive of a loop."""
    old = configuration.of(loop)
    new = replace(old, pipeline=value.pipeline) if kind == "pipeline" else replace(old, unroll=value.unroll)
    return replace(configuration, loops={**configuration.loops, loop: new})


# ---- by bottlenecks --------------------------------------------------------------------------------


def explore_bottlenecks(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: BaselineOptions | None = None,
    *,
    listen: Listen = _ignore,
) -> Exploration:
    """Search by bottlenecks; see the module."""
    limits = options or BaselineOptions()
    return _run(AUTODSE, summary, target, evaluator, limits, listen, _follow_bottlenecks)


@dataclass(order=True, slots=True)
class _Place:
    """A design to continue from, the fastest first.

    Attributes:
        settled: (loop, directive) pairs that were tried.
    """

    cycles: int
    order: int
    configuration: Configuration = field(compare=False)
    settled: frozenset[tuple[str, str]] = field(compare=False)


def _follow_bottlenecks(batches: _Batches) -> None:
    plain = Configuration()
    first = batches.measure([plain])[0]
    if first is None or first.latency_cycles is None:
        return
    heap, count = [_Place(first.latency_cycles, 0, plain, frozenset())], 1
    while heap and not batches.ended():
        place = heapq.heappop(heap)
        for better in _better(batches, place):
            heapq.heappush(heap, replace(better, order=count))
            count += 1


def _better(batches: _Batches, place: _Place) -> list[_Place]:
    """Return the designs that gain something to continue from, after one directive, in bottleneck order."""
    for loop in _slow_loops(batches, place):
        for kind, values in loop_values(batches.summary, batches.target, loop):
            if (loop, kind) in place.settled or batches.ended():
                continue
            tried = [changed(place.configuration, loop, kind, value) for value in values]
            answers = batches.measure(tried)
            settled = place.settled | {(loop, kind)}
            gaining = [
                _Place(answer.latency_cycles, 0, configuration, settled)
                for configuration, answer in zip(tried, answers, strict=True)
                if answer is not None and _gains(answer, place.cycles) and answer.latency_cycles is not None
            ]
            if gaining:
                return sorted(gaining, key=lambda better: better.cycles)[:2]
    return []


def _gains(answer: Evaluation, cycles: int) -> bool:
    return (
        answer.valid
        and not answer.not_applied
        and answer.latency_cycles is not None
        and answer.latency_cycles * ENOUGH_GAIN < cycles
    )


def _slow_loops(batches: _Batches, place: _Place) -> list[str]:
    """Return the loops of the nest that takes longest, inner before outer; then of the next, and so on."""
    summary = batches.summary
    parts = bound(summary, place.configuration, batches.target).parts
    cycles: Mapping[str, float] = {p.place: p.cycles for p in parts if p.kind == COMPUTATION}
    nests = summary.child_loops(ROOT)
    order: list[str] = []
    for nest in sorted(nests, key=lambda name: -cycles.get(name, 0.0)):
        inside = [nest, *summary.loops_inside(nest)]
        order += sorted(inside, key=lambda name: -len(summary.loops_around(name)))
    return [loop for loop in order if not _is_unrolled(summary, place.configuration, loop)]


def _is_unrolled(summary: Summary, configuration: Configuration, loop: str) -> bool:
    """Tell whether a pipelined loop around it unrolls it anyway."""
    return any(configuration.of(outer).pipeline != OFF for outer in summary.loops_around(loop))


# ---- by a predictor --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """A predictor of latencies.

    Attributes:
        predict: see `Predict`; most_copies: of operations and accesses in a design to be predicted, None =
            unlimited; size: operations that a tool makes of it, within the same limit; None when unknown.
        seconds: for predictions.
    """

    predict: Predict
    most_copies: int | None = None
    size: Callable[[Configuration], int] | None = None
    seconds: float = 5.0


def explore_predicted(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    predictor: Predictor,
    options: BaselineOptions | None = None,
    *,
    listen: Listen = _ignore,
) -> Exploration:
    """Measure the designs that are predicted to be fastest; see the module."""
    start = stopwatch()
    predictions = _Predictions(summary=summary, target=target, predictor=predictor)
    while stopwatch() - start < predictor.seconds and predictions.one_pass(start):
        pass

    def search(batches: _Batches) -> None:
        batches.executor.elapsed_s = stopwatch() - start
        batches.measure(predictions.best_first())

    return _run(PREDICTED, summary, target, evaluator, options or BaselineOptions(), listen, search)


@dataclass(slots=True, kw_only=True)
class _Predictions:
    """Predicted configurations.

    Attributes:
        known: predicted cycles and configuration, by the key of the completed configuration.
    """

    summary: Summary
    target: Target
    predictor: Predictor
    known: dict[str, tuple[float, Configuration]] = field(
        default_factory=dict[str, tuple[float, Configuration]]
    )

    def one_pass(self, start: float) -> bool:
        """Change every loop of the best ones once; whether that gave a new configuration in time."""
        before = len(self.known)
        self._predict([Configuration()])
        for loop in sorted(self.summary.loops, key=lambda name: -len(self.summary.loops_around(name))):
            self._predict(self._changed(loop))
            if stopwatch() - start >= self.predictor.seconds:
                return False
        return len(self.known) > before

    def best_first(self) -> list[Configuration]:
        """Return all configurations, the fastest predicted ones first."""
        ordered = sorted(self.known.items(), key=lambda entry: (entry[1][0], entry[0]))
        return [configuration for _, (_, configuration) in ordered]

    def _changed(self, loop: str) -> Iterator[Configuration]:
        for configuration in self.best_first()[:BEAM]:
            for kind, values in loop_values(self.summary, self.target, loop):
                for value in values:
                    yield changed(configuration, loop, kind, value)

    def _predict(self, configurations: Iterable[Configuration]) -> None:
        fresh = {configuration_key(complete(self.summary, c, self.target)): c for c in configurations}
        asked = [(key, c) for key, c in fresh.items() if key not in self.known and self._is_small(c)]
        bounds = [bound(self.summary, c, self.target) for _, c in asked]
        fitting = [(key, c, b) for (key, c), b in zip(asked, bounds, strict=True) if self._fits(b)]
        if fitting:
            answers = self.predictor.predict([c for _, c, _ in fitting], [b for _, _, b in fitting])
            pairs = zip(fitting, answers, strict=True)
            self.known |= {key: (float(cycles), c) for (key, c, _), cycles in pairs}

    def _is_small(self, configuration: Configuration) -> bool:
        most, size = self.predictor.most_copies, self.predictor.size
        if most is None:
            return True
        small = unrolled_size(self.summary, configuration) <= most
        return small and (size is None or size(configuration) <= most)

    def _fits(self, lower: Bound) -> bool:
        available = self.target.dsp_available
        return available is None or lower.dsp_count <= available


# ---- exhaustive and random -------------------------------------------------------------------------


def explore_all(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: BaselineOptions | None = None,
    *,
    listen: Listen = _ignore,
) -> Exploration:
    """Measure every configuration.

    Raises: PragmaError: there are more than `MOST_CONFIGURATIONS`.
    """
    configurations = list(islice(all_configurations(summary, target), MOST_CONFIGURATIONS + 1))
    if len(configurations) > MOST_CONFIGURATIONS:
        raise PragmaError(
            f"{summary.top} has more than {MOST_CONFIGURATIONS} configurations, too many to measure all"
        )

    def search(batches: _Batches) -> None:
        batches.measure(configurations)

    return _run(EXHAUSTIVE, summary, target, evaluator, options or BaselineOptions(), listen, search)


def explore_randomly(
    summary: Summary,
    target: Target,
    evaluator: Evaluator,
    options: BaselineOptions,
    *,
    listen: Listen = _ignore,
) -> Exploration:
    """Measure configurations drawn evenly, none twice, until a limit of the options.

    Raises: PragmaError: the options have no limit.
    """
    if options.most_evaluations is None and options.budget_s is None:
        raise PragmaError("random search without a limit; set most_evaluations or budget_s")
    generator = np.random.default_rng(options.seed)

    def search(batches: _Batches) -> None:
        before = -1
        while not batches.ended() and len(batches.steps) != before:
            before = len(batches.steps)
            batches.measure([draw_configuration(summary, target, generator) for _ in range(DRAWS_PER_BATCH)])

    return _run(RANDOM, summary, target, evaluator, options, listen, search)


def all_configurations(summary: Summary, target: Target) -> Iterator[Configuration]:
    """Yield every configuration of pipelines and factors, in a fixed order."""
    for loops in product(*(_nest_choices(summary, target, c) for c in summary.child_loops(ROOT))):
        yield Configuration(loops={name: choice for part in loops for name, choice in part.items()})


def _nest_choices(summary: Summary, target: Target, loop: str) -> list[dict[str, LoopChoice]]:
    """Return the choices of a loop and the loops inside it."""
    factors = pipeline_factors(summary, target, loop)
    choices = [{loop: LoopChoice(pipeline=FINE, unroll=factor)} for factor in factors]
    inner = summary.child_loops(loop)
    if not inner:
        return choices
    for parts in product(*(_nest_choices(summary, target, child) for child in inner)):
        below = {name: choice for part in parts for name, choice in part.items()}
        choices += [{loop: LoopChoice(unroll=factor), **below} for factor in factors]
    return choices


def draw_configuration(summary: Summary, target: Target, generator: np.random.Generator) -> Configuration:
    """Draw a configuration: on each path down, a pipelined loop at a random level, and random factors."""
    loops: dict[str, LoopChoice] = {}
    for child in summary.child_loops(ROOT):
        loops |= _drawn_nest(summary, target, child, generator)
    return Configuration(loops=loops)


def _drawn_nest(
    summary: Summary, target: Target, loop: str, generator: np.random.Generator
) -> dict[str, LoopChoice]:
    factors = pipeline_factors(summary, target, loop)
    factor = factors[int(generator.integers(len(factors)))]
    inner = summary.child_loops(loop)
    if not inner or generator.integers(_depth(summary, loop)) == 0:
        return {loop: LoopChoice(pipeline=FINE, unroll=factor)}
    choices = {loop: LoopChoice(unroll=factor)}
    for child in inner:
        choices |= _drawn_nest(summary, target, child, generator)
    return choices


def _depth(summary: Summary, loop: str) -> int:
    return 1 + max((_depth(summary, child) for child in summary.child_loops(loop)), default=0)
