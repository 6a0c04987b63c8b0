"""Serving: the code that MLflow runs for a registered tenset-mlp ("models from code", no pickle).

MLflow copies this file next to the weights and runs it when the model is loaded; the project must be
importable there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

from models.labelled import Query
from models.tenset_mlp.predictor import TensetMlpPredictor


class TensetMlpPyfunc(PythonModel):
    """Answers a DataFrame of queries with a DataFrame of targets."""

    def load_context(self, context: PythonModelContext) -> None:
        """Read the predictor's folder, logged as the artifact `predictor`."""
        self._predictor = TensetMlpPredictor.load(Path(context.artifacts["predictor"]))

    def predict(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        context: PythonModelContext,  # noqa: ARG002
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> pd.DataFrame:
        """Targets of each query.

        Args:    model_input: the columns of models.labelled.Query, one row a query.
        Returns: area_um2, flip_flop_count, latency_cycles; confidence, the share of features inside
                 the range seen in training; outside_training, the names of the others.
        Raises:  PredictorError: a row cannot be read; the message names the row, from 0.
        """
        queries = [
            Query(
                source=str(row["source"]),
                top=str(row["top"]),
                memory_read_delay_cycles=int(row["memory_read_delay_cycles"]),
                memory_write_delay_cycles=int(row["memory_write_delay_cycles"]),
                clock_period_ns=float(row["clock_period_ns"]),
                directives=str(row["directives"]),
            )
            for row in model_input.to_dict("records")
        ]
        estimates = self._predictor.predict(queries)
        columns: dict[str, list[Any]] = {
            target: [e.values[target] for e in estimates] for target in self._predictor.targets
        }
        columns["confidence"] = [e.confidence for e in estimates]
        columns["outside_training"] = [", ".join(e.outside_training) for e in estimates]
        return pd.DataFrame(columns, index=model_input.index)


set_model(TensetMlpPyfunc())
