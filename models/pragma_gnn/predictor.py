"""A trained surrogate: latencies of configurations, and its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.base import PredictorError
from models.model_files import ModelFiles
from models.pragma_gnn.choices import LOOP_FEATURES, WHOLE_FEATURES, Choices, describe_choices
from models.pragma_gnn.data import configuration_of_key
from models.pragma_gnn.graph import EDGE_FEATURES, EDGES, NODE_FEATURES, program_graph
from models.pragma_gnn.network import PragmaGnn, ProgramTensors, choice_tensors, program_tensors
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Bound, Target, bound, read_target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.summary import Summary

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
        """Return a network with weights of torch's random state."""
        return PragmaGnn(
            width=self.width,
            rounds=self.rounds,
            climbs=self.climbs,
            tools=len(self.tools) + 1,
            with_bound=self.with_bound,
            dropout=self.dropout,
        )


def tool_number(tools: Sequence[str], tool: str | None) -> int:
    """Return a tool's number in the network, 0 for any."""
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
        """Return the predictor for one program, which it encodes here."""
        programs = program_tensors([program_graph(summary)])
        with torch.inference_mode():
            states = tuple(member.program(programs) for member in self.members)
        return ProgramSurrogate(predictor=self, summary=summary, programs=programs, states=states)

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
        """Return latencies of programs under configurations, JSON as in table pragma_designs, one per row.

        Raises: PredictorError: a row is not acceptable; the message names the row, from 0.
        """
        answers: list[dict[str, float]] = []
        for place, row in enumerate(rows):
            try:
                summary = summarise(str(row["source"]), str(row["top"]))
                configuration = configuration_of_key(str(row["configuration"]))
                least = bound(summary, configuration, self.target)
                [cycles] = self.surrogate(summary).predict([configuration], [least])
            except (ValueError, KeyError, TypeError) as error:
                raise PredictorError(f"row {place}: {error}") from error
            answers.append({"latency_cycles": float(cycles), "bound_cycles": float(least.latency_cycles)})
        return answers

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        card = {
            "features": _FEATURES,
            "shape": asdict(self.shape),
            "members": len(self.members),
            "target": self.target.name,
            "about": self.about,
        }
        arrays = {
            f"{n}.{name}": values.numpy()
            for n, member in enumerate(self.members)
            for name, values in member.state_dict().items()
        }
        return ModelFiles(card=card, arrays=arrays)


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
        """Predict the latency in cycles of each configuration; with a bound, bound * exp(output).
        (configurations,)

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
        """Return natural logarithm of the latency in cycles of described configurations. (configurations,)"""
        number = tool_number(self.predictor.shape.tools, tool)
        parts = [
            self._answers(choices.part(n, n + _AT_ONCE), number) for n in range(0, len(choices), _AT_ONCE)
        ]
        answers = np.concatenate(parts)
        return answers + choices.log_bound if self.predictor.shape.with_bound else answers

    def _answers(self, choices: Choices, tool: int) -> NDArray[np.float64]:
        tensors = choice_tensors([choices], [[tool] * len(choices)])
        with torch.inference_mode():
            predictions = [
                member.answers(self.programs, states, tensors).numpy()
                for member, states in zip(self.predictor.members, self.states, strict=True)
            ]
        return np.mean(predictions, axis=0).astype(np.float64)


def load(files: ModelFiles) -> PragmaGnnPredictor:
    """Load the predictor from its files.

    Raises: PredictorError: it is of other features than this version computes. RuntimeError: of other shapes.
    """
    card = files.card
    if card.get("features") != json.loads(json.dumps(_FEATURES)):
        raise PredictorError("features of the surrogate are not those of this version; train again")
    shape = NetworkShape(**card["shape"] | {"tools": tuple(card["shape"]["tools"])})
    members: list[PragmaGnn] = []
    for n in range(int(card["members"])):
        network = shape.untrained()
        names = network.state_dict()
        network.load_state_dict({name: torch.from_numpy(files.arrays[f"{n}.{name}"]) for name in names})
        members.append(network.eval())
    return PragmaGnnPredictor(
        shape=shape, target=read_target(card["target"]), members=tuple(members), about=str(card["about"])
    )
