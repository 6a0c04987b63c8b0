"""Serving: the code that MLflow runs for a registered correction ("models from code", no pickle).

MLflow copies this file next to the trained file and runs it when the model is loaded; the project must be
importable there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

from models.base import PredictorError
from models.queue_correction.correction import Correction, correct, read_correction
from models.queue_correction.tails import rtt_quantiles_s
from pipelines.network.errors import NetworkError
from pipelines.network.queueing import flow_latency, model_network, stream_waits
from pipelines.network.routing import Routing
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import Arrivals, Pattern, traffic_of

ARTIFACT = "correction"


class QueueCorrectionPyfunc(PythonModel):
    """Answers a DataFrame of fat-trees under traffic with a DataFrame of latencies."""

    def load_context(self, context: PythonModelContext) -> None:
        """Read the trained file, logged as the artifact `correction`."""
        self._correction = read_correction(Path(context.artifacts[ARTIFACT]))

    def predict(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        context: PythonModelContext,  # noqa: ARG002
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> pd.DataFrame:
        """Latencies of each network.

        Args:    model_input: pods, pattern, load, arrivals, scv, routing, seed; one row a network.
        Returns: means over flows of the round trip, corrected and by theory alone, and of its 99th
                 percentile; the busiest queue's utilisation; how much of the network is like what was
                 learned from, 0 to 1.
        Raises:  PredictorError: a row cannot be; the message names the row, from 0.
        """
        rows: list[dict[str, float]] = []
        for place, row in enumerate(model_input.to_dict("records")):
            try:
                rows.append(_answer(row, self._correction))
            except (NetworkError, KeyError, TypeError, ValueError) as error:
                raise PredictorError(f"row {place}: {error}") from error
        return pd.DataFrame(rows, index=model_input.index)


def _answer(row: dict[Any, Any], correction: Correction) -> dict[str, float]:
    tree = fat_tree(FatTree(pods=int(row["pods"])))
    traffic = traffic_of(
        tree,
        Pattern(kind=str(row["pattern"]), load=float(row["load"])),
        arrivals=Arrivals(kind=str(row["arrivals"]), scv=float(row["scv"])),
    )
    model = model_network(tree, traffic, routing=Routing(kind=str(row["routing"]), seed=int(row["seed"])))
    found = correct(model, correction)
    latency, theory = flow_latency(model, found.waits), flow_latency(model, stream_waits(model))
    return {
        "rtt_us": float(latency.rtt_s.mean() * 1e6),
        "uncorrected_rtt_us": float(theory.rtt_s.mean() * 1e6),
        "rtt_p99_us": float(rtt_quantiles_s(model, found.waits, latency, correction.tails)[1].mean() * 1e6),
        "busiest_utilisation": float(model.queues.utilisation.max()),
        "seen_in_training": found.seen,
    }


set_model(QueueCorrectionPyfunc())
