"""The correction in the model registry."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from models.queue_correction.correction import SHIPPED, read_correction
from models.registry import CHAMPION, RegistryStore, experiment_of, mlflow_at
from pipelines.identity import text_sha256

NAME = "queue-correction"
_SCRIPT = Path(__file__).with_name("pyfunc.py")
_REQUIREMENTS = ("mlflow", "numba", "numpy", "pandas", "scipy")


def register_correction(store: RegistryStore, *, file: Path = SHIPPED) -> str:
    """Log a trained correction and give it the alias `champion`; the same file and code are registered once.

    Returns: its version.
    Raises:  PredictorError: the file is not a correction. MlflowException, OSError: the store.
    """
    about = read_correction(file).about
    content = text_sha256(file.read_bytes().hex() + _SCRIPT.read_text())
    with mlflow_at(store) as client:
        known = client.search_model_versions(f"name = '{NAME}' and tags.content = '{content}'")
        if known:
            return str(known[0].version)
        import mlflow

        with mlflow.start_run(experiment_id=experiment_of(client, store), run_name=NAME) as run:
            mlflow.log_params({"about": about})
            info = mlflow.pyfunc.log_model(
                name=NAME,
                python_model=str(_SCRIPT),
                artifacts={"correction": str(file)},
                signature=_signature(),
                pip_requirements=[f"{name}=={version(name)}" for name in _REQUIREMENTS],
            )
        number = _version_of(client, info.model_uri, run.info.run_id)
        client.set_registered_model_alias(NAME, CHAMPION, number)
        client.set_model_version_tag(NAME, number, "content", content)  # last: what has it is complete
        return number


def _version_of(client: Any, model_uri: str, run_id: str) -> str:
    """A new version of what was logged; unlike `registered_model_name` this prints nothing."""
    from mlflow.exceptions import MlflowException

    try:
        client.create_registered_model(NAME)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    return str(client.create_model_version(name=NAME, source=model_uri, run_id=run_id).version)


def _signature() -> Any:
    """Columns of a network in, of its latencies out."""
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, Schema, TensorSpec

    kinds = {"pods": "long", "pattern": "string", "load": "double", "arrivals": "string", "scv": "double"}
    kinds |= {"routing": "string", "seed": "long"}
    inputs: list[ColSpec | TensorSpec] = [ColSpec(kind, name) for name, kind in kinds.items()]
    names = ("rtt_us", "uncorrected_rtt_us", "rtt_p99_us", "busiest_utilisation", "seen_in_training")
    outputs: list[ColSpec | TensorSpec] = [ColSpec("double", name) for name in names]
    return ModelSignature(inputs=Schema(inputs), outputs=Schema(outputs))
