"""The correction in the registry, asked as any user of MLflow would."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from models.model_files import read_outcome
from models.queue_correction import PREDICTOR
from models.queue_correction.correction import correct, shipped_correction
from models.registry import RegistryStore, mlflow_at, register
from pipelines.network.queueing import flow_latency, model_network
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import Arrivals, Pattern, traffic_of

QUESTION = {
    "pods": 4,
    "pattern": "incast",
    "load": 0.5,
    "arrivals": "ge",
    "scv": 4.0,
    "routing": "ecmp",
    "seed": 1,
}


@pytest.mark.slow
def test_the_registered_correction_answers_as_the_project_does(tmp_path: Path) -> None:
    store = RegistryStore(
        tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}", artifact_folder=tmp_path / "artifacts"
    )
    outcome = read_outcome(PREDICTOR.shipped_folder)
    assert outcome is not None
    assert register(outcome, store, may_promote=True).became_champion
    tree = fat_tree(FatTree(pods=4))
    traffic = traffic_of(tree, Pattern(kind="incast"), arrivals=Arrivals(kind="ge", scv=4.0))
    model = model_network(tree, traffic)
    latency = flow_latency(model, correct(model, shipped_correction()).waits)
    with mlflow_at(store):
        import mlflow

        served = mlflow.pyfunc.load_model(f"models:/{PREDICTOR.name}@champion")
        answer = served.predict(pd.DataFrame([QUESTION]))
        assert answer.loc[0, "rtt_us"] == pytest.approx(latency.rtt_s.mean() * 1e6)
        assert answer.loc[0, "uncorrected_rtt_us"] != answer.loc[0, "rtt_us"] < answer.loc[0, "rtt_p99_us"]
        with pytest.raises(ValueError, match="row 1: a load must be above 0 to 4, got -1"):
            served.predict(pd.DataFrame([QUESTION, QUESTION | {"load": -1.0}]))
