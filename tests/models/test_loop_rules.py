"""Loop-nest rules: what they describe, reuse, costs, and what they call unsupported."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.base import PredictorError, TrainOutcome
from models.labelled import Query
from models.loop_rules import PREDICTOR, TrainOptions
from models.loop_rules.nests import UnsupportedError, nests_of
from models.loop_rules.rules import fit_costs, total
from models.tasks import TooFewRows

OPTIONS = TrainOptions(bootstrap_resamples=10)
GEMM = """void top(int A[6][5], int B[5][4], int C[6][4]) {
  for (int i = 0; i < 6; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++)
    C[i][j] += A[i][k] * B[k][j]; }
"""
QUERY = Query(
    source=GEMM,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
)


def function(body: str) -> str:
    return f"void top(int A[64], int n) {{ {body} }}"


@pytest.fixture(scope="module")
def outcome(compiled_data_dir: Path) -> TrainOutcome:
    return PREDICTOR.train(compiled_data_dir, OPTIONS, seed=1)


def test_a_value_is_fetched_once_per_iteration_of_the_loops_it_depends_on() -> None:
    body = next(b for b in nests_of(GEMM, "top").bodies if len(b.levels) == 3)
    assert body.executions == 120
    fetches = {(access.array, access.is_store): access.fetches for access in body.accesses}
    assert fetches == {("C", False): 24, ("C", True): 24, ("A", False): 120, ("B", False): 120}
    assert (body.operations["multiply"], body.operations["add"]) == (1, 1)


def test_trips_of_a_triangle_are_its_mean() -> None:
    nests = nests_of(function("for (int i = 0; i < 10; i++) for (int j = 0; j < i; j++) A[j] = i;"), "top")
    assert max(body.executions for body in nests.bodies) == 45


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for (int i = 0; i < n; i++) A[i] = 1;", "bound of loop L0"),
        ("while (A[0] > n) A[0] -= 1;", "loop L0 ends on a condition"),
        ("for (int i = 0; i < 9; i++) if (A[i] > 2) A[i] = 0;", "a branch"),
        ("for (int i = 0; i < 9; i++) A[A[i] & 63] = 1;", "subscript of A is not affine"),
    ],
)
def test_what_the_rules_do_not_describe_is_unsupported(body: str, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^{reason}.*line 1"):
        nests_of(function(body), "top")


def test_costs_are_found_from_sums() -> None:
    random = np.random.default_rng(1)
    rows = [{"a": a, "b": b, "unused": 0.0} for a, b in random.uniform(1, 100, (40, 2))]
    with pytest.raises(TooFewRows, match=r"^no training design that the rules of loop-rules describe$"):
        fit_costs([], [], 20)
    costs = fit_costs(rows, [3 * row["a"] + 0.5 * row["b"] for row in rows], 20)
    assert costs == pytest.approx({"a": 3.0, "b": 0.5, "unused": 0.0}, abs=1e-6)
    assert total(rows[0], costs) == pytest.approx(3 * rows[0]["a"] + 0.5 * rows[0]["b"])


def test_rules_learn_costs_and_survive_their_folder(outcome: TrainOutcome) -> None:
    assert outcome.summary["supported_share"] == 1.0
    assert outcome.metrics["train/mape/latency_cycles"] < 0.5
    estimate = PREDICTOR.load(outcome.folder).predict([QUERY])[0]
    assert (estimate.status, estimate.reason) == ("ok", "")
    assert np.isfinite(list(estimate.values.values())).all()
    assert estimate.values.keys() == PREDICTOR.task.targets.keys()


def test_more_iterations_take_more_cycles_and_the_same_area(outcome: TrainOutcome) -> None:
    small, large = PREDICTOR.load(outcome.folder).predict(
        [QUERY, replace(QUERY, source=GEMM.replace("6", "60"))]
    )
    assert 9 < large.values["latency_cycles"] / small.values["latency_cycles"] < 11
    assert large.values["area_um2"] == small.values["area_um2"]


def test_an_unsupported_program_has_no_values_but_a_reason(outcome: TrainOutcome) -> None:
    bad = replace(QUERY, source=function("for (int i = 0; i < n; i++) A[i] = 1;"))
    predictor = PREDICTOR.load(outcome.folder)
    assert all(math.isnan(value) for value in predictor.predict([bad])[0].values.values())
    rows = [{name: getattr(query, name) for name in Query.__slots__} for query in (QUERY, bad)]
    first, second = predictor.answer(rows)
    assert (first["status"], second["status"]) == ("ok", "unsupported")
    assert second["reason"].startswith("bound of loop L0")


def test_prediction_rejects_what_is_no_c_naming_the_row(outcome: TrainOutcome) -> None:
    with pytest.raises(PredictorError, match=r"^row 1: "):
        PREDICTOR.load(outcome.folder).predict([QUERY, replace(QUERY, source="void f(")])
