"""Training the picker: a ridge regression of logarithms, and trees on what it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightgbm
import numpy as np

from models.base import PredictorError
from models.boosted_trees import BoostedTrees
from models.catalogue import Trained, TrainingInput
from models.rtl_engine import FitOptions
from models.rtl_engine.data import MeasuredDesign, read_measured, regret
from models.rtl_engine.picker import TARGETS, EnginePicker, Law, Matrix, linear, logs_of

_LEAST_DESIGNS = 4


def train(data: TrainingInput) -> Trained:
    """Train on the families that are not held out.

    Raises: DatasetError: no measured simulations. PredictorError: too few designs.
    """
    options: FitOptions = data.options
    known = read_measured(data.data_dirs)
    designs = [design for design in known if design.family not in options.held_out]
    picker = fit_picker(designs, options, data.seed)
    held_out = [design for design in known if design.family in options.held_out]
    summary = {"train_designs": float(len(designs)), "train_regret": mean_regret(picker, designs)}
    if held_out:
        summary["held_out_regret"] = mean_regret(picker, held_out)
    return Trained(
        files=picker.files, seen_groups=sorted({design.family for design in designs}), summary=summary
    )


def fit_picker(designs: Sequence[MeasuredDesign], options: FitOptions, seed: int) -> EnginePicker:
    """Return the laws of the engines that have enough designs."""
    engines = sorted({engine for design in designs for engine in design.times})
    laws: dict[str, dict[str, Law]] = {}
    for engine in engines:
        own = [design for design in designs if engine in design.times]
        if len(own) < _LEAST_DESIGNS:
            continue
        logs = logs_of([design.features for design in own])
        laws[engine] = {
            target: fit_law(logs, np.log([design.times[engine][i] for design in own]), options, seed)
            for i, target in enumerate(TARGETS)
        }
    if not laws:
        raise PredictorError(f"{len(designs)} designs to learn from; {_LEAST_DESIGNS} per engine are needed")
    with_memories = [design for design in designs if design.features["memory_bits"]]
    without = {e for e in laws if with_memories and not any(e in d.times for d in with_memories)}
    return EnginePicker(laws=laws, without_memories=frozenset(without))


def fit_law(logs: Matrix, targets: Matrix, options: FitOptions, seed: int) -> Law:
    """Return a law for logarithms of a time. logs (rows, features), targets (rows,)."""
    inputs = linear(logs)
    penalty = options.ridge * np.eye(inputs.shape[1])
    penalty[-1, -1] = 1e-6  # the constant is free
    weights: Matrix = np.linalg.solve(inputs.T @ inputs + penalty, inputs.T @ targets).astype(np.float64)
    parameters: dict[str, Any] = {
        "objective": "regression_l1",
        "num_leaves": options.leaves,
        "min_data_in_leaf": options.leaf_designs,
        "learning_rate": options.learning_rate,
        "boost_from_average": False,
        "seed": seed,
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(logs, label=targets - inputs @ weights, params={"verbosity": -1})
    trees = lightgbm.train(parameters, data, num_boost_round=options.trees)
    return Law(weights=weights, trees=BoostedTrees.of_text(trees.model_to_string()))


def mean_regret(picker: EnginePicker, designs: Sequence[MeasuredDesign]) -> float:
    """Return the mean regret over designs."""
    return float(
        np.mean(
            [
                regret(d, lambda cycles, engines, d=d: picker.choose(d.features, cycles, engines))
                for d in designs
            ]
        )
    )
