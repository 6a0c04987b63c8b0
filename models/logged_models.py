"""A trained predictor as MLflow logs it: files, code, signature and model card."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from models.base import TrainOutcome
from models.catalogue import TRAINED_FOLDER, PredictorSpec
from models.tasks import Column
from models.tracking import ROOT, git_commit

PACKAGES = ("models", "pipelines")
"""What answering imports."""
CODE_FILE = "simfoundry.zip"  # one file, as a copy of the packages per model has 800; see `models.pyfunc`
_REQUIREMENTS = ("mlflow", "numpy", "pandas", "safetensors")


def log_model(outcome: TrainOutcome, spec: PredictorSpec, code: Path) -> Any:
    """Log a predictor to the active run. Args: code: archive of the packages. Returns: MLflow's ModelInfo."""
    from mlflow.models import Model

    distributions = sorted({*_REQUIREMENTS, *spec.libraries, *spec.requirements})
    return Model.log(
        None,
        _PyfuncFlavor,
        name=spec.name,
        flavor_name="pyfunc.ModelFromCode",
        validate_serving_input=False,
        python_model=str(ROOT / "models" / "pyfunc.py"),
        artifacts={"predictor": str(outcome.folder)},
        code_paths=[str(code)],
        signature=_signature(spec),
        input_example=_input_example(spec),
        pip_requirements=[f"{name}=={installed_version(name)}" for name in distributions],
    )


class _PyfuncFlavor:
    """MLflow's flavour of Python models, without a trial answer.

    `mlflow.pyfunc.log_model` loads every model and asks it the example, which takes up to seconds per model,
    and only logs a failure.
    """

    @staticmethod
    def save_model(*, validate_serving_input: bool, **arguments: Any) -> None:
        import mlflow

        del validate_serving_input  # read by `Model.log`
        mlflow.pyfunc.save_model(**arguments)


@contextmanager
def code_to_log() -> Iterator[Callable[[], Path]]:
    """Yield a function that makes the archive of the packages once, without weights and compiled files."""
    with tempfile.TemporaryDirectory() as scratch:

        @cache
        def archive() -> Path:
            path = Path(scratch) / CODE_FILE
            with ZipFile(path, "w", ZIP_DEFLATED) as content:
                for file in sorted(file for name in PACKAGES for file in (ROOT / name).rglob("*")):
                    if file.is_file() and not {"__pycache__", TRAINED_FOLDER} & set(file.parts):
                        content.write(file, file.relative_to(ROOT))
            return path

        yield archive


def _signature(spec: PredictorSpec) -> Any:
    """Return the columns of the task's question in, of the predictor's answers out."""
    from mlflow.models import ModelSignature
    from mlflow.types import Schema

    return ModelSignature(
        inputs=Schema(_columns(spec.task.question)), outputs=Schema(_columns(spec.answer_columns))
    )


def _columns(columns: Sequence[Column]) -> list[Any]:
    from mlflow.types import ColSpec

    return [ColSpec(column.kind, column.name, required=column.required) for column in columns]


def _input_example(spec: PredictorSpec) -> Any:
    import pandas as pd

    return pd.DataFrame([{column.name: column.example for column in spec.task.question}])


def model_card(outcome: TrainOutcome, spec: PredictorSpec, data_versions: Mapping[str, str]) -> str:
    """Return model card in Markdown: what the model answers, from what it was trained, and how good it is.

    The options of the training are the parameters of its MLflow run.

    Args: data_versions: DVC hash of each table by its path.
    """
    task = spec.task
    targets = [f"* `{name}` in {unit}" for name, unit in task.targets.items()]
    origin = {
        "tables": outcome.source,
        "hash of the tables": outcome.dataset_hash,
        **{f"DVC hash of {path}": value for path, value in sorted(data_versions.items())},
        "groups of the split that training saw": f"{len(outcome.seen_groups)}, listed in outcome.json",
        "training key": outcome.key,
        "commit": git_commit(),
    }
    return "\n".join(
        [
            f"# {spec.name}",
            "",
            spec.description,
            "",
            f"Task `{task.name}`, level of information: {task.level}. Error: {task.metric}. "
            f"Baseline: {task.baseline}. Reference set: {task.reference.name if task.reference else 'none'}.",
            *_section("Targets", targets or ["None: a generator, judged by its acceptance rate."]),
            *_section("Origin", _table(("", ""), origin.items())),
            *_section("Figures", [*_error_table(outcome), *_figures(outcome.summary)]),
            *_section("Intervals and confidence", _interval_table(outcome)),
            "",
        ]
    )


def _interval_table(outcome: TrainOutcome) -> list[str]:
    """Return the shares of labels inside the intervals, and the risk-coverage curve, by target."""
    columns = list(dict.fromkeys(name for figures in outcome.intervals.values() for name in figures))
    if not columns:
        return []
    rows = [
        (target, *(f"{figures[name]:.3g}" if name in figures else "" for name in columns))
        for target, figures in outcome.intervals.items()
    ]
    words = (
        "Parts: share of labels inside a 90 % interval. factor: median of end to value. risk: median error "
        "of that share of the answers, the most confident first (risk-coverage curve)."
    )
    return [words, "", *_table(("target", *columns), rows)]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _table(head: Sequence[str], rows: Any) -> list[str]:
    cells = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(str(cell) for cell in row)} |" for row in cells]


def _error_table(outcome: TrainOutcome) -> list[str]:
    """Return the values of the leaderboard: a row per part and target, a column per metric."""
    places = list(dict.fromkeys((row.part, row.target) for row in outcome.leaderboard))
    metrics = list(dict.fromkeys(row.metric for row in outcome.leaderboard))
    values = {(row.part, row.target, row.metric): row.value for row in outcome.leaderboard}
    if not places:
        return []
    rows = [
        (*place, *("" if (v := values.get((*place, metric))) is None else f"{v:.3g}" for metric in metrics))
        for place in places
    ]
    return [*_table(("part", "target", *metrics), rows), ""]


def _figures(summary: Mapping[str, float]) -> list[str]:
    return _table(("figure", "value"), [(name, f"{v:.4g}") for name, v in sorted(summary.items())])
