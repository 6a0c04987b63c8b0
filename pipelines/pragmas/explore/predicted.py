"""A rival: what a predictor of latencies likes best is measured first, in the manner of HARP.

Configurations are changed bottom up, one directive of one loop at a time, inner loops before outer ones; the
best predicted ones are gone on from, pass after pass, until the time for it ends. Then the best predicted
designs are measured, best first. Nothing is learned from what is measured.

Source: NLP-DSE sections 8.2.2 and 8.4, of Sohrabizadeh, Bai, Sun and Cong 2023, "Robust GNN-based
representation learning for HLS" (HARP).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pipelines.pragmas.bound import Bound, Target, bound, complete
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.explore.bottleneck import Measuring, RivalOptions, changed, loop_values
from pipelines.pragmas.explore.evaluation import Evaluator
from pipelines.pragmas.explore.keys import configuration_key
from pipelines.pragmas.explore.side_by_side import SideBySide
from pipelines.pragmas.explore.steps import Exploration, Step
from pipelines.pragmas.program import unrolled_size
from pipelines.pragmas.summary import Summary
from pipelines.tools import stopwatch

PREDICTED = "predicted"
BEAM = 24
"""Configurations that are gone on from."""

Predict = Callable[[Sequence[Configuration], Sequence[Bound]], Sequence[float]]
"""Latencies in cycles of configurations, of which the bounds are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictor:
    """What is asked.

    Attributes:
        predict: see `Predict`; most_copies: of operations and accesses in a design that is asked about, None
            for any; size: likewise what a tool makes of it, within the same limit; None when unknown.
        seconds: for asking.
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
    options: RivalOptions | None = None,
    *,
    listen: Callable[[Step], None] = lambda _: None,
) -> Exploration:
    """Measure what is predicted to be fastest; see the module."""
    limits = options or RivalOptions()
    start = stopwatch()
    found = _Asked(summary=summary, target=target, predictor=predictor, known={})
    while stopwatch() - start < predictor.seconds and found.one_pass(start):
        pass
    with ThreadPoolExecutor(max_workers=limits.together) as pool:
        measuring = Measuring(
            method=PREDICTED,
            summary=summary,
            target=target,
            beside=SideBySide(
                pool=pool, evaluator=evaluator, together=limits.together, in_steps=limits.in_steps
            ),
            options=limits,
            listen=listen,
        )
        measuring.beside.elapsed_s = stopwatch() - start
        measuring.measure(found.best_first())
    return measuring.result()


@dataclass(slots=True, kw_only=True)
class _Asked:
    """Configurations that were asked about.

    Attributes:
        known: predicted cycles and configuration, by the key of what tools make of it.
    """

    summary: Summary
    target: Target
    predictor: Predictor
    known: dict[str, tuple[float, Configuration]]

    def one_pass(self, start: float) -> bool:
        """Change every loop of the best ones once; whether anything new came of it in time."""
        before = len(self.known)
        self._ask([Configuration()])
        for loop in sorted(self.summary.loops, key=lambda name: -len(self.summary.loops_around(name))):
            self._ask(self._changed(loop))
            if stopwatch() - start >= self.predictor.seconds:
                return False
        return len(self.known) > before

    def best_first(self) -> list[Configuration]:
        """All, those that are predicted to be faster before others."""
        ordered = sorted(self.known.items(), key=lambda entry: (entry[1][0], entry[0]))
        return [configuration for _, (_, configuration) in ordered]

    def _changed(self, loop: str) -> Iterator[Configuration]:
        for configuration in self.best_first()[:BEAM]:
            for kind, values in loop_values(self.summary, self.target, loop):
                for value in values:
                    yield changed(configuration, loop, kind, value)

    def _ask(self, configurations: Iterable[Configuration]) -> None:
        fresh = {self._key(c): c for c in configurations}
        asked = [(key, c) for key, c in fresh.items() if key not in self.known and self._is_small(c)]
        bounds = [bound(self.summary, c, self.target) for _, c in asked]
        kept = [(key, c, b) for (key, c), b in zip(asked, bounds, strict=True) if self._fits(b)]
        if kept:
            answers = self.predictor.predict([c for _, c, _ in kept], [b for _, _, b in kept])
            self.known |= {key: (float(cycles), c) for (key, c, _), cycles in zip(kept, answers, strict=True)}

    def _key(self, configuration: Configuration) -> str:
        return configuration_key(complete(self.summary, configuration, self.target))

    def _is_small(self, configuration: Configuration) -> bool:
        most, size = self.predictor.most_copies, self.predictor.size
        if most is None:
            return True
        small = unrolled_size(self.summary, configuration) <= most
        return small and (size is None or size(configuration) <= most)

    def _fits(self, found: Bound) -> bool:
        available = self.target.dsp_available
        return available is None or found.dsp_count <= available
