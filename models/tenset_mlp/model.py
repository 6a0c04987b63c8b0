"""The model as Lightning trains it: loss, optimiser, and the epoch worth keeping."""

from __future__ import annotations

import math

from lightning.pytorch import Callback, LightningModule, Trainer
from torch import Tensor
from torch.nn.functional import huber_loss
from torch.optim import AdamW, Optimizer

from models.tenset_mlp.network import CostMlp


class TensetMlp(LightningModule):
    """A CostMlp trained with Huber loss on normalised log targets.

    An error in a log target is a relative error in the target, which is what MAPE judges. Each
    target is scaled to deviation 1, so none outweighs another by its range. Huber (delta 1) is
    quadratic for the errors one can learn from and linear for a kernel that is nothing like the
    rest.
    """

    def __init__(self, network: CostMlp, *, learning_rate: float, weight_decay: float) -> None:
        super().__init__()
        self.network = network
        self._learning_rate = learning_rate
        self._weight_decay = weight_decay

    def forward(self, features: Tensor) -> Tensor:  # (batch, features) -> (batch, targets)
        """Normalised log targets."""
        return self.network(features)

    def _loss(self, batch: tuple[Tensor, Tensor]) -> Tensor:
        features, targets = batch  # (batch, features), (batch, targets)
        return huber_loss(self(features), targets, delta=1.0)

    def training_step(self, batch: tuple[Tensor, Tensor], batch_index: int) -> Tensor:  # noqa: ARG002
        """Loss of one batch."""
        loss = self._loss(batch)
        self.log("train_loss", loss, on_step=False, on_epoch=True, batch_size=len(batch[0]))
        return loss

    def validation_step(self, batch: tuple[Tensor, Tensor], batch_index: int) -> None:  # noqa: ARG002
        """Record the loss of one batch."""
        self.log("validation_loss", self._loss(batch), batch_size=len(batch[0]))

    def configure_optimizers(self) -> Optimizer:
        """AdamW over all weights."""
        return AdamW(self.parameters(), lr=self._learning_rate, weight_decay=self._weight_decay)


class KeptEpoch(Callback):
    """Records the losses and keeps the weights of one epoch.

    With a patience that is the best epoch of the validation part, and training stops that many epochs
    after it; without, it is the last epoch.
    """

    def __init__(self, network: CostMlp, patience: int | None) -> None:
        self._network = network
        self._patience = patience
        self.epoch = -1
        self.loss = math.inf
        self.weights: dict[str, Tensor] = {}
        self.curves: dict[str, list[float]] = {}

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """Look at the epoch that just ended; its validation has run."""
        for name in ("train_loss", "validation_loss"):
            if name in trainer.callback_metrics:
                self.curves.setdefault(name, []).append(float(trainer.callback_metrics[name]))
        loss = self.curves.get("validation_loss", [math.nan])[-1]
        if self._patience is None or loss < self.loss:
            self.loss, self.epoch = loss, trainer.current_epoch
            state = self._network.state_dict()
            self.weights = {name: tensor.detach().clone() for name, tensor in state.items()}
        if self._patience is not None and trainer.current_epoch - self.epoch >= self._patience:
            trainer.should_stop = True
