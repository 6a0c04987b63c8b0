"""Corrections of queueing theory, learned from simulated networks (chapter 5.3.5).

Belongs here: features of streams, training, the trained correction, chapter 5's regression trees beside it.
Does not: queueing theory itself (`pipelines.network.queueing`), metrics shared by predictors. Importing this
package loads no learning framework; training does (`fit.py`, `paper_trees.py`).
"""

from models.queue_correction.correction import (
    Corrected,
    Correction,
    correct,
    corrected_waits,
    correction_bytes,
    read_correction,
    shipped_correction,
)
from models.queue_correction.data import SimulatedRun, read_runs, simulated_run
from models.queue_correction.features import FEATURES, StreamSamples, samples_of
from models.queue_correction.tails import gamma_rtt_quantile_s, rtt_quantiles_s

__all__ = [
    "FEATURES",
    "Corrected",
    "Correction",
    "SimulatedRun",
    "StreamSamples",
    "correct",
    "corrected_waits",
    "correction_bytes",
    "gamma_rtt_quantile_s",
    "read_correction",
    "read_runs",
    "rtt_quantiles_s",
    "samples_of",
    "shipped_correction",
    "simulated_run",
]
