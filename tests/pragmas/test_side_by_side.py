"""Designs measured side by side: the order they end in, the time of a search, and the sizes it asks for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from pipelines.pragmas import Configuration, LoopChoice
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import bound, read_target
from pipelines.pragmas.configuration import FINE
from pipelines.pragmas.nlp import unrolled_size
from pipelines.pragmas.search import BaselineOptions, Evaluation, LadderOptions, explore, explore_bottlenecks
from pipelines.pragmas.search.budgets import is_fine
from pipelines.pragmas.search.evaluation import DesignExecutor
from pipelines.schemas import OK

MATRIX = """\
void scale(float A[64][32])
{
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 32; j++)
      A[i][j] = A[i][j] * A[i][j];
}
"""
SUMMARY = summarise(MATRIX, "scale")
TARGET = read_target("simfoundry")


@dataclass(slots=True)
class Taking:
    """An evaluator of designs that are remembered: a design takes seconds by its factor of the inner loop."""

    seconds: dict[int, float]
    name: str = "taking-1"

    def evaluate(self, configuration: Configuration) -> Evaluation:
        factor = configuration.of("L1").unroll
        cycles = int(bound(SUMMARY, configuration, TARGET).latency_cycles * 2)
        return Evaluation(status=OK, latency_cycles=cycles, wall_s=self.seconds.get(factor, 1.0))


def _of(factor: int) -> Configuration:
    return Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=factor)})


def test_a_design_begins_when_another_one_ends() -> None:
    with ThreadPoolExecutor(max_workers=2) as pool:
        taking = Taking({1: 5.0, 2: 1.0, 4: 1.5})
        beside = DesignExecutor[int](pool=pool, evaluator=taking, together=2, in_steps=False)
        beside.begin(1, _of(1))
        beside.begin(2, _of(2))
        assert beside.full
        assert beside.next()[0] == 2
        assert beside.elapsed_s == pytest.approx(1.0)
        beside.begin(4, _of(4))
        assert (beside.next()[0], beside.elapsed_s) == (4, pytest.approx(2.5))
        assert (beside.next()[0], beside.elapsed_s) == (1, pytest.approx(5.0))
        assert beside.running == 0


def test_results_in_steps_come_in_the_order_of_their_beginning() -> None:
    with ThreadPoolExecutor(max_workers=2) as pool:
        taking = Taking({1: 5.0, 2: 1.0, 4: 1.5})
        beside = DesignExecutor[int](pool=pool, evaluator=taking, together=2, in_steps=True)
        beside.begin(1, _of(1))
        beside.begin(2, _of(2))
        assert (beside.next()[0], beside.elapsed_s) == (1, pytest.approx(5.0))
        beside.begin(4, _of(4))
        assert (beside.next()[0], beside.elapsed_s) == (2, pytest.approx(5.0))
        assert (beside.next()[0], beside.elapsed_s) == (4, pytest.approx(6.5))


def test_the_time_of_a_search_is_that_of_two_at_a_time() -> None:
    found = explore_bottlenecks(SUMMARY, TARGET, Taking({}), BaselineOptions(together=2, most_evaluations=9))
    alone = explore_bottlenecks(SUMMARY, TARGET, Taking({}), BaselineOptions(together=1, most_evaluations=9))
    assert alone.steps[-1].elapsed_s == pytest.approx(9.0)
    assert 4.5 <= found.steps[-1].elapsed_s < 9.0
    assert [s.elapsed_s for s in found.steps] == sorted(s.elapsed_s for s in found.steps)


def test_copies_above_a_pipeline_are_of_modules() -> None:
    inner = {"L1": LoopChoice(pipeline=FINE, unroll=4)}
    assert is_fine(SUMMARY, Configuration(loops=inner))
    assert not is_fine(SUMMARY, Configuration(loops={"L0": LoopChoice(unroll=2), **inner}))
    assert is_fine(SUMMARY, Configuration(loops={"L0": LoopChoice(pipeline=FINE, unroll=2)}))


def test_designs_grow_faster_when_they_take_little_time() -> None:
    options = LadderOptions(together=1, most_copies=12, design_s=10.0, most_evaluations=6)
    found = explore(SUMMARY, TARGET, Taking(dict.fromkeys(range(64), 0.1)), options)
    asked = [s for s in found.steps if s.evaluation and s.configuration and not s.fine_only]
    sizes = [unrolled_size(SUMMARY, s.configuration) for s in asked if s.configuration]
    assert sizes[0] <= 12
    assert 2 * sizes[0] < sizes[1] <= 4 * sizes[0]
