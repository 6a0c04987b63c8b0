"""The engine picker: what it learns from measured simulations, and what it answers."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.base import PredictorError
from models.catalogue import TrainingInput
from models.rtl_engine import PREDICTOR, FitOptions
from models.rtl_engine.data import MeasuredDesign, read_measured, regret
from models.rtl_engine.picker import load
from models.rtl_engine.train import fit_picker, train
from models.tasks import DatasetError, Reference
from pipelines.rtl.reuse.dataset import verilog_features
from pipelines.schemas import SimulationRow, table_spec, write_table

COUNTER = (
    "module top (input clk, input [7:0] a, output reg [7:0] b); always @(posedge clk) b <= b + a; endmodule"
)


def rows_of(family: str, sizes: list[int]) -> list[SimulationRow]:
    """Reuse builds fast and runs slowly, Verilator the other way round; arc rejects one design in two."""
    rows: list[SimulationRow] = []
    for size in sizes:
        for engine, build_s, per_operation in (
            ("reuse", 1.0, 2.0),
            ("verilator", 10.0, 1.0),
            ("arc", 5.0, 9.0),
        ):
            is_rejected = engine == "arc" and size % 2 == 1
            values: dict[str, Any] = {f.name: 10 * size for f in fields(SimulationRow)}
            values |= {"simulation_id": f"{family} {size} {engine}", "design": f"{family} {size}", "seed": 0}
            values |= {"family": family, "design_size": size, "engine": engine, "cycles": 10, "stimuli": 1}
            values |= {"status": "tool_error" if is_rejected else "ok", "machine": "m", "digest": "d"}
            values |= {"reason": "memory" if is_rejected else None, "memory_bits": size % 2}
            values |= {"build_cpu_s": build_s, "cycle_cpu_ns": per_operation * 10 * size}
            values |= {"build_wall_s": None, "run_wall_s": None}
            rows.append(SimulationRow(**values))
    return rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulations")
    known = [row for family in ("chain", "sigma", "wide") for row in rows_of(family, list(range(2, 12)))]
    write_table(folder, table_spec("simulations"), known, "all")
    return folder


@pytest.fixture(scope="module")
def designs(data: Path) -> list[MeasuredDesign]:
    return read_measured([data])


def test_the_picker_weighs_build_and_run(designs: list[MeasuredDesign]) -> None:
    picker = fit_picker([d for d in designs if d.family != "wide"], FitOptions(leaf_designs=2, ridge=1.0), 0)
    [small] = [d for d in designs if (d.family, d.features["design_size"]) == ("wide", 8)]
    assert picker.choose(small.features, 1000, ("reuse", "verilator")) == "reuse"
    assert picker.choose(small.features, 10**9, ("reuse", "verilator")) == "verilator"
    seconds = picker.seconds(small.features, 10**9)
    assert seconds == pytest.approx(small.seconds(10**9), rel=0.2)


def test_engines_that_reject_memories_are_not_chosen(designs: list[MeasuredDesign]) -> None:
    picker = fit_picker(designs, FitOptions(leaf_designs=2, ridge=1.0), 0)
    assert picker.without_memories == {"arc"}
    [odd] = [d for d in designs if (d.family, d.features["design_size"]) == ("wide", 9)]
    assert set(picker.seconds(odd.features, 10)) == {"reuse", "verilator"}
    with pytest.raises(PredictorError, match=r"^no engine for the design; known: arc, reuse, verilator$"):
        picker.choose(odd.features, 10, ("arc",))


def test_regret_is_the_loss_against_the_fastest(designs: list[MeasuredDesign]) -> None:
    design = designs[0]
    best = regret(design, lambda cycles, _: min(t := design.seconds(cycles), key=lambda e: t[e]))
    assert best == 0
    assert regret(design, lambda _, __: "verilator") == 1


def test_training_leaves_families_out_and_round_trips(data: Path, designs: list[MeasuredDesign]) -> None:
    options = FitOptions(leaf_designs=2, ridge=1.0)
    trained = train(TrainingInput(data_dirs=(data,), dataset_hash="", options=options, seed=0))
    assert trained.seen_groups == ["chain", "sigma"]
    assert trained.summary["held_out_regret"] < 0.1
    picker = load(trained.files)
    row = {"verilog": COUNTER, "top": "top", "cycles": 1000, "engines": "reuse verilator"}
    [answer] = picker.answer([row])
    assert answer["engine"] == "reuse"
    features = verilog_features(COUNTER, "top")
    assert answer["seconds"] == pytest.approx(picker.seconds(features, 1000)["reuse"])
    with pytest.raises(PredictorError, match=r"^row 0: "):
        picker.answer([{**row, "verilog": "module"}])


def test_the_gate_compares_with_verilator(data: Path, designs: list[MeasuredDesign]) -> None:
    reference = Reference(release=str(data), split="group", parts=("wide",), minimum_programs=1)
    known = PREDICTOR.task.reference_set(reference)
    picker = fit_picker([d for d in designs if d.family != "wide"], FitOptions(leaf_designs=2, ridge=1.0), 0)
    assert np.mean(known.score(picker)) < 0.1 < np.mean(known.baseline_errors)


def test_reading_rejects_tables_without_measures(tmp_path: Path) -> None:
    write_table(tmp_path, table_spec("simulations"), rows_of("chain", [2])[:1], "all")
    with pytest.raises(DatasetError, match=r"^no measured simulations by two engines "):
        read_measured([tmp_path])
