"""Files of predictors: a card in JSON, arrays in safetensors, the outcome of training, each with its hash.

Nothing is unpickled. A folder appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from models.base import PredictorError, TrainOutcome
from pipelines.base.files import read_bounded, shown
from pipelines.base.folders import replacing_folder
from pipelines.base.identity import canonical_json
from pipelines.schemas import LeaderboardRow, PredictorCostRow, WorkloadErrorRow, write_bytes_atomically

CARD_BYTES, WEIGHTS_BYTES = 256 << 20, 8 << 30
CARD_FILE = "model.json"
WEIGHTS_FILE = "weights.safetensors"
OUTCOME_FILE = "outcome.json"
PREDICTIONS_FILE = "predictions.json"
COSTS_FILE = "costs.json"
REFERENCE_FILE = "reference_errors.json"
MODEL_NAMES = (CARD_FILE, WEIGHTS_FILE, OUTCOME_FILE, PREDICTIONS_FILE, COSTS_FILE, REFERENCE_FILE)
"""Files that a model's folder may hold; a folder with any other one is not replaced."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelFiles:
    """A predictor as plain data.

    Attributes:
        card: JSON: names of features, sizes, normalisation, origin.
        arrays: trained arrays by name.
    """

    card: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def sealed_json(value: Any) -> bytes:
    """Return a JSON value with the hash of its canonical form."""
    sealed = {"sha256": _json_hash(value), "content": value}
    return json.dumps(sealed, indent=1, sort_keys=True).encode() + b"\n"


def read_sealed_json(path: Path) -> Any:
    """Return the value of a file that `sealed_json` gave.

    Raises: PredictorError: no such file, or a damaged one.
    """
    try:
        sealed = json.loads(_content(path, CARD_BYTES))
        value = sealed["content"]
        if sealed["sha256"] != _json_hash(value):
            raise PredictorError(f"damaged file: {path} does not have the hash it names; train again")
    except FileNotFoundError as error:
        raise PredictorError(f"no such file: {path}") from error
    except PredictorError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise PredictorError(f"damaged file: {path} is not sealed JSON ({_first_line(error)})") from error
    return value


def _content(path: Path, most_bytes: int) -> bytes:
    if not path.exists():
        raise FileNotFoundError(path)
    return read_bounded(path, what="model's file", most_bytes=most_bytes, error=PredictorError)


def model_bytes(name: str, files: ModelFiles) -> dict[str, bytes]:
    """Return the content by file name of a predictor of that name; equal bytes for equal content."""
    arrays = {key: np.ascontiguousarray(value) for key, value in files.arrays.items()}
    weights = save(dict(sorted(arrays.items())))
    card = {"predictor": name, "card": files.card, "weights_sha256": hashlib.sha256(weights).hexdigest()}
    return {CARD_FILE: sealed_json(json.loads(canonical_json(card))), WEIGHTS_FILE: weights}


def read_model(folder: Path) -> tuple[str, ModelFiles]:
    """Read the name and files of the predictor in a folder.

    Raises: PredictorError: the folder holds no predictor, or a damaged one.
    """
    stored = read_sealed_json(folder / CARD_FILE)
    path = folder / WEIGHTS_FILE
    try:
        name, card, digest = (stored[key] for key in ("predictor", "card", "weights_sha256"))
        content = _content(path, WEIGHTS_BYTES)
        if hashlib.sha256(content).hexdigest() != digest:
            raise PredictorError(f"damaged file: {path} does not have the hash in {CARD_FILE}; train again")
        return str(name), ModelFiles(card=card, arrays=load(content))
    except FileNotFoundError as error:
        raise PredictorError(f"no such file: {path}") from error
    except PredictorError:
        raise
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise PredictorError(f"not a predictor: {folder} ({_first_line(error)})") from error


def require_model_folder(folder: Path) -> None:
    """Refuse to replace `folder` by a model unless it is a model's. Raises: PredictorError."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise PredictorError(f"folder of the model: {folder} is a file; accepted: a new or empty folder")
    others = sorted(path.name for path in folder.iterdir() if path.name not in MODEL_NAMES or path.is_dir())
    if others:
        raise PredictorError(
            f"folder of the model: {folder} holds {shown(others[0])}; accepted: a new or empty folder, or "
            "one with the files of a model alone, which are replaced"
        )


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder whole or not at all, in place of an earlier or a damaged one.

    Raises: PredictorError: the folder holds other files than a model's.
    """
    require_model_folder(folder)
    with replacing_folder(folder) as new:
        for name, content in files.items():
            (new / name).write_bytes(content)


def write_outcome(
    outcome: TrainOutcome,
    files: Mapping[str, bytes],
    *,
    measure: Callable[[TrainOutcome], PredictorCostRow] | None = None,
) -> TrainOutcome:
    """Write an outcome with its files into its folder, whole or not at all.

    Args:    measure: costs of the outcome, which is in another folder meanwhile; they are written with it.
    Returns: the outcome with the costs.
    Raises:  PredictorError: the folder holds other files than a model's.
    """
    require_model_folder(outcome.folder)
    record = {k: v for k, v in asdict(outcome).items() if k not in ("folder", "cached", "costs")}
    record["files"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    contents = {**files, OUTCOME_FILE: sealed_json(json.loads(canonical_json(record)))}
    with replacing_folder(outcome.folder) as new:
        for name, content in contents.items():
            (new / name).write_bytes(content)
        if measure is not None:
            costs = measure(replace(outcome, folder=new))
            (new / COSTS_FILE).write_bytes(sealed_json(asdict(costs)))
            outcome = replace(outcome, costs=costs)
    return outcome


def update_outcome(outcome: TrainOutcome) -> None:
    """Replace the outcome in its folder; the other files stay, with the hashes that they had."""
    path = outcome.folder / OUTCOME_FILE
    record = {k: v for k, v in asdict(outcome).items() if k not in ("folder", "cached", "costs")}
    record["files"] = read_sealed_json(path)["files"]
    write_bytes_atomically(path, sealed_json(json.loads(canonical_json(record))))


def read_outcome(folder: Path) -> TrainOutcome | None:
    """Read the outcome in a folder; None where it is absent, unfinished or damaged."""
    try:
        record = read_sealed_json(folder / OUTCOME_FILE)
        for name, digest in record.pop("files").items():
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
                return None
        record["seen_groups"] = tuple(record["seen_groups"])
        record["curves"] = {name: tuple(curve) for name, curve in record["curves"].items()}
        record["leaderboard"] = tuple(LeaderboardRow(**row) for row in record["leaderboard"])
        record["workloads"] = tuple(WorkloadErrorRow(**row) for row in record.get("workloads", ()))
        return TrainOutcome(**record, folder=folder, cached=True, costs=read_costs(folder))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_costs(folder: Path) -> PredictorCostRow | None:
    """Read the costs in the folder of an outcome; None where it has none, or damaged ones."""
    try:
        return PredictorCostRow(**read_sealed_json(folder / COSTS_FILE))
    except (PredictorError, TypeError):
        return None


def _json_hash(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
