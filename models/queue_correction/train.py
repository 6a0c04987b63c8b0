"""Training the correction that comes with the project, from a folder of simulated runs.

    python -m models.queue_correction.train releases/network-v1/tables

Belongs here: which groups of runs it learns from, and writing its file. Does not: the training (`fit.py`,
`tail_fit.py`).

It learns from the drawn groups alone. The results are measured on the grid of chapter 5's experiments, which
has seeds, routes and sizes of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from models.queue_correction.correction import SHIPPED, Correction, correction_bytes
from models.queue_correction.data import read_runs
from models.queue_correction.fit import FitOptions, fit_correction, training_samples
from models.queue_correction.tail_fit import fit_tails
from pipelines.schemas import write_bytes_atomically

DRAWN_GROUPS = ("sampled-16", "sampled-54", "sampled-128", "sampled-two-tier")
SEED = 0


def train_correction(
    tables: Path, *, groups: Sequence[str] = DRAWN_GROUPS, options: FitOptions | None = None, seed: int = SEED
) -> Correction:
    """A correction of the runs of some groups, and then what quantiles are beyond their law with its waits.

    Args:   tables: folder with a folder of Parquet files each of network_runs, network_flows, network_hops.
    Raises: PredictorError: a file is missing.
    """
    runs = list(read_runs(tables, groups))
    samples = training_samples(runs, seed=seed)
    about = f"{len(runs)} runs of {', '.join(groups)}, {len(samples.targets)} streams, seed {seed}"
    correction = fit_correction(samples, options or FitOptions(), seed=seed, about=about)
    return replace(correction, tails=fit_tails(runs, correction, seed=seed))


if __name__ == "__main__":
    write_bytes_atomically(SHIPPED, correction_bytes(train_correction(Path(sys.argv[1]))))
