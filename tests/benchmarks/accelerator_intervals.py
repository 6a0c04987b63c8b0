"""How many labels the intervals of power and energy hold, on labels that no training or calibration sees.

python -m tests.benchmarks.accelerator_intervals releases/accelerators-v2 [--before FOLDER] [--splits scale]
python -m tests.benchmarks.accelerator_intervals releases/fixed-v2 [--before FOLDER] [--splits scale arch1]

The shipped model on groups that are held out, on the test part of the random split, and with them what a
constant (the median of the training part) and the analytical model (scaled by its median ratio) have; their
intervals are 95 % quantiles of their errors on the training part. --before: folder of older weights, whose
intervals are one constant. --splits: heads trained without that split's test part, with the shipped encoders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.compile_power import FIXED_PREDICTOR, PREDICTOR, FitOptions
from models.compile_power.baselines import start_logarithms
from models.compile_power.data import Pair, read_fixed_pairs, read_pairs
from models.compile_power.inference import QueryModel, read_query_model
from models.compile_power.intervals import COVERED, half_widths
from models.compile_power.train import fit_power
from models.model_files import read_model
from pipelines.schemas import read_arrow
from tests.benchmarks.harness import options_parser

Vector = NDArray[np.float64]
_HEAD = ("labels", "predictor", "target", "MAPE", "held", "of", "share", "median factor", "outside")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("release", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--splits", nargs="*", default=[])
    asked = parser.parse_args()
    is_fixed = (asked.release / "tables" / "fixed_networks").is_dir()
    spec = FIXED_PREDICTOR if is_fixed else PREDICTOR
    pairs = [p for p in (read_fixed_pairs if is_fixed else read_pairs)([asked.release]) if p.power_mw]
    shipped = read_query_model(spec.shipped_folder, spec.name)
    print(" | ".join(_HEAD))
    known = [pair for pair in pairs if pair.parts["random"] == "train"]
    for name, chosen in held_out(asked.release, pairs).items():
        outside = sum(bool(shipped.labelled.outside(pair)) for pair in chosen)
        show(name, "compile-power", chosen, shipped.logarithms(chosen), widths_of(shipped, chosen), outside)
        if asked.before:
            files = read_model(asked.before)[1]
            constant = np.broadcast_to(
                np.asarray(files.arrays["normal.spread"], np.float64), (len(chosen), 2)
            )
            show(name, "before", chosen, older(asked.before).logarithms(chosen), constant)
        baselines(name, known, chosen)
    for split in asked.splits:
        show_split(split, spec.shipped_folder, pairs, is_fixed=is_fixed)


def held_out(release: Path, pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Labelled pairs that no training or calibration sees, by group."""
    groups: dict[str, str] = {}
    for path in sorted((release / "tables" / "compiled_networks").glob("*.parquet")):
        rows = read_arrow(path, columns=["compiled_id", "group"]).to_pylist()
        groups |= {row["compiled_id"]: row["group"] for row in rows}
    chosen: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.parts["random"] != "train":
            name = "random: test" if pair.parts["random"] == "test" else groups[pair.compiled_id]
            chosen.setdefault(name, []).append(pair)
    return chosen


def older(folder: Path) -> QueryModel:
    """Older weights, read for their answers alone."""

    class Older(QueryModel):
        def __init__(self) -> None:
            name, files = read_model(folder)
            del name
            self.arrays = {n: np.asarray(values, np.float64) for n, values in files.arrays.items()}
            self.settings = files.card["settings"]

    return Older()


def widths_of(model: QueryModel, pairs: Sequence[Pair]) -> Vector:
    """(pairs, 2) half-widths."""
    return half_widths(model.labelled, model.arrays["interval.weights"], pairs)


def labels_of(pairs: Sequence[Pair]) -> Vector:
    """(pairs, 2) logarithms."""
    return np.log([[float(pair.power_mw or 1), float(pair.energy_nj or 1)] for pair in pairs])


def baselines(name: str, known: Sequence[Pair], chosen: Sequence[Pair]) -> None:
    """A constant and the analytical model."""
    labels = labels_of(known)
    answers = {
        "constant": (np.zeros((len(known), 2)), np.zeros((len(chosen), 2))),
        "analytical": (start_logarithms(known), start_logarithms(chosen)),
    }
    for predictor, (own, asked) in answers.items():
        shift = np.median(labels - own, axis=0)
        width = np.quantile(np.abs(own + shift - labels), COVERED, axis=0)
        show(name, predictor, chosen, asked + shift, np.broadcast_to(width, (len(chosen), 2)))


def show_split(split: str, shipped_folder: Path, pairs: Sequence[Pair], *, is_fixed: bool) -> None:
    """Heads and intervals of a split's training part on its test part."""
    spec = FIXED_PREDICTOR if is_fixed else PREDICTOR
    model = spec.load(shipped_folder)
    options = replace(FitOptions(split=split), has_hardware=not is_fixed)
    fitted, _ = fit_power(pairs, options, seed=0, encoders=(model.software, model.hardware))
    test = [pair for pair in pairs if pair.parts[split] == "test"]
    widths = half_widths(fitted.labelled, fitted.weights, test)
    outside = sum(bool(fitted.labelled.outside(pair)) for pair in test)
    show(f"{split}: test", "compile-power", test, fitted.logarithms(test), widths, outside)
    baselines(f"{split}: test", [p for p in pairs if p.parts[split] == "train"], test)


def show(
    name: str,
    predictor: str,
    pairs: Sequence[Pair],
    answers: Vector,
    widths: Vector,
    outside: int | None = None,
) -> None:
    """A row per target."""
    distances = answers - labels_of(pairs)
    errors = np.abs(np.expm1(distances)).mean(axis=0)
    inside = (np.abs(distances) <= widths).sum(axis=0)
    for place, target in enumerate(("power", "energy")):
        cells = [name, predictor, target, f"{errors[place]:.1%}", str(inside[place]), str(len(pairs))]
        factor = float(np.exp(np.median(widths[:, place])))
        cells += [
            f"{inside[place] / len(pairs):.1%}",
            f"{factor:.3f}",
            "" if outside is None else str(outside),
        ]
        print(" | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
