"""Fitting: matrices in, a trained network out, the same on every run of one machine."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from lightning.pytorch import Trainer

from models.tenset_mlp.data import DesignData, DesignMatrices
from models.tenset_mlp.model import KeptEpoch, TensetMlp
from models.tenset_mlp.network import CostMlp, untrained_network
from models.tenset_mlp.scaling import ModelCard


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A trained network, in prediction mode, and how the training went."""

    network: CostMlp
    curves: dict[str, list[float]]
    epoch: int


def fit_network(
    matrices: DesignMatrices,
    card: ModelCard,
    *,
    learning_rate: float,
    weight_decay: float,
    batch_size: int,
    max_epochs: int,
    patience: int | None,
    seed: int,
) -> Fit:
    """Train a network.

    Args:    patience: epochs without a better validation loss before stopping, the best epoch being
             kept; None to run every epoch and keep the last.

    Same arguments give the same bits on one machine: one thread, deterministic kernels, seeded
    weights, dropout and batches. Another processor may round differently.
    """
    network = untrained_network(len(card.features), len(card.targets), card.hidden_sizes, card.dropout, seed)
    model = TensetMlp(network, learning_rate=learning_rate, weight_decay=weight_decay)
    data = DesignData(matrices, card, batch_size=batch_size, seed=seed)
    kept = KeptEpoch(network, patience)
    with _deterministic(seed), _quiet(), tempfile.TemporaryDirectory() as scratch:
        trainer = Trainer(
            accelerator="cpu",
            devices=1,
            max_epochs=max_epochs,
            callbacks=[kept],
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            limit_val_batches=1.0 if len(matrices.rows_of("validation")) else 0,
            default_root_dir=scratch,
        )
        trainer.fit(model, data)
    network.load_state_dict(kept.weights)
    network.eval()
    return Fit(network=network, curves=kept.curves, epoch=kept.epoch)


@contextmanager
def _deterministic(seed: int) -> Iterator[None]:
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
def _quiet() -> Iterator[None]:
    """Lightning's notices off: the devices it found, advice on loading, its own use of torch."""
    loggers = [logging.getLogger(n) for n in ("lightning.pytorch", "lightning.fabric")]
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
