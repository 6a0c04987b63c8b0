"""Searches for directives: Algorithm 1 and its rivals over evaluators whose answers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from pipelines.pragmas import Configuration, LoopChoice, PragmaError
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Bound, bound, complete, read_target
from pipelines.pragmas.configuration import FINE, configuration_key, configuration_of_key
from pipelines.pragmas.nlp import solve, unrolled_size
from pipelines.pragmas.search import (
    EVALUATED,
    NO_DESIGN,
    PREDICTED,
    PRUNED,
    REPEATED,
    BaselineOptions,
    Evaluation,
    Explored,
    LadderOptions,
    Predictor,
    exploration_rows,
    explore,
    explore_all,
    explore_bottlenecks,
    explore_predicted,
    explore_randomly,
)
from pipelines.pragmas.search.baselines import all_configurations
from pipelines.pragmas.search.budgets import FINE_COPIES, most_partitions
from pipelines.pragmas.search.directives import banked_size
from pipelines.pragmas.search.state import decisive_loops, design_key
from pipelines.programs import kernel_programs, polybench_program
from pipelines.schemas import OK, TIMEOUT, TOOL_ERROR

GEMV = """\
void gemv(float A[8][6], float x[6], float y[8])
{
  for (int i = 0; i < 8; i++) {
    y[i] = 0.0f;
    for (int j = 0; j < 6; j++)
      y[i] += A[i][j] * x[j];
  }
}
"""
SUMMARY = summarise(GEMV, "gemv")
TARGET = read_target("u200")


def least(configuration: Configuration) -> float:
    return bound(SUMMARY, configuration, TARGET).latency_cycles


@dataclass(slots=True)
class Known:
    """An evaluator whose answer is a function of the configuration."""

    answer: Callable[[Configuration], Evaluation]
    name: str = "known-1"
    asked: list[str] = field(default_factory=list[str])

    def evaluate(self, configuration: Configuration) -> Evaluation:
        self.asked.append(configuration_key(configuration))
        return self.answer(configuration)


def exact(configuration: Configuration) -> Evaluation:
    return Evaluation(status=OK, latency_cycles=int(-(-least(configuration) // 1)), wall_s=1.0)


def slow(configuration: Configuration) -> Evaluation:
    return Evaluation(status=OK, latency_cycles=int(least(configuration) * 3) + 7, wall_s=1.0)


ONE = LadderOptions(together=1)


def test_the_first_design_ends_the_search_when_its_bound_is_reached() -> None:
    known = Known(exact)
    found = explore(SUMMARY, TARGET, known, ONE)
    assert len(known.asked) == 1
    assert found.proven
    assert found.gap == pytest.approx(0, abs=0.05)
    assert [s.decision for s in found.steps] == [EVALUATED, PRUNED] or found.steps[1].fine_only


def test_no_design_that_could_win_is_pruned() -> None:
    known = Known(slow)
    found = explore(SUMMARY, TARGET, known, LadderOptions(together=1, proof_evaluations=400))
    best = min(slow(c).latency_cycles or 0 for c in all_configurations(SUMMARY, TARGET))
    assert found.best is not None
    assert found.best.evaluation is not None
    assert found.best.evaluation.latency_cycles == best
    assert found.proven


@pytest.mark.sample(2)
@pytest.mark.parametrize("status", [TIMEOUT, TOOL_ERROR])
def test_nothing_is_proven_while_a_design_without_a_latency_could_win(status: str) -> None:
    first = solve(SUMMARY, TARGET)
    assert first.configuration is not None
    lost = configuration_key(first.configuration)

    def answer(configuration: Configuration) -> Evaluation:
        failed = Evaluation(status=status, reason="no latency", wall_s=1.0)
        return failed if configuration_key(configuration) == lost else slow(configuration)

    found = explore(SUMMARY, TARGET, Known(answer), LadderOptions(together=1, proof_evaluations=400))
    assert found.best is not None
    assert not found.proven
    assert found.lower_bound_cycles == first.latency_cycles


def test_designs_that_fit_against_their_bound_on_units_are_found() -> None:
    """As fdtd-2d of size small: 30,972 units of 20,000 by the bound, 17.9 of 20 mm2 in fact."""
    few = replace(TARGET, dsp_available=8)
    within = solve(SUMMARY, few).latency_cycles or 0
    best = min(exact(c).latency_cycles or 0 for c in all_configurations(SUMMARY, TARGET))
    assert best < within
    found = explore(SUMMARY, few, Known(exact), LadderOptions(together=1, proof_evaluations=400))
    assert found.best is not None
    assert found.best.evaluation is not None
    assert found.best.evaluation.latency_cycles == best
    assert found.proven
    ladder_alone = explore(SUMMARY, few, Known(exact), ONE)
    assert not ladder_alone.proven


def test_no_configuration_is_measured_twice() -> None:
    known = Known(slow)
    found = explore(SUMMARY, TARGET, known, LadderOptions(together=2, proof_evaluations=5))
    assert len(known.asked) == len(set(known.asked))
    assert REPEATED in {s.decision for s in found.steps}
    assert sum(s.decision == EVALUATED for s in found.steps) == len(known.asked)


def test_a_design_that_fails_is_a_step_and_the_search_goes_on() -> None:
    def late_once(configuration: Configuration) -> Evaluation:
        if len(known.asked) == 1:
            return Evaluation(status=TIMEOUT, reason="ran past 1 s", wall_s=1.0)
        return exact(configuration)

    known = Known(late_once)
    found = explore(SUMMARY, TARGET, known, ONE)
    first = found.steps[0].evaluation
    assert first is not None
    assert (first.status, first.reason) == (TIMEOUT, "ran past 1 s")
    assert found.best is not None
    assert found.best.index > 0


def test_designs_are_as_large_as_what_is_likely_done_in_time() -> None:
    known = Known(exact)
    found = explore(SUMMARY, TARGET, known, LadderOptions(together=1, most_copies=40, most_evaluations=1))
    first = found.steps[0]
    assert first.configuration is not None
    most = FINE_COPIES * 40 if first.fine_only else 40
    assert unrolled_size(SUMMARY, first.configuration) <= most
    assert first.bound_cycles is not None
    assert first.bound_cycles > (solve(SUMMARY, TARGET).latency_cycles or 0)


def test_designs_of_which_a_tool_makes_too_much_are_asked_for_smaller() -> None:
    def size(configuration: Configuration) -> int:
        return 2 * unrolled_size(SUMMARY, configuration)

    limits = LadderOptions(together=1, most_copies=60, most_evaluations=1)
    plain = explore(SUMMARY, TARGET, Known(exact), limits).steps[0].configuration
    small = explore(SUMMARY, TARGET, Known(exact), replace(limits, size=size)).steps[0].configuration
    assert plain is not None
    assert small is not None
    assert size(plain) > 60
    assert size(small) <= 60


def test_after_a_design_that_was_late_the_next_one_is_half_as_large() -> None:
    def late(configuration: Configuration) -> Evaluation:
        sizes.append(unrolled_size(SUMMARY, configuration))
        return Evaluation(status=TIMEOUT, reason="ran past 1 s", wall_s=1.0)

    sizes: list[int] = []
    explore(SUMMARY, TARGET, Known(late), LadderOptions(together=1, most_evaluations=2))
    assert sizes[1] <= sizes[0] // 2


def test_larger_designs_come_before_slower_ones() -> None:
    """What is within the first limits and slower by its bound, as the plain program is, comes later."""
    own, source = read_target("simfoundry"), GEMV.replace("6", "24").replace("8", "32")
    summary = summarise(source, "gemv")

    def answer(configuration: Configuration) -> Evaluation:
        cycles = bound(summary, configuration, own).latency_cycles
        return Evaluation(status=OK, latency_cycles=int(cycles * 3) + 7, wall_s=50.0)

    asked = LadderOptions(together=1, most_copies=20, most_evaluations=6, proof_evaluations=6, design_s=100.0)
    found = explore(summary, own, Known(answer), asked)
    bounds = [s.bound_cycles or 0.0 for s in found.steps if s.decision == EVALUATED]
    assert len(bounds) == 6
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] * 4 < bounds[0]


def first_designs(source: str, top: str, sure: int) -> list[tuple[float, int]]:
    """Bounds and copies of the first two designs where so many copies are surely done in time."""
    own, summary = read_target("simfoundry"), summarise(source, top)

    def answer(configuration: Configuration) -> Evaluation:
        cycles = bound(summary, configuration, own).latency_cycles
        return Evaluation(status=OK, latency_cycles=int(cycles * 3) + 7, wall_s=500.0)

    limits = LadderOptions(
        together=1,
        most_copies=sure,
        design_s=1000.0,
        most_evaluations=2,
        proof_evaluations=2,
        size=lambda configuration: banked_size(summary, configuration),
    )
    steps = explore(summary, own, Known(answer), limits).steps
    configurations = [s.configuration for s in steps if s.decision == EVALUATED and s.configuration]
    return [(bound(summary, c, own).latency_cycles, unrolled_size(summary, c)) for c in configurations]


def test_a_design_that_gains_more_than_it_grows_is_measured_early() -> None:
    """Rows of fdtd-2d unrolled whole: partly unrolled, they wait for arrays whose banks are not known."""
    program = polybench_program("fdtd-2d", size="mini", data_type="float")
    (slow_cycles, _), (fast_cycles, copies) = first_designs(program.source, program.top, 150)
    assert fast_cycles * 2 * copies / 150 < slow_cycles
    assert 150 < copies <= 8 * 150


def test_a_design_that_gains_as_it_grows_is_not() -> None:
    source = GEMV.replace("6", "24").replace("8", "32")
    assert all(copies <= FINE_COPIES * 20 for _, copies in first_designs(source, "gemv", 20))


def test_no_design_waits_for_the_end_of_another() -> None:
    def answer(configuration: Configuration) -> Evaluation:
        return replace(slow(configuration), wall_s=100.0 if len(known.asked) == 1 else 1.0)

    known = Known(answer)
    found = explore(SUMMARY, TARGET, known, LadderOptions(together=2, proof_evaluations=20))
    ends = [s.elapsed_s for s in found.steps if s.decision == EVALUATED]
    assert sum(end < 100.0 for end in ends) == len(ends) - 1
    assert len(ends) > 10


def test_evaluations_are_limited() -> None:
    known = Known(slow)
    explore(SUMMARY, TARGET, known, LadderOptions(together=2, most_evaluations=3, proof_evaluations=9))
    assert len(known.asked) == 3


def test_bounds_do_not_fall_along_a_ladder() -> None:
    found = explore(SUMMARY, TARGET, Known(slow), LadderOptions(together=1))
    for fine_only in (False, True):
        rungs = [
            s.bound_cycles
            for s in found.steps
            if s.fine_only is fine_only and s.decision != NO_DESIGN and s.most_partitions is not None
        ]
        assert rungs == sorted(r for r in rungs if r is not None)


def test_an_exhaustive_search_measures_every_configuration() -> None:
    known = Known(slow)
    found = explore_all(SUMMARY, TARGET, known)
    assert sorted(known.asked) == sorted(configuration_key(c) for c in all_configurations(SUMMARY, TARGET))
    assert found.best is not None


def test_a_random_search_is_the_same_for_a_seed() -> None:
    logs = [
        explore_randomly(SUMMARY, TARGET, Known(slow), BaselineOptions(most_evaluations=9, seed=s)).steps
        for s in (3, 3, 4)
    ]
    first, second, other = [[step.configuration for step in log] for log in logs]
    assert first == second != other
    assert len(first) == 9


def test_a_random_search_rejects_no_limit() -> None:
    with pytest.raises(PragmaError, match=r"random search without a limit; set most_evaluations or budget_s"):
        explore_randomly(SUMMARY, TARGET, Known(slow), BaselineOptions())


def test_an_exhaustive_search_rejects_a_large_space() -> None:
    gemm = next(p for p in kernel_programs(suites=["linear_algebra"], sizes=["large"]) if p.name == "3mm")
    with pytest.raises(PragmaError, match=r"has more than 100000 configurations"):
        explore_all(summarise(gemm.source, gemm.top), TARGET, Known(slow))


def test_bottlenecks_lead_downhill() -> None:
    found = explore_bottlenecks(SUMMARY, TARGET, Known(slow), BaselineOptions(most_evaluations=40))
    first, best = found.steps[0].evaluation, found.best
    assert found.steps[0].configuration == Configuration()
    assert first is not None
    assert best is not None
    assert best.evaluation is not None
    assert (best.evaluation.latency_cycles or 0) < (first.latency_cycles or 0) / 1.2


def test_a_configuration_comes_back_from_its_key() -> None:
    chosen = Configuration(
        loops={
            "L0": LoopChoice(unroll=2, tile=4),
            "L1": LoopChoice(pipeline=FINE, interval=2),
            "L2": LoopChoice(),
        },
        caches=(("L0", "A"),),
    )
    again = configuration_of_key(configuration_key(chosen))
    assert configuration_key(again) == configuration_key(chosen)
    assert again.of("L1") == chosen.of("L1")
    assert again.caches == chosen.caches


def test_rows_say_every_step() -> None:
    program = kernel_programs(suites=["linear_algebra"], sizes=["small"])[0]
    explored = Explored(program=program, target="u200", evaluator="known-1", options="{}")
    found = explore(SUMMARY, TARGET, Known(slow), LadderOptions(together=1, most_evaluations=2))
    rows = exploration_rows(explored, found)
    assert [r.step for r in rows] == list(range(len(found.steps)))
    assert {r.exploration_id for r in rows} == {rows[0].exploration_id}
    measured = [r for r in rows if r.decision == EVALUATED]
    assert all(r.latency_cycles is not None and r.latency_cycles >= (r.bound_cycles or 0) for r in measured)
    assert all(r.latency_cycles is None for r in rows if r.decision != EVALUATED)
    assert rows[-1].best_cycles == min(r.latency_cycles or 0 for r in measured)


def test_designs_after_a_timeout_are_smaller() -> None:
    def late_when_large(configuration: Configuration) -> Evaluation:
        if most_partitions(SUMMARY, configuration) > 4:
            return Evaluation(status=TIMEOUT, reason="ran past 1 s", wall_s=1.0)
        return slow(configuration)

    found = explore(SUMMARY, TARGET, Known(late_when_large), LadderOptions(together=1, most_evaluations=6))
    sizes = [
        most_partitions(SUMMARY, s.configuration) for s in found.steps if s.evaluation and s.configuration
    ]
    late = [s.evaluation.status == TIMEOUT for s in found.steps if s.evaluation]
    assert late[0]
    assert sizes[1] <= sizes[0] // 4
    assert found.best is not None


def test_a_configuration_without_useless_pipelines_is_the_same_design() -> None:
    plain = Configuration(loops={"L1": LoopChoice(unroll=6)})
    spelled_out = Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=6)})
    other = Configuration(loops={"L1": LoopChoice(pipeline=FINE, unroll=3)})
    assert design_key(SUMMARY, plain) == design_key(SUMMARY, spelled_out) != design_key(SUMMARY, other)


def test_loops_that_hardly_matter_do_not_tell_configurations_apart() -> None:
    source = """\
void two(float A[64][32], float b[2])
{
  for (int n = 0; n < 2; n++)
    b[n] = b[n] * 2;
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 32; j++)
      A[i][j] = A[i][j] * A[i][j];
}
"""
    summary = summarise(source, "two")
    chosen = Configuration(loops={"L0": LoopChoice(unroll=2), "L2": LoopChoice(pipeline=FINE, unroll=4)})
    assert decisive_loops(summary, chosen, read_target("simfoundry")) == {"L1", "L2"}


def test_what_is_predicted_to_be_fastest_is_measured_first() -> None:
    known = Known(exact)
    predictor = Predictor(predict=lambda _, bounds: [b.latency_cycles for b in bounds], seconds=60.0)
    found = explore_predicted(
        SUMMARY, TARGET, known, predictor, BaselineOptions(most_evaluations=3, together=1)
    )
    bounds = [step.bound_cycles or 0.0 for step in found.steps]
    assert bounds == sorted(bounds)
    assert [step.method for step in found.steps] == [PREDICTED] * 3
    best = min(exact(c).latency_cycles or 0 for c in all_configurations(SUMMARY, TARGET))
    assert found.best is not None
    assert found.best.best_cycles == best


def test_a_predictor_is_asked_about_designs_that_are_likely_made() -> None:
    asked = list[Configuration]()

    def predict(configurations: Sequence[Configuration], bounds: Sequence[Bound]) -> list[float]:
        asked.extend(configurations)
        return [-b.latency_cycles for b in bounds]

    few = replace(TARGET, dsp_available=40)
    predictor = Predictor(predict=predict, most_copies=60, seconds=60.0)
    explore_predicted(SUMMARY, few, Known(exact), predictor, BaselineOptions(most_evaluations=1))
    assert len(asked) > 4
    assert max(unrolled_size(SUMMARY, c) for c in asked) <= 60
    assert max(bound(SUMMARY, c, few).dsp_count for c in asked) <= 40
    assert len({configuration_key(complete(SUMMARY, c, few)) for c in asked}) == len(asked)
    asked.clear()
    doubled = replace(predictor, size=lambda c: 2 * unrolled_size(SUMMARY, c))
    explore_predicted(SUMMARY, few, Known(exact), doubled, BaselineOptions(most_evaluations=1))
    assert max(unrolled_size(SUMMARY, c) for c in asked) <= 30
