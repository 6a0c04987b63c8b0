"""Serving: the code that MLflow runs for a registered predictor ("models from code", nothing is unpickled).

The packages `models` and `pipelines` are logged beside it as one archive, from which a process without this
repository takes them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

ARTIFACT = "predictor"
ARCHIVE = Path(__file__).parent / "code" / "simfoundry.zip"


class PredictorPyfunc(PythonModel):
    """Answers a DataFrame with the columns of a task's question with a DataFrame of its answers."""

    def load_context(self, context: PythonModelContext) -> None:
        """Read the predictor's folder, logged as an artifact."""
        self.code = _unpacked_code()
        from models.catalogue import predictor_named
        from models.model_files import read_model, read_outcome

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
        """Predict the answers of every row.

        Raises: PredictorError: a row cannot be answered; the message names the row, from 0.
        """
        rows = [{str(k): v for k, v in row.items()} for row in model_input.to_dict("records")]
        answers = self.spec.answer(self.predictor, rows, self.outcome)
        return pd.DataFrame(answers, index=model_input.index)


def _unpacked_code() -> tempfile.TemporaryDirectory[str] | None:
    """Return logged packages first on the path, unless this process has them; the folder lives as long as it.

    They cannot be imported from the archive: they read files beside their modules.
    """
    if "models" in sys.modules or not ARCHIVE.is_file():
        return None
    folder = tempfile.TemporaryDirectory(prefix="simfoundry-code-")
    with ZipFile(ARCHIVE) as archive:
        archive.extractall(folder.name)
    sys.path.insert(0, folder.name)
    return folder


set_model(PredictorPyfunc())
