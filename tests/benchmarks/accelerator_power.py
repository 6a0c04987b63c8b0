"""Power and energy on the four splits: the model, its ablations and baselines on the same rows.

python -m tests.benchmarks.accelerator_power DATA [--splits random scale arch1] [--ablations] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from models.compile_power import PREDICTOR, FitOptions
from models.compile_power.baselines import analytical, trees
from models.compile_power.data import Pair, read_pairs
from models.compile_power.train import fit_power
from models.metrics import mape, r_squared

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
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument(
        "--shipped-encoders", action="store_true", help="Train heads alone, two of 60 epochs."
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    pairs = read_pairs([asked.data])
    rows: list[dict[str, Any]] = []
    for split in asked.splits:
        options, encoders = FitOptions(split=split), None
        if asked.shipped_encoders:
            shipped = PREDICTOR.load(PREDICTOR.shipped_folder)
            options, encoders = replace(options, epochs=60, members=2), (shipped.software, shipped.hardware)
        ablations = ABLATIONS if asked.ablations else {}
        rows += judge(pairs, options, asked.seed, ablations=ablations, encoders=encoders)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1))


def judge(
    pairs: Sequence[Pair], options: FitOptions, seed: int, *, ablations: Any, encoders: Any
) -> list[dict[str, Any]]:
    """Figures of every method on one split."""
    labelled = [pair for pair in pairs if pair.power_mw is not None]
    train, test = ([p for p in labelled if p.parts[options.split] == part] for part in ("train", "test"))
    actual = np.array([[getattr(pair, target) for target in TARGETS] for pair in test], float)
    answers = {
        "analytical": analytical(test),
        "lightgbm, parameters": trees(train, test, is_compiled=False),
        "lightgbm, compiled": trees(train, test, is_compiled=True),
    }
    for name, changes in {"compile-power": {}, **ablations}.items():
        own = None if changes else encoders
        model, _ = fit_power(pairs, replace(options, **changes), seed=seed, encoders=own)
        answers[name] = np.exp(model.logarithms(test))
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
            row["tau"] = float(kendalltau(actual[:, place], predicted[:, place]).statistic)
            if method != "analytical":
                row["mape"] = mape(actual[:, place], predicted[:, place])
                row["r2"] = r_squared(actual[:, place], predicted[:, place])
            rows.append(row)
            figures = " ".join(f"{n} {row[n]:.4f}" for n in ("mape", "r2", "tau") if n in row)
            print(f"{options.split:8} {method:26} {target:10} {len(train)}/{len(test)} {figures}", flush=True)
    return rows


if __name__ == "__main__":
    main()
