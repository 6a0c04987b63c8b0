"""A logger that keeps the losses of a training in memory, and may interrupt it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightning.pytorch.loggers import Logger


class Losses(Logger):
    """Training losses by epoch. Args: stop_at: epoch, from 0, whose loss interrupts the training."""

    name = version = "losses"

    def __init__(self, stop_at: int | None = None) -> None:
        super().__init__()
        self.stop_at = stop_at
        self.by_epoch: dict[int, float] = {}

    @property
    def epochs(self) -> list[int]:
        """Numbers of the epochs that ended."""
        return list(self.by_epoch)

    def log_hyperparams(self, *arguments: Any, **options: Any) -> None:
        """Nothing to keep."""

    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        """Keep a training loss."""
        if "train_loss" in metrics:
            assert step is not None
            self.by_epoch[step] = metrics["train_loss"]
            if step == self.stop_at:
                raise InterruptedError
