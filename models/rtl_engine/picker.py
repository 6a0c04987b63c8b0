"""The picker: build time and time per cycle of each engine, and the engine that is done first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.boosted_trees import BoostedTrees
from models.model_files import ModelFiles

FEATURES = (
    "instances",
    "blocks",
    "nodes",
    "instance_nodes",
    "register_bits",
    "memory_bits",
    "levels",
    "copied_words",
    "input_bits",
    "output_bits",
)
"""Columns of table `simulations`; the law is in their logarithms."""
TARGETS = ("build_s", "cycle_ns")
Matrix = NDArray[np.float64]


def logs_of(rows: Sequence[Mapping[str, Any]]) -> Matrix:
    """Return the logarithms of features plus 1, and of what repeats. (rows, features + 1)"""
    raw = np.array([[float(row[name] or 0) for name in FEATURES] for row in rows], np.float64)
    logs = np.log1p(raw)
    repeats = logs[:, FEATURES.index("instance_nodes")] - logs[:, FEATURES.index("nodes")]
    return np.concatenate([logs, repeats[:, None]], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Law:
    """Logarithm of a time: linear in logarithms of features, corrected by trees.

    Attributes: weights: (features + 2,), the last one is the constant.
    """

    weights: Matrix
    trees: BoostedTrees

    def seconds(self, logs: Matrix) -> Matrix:
        """Return the times of rows of logarithms, in the unit of the target. (rows,)"""
        return np.exp(linear(logs) @ self.weights + self.trees.predict(logs)).astype(np.float64)


def linear(logs: Matrix) -> Matrix:
    """Append a column of ones."""
    return np.concatenate([logs, np.ones((len(logs), 1))], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EnginePicker:
    """Laws of every engine.

    Attributes:
        laws: by engine and target. without_memories: engines that reject designs with memories.
    """

    laws: Mapping[str, Mapping[str, Law]]
    without_memories: frozenset[str]

    def seconds(self, row: Mapping[str, Any], cycles: int) -> dict[str, float]:
        """Return build plus run time by engine, of engines that accept the design."""
        logs = logs_of([row])
        return {
            engine: float(
                laws["build_s"].seconds(logs)[0] + cycles * 1e-9 * laws["cycle_ns"].seconds(logs)[0]
            )
            for engine, laws in self.laws.items()
            if not (row["memory_bits"] and engine in self.without_memories)
        }

    def choose(self, row: Mapping[str, Any], cycles: int, engines: Sequence[str]) -> str:
        """Return the engine that is done first, among those that are there.

        Raises: PredictorError: none of them is known.
        """
        seconds = {e: s for e, s in self.seconds(row, cycles).items() if e in engines}
        if not seconds:
            raise PredictorError(f"no engine for the design; known: {', '.join(self.laws)}")
        return min(seconds, key=lambda engine: seconds[engine])

    def answer(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the engine and times of rows with Verilog, or with its features as JSON.

        Raises: PredictorError: a design is rejected; the message names the row, from 0.
        """
        answers: list[dict[str, Any]] = []
        for place, row in enumerate(rows):
            features = _features(row, place)
            seconds = self.seconds(features, int(row["cycles"]))
            engines = [e for e in str(row["engines"]).split() if e in seconds] or list(seconds)
            engine = self.choose(features, int(row["cycles"]), engines)
            answers.append(
                {
                    "engine": engine,
                    "seconds": seconds[engine],
                    "alternatives": json.dumps({e: round(seconds[e], 3) for e in engines}),
                }
            )
        return answers

    @property
    def files(self) -> ModelFiles:
        """The picker as plain data; trees are LightGBM's text as bytes."""
        arrays: dict[str, NDArray[Any]] = {}
        for engine, laws in self.laws.items():
            for target, law in laws.items():
                arrays[f"weights_{engine}_{target}"] = law.weights
                arrays[f"trees_{engine}_{target}"] = law.trees.array
        card = {
            "features": list(FEATURES),
            "engines": list(self.laws),
            "without_memories": sorted(self.without_memories),
        }
        return ModelFiles(card=card, arrays=arrays)


def load(files: ModelFiles) -> EnginePicker:
    """Load the picker from its files.

    Raises: KeyError, ValueError: not such a picker. PredictorError: of other features.
    """
    if files.card["features"] != list(FEATURES):
        raise PredictorError("trained on other features; train again")
    laws = {
        engine: {
            target: Law(
                weights=files.arrays[f"weights_{engine}_{target}"],
                trees=BoostedTrees.of_array(files.arrays[f"trees_{engine}_{target}"]),
            )
            for target in TARGETS
        }
        for engine in files.card["engines"]
    }
    return EnginePicker(laws=laws, without_memories=frozenset(files.card["without_memories"]))


def _features(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    from pipelines.rtl.reuse import RtlError
    from pipelines.rtl.reuse.dataset import verilog_features

    try:
        return verilog_features(str(row["verilog"]), str(row["top"]))
    except RtlError as error:
        raise PredictorError(f"row {place}: {error}") from error
