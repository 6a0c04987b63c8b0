"""Training as one function: a data folder in, a model folder and leaderboard rows out.

Learning frameworks are imported only when there is something to train.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.base import TrainOutcome
from models.labelled import (
    PARTS,
    TARGETS,
    LabelledDesign,
    Selection,
    hash_dataset,
    load_labelled_designs,
)
from models.leaderboard import Prediction, leaderboard_rows
from models.tenset_mlp.features import FEATURE_CHOICES
from pipelines.identity import canonical_json, content_hash, text_sha256
from pipelines.schemas import LeaderboardRow
from pipelines.sealing import read_sealed, write_sealed

if TYPE_CHECKING:
    from models.tenset_mlp.data import DesignMatrices
    from models.tenset_mlp.fit import Fit
    from models.tenset_mlp.scaling import Matrix, ModelCard

NAME = "tenset-mlp"
OUTCOME_FILE = "outcome.json"
PREDICTIONS_FILE = "predictions.json"
PYFUNC_SCRIPT = Path(__file__).with_name("pyfunc.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """How to train.

    Attributes:
        split, tool, liberty: see models.labelled.Selection.
        features: compact for a few programs, full for many.
        hidden_sizes: width of each hidden layer.
        dropout: share of hidden units silenced in training, 0 to below 1.
        learning_rate, weight_decay: of AdamW.
        batch_size: designs a step.
        max_epochs: passes over the training part.
        patience: epochs without a better validation loss before stopping.
        stopping_groups: groups the validation part must have for its loss to stop training; with
            fewer, every epoch is run, for one odd kernel must not say when to stop.
        bootstrap_resamples: draws behind each leaderboard interval.
    """

    split: str = "by_kernel_v1"
    tool: str | None = None
    liberty: str | None = None
    features: str = "compact"
    hidden_sizes: Sequence[int] = (64, 64)
    dropout: float = 0.1
    learning_rate: float = 3e-3
    weight_decay: float = 1.0
    batch_size: int = 32
    max_epochs: int = 150
    patience: int = 60
    stopping_groups: int = 3
    bootstrap_resamples: int = 1000

    def __post_init__(self) -> None:
        """Raises: ValueError: an option outside its range."""
        object.__setattr__(self, "hidden_sizes", tuple(self.hidden_sizes))
        choices = f"one of {', '.join(FEATURE_CHOICES)}"
        _require("features", self.features, self.features in FEATURE_CHOICES, choices)
        for size in self.hidden_sizes:
            _require("a hidden size", size, size >= 1, "at least 1")
        _require("dropout", self.dropout, 0 <= self.dropout < 1, "from 0 to below 1")
        for name in ("learning_rate", "batch_size", "max_epochs", "patience", "stopping_groups"):
            value = getattr(self, name)
            _require(name, value, 0 < value < math.inf, "above 0")
        decay, draws = self.weight_decay, self.bootstrap_resamples
        _require("weight_decay", decay, 0 <= decay < math.inf, "at least 0")
        _require("bootstrap_resamples", draws, draws >= 1, "at least 1")

    @property
    def selection(self) -> Selection:
        """Which labels, and which split."""
        return Selection(split=self.split, tool=self.tool, liberty=self.liberty)


def training_key(data_dir: Path, options: TrainOptions, seed: int) -> str:
    """Hash of all that a training depends on: tables, options, seed, code and libraries.

    Raises: DatasetError: a table is missing.
    """
    room = Path(__file__).parents[1]
    sources = sorted([*room.glob("*.py"), *Path(__file__).parent.glob("*.py")])
    code = {str(path.relative_to(room)): text_sha256(path.read_text()) for path in sources}
    tools = {name: version(name) for name in ("torch", "lightning", "numpy")}
    return content_hash(NAME, hash_dataset(data_dir), asdict(options), seed, code, tools)


def train_tenset_mlp(data_dir: Path, options: TrainOptions, *, seed: int) -> TrainOutcome:
    """Train on the frozen split, or return the outcome of the same training done before.

    The outcome stands under `<data_dir>/models/tenset-mlp/<key>/`, written whole or not at all.

    Args:    data_dir: folder that holds `tables/`. seed: of weights, dropout, batches and
             intervals. reader: where facts of a source come from; the foundry's front end by
    default. Returns: leaderboard rows of all parts, the model folder and the training curves.
    Raises:  DatasetError: the tables cannot be trained on. SchemaError: a table file is damaged.
    """
    key = training_key(data_dir, options, seed)
    folder = data_dir / "models" / NAME / key
    done = _read_outcome(folder, data_dir, options)
    return done or _train(data_dir, options, seed, key, folder)


def _require(name: str, value: Any, holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(f"{name} must be {rule}, got {value!r}")


def _train(
    data_dir: Path,
    options: TrainOptions,
    seed: int,
    key: str,
    folder: Path,
) -> TrainOutcome:
    from models.tenset_mlp.data import matrices_of
    from models.tenset_mlp.fit import fit_network
    from models.tenset_mlp.predictor import TensetMlpPredictor

    dataset_hash = hash_dataset(data_dir)
    designs = load_labelled_designs(data_dir, options.selection)
    matrices = matrices_of(designs, options.features)
    card = _card(designs, matrices, options, dataset_hash)
    groups = len({d.group for d in designs if d.part == "validation"})
    fit = fit_network(
        matrices,
        card,
        learning_rate=options.learning_rate,
        weight_decay=options.weight_decay,
        batch_size=options.batch_size,
        max_epochs=options.max_epochs,
        patience=options.patience if groups >= options.stopping_groups else None,
        seed=seed,
    )
    predicted = TensetMlpPredictor(card, fit.network).predict_matrix(matrices.features)
    predictions = _predictions(designs, predicted)
    rows = leaderboard_rows(
        predictions,
        predictor=NAME,
        version=key,
        split=options.split,
        resamples=options.bootstrap_resamples,
        seed=seed,
    )
    outcome = TrainOutcome(
        predictor=NAME,
        key=key,
        folder=folder,
        pyfunc_script=PYFUNC_SCRIPT,
        data_dir=data_dir,
        dataset_hash=dataset_hash,
        selection=options.selection,
        seed=seed,
        parameters=_parameters(options, seed),
        seen_groups=tuple(card.seen_groups),
        curves={name: tuple(curve) for name, curve in fit.curves.items()},
        leaderboard=tuple(rows),
        summary={
            "kept_epoch": float(fit.epoch),
            **{f"{part}_designs": float(len(matrices.rows_of(part))) for part in PARTS},
        },
        cached=False,
    )
    _write_outcome(outcome, card, fit, predictions)
    return outcome


def _predictions(designs: Sequence[LabelledDesign], predicted: Matrix) -> list[Prediction]:
    """One record a design and target; predicted: (designs, targets)."""
    return [
        Prediction(
            design_id=design.design_id,
            group=design.group,
            part=design.part,
            target=target,
            actual=design.labels[target],
            predicted=float(predicted[i, j]),
        )
        for i, design in enumerate(designs)
        for j, target in enumerate(TARGETS)
    ]


def _card(
    designs: Sequence[LabelledDesign],
    matrices: DesignMatrices,
    options: TrainOptions,
    dataset_hash: str,
) -> ModelCard:
    """Normalisation from the training part; groups that training or stopping looked at."""
    from models.tenset_mlp.scaling import make_card

    rows = matrices.rows_of("train")
    return make_card(
        matrices.names,
        matrices.features[rows],
        matrices.targets[rows],
        hidden_sizes=options.hidden_sizes,
        dropout=options.dropout,
        split=options.split,
        seen_groups=sorted({d.group for d in designs if d.part in ("train", "validation")}),
        dataset_hash=dataset_hash,
    )


def _parameters(options: TrainOptions, seed: int) -> dict[str, str | int | float]:
    values = {**asdict(options), "hidden_sizes": "x".join(map(str, options.hidden_sizes))}
    return {**{k: "only one" if v is None else v for k, v in values.items()}, "seed": seed}


def _write_outcome(
    outcome: TrainOutcome, card: ModelCard, fit: Fit, predictions: Sequence[Prediction]
) -> None:
    """Write every file beside the final folder, then move the folder into place."""
    from models.tenset_mlp.network import weights_bytes
    from models.tenset_mlp.predictor import CARD_FILE, WEIGHTS_FILE
    from models.tenset_mlp.scaling import card_bytes

    files = {
        CARD_FILE: card_bytes(card),
        WEIGHTS_FILE: weights_bytes(fit.network),
        PREDICTIONS_FILE: canonical_json([asdict(p) for p in predictions]).encode(),
    }
    record = {
        "dataset_hash": outcome.dataset_hash,
        "seed": outcome.seed,
        "seen_groups": outcome.seen_groups,
        "curves": outcome.curves,
        "summary": outcome.summary,
        "leaderboard": [asdict(row) for row in outcome.leaderboard],
        "files": {name: _sha256(content) for name, content in files.items()},
    }
    outcome.folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=outcome.folder.parent, prefix=".unfinished-"))
    try:
        for name, content in files.items():
            (scratch / name).write_bytes(content)
        write_sealed(scratch / OUTCOME_FILE, canonical_json(record).encode())
        scratch.chmod(0o755)
        shutil.rmtree(outcome.folder, ignore_errors=True)  # a damaged earlier one
        scratch.replace(outcome.folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _read_outcome(folder: Path, data_dir: Path, options: TrainOptions) -> TrainOutcome | None:
    """The outcome in a folder, or None when it is absent, unfinished or damaged."""
    try:
        content = read_sealed(folder / OUTCOME_FILE)
        if content is None:
            return None
        record = json.loads(content)
        for name, digest in record["files"].items():
            if _sha256((folder / name).read_bytes()) != digest:
                return None
        return TrainOutcome(
            predictor=NAME,
            key=folder.name,
            folder=folder,
            pyfunc_script=PYFUNC_SCRIPT,
            data_dir=data_dir,
            dataset_hash=record["dataset_hash"],
            selection=options.selection,
            seed=record["seed"],
            parameters=_parameters(options, record["seed"]),
            seen_groups=tuple(record["seen_groups"]),
            curves={name: tuple(curve) for name, curve in record["curves"].items()},
            leaderboard=tuple(LeaderboardRow(**row) for row in record["leaderboard"]),
            summary=record["summary"],
            cached=True,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sha256(content: bytes) -> str:
    return text_sha256(content.hex())
