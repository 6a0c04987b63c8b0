"""Power and energy on the four splits: the model, its ablations and baselines on the same rows.

python -m tests.benchmarks.accelerator_power DATA [--splits random scale] [--ablations] [--plot FILE.svg]
python -m tests.benchmarks.accelerator_power DATA --times
DATA: a release with labels of the systolic accelerator, or of fixed-point pipelines.

Of the systolic accelerator there is one more split, hardware: a fifth of the configurations is tested,
with all their networks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from scipy.stats import kendalltau

from models.compile_power import PREDICTOR, FitOptions
from models.compile_power.baselines import analytical, fit_loads, start_logarithms, trees
from models.compile_power.data import Pair, read_fixed_pairs, read_pairs
from models.compile_power.train import fit_power
from models.metrics import mape, r_squared
from pipelines.accelerators import AcceleratorError, compile_network, network_of
from pipelines.accelerators.fixed.sharing import trace_network
from pipelines.accelerators.labels import Labeller
from pipelines.accelerators.networks import FAMILIES, FIXED_FAMILIES, drawn_fixed_network, drawn_network
from pipelines.base.identity import content_hash
from pipelines.schemas import read_arrow
from pipelines.silicon.synthesis import find_liberty
from tests.benchmarks.harness import options_parser, write_json
from tests.support.compared_power import FIXED, SYSTOLIC

Vector = NDArray[np.float64]
_COMPILED_NETWORKS, _TEST_SHARE = 10, 0.2
TARGETS = ("power_mw", "energy_nj")
ABLATIONS = {
    "without pre-training": {"software_epochs": 0, "hardware_epochs": 0},
    "without hardware encoder": {"has_hardware": False},
    "energy weight 0": {"energy_weight": 0.0},
}


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", nargs="+", default=["random", "scale", "arch1", "arch2", "hardware"])
    parser.add_argument("--plot", type=Path, help="Prediction against truth (the paper's Figure 4).")
    parser.add_argument("--ablations", action="store_true")
    parser.add_argument(
        "--shipped-encoders", action="store_true", help="Train heads alone, two of 60 epochs."
    )
    parser.add_argument(
        "--times", action="store_true", help="Errors of timed cycles and times of labels instead."
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    is_fixed = (asked.data / "tables" / "fixed_networks").is_dir()
    pairs = (read_fixed_pairs if is_fixed else read_pairs)([asked.data])
    if asked.times:
        print_times(asked.data, pairs, is_fixed=is_fixed)
        return
    if not is_fixed:
        pairs = by_configuration(pairs)
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
    write_json(asked.json, rows)


def by_configuration(pairs: Sequence[Pair]) -> list[Pair]:
    """Pairs with one more split: a fifth of the configurations, by hash, is tested.

    Groups that take no part in the splits by network take none in this one.
    """

    def part(pair: Pair) -> str:
        if pair.parts["scale"] == "none":
            return "none"
        draw = int(content_hash("hardware split", pair.accelerator_id)[:8], 16) / 16**8
        return "test" if draw < _TEST_SHARE else "train"

    return [replace(pair, parts={**pair.parts, "hardware": part(pair)}) for pair in pairs]


def print_times(data: Path, pairs: Sequence[Pair], *, is_fixed: bool) -> None:
    """Single measurements: cycles against the RTL, times of labels, and of compilation in this process."""
    table, key = ("fixed_networks", "fixed_id") if is_fixed else ("accelerator_labels", "compiled_id")
    labelled = {pair.compiled_id: pair for pair in pairs if pair.power_mw is not None}
    walls = {
        row[key]: row["label_wall_s"]
        for path in sorted((data / "measured" / table).glob("*.parquet"))
        for row in read_arrow(path).to_pylist()
    }
    for family in sorted({pair.family for pair in labelled.values()}):
        own = np.array([walls[i] for i, pair in labelled.items() if pair.family == family])
        quantiles = " ".join(f"{q:g} % {np.percentile(own, q):.1f}" for q in (50, 95, 100))
        print(f"label of {family}, s: {len(own)} rows, mean {own.mean():.1f}, {quantiles}")
    if is_fixed:
        drawn = [(family, seed) for seed in range(_COMPILED_NETWORKS) for family in FIXED_FAMILIES]
        start = process_time()
        for family, seed in drawn:
            with suppress(AcceleratorError):  # outputs that depend on no input
                trace_network(network_of(drawn_fixed_network(family, seed), family))
        print(f"compilation of a pipeline, s of processor time: {(process_time() - start) / len(drawn):.3f}")
        return
    timed = [pair for pair in labelled.values() if pair.cycles]
    errors = np.array([abs(pair.estimated_cycles / (pair.cycles or 1) - 1) for pair in timed])
    quantiles = " ".join(f"{q:g} % {np.percentile(errors, q):.2%}" for q in (50, 95, 100))
    print(f"timed cycles against the RTL: {len(errors)} rows, mean {errors.mean():.2%}, {quantiles}")
    by_size = sorted(
        {pair.of_hardware for pair in timed}, key=lambda h: (h.rows * h.columns, h.accelerator_id)
    )
    start = process_time()
    for hardware in by_size[:_COMPILED_NETWORKS]:
        for family in FAMILIES:
            compile_network(network_of(drawn_network(family, "small", 0, has_data=False), family), hardware)
    count = len(by_size[:_COMPILED_NETWORKS]) * len(FAMILIES)
    print(f"compiled pair, ms of processor time: {(process_time() - start) / count * 1e3:.1f}")
    for hardware in (by_size[0], by_size[-1]):
        start = perf_counter()
        with TemporaryDirectory() as folder:
            labeller = Labeller(hardware=hardware, liberty_path=find_liberty("osu018"), folder=Path(folder))
            cells = labeller.synthesis.cell_count
        size = f"{hardware.rows} by {hardware.columns}, {cells:,} cells"
        print(f"synthesis and RTL simulator of {size}, s elapsed: {perf_counter() - start:.1f}")


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
        "analytical": np.exp(start_logarithms(test, fit_loads(train))) if is_fixed else analytical(test),
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
