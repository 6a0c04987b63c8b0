"""A trained surrogate: latencies of configurations, and its file."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.base import PredictorError
from models.pragma_gnn.choices import LOOP_FEATURES, WHOLE_FEATURES, Choices, describe_choices
from models.pragma_gnn.graph import EDGE_FEATURES, EDGES, NODE_FEATURES, program_graph
from models.pragma_gnn.network import PragmaGnn, ProgramTensors
from models.pragma_gnn.tensors import choice_tensors, program_tensors
from pipelines.pragmas.bound import Bound, Target, read_target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.summary import Summary

_FORMAT = 1
_FEATURES = {
    "nodes": NODE_FEATURES,
    "edges": EDGES,
    "edge": EDGE_FEATURES,
    "loops": LOOP_FEATURES,
    "whole": WHOLE_FEATURES,
}
_AT_ONCE = 4096
"""Configurations that go through a network together, for memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkShape:
    """What a network must be made with, besides its weights.

    Attributes: tools: whose measurements it was trained on. Others as in `FitOptions`.
    """

    width: int
    rounds: int
    climbs: int
    tools: tuple[str, ...]
    with_bound: bool
    dropout: float = 0.0

    def untrained(self) -> PragmaGnn:
        """A network with weights of torch's random state."""
        return PragmaGnn(
            width=self.width,
            rounds=self.rounds,
            climbs=self.climbs,
            tools=len(self.tools) + 1,
            with_bound=self.with_bound,
            dropout=self.dropout,
        )


def tool_number(tools: Sequence[str], tool: str | None) -> int:
    """A tool's number in the network, 0 for any."""
    return 1 + tools.index(tool) if tool in tools else 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PragmaGnnPredictor:
    """Trained networks, whose answers are averaged.

    Attributes: target: whose bound answers are relative to; about: what it was trained on, for people.
    """

    shape: NetworkShape
    target: Target
    members: tuple[PragmaGnn, ...]
    about: str

    def surrogate(self, summary: Summary) -> ProgramSurrogate:
        """The predictor for one program, which it encodes here."""
        programs = program_tensors([program_graph(summary)])
        with torch.inference_mode():
            states = tuple(member.program(programs) for member in self.members)
        return ProgramSurrogate(predictor=self, summary=summary, programs=programs, states=states)

    @property
    def parameter_count(self) -> int:
        """Trained numbers."""
        return sum(values.numel() for member in self.members for values in member.parameters())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramSurrogate:
    """A predictor for one program; made by `PragmaGnnPredictor.surrogate`."""

    predictor: PragmaGnnPredictor
    summary: Summary
    programs: ProgramTensors
    states: tuple[Tensor, ...]

    def predict(
        self,
        configurations: Sequence[Configuration],
        bounds: Sequence[Bound] | None = None,
        *,
        tool: str | None = None,
    ) -> NDArray[np.float64]:
        """Latency in cycles of each configuration; with a bound, bound * exp(output). (configurations,)

        Args:
            bounds: of the configurations, where they are known already: most of the time is theirs.
            tool: that would measure; one that was not trained on counts as any.

        Raises: PragmaError: a directive of a loop that the program has not, or an impossible one.
        """
        if not configurations:
            return np.zeros(0)
        choices = describe_choices(self.summary, configurations, self.predictor.target, bounds)
        return np.exp(self.log_latency(choices, tool=tool))

    def log_latency(self, choices: Choices, *, tool: str | None = None) -> NDArray[np.float64]:
        """Natural logarithm of the latency in cycles of described configurations. (configurations,)"""
        number = tool_number(self.predictor.shape.tools, tool)
        parts = [
            self._answers(choices.part(n, n + _AT_ONCE), number) for n in range(0, len(choices), _AT_ONCE)
        ]
        answers = np.concatenate(parts)
        return answers + choices.log_bound if self.predictor.shape.with_bound else answers

    def _answers(self, choices: Choices, tool: int) -> NDArray[np.float64]:
        tensors = choice_tensors([choices], [[tool] * len(choices)])
        with torch.inference_mode():
            found = [
                member.answers(self.programs, states, tensors).numpy()
                for member, states in zip(self.predictor.members, self.states, strict=True)
            ]
        return np.mean(found, axis=0).astype(np.float64)


def pragma_gnn_bytes(predictor: PragmaGnnPredictor) -> bytes:
    """The predictor as an npz file: arrays by name and a text, no code, equal bytes for equal content."""
    card = {
        "format": _FORMAT,
        "features": _FEATURES,
        "shape": asdict(predictor.shape),
        "members": len(predictor.members),
        "target": predictor.target.name,
        "about": predictor.about,
    }
    arrays: dict[str, Any] = {
        f"{n}.{name}": values.numpy()
        for n, member in enumerate(predictor.members)
        for name, values in member.state_dict().items()
    }
    arrays["card"] = np.frombuffer(json.dumps(card, sort_keys=True).encode(), np.uint8)
    sink = io.BytesIO()
    np.savez(sink, allow_pickle=False, **arrays)
    return sink.getvalue()


def read_pragma_gnn(path: Path) -> PragmaGnnPredictor:
    """The predictor in a file.

    Raises: PredictorError: it is not there, damaged, or of other features than this version computes.
    """
    try:
        # From memory, for a damaged file would stay open until it is collected.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return _predictor_of(file, path)
    except _DAMAGE as error:
        if isinstance(error, PredictorError):
            raise
        raise PredictorError(
            f"the surrogate must be a file that training wrote, got {error} ({path})"
        ) from error


def _predictor_of(file: Any, path: Path) -> PragmaGnnPredictor:
    card = json.loads(file["card"].tobytes())
    if card["format"] != _FORMAT or card["features"] != json.loads(json.dumps(_FEATURES)):
        raise PredictorError(
            f"the surrogate must be of this version's features, got others ({path}); train again"
        )
    shape = NetworkShape(**card["shape"] | {"tools": tuple(card["shape"]["tools"])})
    members: list[PragmaGnn] = []
    for n in range(int(card["members"])):
        network = shape.untrained()
        network.load_state_dict(
            {name: torch.from_numpy(file[f"{n}.{name}"]) for name in network.state_dict()}
        )
        members.append(network.eval())
    return PragmaGnnPredictor(
        shape=shape, target=read_target(card["target"]), members=tuple(members), about=str(card["about"])
    )


_DAMAGE = (OSError, KeyError, TypeError, RuntimeError, EOFError, zipfile.BadZipFile, ValueError)
"""What reading raises of files that training did not write; RuntimeError is torch's of other shapes."""
