"""`simfoundry predict`: a registered model's answer."""

from __future__ import annotations

import logging
import os
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

from assets.commands.programs import read_directives, read_user_program
from assets.databases import require_whole_registry
from assets.deployments import QUIET_ENVIRONMENT, find_deployment
from assets.errors import FoundryError, explain
from models.labelled import Query
from pipelines.hls import directives_json


def predict_file(
    *, file: Path, top: str, directives: Path | None, memory_delay: int, clock: float, model: str
) -> dict[str, Any]:
    """Ask a registered model about one C file under one configuration.

    Args:    model: NAME@ALIAS. memory_delay: cycles. clock: period in ns.
    Returns: a value a target, with the confidence and the features outside of training.
    Raises:  FoundryError: no such model, or a damaged registry. ProgramError, HlsError: an input is not
             acceptable.
    """
    name, _, alias = model.partition("@")
    if not name or not alias:
        raise FoundryError(f"a model must be NAME@ALIAS such as tenset-mlp@champion, got {model!r}")
    query = Query(
        source=read_user_program(file, top).source,
        top=top,
        memory_read_delay_cycles=memory_delay,
        memory_write_delay_cycles=memory_delay,
        clock_period_ns=clock,
        directives=directives_json(read_directives(directives)),
    )
    return _ask(f"models:/{name}@{alias}", query, file)


def _ask(uri: str, query: Query, file: Path) -> dict[str, Any]:
    deployment = find_deployment()
    require_whole_registry(deployment)
    os.environ.update({k: os.environ.get(k, v) for k, v in QUIET_ENVIRONMENT.items()})
    for logger in ("mlflow", "alembic"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MLflow and its dependencies, about themselves
        import mlflow
        import pandas as pd
        from mlflow.exceptions import MlflowException

        store = deployment.tracking_uri
        mlflow.set_tracking_uri(store)
        try:
            predictor = mlflow.pyfunc.load_model(uri)
        except MlflowException as error:
            raise FoundryError(
                f"a model must be registered in {store}, got {uri} ({explain(error)}); "
                "`simfoundry run` trains and registers tenset-mlp@champion"
            ) from error
        try:
            answer = predictor.predict(pd.DataFrame([asdict(query)]))
        except (MlflowException, ValueError) as error:
            raise FoundryError(f"{file} must be a program the model can read: {explain(error)}") from error
    return {str(k): v.item() if hasattr(v, "item") else v for k, v in answer.iloc[0].items()}
