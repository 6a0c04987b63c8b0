"""Longer intervals of designs that do not fit, alone and in a search."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from pipelines.pragmas import Configuration, LoopChoice
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, read_target
from pipelines.pragmas.configuration import FINE, configuration_key
from pipelines.pragmas.search import EVALUATED, Evaluation, LadderOptions, explore
from pipelines.pragmas.search.state import MOST_INTERVAL, relax_ii
from pipelines.schemas import INFEASIBLE, OK, TIMEOUT

GEMV = """\
void gemv(float A[32][24], float x[24], float y[32])
{
  for (int i = 0; i < 32; i++) {
    y[i] = 0.0f;
    for (int j = 0; j < 24; j++)
      y[i] += A[i][j] * x[j];
  }
}
"""
SUMMARY = summarise(GEMV, "gemv")
TARGET = read_target("simfoundry")
ROWS = Configuration(loops={"L0": LoopChoice(pipeline=FINE)})


def cycles(configuration: Configuration) -> float:
    return bound(SUMMARY, configuration, TARGET).latency_cycles


def too_large(latency_cycles: int) -> Evaluation:
    return Evaluation(status=INFEASIBLE, latency_cycles=latency_cycles, used_share=2.0, wall_s=1.0)


@pytest.mark.parametrize("least", [1, 3, 5, 40])
def test_the_interval_is_the_least_that_is_longer_than_the_tools_own(least: int) -> None:
    """What is asked for changes nothing where the tool's own interval is as long."""
    measured = int(cycles(replace(ROWS, loops={"L0": LoopChoice(pipeline=FINE, interval=least)})))
    found = relax_ii(SUMMARY, ROWS, TARGET, too_large(measured))
    assert found is not None
    interval = found.of("L0").interval
    assert interval == 1 << least.bit_length()
    assert cycles(found) > measured


def test_what_fits_or_is_not_known_is_not_made_rarer() -> None:
    for answer in (Evaluation(status=OK, latency_cycles=40), Evaluation(status=TIMEOUT), too_large(1 << 30)):
        assert relax_ii(SUMMARY, ROWS, TARGET, answer) is None
    assert relax_ii(SUMMARY, Configuration(), TARGET, too_large(40)) is None
    assert relax_ii(SUMMARY, Configuration(loops={"L0": LoopChoice(unroll=2)}), TARGET, too_large(40)) is None
    longest = Configuration(loops={"L0": LoopChoice(pipeline=FINE, interval=MOST_INTERVAL)})
    assert relax_ii(SUMMARY, longest, TARGET, too_large(40)) is None


@dataclass(slots=True)
class Shares:
    """An evaluator of designs that fit from an interval on, which no search knows."""

    interval: int
    name: str = "shares-1"
    asked: list[str] = field(default_factory=list[str])

    def evaluate(self, configuration: Configuration) -> Evaluation:
        self.asked.append(configuration_key(configuration))
        rows = configuration.of("L0")
        unrolled = rows.pipeline == FINE and rows.unroll == 1
        latency = int(cycles(configuration)) + 3
        if not unrolled or rows.interval >= self.interval:
            slow = latency if unrolled else 100_000 + latency
            return Evaluation(status=OK, latency_cycles=slow, used_share=0.5, wall_s=1.0)
        return replace(too_large(latency), used_share=2.0)


def test_a_search_finds_an_interval_that_the_program_does_not_know() -> None:
    assert 32 not in TARGET.intervals
    known = Shares(32)
    limits = LadderOptions(together=1, most_evaluations=30, proof_evaluations=30)
    found = explore(SUMMARY, replace(TARGET, dsp_available=100_000), known, limits)
    assert found.best is not None
    assert found.best.configuration is not None
    assert found.best.configuration.of("L0").interval == 32
    assert len(known.asked) == len(set(known.asked))
    shared = [s for s in found.steps if s.decision == EVALUATED and s is found.best]
    assert shared[0].space_bound_cycles == 0.0
    assert not found.proven
