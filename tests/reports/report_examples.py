"""Rows of something of everything the page shows."""

from __future__ import annotations

from typing import Any

from pipelines.dataset.reports.inventory import Entry, Score
from pipelines.dataset.reports.levels import Certainty, StoredPredictor

HOSTILE = "a reply must be C, got <script>alert('x')</script> & \"quotes\" at line 17"
STAGES = ("kernel", "ast", "dataflow", "llm", "evaluation")


def example_rows(programs: int = 40) -> dict[str, list[dict[str, Any]]]:
    """Tables of a few programs of every stage, one design each; each larger than the last."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("programs", "designs", "labels", "runs", "loops", "cross_checks")
    }
    for k in range(programs):
        stage, program, design = STAGES[k % len(STAGES)], f"p{k:03}", f"d{k:03}"
        size = 10.0 * (k + 1)
        named = {"suite": f"{stage}_suite", "status": "ok", "reason": None}
        rows["programs"].append(
            {"program_id": program, "stage": stage, "name": f"n{k}", "source_bytes": 100 + 7 * k, **named}
            | {"operators": ["add"] * (1 + k % 4)}
        )
        rows["designs"].append(
            {
                "design_id": design,
                "program_id": program,
                **named,
                "tool": "simfoundry-hls",
                "tool_version": "1",
            }
            | {"estimated_area_um2": size * 1.08, "critical_path_ns": 2.0 + k % 3, "state_count": 3 + k}
            | {"register_bits": 32 * (k + 1), "memory_read_delay_cycles": 2}
        )
        rows["labels"].append(
            {"design_id": design, **named, "tool": "pyosys", "tool_version": "0.70", "area_um2": size}
            | {"flip_flop_count": k, "delay_ns": 2.5, "synthesis_wall_s": 1.0 + k}
        )
        rows["runs"].append(
            {"design_id": design, "data_id": "x", **named, "engine": "cycle_model", "engine_version": "1"}
            | {"latency_cycles": 50 + k * k, "power_status": "ok", "power_reason": None, "power_mw": size / 9}
            | {"energy_nj": size, "native_wall_s": 0.5}
        )
        for index in range(1 + k % 3):
            rows["loops"].append(
                {"program_id": program, "loop_index": index, "depth": index + 1, "load_count": 2 + k}
                | {"store_count": 1, "arithmetic_count": k, "branch_count": 0, "array_count": 2}
            )
    rows["programs"].append(
        {**rows["programs"][3], "program_id": "refused", "status": "rejected", "reason": HOSTILE}
    )
    rows["cross_checks"] = [
        {"design_id": f"d{k:03}", "data_id": "x", "check": "delay_ns", "status": "ok", "reason": None}
        | {
            "value": 1.0 + 0.001 * k,
            "reference": 1.0,
            "deviation": 0.001 * k,
            "allowed": 0.02,
            "passed": True,
        }
        | {"tool": "opensta", "tool_version": "2"}
        for k in range(5)
    ]
    rows["leaderboard"] = [
        {"predictor": name, "version": "0" * 32, "target": target, "split": "by_kernel_v1", "part": part}
        | {"level": "hls"}
        | {"metric": "mape", "value": value, "interval_low": value / 2, "interval_high": value * 2}
        | {"row_count": 8}
        for name, value in (("worse", 0.5), ("better", 0.25))
        for target in ("latency_cycles", "area_um2")
        for part in ("train", "test")
    ]
    rows["workload_errors"] = [
        {
            "predictor": name,
            "version": "0" * 32,
            "level": "hls",
            "target": "area_um2",
            "split": "by_kernel_v1",
        }
        | {"workload": workload, "value": 0.125, "row_count": 4}
        for name, workload in (("worse", "adi"), ("better", "adi"), ("better", "atax"))
    ]
    rows["predictor_costs"] = [
        {"predictor": "better", "version": "0" * 32, "level": "hls", "parameter_count": 5191}
    ]
    rows["stage_reports"] = _stage_reports()
    return rows


def _stage_reports() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(stage: str, measure: str, statistic: str, label: str, value: float) -> None:
        rows.append(
            {"stage": stage, "measure": measure, "statistic": statistic, "bin": label, "value": value}
        )

    for stage in STAGES:
        for label, value in (("asked", 10), ("ok", 8), ("rejected", 2), ("duplicate", 1)):
            add(stage, "programs", "count", label, value)
        for measure in ("loop_depth", "array_operation_share", "source_lines"):
            for place, level in enumerate(("0.00", "0.05", "0.25", "0.50", "0.75", "0.95", "1.00")):
                add(stage, measure, "quantile", level, place / 6 if "share" in measure else place + 1)
            add(stage, measure, "count", "programs", 8)
            add(stage, measure, "mean", "all", 3)
            if stage != "evaluation":
                add(stage, measure, "distance", "wasserstein", 0.25)
        for depth, share in enumerate((0.0, 0.25, 0.5, 0.25)):
            add(stage, "loop_depth", "share", str(depth), share)
        add(stage, "operations", "share", "load", 0.5)
        add(stage, "operators", "count", f"operator_of_{stage}", 8)
    return rows


def stored_predictors() -> list[StoredPredictor]:
    """The predictor `better` of the leaderboard with its certainty, and another that has errors alone."""
    score = Score(value=0.5, low=0.4, high=0.6, row_count=8)
    entry = Entry(
        predictor="alone",
        version="",
        level="text",
        target="area_um2",
        split="by_kernel_v1",
        scores={("test", "median_ape"): score, ("evaluation", "mape"): score},
        costs={},
    )
    certainty = Certainty(
        curve=((0.1, 0.02), (0.5, 0.04), (1.0, 0.125)), inside={"test": 0.9, "evaluation": 0.8}, factor=1.5
    )
    return [
        StoredPredictor(
            predictor="better", version="0" * 32, entries=(), certainties={"area_um2": certainty}
        ),
        StoredPredictor(predictor="alone", version="", entries=(entry,)),
    ]
