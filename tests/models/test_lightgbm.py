"""Trees on counts: what they count, that they learn, and their files."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from labelled_nests import NESTS, Nest, write_tables

from models.base import PredictorError
from models.catalogue import predictor_named
from models.intervals import calibrate, confidence
from models.labelled import (
    LabelledDesign,
    Query,
    Selection,
    add_converted_labels,
    load_labelled_designs,
)
from models.lightgbm import PREDICTORS, TrainOptions
from models.lightgbm.trees import (
    TreeData,
    fit_doubts,
    left_out_answers,
    load,
    question_features,
    tree_residuals,
)
from models.metrics import spearman
from models.model_files import read_model
from models.scheduled import compiled_features, engine_estimates, engine_options, table_features
from models.tasks import DatasetError, Reference
from pipelines.schemas import read_table, table_spec, write_table

TEXT, STATIC, HLS, RUN = PREDICTORS

OPTIONS = TrainOptions(trees=60, leaf_designs=1, bootstrap_resamples=10)
QUERY = Query(
    source=NESTS[0].source,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
    directives='[{"kind": "pipeline", "loop": "L0"}]',
)


@pytest.mark.parametrize("level", ["text", "static", "hls"])
def test_spelling_and_unused_functions_do_not_change_the_features(level: str) -> None:
    source = QUERY.source.replace("C[i]", "C[(i)]").replace("int A", "signed A")
    other = f"#define N 3\n/* for */ static int unused(int x) {{ return x * N; }}\n{source}"
    engine = {"liberty": "osu018", "engine_options": "{}"}
    one, two = (question_features(replace(QUERY, source=s), level, engine) for s in (QUERY.source, other))
    assert one == two


@pytest.mark.sample(9)
@pytest.mark.parametrize("spec", PREDICTORS, ids=lambda spec: spec.name)
def test_trees_learn_and_survive_their_folder(spec, compiled_data_dir: Path, tmp_path: Path) -> None:
    outcome = spec.train(compiled_data_dir, OPTIONS, seed=1)
    assert outcome.metrics["train/mape/area_um2"] < 0.1
    assert {row.target for row in outcome.leaderboard} == set(spec.task.targets) >= {"power_mw"}
    again = spec.train(compiled_data_dir, OPTIONS, seed=1, folder=tmp_path / "again")
    assert read_model(again.folder)[1].card == read_model(outcome.folder)[1].card
    answers = [spec.load(folder).predict([QUERY])[0] for folder in (outcome.folder, again.folder)]
    assert answers[0] == answers[1]
    assert np.isfinite(list(answers[0].values.values())).all()


def test_cycles_are_the_estimate_where_trip_counts_are_known(compiled_data_dir: Path) -> None:
    predictor = HLS.load(HLS.train(compiled_data_dir, OPTIONS, seed=1).folder)
    engine = dict(predictor.engine)
    known = replace(QUERY, directives="[]")
    estimate = np.exp(compiled_features(known, engine, "hls")["log_estimated_cycles"])
    assert predictor.predict([known])[0].values["latency_cycles"] == pytest.approx(estimate)


def test_doubts_are_larger_where_errors_are(tmp_path: Path) -> None:
    draws = np.random.default_rng(0)
    places = draws.uniform(size=(600, 2))
    rows = [{"size": float(size), "hard": float(hard)} for size, hard in places]
    designs = [
        LabelledDesign(
            **{name: f"{name}{n}" for name in ("design_id", "program_id", "group")},
            part="train" if n < 400 else "test",
            query=QUERY,
            loops=(),
            labels={"area_um2": float(np.exp(5 + row["size"] + row["hard"] * draws.normal()))},
            family=f"family{n % 4}",
        )
        for n, row in enumerate(rows)
    ]
    data = TreeData(level="text", options=TrainOptions(), seed=0, designs=designs, rows=rows, engine={})
    left_out = left_out_answers(data)
    assert [len(own) for _, own in left_out] == [100] * 4
    bare = data.fit(range(400))
    predictor = replace(bare, doubts=fit_doubts(data, left_out, bare.names))
    residuals = tree_residuals(predictor, data, left_out)
    calibration = calibrate(residuals)["area_um2"]
    judged = [r for r in residuals if r.part == "test"]
    said = np.array([confidence(calibration, r.difficulty, r.target) for r in judged])
    assert spearman(np.array([r.error for r in judged]), said) < -0.3
    again, matrix = load(predictor.files), places[:5]
    assert np.array_equal(again.predict_with_spread(matrix)[1], predictor.predict_with_spread(matrix)[1])
    assert not np.array_equal(bare.predict_with_spread(matrix)[1], predictor.predict_with_spread(matrix)[1])


def test_tables_without_power_give_a_predictor_without_power(lasting_data_dir: Path) -> None:
    predictor = STATIC.load(STATIC.train(lasting_data_dir, OPTIONS, seed=1).folder)
    assert predictor.targets == ("area_um2", "flip_flop_count", "latency_cycles", "delay_ns")
    reference = STATIC.task.reference
    assert reference is not None
    with pytest.raises(PredictorError, match=r"^trained on tables without power_mw$"):
        STATIC.task.reference_set(reference).score(predictor)


def test_designs_with_cycles_alone_are_learned_from(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "data", NESTS)
    spec = table_spec("labels")
    unknown = dict.fromkeys(("area_um2", "flip_flop_count", "cell_count", "cells_by_type", "delay_ns"))
    rows = [
        replace(row, **unknown) if number % 2 else row for number, row in enumerate(read_table(folder, spec))
    ]
    fpga = [replace(rows[0], **unknown, tool="synth_xilinx", lut_count=5)]
    write_table(folder, spec, [*rows, *fpga], "tests")
    designs = load_labelled_designs(folder, Selection())
    assert len(designs) == len(rows)
    alone = [design for design in designs if "area_um2" not in design.labels]
    assert 2 * len(alone) == len(designs)
    assert {tuple(design.labels) for design in alone} == {("latency_cycles",)}
    predictor = STATIC.load(STATIC.train(folder, OPTIONS, seed=1).folder)
    assert predictor.targets == ("area_um2", "flip_flop_count", "latency_cycles", "delay_ns")
    rules = predictor_named("loop-rules")
    assert rules.train(folder, rules.options(bootstrap_resamples=10), seed=1).leaderboard


def test_trees_at_level_run_leave_designs_with_cycles_alone_out(
    compiled_data_dir: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(compiled_data_dir, tmp_path / "data")
    labels, counted = (read_table(folder, table_spec(name)) for name in ("labels", "run_features"))
    alone = {row.design_id for row in labels[::3]}
    unknown = dict.fromkeys(("area_um2", "flip_flop_count", "cell_count", "cells_by_type", "delay_ns"))
    changed = [replace(row, **unknown) if row.design_id in alone else row for row in labels]
    write_table(folder, table_spec("labels"), changed, "tests")
    kept = [row for row in counted if row.design_id not in alone]
    write_table(folder, table_spec("run_features"), kept, "tests")
    assert RUN.train(folder, OPTIONS, seed=1).leaderboard


def test_a_compiled_question_has_the_features_of_its_rows(compiled_data_dir: Path) -> None:
    designs = load_labelled_designs(compiled_data_dir, Selection())[::18]
    engine = engine_options(compiled_data_dir, designs)
    for level in ("hls", "run"):
        rows = table_features(compiled_data_dir, designs, level)
        for design, row in zip(designs, rows, strict=True):
            assert compiled_features(design.query, engine, level) == row


def test_scheduled_cycles_grow_with_the_trip_counts() -> None:
    """Twice the iterations of every loop are some four times the cycles of a nest of two."""
    engine = {"liberty": "osu018", "engine_options": "{}"}
    small, large = (
        compiled_features(
            replace(QUERY, source=Nest(depth=2, statements=1, bound=n).source, directives="[]"), engine, "hls"
        )
        for n in (16, 32)
    )
    ratio = np.exp(large["log_estimated_cycles"] - small["log_estimated_cycles"])
    assert 3.8 < ratio < 4.2


def test_training_at_level_hls_rejects_designs_without_a_report(lasting_data_dir: Path) -> None:
    designs = load_labelled_designs(lasting_data_dir, Selection())
    with pytest.raises(DatasetError, match=r"^no report of high-level synthesis: design nest-"):
        table_features(lasting_data_dir, designs, "hls")


def test_the_baseline_at_level_hls_is_the_estimate_of_the_engine(compiled_data_dir: Path) -> None:
    designs = load_labelled_designs(compiled_data_dir, Selection())
    estimates = engine_estimates(compiled_data_dir, designs)
    reference = Reference(
        release=str(compiled_data_dir), split="by_kernel_v2", parts=("test",), minimum_programs=1
    )
    by_hls, by_median = (spec.task.reference_set(reference) for spec in (HLS, STATIC))
    assert by_hls.programs == by_median.programs
    program = by_hls.programs[0]
    own = [n for n, design in enumerate(designs) if design.program_id == program]
    change = np.mean(
        [
            min(1.0, abs(estimates[n][t] / designs[n].labels[t] - 1)) - _median_error(designs, n, t)
            for n in own
            for t in ("area_um2", "flip_flop_count")
        ]
    )
    assert by_hls.baseline_errors[0] - by_median.baseline_errors[0] == pytest.approx(change / 2)


def _median_error(designs: Sequence[LabelledDesign], n: int, target: str) -> float:
    median = np.median([d.labels[target] for d in designs if d.part == "train"])
    return min(1.0, abs(float(median) / designs[n].labels[target] - 1))


def test_prediction_rejects_what_cannot_be_read_naming_the_row(compiled_data_dir: Path) -> None:
    for spec, bad in (
        (TEXT, replace(QUERY, directives="no JSON")),
        (STATIC, replace(QUERY, source="void f(")),
        (HLS, replace(QUERY, memory_read_delay_cycles=0)),
        (RUN, replace(QUERY, inputs='{"D": {"kind": "constant", "value": 1}}')),
    ):
        predictor = spec.load(spec.train(compiled_data_dir, OPTIONS, seed=1).folder)
        with pytest.raises(PredictorError, match=r"^row 1: "):
            predictor.predict([QUERY, bad])


ROWS = """void top(int a[64], int n) {
    for (int i = 0; i < n; i++) { a[i] = 3 * a[i]; }
}
"""


def test_scalars_of_the_data_are_known_at_every_level(compiled_data_dir: Path) -> None:
    asked = replace(QUERY, source=ROWS, directives="[]", inputs='{"n":{"kind":"constant","value":5}}')
    assert asked.scalars == {"n": 5}
    other = replace(asked, data='{"n": 40, "a": {"minimum": 0}}')
    assert other.scalars == {"n": 40}
    text = [question_features(query, "text", {})["log_text_iterations"] for query in (asked, other)]
    assert np.expm1(text) == pytest.approx([5, 40])
    predictor = HLS.load(HLS.train(compiled_data_dir, OPTIONS, seed=1).folder)
    few, many = (answer.values["latency_cycles"] for answer in predictor.predict([asked, other]))
    assert 6 < many / few < 8.5
    with pytest.raises(PredictorError, match="row 0: data and inputs of a question must be JSON objects"):
        predictor.predict([replace(asked, data="[1]")])


def _with_second_library(data_dir: Path, lacking: set[str], *, factor: float = 4.0) -> None:
    """Label every design in a second library; some designs keep cycles alone in the first."""
    spec = table_spec("labels")
    rows = read_table(data_dir, spec)
    second = [
        replace(
            row,
            tool="yosys_second",
            liberty="second",
            area_um2=factor * row.area_um2,
            delay_ns=1.5 * row.delay_ns,
        )
        for row in rows
    ]
    none = dict.fromkeys(("area_um2", "flip_flop_count", "cell_count", "cells_by_type", "delay_ns"))
    first = [replace(row, **none) if row.design_id in lacking else row for row in rows]
    write_table(data_dir, spec, [*first, *second], "tests")


def test_converted_labels_stand_for_those_that_training_designs_lack(data_dir: Path) -> None:
    chosen = Selection(tool="yosys", liberty="osu018")
    whole = {design.design_id: design for design in load_labelled_designs(data_dir, chosen)}
    lacking = {n for n, design in whole.items() if design.part == "train"}
    lacking = set(sorted(lacking)[: len(lacking) // 2]) | {n for n, d in whole.items() if d.part == "test"}
    _with_second_library(data_dir, lacking)
    designs = load_labelled_designs(data_dir, chosen)
    assert {design.design_id for design in designs if "area_um2" not in design.labels} == lacking
    for design in add_converted_labels(designs, data_dir, "second"):
        if design.part == "train":
            assert design.labels == pytest.approx(whole[design.design_id].labels)
        elif design.design_id in lacking:
            assert set(design.labels) == {"latency_cycles"}


def test_converted_labels_reject_a_library_with_too_few_common_designs(data_dir: Path) -> None:
    designs = load_labelled_designs(data_dir, Selection())
    message = (
        "too few training designs with area_um2 in osu035 and in the chosen library: 0; accepted: at least"
    )
    with pytest.raises(DatasetError, match=message):
        add_converted_labels(designs, data_dir, "osu035")


def test_trees_learn_from_converted_labels(data_dir: Path) -> None:
    designs = load_labelled_designs(data_dir, Selection())
    trained = sorted(design.design_id for design in designs if design.part == "train")
    _with_second_library(data_dir, set(trained[::2]))
    alone = replace(OPTIONS, tool="yosys", liberty="osu018")
    errors = {
        liberty: TEXT.train(data_dir, replace(alone, converted_liberty=liberty), seed=1).metrics
        for liberty in (None, "second")
    }
    assert errors[None]["train/mape/area_um2"] != errors["second"]["train/mape/area_um2"] < 0.1
