"""Power and energy on the four splits: the model, its ablations and baselines on the same rows.

python -m tests.benchmarks.accelerator_power DATA [--splits random scale] [--ablations] [--plot FILE.svg]
DATA: a release with labels of the systolic accelerator, or of fixed-point pipelines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from scipy.stats import kendalltau

from models.compile_power import PREDICTOR, FitOptions
from models.compile_power.baselines import analytical, start_logarithms, trees
from models.compile_power.compared import FIXED, SYSTOLIC
from models.compile_power.data import Pair, read_fixed_pairs, read_pairs
from models.compile_power.train import fit_power
from models.metrics import mape, r_squared

Vector = NDArray[np.float64]
TARGETS = ("power_mw", "energy_nj")
ABLATIONS = {
    "without pre-training": {"software_epochs": 0, "hardware_epochs": 0},
    "without hardware encoder": {"has_hardware": False},
    "energy weight 0": {"energy_weight": 0.0},
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", nargs="+", default=["random", "scale", "arch1", "arch2"])
    parser.add_argument("--plot", type=Path, help="Prediction against truth (the paper's Figure 4).")
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument(
        "--shipped-encoders", action="store_true", help="Train heads alone, two of 60 epochs."
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    is_fixed = (asked.data / "tables" / "fixed_networks").is_dir()
    pairs = (read_fixed_pairs if is_fixed else read_pairs)([asked.data])
    drawn: dict[str, tuple[Vector, Vector]] = {}
    rows: list[dict[str, Any]] = []
    for split in asked.splits:
        if split not in pairs[0].parts:
            continue
        options, encoders = FitOptions(split=split, has_hardware=not is_fixed), None
        if asked.shipped_encoders:
            shipped = PREDICTOR.load(PREDICTOR.shipped_folder)
            options, encoders = replace(options, epochs=60, members=2), (shipped.software, shipped.hardware)
        ablations = ABLATIONS if asked.ablations else {}
        rows += judge(pairs, options, asked.seed, ablations=ablations, encoders=encoders, drawn=drawn)
    if asked.plot:
        draw(drawn, asked.plot)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


def judge(
    pairs: Sequence[Pair],
    options: FitOptions,
    seed: int,
    *,
    ablations: Any,
    encoders: Any,
    drawn: dict[str, tuple[Vector, Vector]],
) -> list[dict[str, Any]]:
    """Figures of every method on one split."""
    labelled = [pair for pair in pairs if pair.power_mw is not None]
    train, test = ([p for p in labelled if p.parts[options.split] == part] for part in ("train", "test"))
    actual = np.array([[getattr(pair, target) for target in TARGETS] for pair in test], float)
    is_fixed = pairs[0].hardware is None
    answers = {
        "analytical": np.exp(start_logarithms(test)) if is_fixed else analytical(test),
        "LightGBM, compiled": trees(train, test, is_compiled=True),
    }
    if not is_fixed:
        answers["LightGBM, parameters"] = trees(train, test, is_compiled=False)
    for name, method in (FIXED if is_fixed else SYSTOLIC).items():
        answers[name] = method(train, test)
    for name, changes in {"compile-power": {}, **ablations}.items():
        own = None if "software_epochs" in changes else encoders  # the others change the heads alone
        model, _ = fit_power(pairs, replace(options, **changes), seed=seed, encoders=own)
        answers[name] = np.exp(model.logarithms(test))
    drawn[options.split] = (actual, answers["compile-power"])
    rows: list[dict[str, Any]] = []
    for method, predicted in answers.items():
        for place, target in enumerate(TARGETS):
            row = {
                "split": options.split,
                "method": method,
                "target": target,
                "train": len(train),
                "test": len(test),
            }
            tau: Any = kendalltau(actual[:, place], predicted[:, place])
            row["tau"] = float(tau.statistic)
            if method != "analytical":
                row["mape"] = mape(actual[:, place], predicted[:, place])
                row["r2"] = r_squared(actual[:, place], predicted[:, place])
            rows.append(row)
            figures = " ".join(f"{n} {row[n]:.4f}" for n in ("mape", "r2", "tau") if n in row)
            print(f"{options.split:8} {method:26} {target:10} {len(train)}/{len(test)} {figures}", flush=True)
    return rows


def draw(points: Mapping[str, tuple[Vector, Vector]], path: Path) -> None:
    """Prediction against truth of every split, power above energy, on logarithmic axes."""
    figure, axes = plt.subplots(2, len(points), figsize=(3 * len(points), 6), squeeze=False)
    for column, (split, (actual, predicted)) in enumerate(points.items()):
        for row, target in enumerate(TARGETS):
            axis = axes[row][column]
            axis.loglog(actual[:, row], predicted[:, row], ".", markersize=3)
            ends = [actual[:, row].min(), actual[:, row].max()]
            axis.loglog(ends, ends, linewidth=0.8)
            axis.set(title=f"{split}: {target}", xlabel="simulated", ylabel="predicted")
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
