"""Every experiment of the numeric language model runs to its table."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from test_numeric_lm_training import OPTIONS, drawn_id

from models.catalogue import predictor_named
from models.registry import RegistryStore, mlflow_at
from pipelines.schemas import read_table, table_spec, write_table
from tests.benchmarks.numeric_lm_experiments import EXPERIMENTS, Trainer, record, table_text

TINY = asdict(replace(OPTIONS, max_epochs=1, width=16, decoder_width=16, heads=2, beams=2))
EVALUATION = "nest-1-1"
FOREIGN = "nest-3-1"


@pytest.fixture(scope="module")
def trainer(compiled_data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """Tables with an evaluation part and a suite of its own."""
    folder = tmp_path_factory.mktemp("experiments") / "data"
    shutil.copytree(compiled_data_dir, folder)
    programs = read_table(folder, table_spec("programs"))
    sources = {row.program_id: row.source for row in programs}
    owners = {row.design_id: row.program_id for row in read_table(folder, table_spec("designs"))}
    runs = [
        replace(run, data_id=drawn_id(sources[owners[run.design_id]]))
        for run in read_table(folder, table_spec("runs"))
    ]
    splits = [
        replace(row, part="evaluation") if row.group == EVALUATION else row
        for row in read_table(folder, table_spec("splits"))
    ]
    names = {EVALUATION: "weight-stationary-int"}
    changed = [
        replace(
            row,
            name=names.get(row.name, row.name),
            stage="ast",
            suite="foreign" if row.name == FOREIGN else row.suite,
        )
        for row in programs
    ]
    for name, rows in {"runs": runs, "splits": splits, "programs": changed}.items():
        write_table(folder, table_spec(name), rows, "tests")
    return Trainer(predictor_named("numeric-lm-hls"), folder, folder.parent / "out", TINY, "foreign")


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_gives_a_table_of_errors(
    name: str, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer, "shares", (0.5, 1.0))
    rows = EXPERIMENTS[name](trainer)
    assert rows
    assert table_text(rows).count("\n") == len(rows) + 2


@pytest.mark.slow  # MLflow makes a new store in some seconds
def test_an_experiment_is_recorded_with_a_run_per_row(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    rows = {"all, test": {"power_mw": 12.5, "90 % interval": 0.5}, "No-A, test": {"power_mw": float("nan")}}
    for _ in range(2):
        record(rows, "synthesizer", predictor_named("tlp"), {"share": 0.2}, uri)
    with mlflow_at(RegistryStore(tracking_uri=uri)) as client:
        [experiment] = client.search_experiments(filter_string="name LIKE 'numeric-lm%'")
        runs = client.search_runs([experiment.experiment_id])
    assert experiment.name == "numeric-lm synthesizer"
    assert sorted(run.info.run_name for run in runs) == ["No-A, test", "No-A, test", "all, test", "all, test"]
    assert {run.info.status for run in runs} == {"FINISHED"}
    complete = [run for run in runs if run.info.run_name == "all, test"]
    assert {tuple(sorted(run.data.metrics.items())) for run in complete} == {
        (("90  interval", 0.5), ("power_mw", 12.5))
    }
    assert complete[0].data.params == {"share": "0.2"}
    assert complete[0].data.tags["predictor"] == "tlp"
