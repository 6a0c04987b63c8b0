"""The trained model in NumPy: a query needs no learning framework, whose import takes longer than the answer.

It reads the arrays of `models.compile_power.network` and computes the same; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.compile_power.baselines import start_logarithms
from models.compile_power.data import MODULES, Pair, Tree, tree_of
from models.compile_power.intervals import Labelled, half_widths
from models.model_files import ModelFiles, read_model

Matrix = NDArray[np.float64]
_SCALE = 8.0


class QueryModel:
    """Power and energy with intervals, from the files of a model; labelled: what its labels cover."""

    def __init__(self, files: ModelFiles) -> None:
        self.arrays = {name: np.asarray(values, np.float64) for name, values in files.arrays.items()}
        self.settings: Mapping[str, Any] = files.card["settings"]
        self.about = str(files.card["about"])
        self.labelled = labelled_of(files)

    def logarithms(self, pairs: Sequence[Pair]) -> Matrix:
        """Return (pairs, 2) logarithms of power in mW and of energy in nJ."""
        trees: dict[str, Matrix] = {}
        rows: list[Matrix] = []
        for pair in pairs:
            parts = [self._software(pair)]
            if self.settings["has_hardware"]:
                key = pair.of_hardware.accelerator_id
                if key not in trees:
                    trees[key] = self._hardware(tree_of(pair.of_hardware, 0))
                parts.append(trees[key])
            rows.append(np.concatenate(parts))
        arrays = self.arrays
        inputs = (np.stack(rows) - arrays["normal.feature_mean"]) / arrays["normal.feature_deviation"]
        answers = np.mean(
            [self._heads(inputs, f"member{i}") for i in range(self.settings["members"])], axis=0
        )
        answers = answers * arrays["normal.target_deviation"] + arrays["normal.target_mean"]
        return answers + start_logarithms(pairs, self.settings.get("loads", ()))

    def predict(self, pairs: Sequence[Pair]) -> list[dict[str, float]]:
        """Predict the power in mW and energy in nJ, with 95 % intervals."""
        return answers_of(self.logarithms(pairs), self.labelled, self.arrays["interval.weights"], pairs)

    def _linear(self, name: str, values: Matrix) -> Matrix:
        return values @ self.arrays[f"{name}.weight"].T + self.arrays[f"{name}.bias"]

    def _heads(self, inputs: Matrix, name: str) -> Matrix:
        states = np.maximum(self._linear(f"{name}.trunk.0", inputs), 0.0)
        states = np.maximum(self._linear(f"{name}.trunk.3", states), 0.0)
        return np.concatenate(
            [self._linear(f"{name}.{head}", states) for head in ("power", "energy")], axis=1
        )

    def _software(self, pair: Pair) -> Matrix:
        """Return h_sw: GCN with self loops and symmetric normalisation (Kipf and Welling 2017)."""
        count = len(pair.counts)
        adjacency = np.eye(count)
        np.add.at(adjacency, (pair.edges[1], pair.edges[0]), 1.0)
        np.add.at(adjacency, (pair.edges[0], pair.edges[1]), 1.0)
        scale = adjacency.sum(axis=1) ** -0.5
        normal = adjacency * scale[:, None] * scale
        pooled = [self._linear("software.total", pair.total_rates.astype(np.float64))]
        states = self._linear("software.first", pair.rates.astype(np.float64))
        for layer in range(self.settings["layers"]):
            name = f"software.layers.{layer}"
            mixed = normal @ (states @ self.arrays[f"{name}.lin.weight"].T) + self.arrays[f"{name}.bias"]
            states = states + np.maximum(mixed, 0.0)
            pooled.append(states.mean(axis=0))
        return np.concatenate(pooled)

    def _hardware(self, tree: Tree) -> Matrix:
        """Return h_hw: GIN with trained epsilon (Xu et al. 2019)."""
        child = np.flatnonzero(tree.parents >= 0)
        parent = tree.parents[child]
        pooled = [self._linear("hardware.total", tree_totals(tree).astype(np.float64))]
        states = self._linear("hardware.first", tree.nodes.astype(np.float64))
        for layer in range(self.settings["layers"]):
            name = f"hardware.layers.{layer}"
            near = np.zeros_like(states)
            np.add.at(near, parent, states[child])
            near[child] += states[parent]
            mixed = (1.0 + self.arrays[f"{name}.eps"]) * states + near
            mixed = self._linear(f"{name}.nn.2", np.maximum(self._linear(f"{name}.nn.0", mixed), 0.0))
            states = self._normalised(f"hardware.norms.{layer}", np.maximum(mixed, 0.0))
            pooled.append(states.mean(axis=0) + states.sum(axis=0) / 256)
        return np.concatenate(pooled)

    def _normalised(self, name: str, values: Matrix) -> Matrix:
        centred = values - values.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
        return centred / deviation * self.arrays[f"{name}.weight"] + self.arrays[f"{name}.bias"]


def labelled_of(files: ModelFiles) -> Labelled:
    """Read the range of the labels of a model from its files."""
    card = files.card["labelled"]
    ranges = ({name: tuple(known) for name, known in card[part].items()} for part in ("hardware", "sizes"))
    hardware, sizes = ranges
    configurations = np.asarray(files.arrays["interval.configurations"], np.float64)
    return Labelled(hardware=hardware, sizes=sizes, configurations=configurations)


def answers_of(
    logarithms: Matrix, labelled: Labelled, weights: Matrix, pairs: Sequence[Pair]
) -> list[dict[str, float]]:
    """Return the figures of pairs, with intervals. weights: see `models.compile_power.intervals`."""
    return list(map(_figures_of, logarithms, half_widths(labelled, weights, pairs)))


def _figures_of(logarithms: Matrix, half_width: Matrix) -> dict[str, float]:
    """Return the power in mW and energy in nJ of their logarithms, with intervals."""
    low, mean, high = (np.exp(logarithms + sign * half_width) for sign in (-1, 0, 1))
    return {
        "power_mw": float(mean[0]),
        "energy_nj": float(mean[1]),
        "power_low_mw": float(low[0]),
        "power_high_mw": float(high[0]),
        "energy_low_nj": float(low[1]),
        "energy_high_nj": float(high[1]),
    }


def tree_totals(tree: Tree) -> NDArray[np.float32]:
    """Return (2 kinds,) logarithms of occurrences and of bits of every kind of module."""
    kinds = tree.nodes[:, : len(MODULES)]
    sizes = 2.0 ** (16.0 * tree.nodes[:, len(MODULES)]) - 1.0
    totals = np.concatenate([kinds.sum(axis=0), (kinds * sizes[:, None]).sum(axis=0)])
    return (np.log1p(totals) / _SCALE).astype(np.float32)


def read_query_model(folder: Path, predictor: str = "compile-power") -> QueryModel:
    """Read the model in a folder.

    Raises: PredictorError: it is not there, damaged, or of another predictor.
    """
    name, files = read_model(folder)
    if name != predictor:
        raise PredictorError(f"not a predictor of {predictor}: {folder} holds {name}")
    return QueryModel(files)
