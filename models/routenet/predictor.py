"""A trained RouteNet: answers for modelled networks, and its file."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.base import PredictorError
from models.routenet.graph import FLOW_FEATURES, PLACE_FEATURES, QUEUE_FEATURES, graph_of
from models.routenet.network import RouteNet, tensors_of
from pipelines.network.queueing import NetworkModel

_FORMAT = 1
_FEATURES = {"flows": FLOW_FEATURES, "queues": QUEUE_FEATURES, "places": PLACE_FEATURES}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RouteNetPredictor:
    """A trained network. about: what it was trained on, for people."""

    network: RouteNet
    about: str

    def predict(self, model: NetworkModel) -> NDArray[np.float64]:
        """Mean round trip of every flow in seconds, delay without acknowledgements. (flows,)"""
        with torch.inference_mode():
            return self.network(tensors_of(graph_of(model))).numpy().astype(np.float64)

    @property
    def parameter_count(self) -> int:
        """Trained numbers."""
        return sum(values.numel() for values in self.network.parameters())


def routenet_bytes(predictor: RouteNetPredictor) -> bytes:
    """The predictor as an npz file: arrays by name and a text, no code, equal bytes for equal content."""
    network = predictor.network
    card = {
        "format": _FORMAT,
        "features": _FEATURES,
        "width": network.gather.hidden_size,
        "rounds": network.rounds,
        "about": predictor.about,
    }
    arrays: dict[str, Any] = {name: values.numpy() for name, values in network.state_dict().items()}
    arrays["card"] = np.frombuffer(json.dumps(card, sort_keys=True).encode(), np.uint8)
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def read_routenet(path: Path) -> RouteNetPredictor:
    """The predictor in a file.

    Raises: PredictorError: it is not there, damaged, or of other features than this version computes.
    """
    try:
        # From memory, for a damaged file would stay open until it is collected.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            card = json.loads(file["card"].tobytes())
            if card["format"] != _FORMAT or card["features"] != json.loads(json.dumps(_FEATURES)):
                raise PredictorError(
                    f"RouteNet must be of this version's features, got others ({path}); train again"
                )
            network = RouteNet(width=int(card["width"]), rounds=int(card["rounds"]))
            network.load_state_dict({name: torch.from_numpy(file[name]) for name in network.state_dict()})
            return RouteNetPredictor(network=network.eval(), about=str(card["about"]))
    except _DAMAGE as error:
        if isinstance(error, PredictorError):
            raise
        raise PredictorError(f"RouteNet must be a file that training wrote, got {error} ({path})") from error


_DAMAGE = (OSError, KeyError, TypeError, RuntimeError, EOFError, zipfile.BadZipFile, ValueError)
"""What reading raises of files that training did not write; RuntimeError is torch's of other shapes."""
