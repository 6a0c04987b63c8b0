from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from report_examples import HOSTILE, example_rows

from pipelines.dataset.reports import Report, draw_page, read_report

Write = Callable[[Path, Any], Path]


@pytest.fixture
def report(example: Path) -> Report:
    return read_report(example, name="example")


def test_rows_are_counted_by_table_suite_and_status(report: Report) -> None:
    inventory = report.inventory
    assert (inventory.program_count, inventory.design_count, inventory.labelled_count) == (41, 40, 40)
    assert inventory.evaluation_program_count == 8
    assert inventory.tables[0].table == "programs"
    assert {t.table: t.rows for t in inventory.tables}["loops"] == 79
    by_stage = {s.stage: s for s in inventory.suites}
    assert list(by_stage) == ["kernel", "ast", "dataflow", "llm", "evaluation"]
    assert by_stage["llm"].counts["programs"] == (8, 9)
    assert by_stage["ast"].counts["power"] == (8, 8)


def test_reasons_that_differ_in_numbers_are_one(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    for k in range(3):
        rows["designs"][k] |= {"status": "infeasible", "reason": f"a loop must end, got {k} at\n x.c:{k}"}
    found = read_report(write_rows(tmp_path, rows), name="x").inventory
    assert [(r.table, r.stage, r.status, r.reason, r.rows) for r in found.reasons] == [
        ("designs", "ast", "infeasible", "a loop must end, got 1 at x.c:1", 1),
        ("designs", "dataflow", "infeasible", "a loop must end, got 2 at x.c:2", 1),
        ("designs", "kernel", "infeasible", "a loop must end, got 0 at x.c:0", 1),
        ("programs", "llm", "rejected", HOSTILE, 1),
    ]
    assert found.labelled_count == 37


def test_a_design_counts_only_when_all_of_its_runs_are_ok(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    rows["runs"].append({**rows["runs"][0], "data_id": "y", "status": "timeout", "reason": "too slow"})
    found = read_report(write_rows(tmp_path, rows), name="x")
    assert found.inventory.labelled_count == 39
    (area,) = [d for d in found.distributions if d.quantity.column == "area_um2"]
    assert [s.quantiles.count for s in area.stages] == [7, 8, 8, 8, 8]


def test_a_design_counts_only_when_its_power_is_known(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    rows["runs"][0] |= {"power_status": "timeout", "power_reason": "too slow", "power_mw": None}
    assert read_report(write_rows(tmp_path, rows), name="x").inventory.labelled_count == 39


def test_several_data_sets_count_by_their_median(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    for data, cycles in (("y", 1000), ("z", 3000)):
        rows["runs"].append({**rows["runs"][0], "data_id": data, "latency_cycles": cycles})
    found = read_report(write_rows(tmp_path, rows), name="x")
    (latency,) = [d for d in found.distributions if d.quantity.column == "latency_cycles"]
    kernel = latency.stages[0].quantiles
    assert (kernel.count, kernel.maximum) == (8, 50 + 35**2)
    assert kernel.minimum == 50 + 25  # and no longer 50: 1000 is the median of 50, 1000 and 3000


def test_values_of_zero_are_told_and_not_drawn(report: Report) -> None:
    (flip_flops,) = [d for d in report.distributions if d.quantity.column == "flip_flop_count"]
    assert [s.zero_count for s in flip_flops.stages] == [1, 0, 0, 0, 0]


def test_deviations_are_estimate_over_measurement_less_one(report: Report) -> None:
    area, path = report.estimates
    assert area.deviations[0].stage == "all"
    assert area.deviations[0].quantiles.median == pytest.approx(0.08)
    assert area.deviations[0].within == (1.0, 1.0)
    assert path.deviations[0].quantiles.minimum == pytest.approx(-0.2)


def test_labels_correlate_with_what_grows_with_them(report: Report) -> None:
    found = report.correlations
    assert found is not None
    rows = {
        r.quantity.column: dict(zip([q.column for q in found.labels], r.values, strict=True))
        for r in found.rows
    }
    assert rows["estimated_area_um2"]["area_um2"] == pytest.approx(1.0)
    assert rows["area_um2"]["delay_ns"] is None  # the delay never changes
    assert rows["memory_read_delay_cycles"]["area_um2"] is None


def test_coverage_is_the_share_inside_the_middle_of_training(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    for program in rows["programs"]:
        program["source_bytes"] = 5000 if program["stage"] == "evaluation" else program["source_bytes"]
    found = read_report(write_rows(tmp_path, rows), name="x").coverage
    assert found is not None
    assert (found.training_count, found.evaluation_count) == (32, 8)
    inside = {f.quantity.column: f.inside for f in found.features}
    assert inside["source_bytes"] == 0.0
    assert inside["loop_depth"] == 1.0
    assert 0.5 < inside["area_um2"] < 1.0
    assert found.beyond == 1.0


def test_evaluation_programs_that_equal_training_programs_are_near(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    place = {"program_id", "design_id", "stage", "suite", "data_id"}
    for table in ("programs", "designs"):
        for k in range(4, 40, 5):
            own = {n: v for n, v in rows[table][k].items() if n in place}
            rows[table][k] = {**rows[table][k - 1], **own}
    rows["loops"] = []
    found = read_report(write_rows(tmp_path, {t: r for t, r in rows.items() if r}), name="x").coverage
    assert found is not None
    assert found.distances.stages[1].quantiles.maximum == 0.0
    assert found.beyond == 0.0


def test_the_plane_is_that_of_the_principal_components(report: Report) -> None:
    from sklearn.decomposition import PCA

    from pipelines.dataset.reports.coverage import project

    generator = np.random.default_rng(0)
    space = generator.normal(size=(60, 5)) * np.array([5.0, 3.0, 1.0, 0.5, 0.1])
    stages = pl.Series(["ast"] * 40 + ["evaluation"] * 20)
    found = project(space, stages, list("abcde"))
    assert found is not None
    reference = PCA(n_components=2, svd_solver="full").fit(space[:40])
    assert found.explained == pytest.approx(reference.explained_variance_ratio_.tolist())
    expected = np.abs(reference.transform(space))
    assert np.abs(np.concatenate([points for _, points in found.points])) == pytest.approx(expected)
    assert found.leading[0][0].startswith("+ ")


def test_there_is_no_coverage_without_evaluation_programs(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    for program in rows["programs"]:
        program["stage"] = "ast"
    assert read_report(write_rows(tmp_path, rows), name="x").coverage is None


def test_a_time_that_several_rows_share_counts_once(report: Report) -> None:
    timing = report.timing
    assert timing is not None
    steps = {s.step: s for s in timing.steps}
    assert list(steps) == ["synthesis", "native"]
    assert steps["native"].total_s == 0.5
    assert steps["synthesis"].total_s == sum(range(1, 41))
    assert timing.total_s == pytest.approx(820.5)
    assert timing.designs_per_core_hour == pytest.approx(40 / 820.5 * 3600)


def test_the_leaderboard_is_in_order_of_labels_and_errors(report: Report) -> None:
    assert [(e.target, e.predictor) for e in report.leaderboard] == [
        ("area_um2", "better"),
        ("area_um2", "worse"),
        ("latency_cycles", "better"),
        ("latency_cycles", "worse"),
    ]
    assert report.leaderboard[0].test_error == 0.25
    assert report.leaderboard[0].level == "hls"
    assert report.leaderboard[0].costs == {"parameter_count": 5191}


def test_errors_by_workload_are_in_order_of_target_level_and_predictor(report: Report) -> None:
    assert [(e.predictor, e.workload) for e in report.workloads] == [
        ("better", "adi"),
        ("better", "atax"),
        ("worse", "adi"),
    ]


def test_figures_that_are_no_numbers_are_left_out(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    rows["leaderboard"][0] |= {"value": None}
    rows["leaderboard"][1] |= {"row_count": None, "interval_low": None, "interval_high": None}
    rows["stage_reports"] = [{**row, "value": float("nan")} for row in rows["stage_reports"]]
    rows["designs"][0]["state_count"] = 2**53 + 1
    report = read_report(write_rows(tmp_path, rows), name="x")
    (entry,) = [e for e in report.leaderboard if (e.target, e.predictor) == ("latency_cycles", "worse")]
    assert set(entry.scores) == {("test", "mape")}
    score = entry.scores["test", "mape"]
    assert (score.low, score.high, score.row_count) == (0.5, 0.5, 0)
    assert draw_page(report)


def test_generation_comes_from_stage_reports(report: Report) -> None:
    found = report.generation
    assert found is not None
    first = found.outcomes[0]
    assert (first.stage, first.asked, first.ok, first.duplicates) == ("kernel", 10, 8, 1)
    assert first.failed == {"rejected": 2}
    quantity, spreads = found.spreads[0]
    assert quantity.column == "loop_depth"
    assert [s.quantiles.median for s in spreads] == [4.0] * 5
    assert [s.distance for s in spreads] == [0.25] * 4 + [None]
    assert found.depths["ast"] == (0.0, 0.25, 0.5, 0.25)
    assert len(found.operators) == 5


def test_cross_checks_are_counted_by_figure(tmp_path: Path, write_rows: Write) -> None:
    rows = example_rows()
    rows["cross_checks"][4] |= {"deviation": -0.5, "passed": False, "reason": "delay differs"}
    rows["cross_checks"][3] |= {"status": "tool_error", "passed": None, "deviation": None, "reason": "no sta"}
    (check,) = read_report(write_rows(tmp_path, rows), name="x").checks
    assert (check.compared, check.passed, check.unmade) == (4, 3, 1)
    assert check.worst == -0.5
    assert check.reasons == (("delay differs", 1), ("no sta", 1))
    assert check.tools == ("opensta 2",)
