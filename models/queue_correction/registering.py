"""The correction in the model registry.

Belongs here: logging the trained file and its version. Does not: training, the gate of predictors of designs
(`models/registry.py`): a correction is one file that comes with the project, measured by a benchmark.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from models.queue_correction.correction import SHIPPED, read_correction
from models.registry import CHAMPION, RegistryStore, experiment_of, mlflow_at
from pipelines.identity import text_sha256

NAME = "queue-correction"
_REQUIREMENTS = ("mlflow", "numba", "numpy", "pandas", "scipy")


def register_correction(store: RegistryStore, *, file: Path = SHIPPED) -> str:
    """Log a trained correction and give it the alias `champion`; the same file is registered once.

    Returns: its version.
    Raises:  PredictorError: the file is not a correction. MlflowException, OSError: the store.
    """
    about, content = read_correction(file).about, text_sha256(file.read_bytes().hex())
    with mlflow_at(store) as client:
        known = client.search_model_versions(f"name = '{NAME}' and tags.content = '{content}'")
        if known:
            return str(known[0].version)
        import mlflow

        with mlflow.start_run(experiment_id=experiment_of(client, store), run_name=NAME):
            mlflow.log_params({"about": about})
            info = mlflow.pyfunc.log_model(
                name=NAME,
                python_model=str(Path(__file__).with_name("pyfunc.py")),
                artifacts={"correction": str(file)},
                signature=_signature(),
                pip_requirements=[f"{name}=={version(name)}" for name in _REQUIREMENTS],
                registered_model_name=NAME,
            )
        number = str(info.registered_model_version)
        client.set_model_version_tag(NAME, number, "content", content)
        client.set_registered_model_alias(NAME, CHAMPION, number)
        return number


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
