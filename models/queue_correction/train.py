"""Training the correction that comes with the project, from folders of simulated runs.

    python -m models.queue_correction.train releases/network-v1/tables releases/network-long-v1/tables

It learns from drawn groups alone: short runs of everything, and long ones of one packet size. The results are
measured on the grid of chapter 5's experiments, which has seeds, routes and sizes of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from models.queue_correction.correction import SHIPPED, Correction, correction_bytes
from models.queue_correction.data import read_runs
from models.queue_correction.fit import FitOptions, fit_correction, training_samples
from models.queue_correction.tail_fit import fit_tails
from pipelines.schemas import write_bytes_atomically

DRAWN_GROUPS = ("sampled-16", "sampled-54", "sampled-128", "sampled-two-tier")
LONG_GROUPS = (
    "long-16",
    "long-16-one-sided",
    "long-16-incast",
    "long-two-tier",
    "long-two-tier-one-sided",
    "long-54",
    "long-54-one-sided",
    "long-128",
    "long-128-one-sided",
)
"""Of `conf/network/long.yaml`."""
SEED = 0


def train_correction(
    groups: Mapping[Path, Sequence[str]], *, options: FitOptions | None = None, seed: int = SEED
) -> Correction:
    """A correction of the runs of some groups, and then what quantiles are beyond their law with its waits.

    Args:   groups: names by the folder with a folder of Parquet files each of network_runs, network_flows,
            network_hops.
    Raises: PredictorError: a file is missing.
    """
    runs = [run for tables, names in groups.items() for run in read_runs(tables, names)]
    samples = training_samples(runs, seed=seed)
    names = ", ".join(name for some in groups.values() for name in some)
    about = f"{len(runs)} runs of {names}, {len(samples.targets)} streams, seed {seed}"
    correction = fit_correction(samples, options or FitOptions(), seed=seed, about=about)
    return replace(correction, tails=fit_tails(runs, correction, seed=seed))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("two folders of tables must be given: drawn runs, long runs")
    drawn, long = (Path(argument) for argument in sys.argv[1:])
    trained = train_correction({drawn: DRAWN_GROUPS, long: LONG_GROUPS})
    write_bytes_atomically(SHIPPED, correction_bytes(trained))
