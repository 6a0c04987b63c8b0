"""Serving: the code that MLflow runs for a registered predictor ("models from code", nothing is unpickled).

The packages `models` and `pipelines` are logged beside it: a process without this repository loads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

from models.catalogue import predictor_named
from models.model_files import read_model, read_outcome

ARTIFACT = "predictor"


class PredictorPyfunc(PythonModel):
    """Answers a DataFrame with the columns of a task's question with a DataFrame of its answers."""

    def load_context(self, context: PythonModelContext) -> None:
        """Read the predictor's folder, logged as an artifact."""
        folder = Path(context.artifacts[ARTIFACT])
        self.spec = predictor_named(read_model(folder)[0])
        self.predictor = self.spec.load(folder)
        self.outcome = read_outcome(folder)

    def predict(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        context: PythonModelContext,  # noqa: ARG002
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> pd.DataFrame:
        """Answers of every row.

        Raises: PredictorError: a row cannot be answered; the message names the row, from 0.
        """
        rows = [{str(k): v for k, v in row.items()} for row in model_input.to_dict("records")]
        intervals = None if self.outcome is None else self.outcome.intervals
        answers = self.spec.answer(self.predictor, rows, intervals=intervals)
        return pd.DataFrame(answers, index=model_input.index)


set_model(PredictorPyfunc())
