"""The catalogue of predictors: packages of `models/` bind `PREDICTOR`, or `PREDICTORS` for several.

Nothing lists predictors a second time. Importing the catalogue loads no learning framework.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, partial
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import models
from models.base import Answering, PredictorError, TrainOutcome, require_each
from models.intervals import (
    Residual,
    calibrate,
    interval_columns,
    measure_intervals,
    with_intervals,
)
from models.tasks import Column, Task, hash_tables
from pipelines.base.identity import canonical_json, content_hash

if TYPE_CHECKING:
    from lightning.pytorch.loggers import Logger

    from models.leaderboard import Prediction
    from models.model_files import ModelFiles

TRAINED_FOLDER = "trained"
RELEASE_MANIFEST = "manifest.json"
ENGINE_REQUIREMENTS = (
    *("filelock", "islpy", "polars", "pyarrow", "pycparser", "pydantic", "pyscipopt", "scipy"),
)
"""Distributions that answering needs where programs are compiled."""
Loaded = TypeVar("Loaded", bound=Answering)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictorSpec(Generic[Loaded]):
    """All that training, registering and asking need to know of a predictor.

    Attributes:
        name: registered name.
        version: raised by hand when the same tables, options and seed would train another model.
        description: one sentence, for the model card.
        task: what it answers.
        options: frozen dataclass of the options of training, all with defaults.
        train_with: trains; a function of the package's `__init__` that imports its module when called.
        load_with: reads a trained predictor, likewise.
        answers: columns of an answer.
        libraries: distributions whose versions decide the trained bits.
        requirements: further distributions that answering needs.
        checks_ranges: whether an answer names what lies outside the training programs.
    """

    name: str
    version: str
    description: str
    task: Task
    options: type[Any]
    train_with: Callable[[TrainingInput], Trained]
    load_with: Callable[[ModelFiles], Loaded]
    answers: tuple[Column, ...]
    libraries: tuple[str, ...]
    requirements: tuple[str, ...] = ()
    checks_ranges: bool = True

    @property
    def package(self) -> str:
        """Name of its package in `models`."""
        return self.load_with.__module__.removeprefix("models.")

    @property
    def shipped_folder(self) -> Path:
        """Folder of the weights that come with the project; it may be absent.

        That of a package with several predictors has a folder for each.
        """
        folder = Path(models.__file__).parent / self.package / TRAINED_FOLDER
        alone = self.name.replace("-", "_") == self.package
        return folder if alone else folder / self.name

    def training_key(self, data_dirs: Sequence[Path], options: Any, seed: int) -> str:
        """Return the hash of all that a training depends on.

        Raises: DatasetError: a table is missing.
        """
        libraries = {name: installed_version(name) for name in self.libraries}
        tables = hash_tables(data_dirs, self.task.tables)
        return content_hash(self.name, self.version, tables, asdict(options), seed, libraries)

    def train(
        self,
        data_dir: Path,
        options: Any = None,
        *,
        seed: int = 0,
        more: Sequence[Path] = (),
        folder: Path | None = None,
        keep_predictions: bool = True,
        keep_costs: bool = True,
        loggers: Callable[[str, str], Logger] | None = None,
    ) -> TrainOutcome:
        """Train, or return the outcome of the same training done before.

        Args:
            data_dir: folder that holds `tables/`; a release is one. more: further such folders.
            options: of training; its defaults when None. seed: of weights and batches.
            folder: of the outcome, `<data_dir>/models/<name>/<key>` by default; written whole or not at all.
            keep_predictions: write the predictions of every design beside the model, as `predictions.json`.
            keep_costs: load the model, time its answers, and write the costs beside it, as `costs.json`.
            loggers: makes the logger of a network by the key of the training and the part of it, if any.

        Raises: DatasetError, PredictorError: the tables cannot be trained on, or the folder holds other files
                than a model's. SchemaError: one is damaged.
        """
        from models.costs import design_families, design_queries, measure_costs
        from models.leaderboard import leaderboard_rows, residuals_of, workload_rows
        from models.model_files import (
            PREDICTIONS_FILE,
            model_bytes,
            read_outcome,
            require_model_folder,
            write_outcome,
        )

        options = self.options() if options is None else options
        data_dirs = (data_dir, *more)
        key = self.training_key(data_dirs, options, seed)
        folder = folder or data_dir / "models" / self.name / key
        earlier = read_outcome(folder)
        if earlier is not None and (earlier.key, earlier.predictor) == (key, self.name):
            return earlier
        require_model_folder(folder)
        dataset_hash = hash_tables(data_dirs, self.task.tables)
        started_s = time.perf_counter()
        trained = self.train_with(
            TrainingInput(
                data_dirs=data_dirs,
                dataset_hash=dataset_hash,
                options=options,
                seed=seed,
                loggers=partial(loggers, key) if loggers else None,
                checkpoints=folder.with_name(f"{folder.name}-{key[:8]}.checkpoints"),
            )
        )
        require_trained(trained)
        training_wall_s = time.perf_counter() - started_s
        said = {"predictor": self.name, "version": key, "level": self.task.level, "split": trained.split}
        rows = leaderboard_rows(trained.predictions, **said, resamples=trained.resamples, seed=seed)
        queries = design_queries(data_dirs, trained.predictions)
        names = {design_id: name for design_id, (name, _) in queries.items()}
        families = design_families(data_dirs, trained.predictions)
        residuals = trained.residuals or residuals_of(trained.predictions, families)
        calibration = calibrate(residuals)
        outcome = TrainOutcome(
            predictor=self.name,
            key=key,
            folder=folder,
            source=" ".join(_source_of(folder) for folder in data_dirs),
            dataset_hash=dataset_hash,
            seed=seed,
            parameters={**shown_options(options), "seed": seed},
            seen_groups=tuple(trained.seen_groups),
            curves={name: tuple(curve) for name, curve in trained.curves.items()},
            leaderboard=tuple(rows),
            workloads=tuple(workload_rows(trained.predictions, names, **said)),
            level=self.task.level,
            summary=trained.summary,
            intervals=measure_intervals(residuals, calibration),
            calibration=calibration,
            cached=False,
        )
        predictions = canonical_json([asdict(p) for p in trained.predictions]).encode()
        extra = {PREDICTIONS_FILE: predictions} if trained.predictions and keep_predictions else {}
        asked = [query for _, query in queries.values()]
        return write_outcome(
            outcome,
            {**model_bytes(self.name, trained.files), **extra},
            measure=(lambda kept: measure_costs(kept, self.load, asked, training_wall_s))
            if keep_costs
            else None,
        )

    def load(self, folder: Path) -> Loaded:
        """Load the predictor in a folder.

        Raises: PredictorError: the folder holds no such predictor, a damaged one, or one of other features.
        """
        from models.model_files import read_model

        name, files = read_model(folder)
        if name != self.name:
            raise PredictorError(f"not a predictor of {self.name}: {folder} holds {name}")
        try:
            loaded = self.load_with(files)
        except PredictorError as error:
            raise PredictorError(f"{error} ({folder})") from error
        except (ValueError, KeyError, TypeError, RuntimeError) as error:  # torch's of other shapes
            problem = " ".join(str(error).split())[:200]
            raise PredictorError(f"not a predictor of {self.name}: {folder} ({problem})") from error
        if not hasattr(loaded, "answer"):
            raise PredictorError(
                f"load_with returned {loaded!r:.60}; accepted: an object with a method answer(rows)"
            )
        return loaded

    def answer(
        self,
        predictor: Answering,
        rows: Sequence[Mapping[str, Any]],
        outcome: TrainOutcome | None = None,
    ) -> list[dict[str, Any]]:
        """Return the answers of a loaded predictor to rows of its question.

        Args:   outcome: of its training; without one an answer has no calibrated interval and confidence.
        Raises: PredictorError: a row cannot be answered; the message names the row, from 0.
        """
        calibration = {} if outcome is None else outcome.calibration
        answers = predictor.answer(rows)
        require_each("answer returned", answers, Mapping, "one dict of columns per row")
        return with_intervals(answers, calibration)

    def options_from(self, parameters: Mapping[str, Any]) -> Any:
        """Return the options of a training from the parameters of its outcome, which may hold more."""
        known = {field.name for field in fields(self.options)}
        return self.options(**{name: _option(value) for name, value in parameters.items() if name in known})

    @property
    def answer_columns(self) -> tuple[Column, ...]:
        """Columns of an answer, ends of intervals of labels included."""
        names = {column.name for column in self.answers}
        if "outside_training" not in names:
            return self.answers
        ends = (
            Column(name=name, unit="" if name.endswith("confidence") else unit)
            for target, unit in self.task.targets.items()
            for name in interval_columns(target)
        )
        return (*self.answers, *(column for column in ends if column.name not in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingInput:
    """What a predictor's training function is called with.

    Attributes:
        data_dirs: folders that hold `tables/`.
        dataset_hash: of their tables.
        loggers, checkpoints: see `models.training.fit`.
    """

    data_dirs: tuple[Path, ...]
    dataset_hash: str
    options: Any
    seed: int
    loggers: Callable[[str], Logger] | None = None
    checkpoints: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a predictor's training gives back.

    Attributes:
        files: card and arrays, all that predicting needs.
        seen_groups: groups that training or stopping looked at.
        curves: value of every epoch, by name.
        summary: single figures, such as the best epoch.
        predictions: of designs of every part, from which the leaderboard is computed.
        residuals: for intervals and confidence; none: computed from the predictions.
        split: frozen split of the predictions.
        resamples: bootstrap draws per leaderboard interval.
    """

    files: ModelFiles
    seen_groups: Sequence[str]
    curves: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    summary: Mapping[str, float] = field(default_factory=dict[str, float])
    predictions: Sequence[Prediction] = ()
    residuals: Sequence[Residual] = ()
    split: str = ""
    resamples: int = 1000


def require_trained(trained: Any) -> None:
    """Refuse what a file of a person may return from training. Raises: PredictorError."""
    from models.leaderboard import Prediction
    from models.model_files import ModelFiles

    if not isinstance(trained, Trained):
        raise PredictorError(f"train_with returned {trained!r:.60}; accepted: a Trained")
    if not isinstance(trained.files, ModelFiles):
        raise PredictorError(f"files of the Trained: {trained.files!r:.60}; accepted: ModelFiles")
    for name in ("card", "arrays"):
        value = getattr(trained.files, name)
        if not isinstance(value, Mapping):
            raise PredictorError(f"{name} of the ModelFiles: {value!r:.60}; accepted: a dict")
    try:
        canonical_json(trained.files.card)
    except (TypeError, ValueError) as error:
        accepted = "what json.dumps takes without NaN; arrays of numpy in `arrays`"
        raise PredictorError(f"card of the ModelFiles: {error}; accepted: {accepted}") from error
    require_each("predictions of the Trained:", trained.predictions, Prediction, "one Prediction per label")
    for place, one in enumerate(trained.predictions):
        if not isinstance(one.predicted, float | int) or not abs(one.predicted) <= sys.float_info.max:
            raise PredictorError(
                f"predicted {one.target} of prediction {place}: {one.predicted!r:.60} of type "
                f"{type(one.predicted).__name__}; accepted: a finite number"
            )


@cache
def predictors() -> tuple[PredictorSpec[Any], ...]:
    """Return all predictors, by name."""
    specs: list[PredictorSpec[Any]] = []
    for module in pkgutil.iter_modules(models.__path__):
        if module.ispkg:
            package = importlib.import_module(f"models.{module.name}")
            spec = getattr(package, "PREDICTOR", None)
            specs += getattr(package, "PREDICTORS", () if spec is None else (spec,))
    return tuple(sorted(specs, key=lambda spec: spec.name))


def predictor_named(name: str) -> PredictorSpec[Any]:
    """Return the predictor of that name.

    Raises: PredictorError: there is none.
    """
    for spec in predictors():
        if spec.name == name:
            return spec
    raise PredictorError(f"unknown predictor: {name}; accepted: {', '.join(s.name for s in predictors())}")


def _source_of(data_dir: Path) -> str:
    is_release = (data_dir / RELEASE_MANIFEST).is_file()
    return f"releases/{data_dir.resolve().name}" if is_release else "tables"


def _option(shown: Any) -> Any:
    """Return an option of a training from what `shown_options` made of it."""
    if isinstance(shown, str) and shown[:1] == "[":
        return tuple(json.loads(shown))
    return None if shown == "none" else shown


def shown_options(options: Any) -> dict[str, str | int | float]:
    """Return the options of a training as the registry keeps them: numbers and text."""

    def shown(value: Any) -> str | int | float:
        if value is None:
            return "none"
        return value if isinstance(value, str | int | float) else canonical_json(value)

    return {name: shown(value) for name, value in asdict(options).items()}
