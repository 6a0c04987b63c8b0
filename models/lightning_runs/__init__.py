"""Lightning's trainer, the same on every run of one machine and without its notices.

Belongs here: what every training with Lightning is wrapped in. Does not: any model.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def deterministic(seed: int) -> Iterator[None]:
    """Seeded random state, one thread and deterministic kernels; all restored afterwards."""
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(strict)
            torch.set_num_threads(threads)


@contextmanager
def quiet() -> Iterator[None]:
    """Lightning's notices off: the devices it found, advice on loading, its own use of torch."""
    loggers = [logging.getLogger(name) for name in ("lightning.pytorch", "lightning.fabric")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*does not have many workers.*")
            warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
