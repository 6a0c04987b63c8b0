"""Training with Lightning: the same bits on every run of one machine, with curves and checkpoints."""

from __future__ import annotations

import logging
import pickle
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import Logger
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import huber_loss
from torch.utils.data import DataLoader, IterableDataset

from models.base import log_level
from models.catalogue import Trained
from models.labelled import LabelledDesign, count_parts
from models.leaderboard import Prediction
from models.model_files import ModelFiles
from models.regression import is_of_network

CHECKPOINTS = 20
"""Checkpoints of a training that runs all of its epochs; an interruption costs at most a part of it."""
MONITOR = "validation_loss"
_LOG = logging.getLogger(__name__)

Network = TypeVar("Network", bound=nn.Module)
Batches = Callable[[int], Iterable[Any]]
"""Batches of an epoch, by its number from 0."""
Loggers = Callable[[str], Logger]
"""Makes the logger of a network, by the part of the training that trains it; the part may be empty."""


class Training(LightningModule, Generic[Network]):
    """A network with its loss and AdamW.

    Args:
        network: trained in place.
        learning_rate: of AdamW; the highest one of the cycle, where there is one.
        weight_decay: of AdamW.
        cycle_steps: steps of one cycle of the learning rate (Smith and Topin 2019); None for a constant rate.
    """

    def __init__(
        self, network: Network, *, learning_rate: float, weight_decay: float, cycle_steps: int | None = None
    ) -> None:
        super().__init__()
        self.network = network
        self._learning_rate, self._weight_decay = learning_rate, weight_decay
        self._cycle_steps = cycle_steps

    def loss(self, batch: Any) -> Tensor:
        """Return the loss of a batch of the training part."""
        raise NotImplementedError

    def validation_loss(self, batch: Any) -> Tensor:
        """Return the loss of a batch of the validation part."""
        return self.loss(batch)

    def batch_size(self, batch: Any) -> int:
        """Return the weight of a batch in the mean loss of an epoch."""
        del batch
        return 1

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Return the loss of one batch, which is recorded."""
        del batch_idx
        loss = self.loss(batch)
        self.log("train_loss", loss, on_step=False, on_epoch=True, batch_size=self.batch_size(batch))
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        """Record the loss of one batch."""
        del batch_idx
        self.log(MONITOR, self.validation_loss(batch), batch_size=self.batch_size(batch))

    def on_train_epoch_end(self) -> None:
        """Name the epoch as the step of what is logged; Lightning's own step is that of the optimiser."""
        self.log("step", float(self.current_epoch))

    def on_validation_epoch_end(self) -> None:
        """Log the epoch as the step of the validation figures."""
        self.log("step", float(self.current_epoch))

    def configure_optimizers(self) -> Any:
        """Return AdamW over all weights, with the cycle of the learning rate."""
        optimizer = torch.optim.AdamW(
            self.parameters(), lr=self._learning_rate, weight_decay=self._weight_decay
        )
        if self._cycle_steps is None:
            return optimizer
        cycle = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, self._learning_rate, total_steps=self._cycle_steps
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": cycle, "interval": "step"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit(Generic[Network]):
    """A trained network in prediction mode.

    Attributes:
        curves: loss of every epoch: train_loss, and validation_loss where there is a validation part.
        epoch: number, from 0, of the epoch whose weights were kept.
    """

    network: Network
    curves: dict[str, list[float]]
    epoch: int


def fit(
    build: Callable[[], Training[Network]],
    batches: Batches,
    *,
    epochs: int,
    seed: int,
    validation: Sequence[Any] = (),
    patience: int | None = None,
    gradient_limit: float | None = None,
    threads: int = 1,
    generator: torch.Generator | None = None,
    loggers: Loggers | None = None,
    part: str = "",
    checkpoints: Path | None = None,
    precision: Literal["32-true", "bf16-mixed"] = "32-true",
    accumulate: int = 1,
    accelerator: str = "cpu",
) -> Fit[Network]:
    """Train a network; the same arguments give the same bits on one machine.

    Args:
        build: makes the network, under the seed.
        batches: of each epoch. validation: all batches of the validation part.
        patience: epochs without a better validation loss before stopping, the best epoch being kept; None to
            run every epoch and keep the last.
        gradient_limit: norm to which the gradients of a step are cut; None for no limit.
        generator: from which `batches` draws, so that a resumed training draws the same.
        loggers: get the losses while the network trains; None trains without. part: of the training, where it
            trains several networks; begins the names of their metrics.
        checkpoints: folder from which an interrupted training resumes; removed at the end.
        precision: of Lightning. accumulate: batches per update of the weights.
        accelerator: cpu, gpu, or auto for a GPU where there is one; the network returns on the CPU. On a
            GPU equal bits are not promised.
    """
    with (
        deterministic(seed, threads, strict=accelerator == "cpu"),
        _quiet(),
        tempfile.TemporaryDirectory() as scratch,
    ):
        training = build()
        curves = _Curves(generator)
        folder = checkpoints or Path(scratch)
        best = ModelCheckpoint(
            folder, "best", MONITOR, save_weights_only=True, enable_version_counter=False, mode="min"
        )
        last = ModelCheckpoint(
            folder, "last", every_n_epochs=max(1, epochs // CHECKPOINTS), enable_version_counter=False
        )
        stops: list[Callback] = []
        if patience is not None:
            stops = [EarlyStopping(MONITOR, patience=patience, check_finite=False), best]
        trainer = Trainer(
            accelerator=accelerator,
            devices=1,
            precision=precision,
            accumulate_grad_batches=accumulate,
            max_epochs=epochs,
            callbacks=[curves, *stops, *([last] if checkpoints else [])],
            gradient_clip_val=gradient_limit,
            logger=loggers(part) if loggers else False,
            enable_checkpointing=patience is not None or checkpoints is not None,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            limit_val_batches=1.0 if validation else 0,
            default_root_dir=scratch,
        )
        loaders = _loader(_Epochs(batches, trainer)), _loader(_Epochs(lambda _: validation, trainer))
        trainer.fit(training, *loaders, ckpt_path=_resumable(checkpoints), weights_only=True)
        epoch = len(curves.losses["train_loss"]) - 1
        training.cpu()
        if patience is not None:
            kept = torch.load(best.best_model_path, map_location="cpu", weights_only=True)
            training.load_state_dict(kept["state_dict"])
            epoch = kept["epoch"]
    if checkpoints:
        shutil.rmtree(checkpoints)
    return Fit(network=training.network.eval(), curves=curves.losses, epoch=epoch)


class _Epochs(IterableDataset[Any]):
    """Batches of the trainer's present epoch."""

    def __init__(self, batches: Batches, trainer: Trainer) -> None:
        self._batches, self._trainer = batches, trainer

    def __iter__(self) -> Iterator[Any]:
        yield from self._batches(self._trainer.current_epoch)


def _loader(data: IterableDataset[Any]) -> DataLoader[Any]:
    return DataLoader(data, batch_size=None)


class _Curves(Callback):
    """Losses of every epoch, and the random state, which Lightning's checkpoints lack."""

    def __init__(self, generator: torch.Generator | None) -> None:
        self._generator = generator
        self._random: dict[str, Tensor] = {}
        self.losses: dict[str, list[float]] = {}

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Continue with the random state of the checkpoint."""
        del trainer, pl_module
        if self._random:
            torch.set_rng_state(self._random["torch"])
            if self._generator is not None:
                self._generator.set_state(self._random["generator"])

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Look at the epoch that just ended; its validation has run."""
        del pl_module
        for name, value in trainer.callback_metrics.items():
            if name.endswith("_loss"):
                self.losses.setdefault(name, []).append(float(value))

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint holds of this training besides Lightning's own state."""
        random = {"torch": torch.get_rng_state()}
        if self._generator is not None:
            random["generator"] = self._generator.get_state()
        return {"losses": self.losses, "random": random}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.losses, self._random = state_dict["losses"], state_dict["random"]


def _resumable(checkpoints: Path | None) -> str | None:
    """Return the checkpoint in a folder, if it is there and whole; tensors and plain values only are read."""
    if checkpoints is None:
        return None
    path = checkpoints / "last.ckpt"
    try:
        torch.load(path, weights_only=True)
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError, EOFError, ValueError, KeyError, pickle.UnpicklingError) as error:
        _LOG.warning("damaged checkpoint, training starts again: %s (%s)", path, type(error).__name__)
        return None
    return str(path)


@contextmanager
def deterministic(seed: int, threads: int = 1, *, strict: bool = True) -> Iterator[None]:
    """Seed all random state, set the threads and deterministic kernels, and restore them afterwards.

    Args: strict: refuse kernels that are not deterministic; some kernels of GPUs have no other form.
    """
    before, was_strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(was_strict)
            torch.set_num_threads(before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Lightning's notices of devices, advice on loading, and its own use of torch."""
    with log_level(logging.ERROR, "lightning.pytorch", "lightning.fabric"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        warnings.filterwarnings("ignore", message=".*LeafSpec.* is deprecated")
        warnings.filterwarnings("ignore", message="Checkpoint directory .* exists and is not empty")
        yield


def known_huber(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean Huber loss (delta 1) over known targets; NaN is unknown. Both (rows, targets)."""
    known = torch.isfinite(targets)
    losses = huber_loss(outputs, torch.where(known, targets, outputs.detach()), delta=1.0, reduction="none")
    return losses.sum() / known.sum().clamp(min=1)


class LabelRegression(Training[Network]):
    """Huber loss of scaled log targets over known labels. A batch is (inputs of the network, targets).

    An error of a log target is a relative error of the target, which is what MAPE judges. Each target is
    scaled to deviation 1, so none outweighs another by its range. Huber (delta 1) is quadratic for errors
    that can be learned from and linear for a program that is nothing like the rest.
    """

    def loss(self, batch: tuple[Any, Tensor]) -> Tensor:
        """Return the mean loss of a batch over known labels."""
        inputs, targets = batch
        return known_huber(self.network(inputs), targets)

    def batch_size(self, batch: tuple[Any, Tensor]) -> int:
        """Return the designs of a batch."""
        return len(batch[1])


def regression_outcome(
    designs: Sequence[LabelledDesign],
    fitted: Fit[Any],
    files: ModelFiles,
    predictions: Sequence[Prediction],
    options: Any,
) -> Trained:
    """Return the outcome of a training whose network answers labels of designs.

    Args: files: of the predictor. options: of training, with `split` and `bootstrap_resamples`.
    """
    return Trained(
        files=files,
        seen_groups=sorted({d.group for d in designs if d.part in ("train", "validation")}),
        curves=fitted.curves,
        summary={
            "kept_epoch": float(fitted.epoch),
            "parameter_count": float(sum(p.numel() for p in fitted.network.parameters())),
            **count_parts(designs),
        },
        predictions=predictions,
        split=options.split,
        resamples=options.bootstrap_resamples,
    )


def network_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Return the weights of a network among the arrays of a predictor's files."""
    return {name: torch.from_numpy(value.copy()) for name, value in arrays.items() if is_of_network(name)}
