"""Training with Lightning: measured designs in, a predictor out, the same bits on one machine.

The graphs of all programs are encoded together once a step, and a step's configurations are of any of them,
so that configurations alone cost. A program counts as the square root of its designs. The loss is Huber's of
the error of the logarithm, and again of the error less its mean over the program's designs in the step: the
second is what hurts a search among one program's designs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset

from models.base import PredictorError
from models.lightning_runs import deterministic, quiet
from models.pragma_gnn.choices import describe_choices
from models.pragma_gnn.data import MeasuredDesign, part_of, programs_apart
from models.pragma_gnn.graph import program_graph
from models.pragma_gnn.network import ChoiceTensors, PragmaGnn, ProgramTensors
from models.pragma_gnn.predictor import NetworkShape, PragmaGnnPredictor, tool_number
from models.pragma_gnn.tensors import choice_tensors, program_tensors, rows_of
from pipelines.pragmas.bound import Target
from pipelines.pragmas.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """How to train.

    Attributes:
        width: of states. rounds: of messages in a program's graph. climbs: along the tree of loops.
        with_bound: answer relative to the bound, and see what it says.
        members: networks of seeds of their own, whose answers are averaged.
        epochs: at most, of `steps` batches of `batch` designs each.
        patience: epochs without a better validation error before stopping; the best epoch is kept.
        validation_share: of each program's configurations, that stop the training; 0: every epoch is run.
        validate_programs: the share is of programs instead, each member's its own: for answers about programs
            that it will not have seen, which get worse long before those about others do.
        learning_rate: the highest of one cycle (Smith and Topin 2019). weight_decay: of AdamW.
        dropout: in the modules of directives and after. any_tool: share of designs whose tool is hidden.
        gradient_limit: norm to which a step's gradients are cut.
        loss_width: error of the logarithm below which the loss is quadratic.
        ranking: weight of the second loss.
    """

    width: int = 32
    rounds: int = 2
    climbs: int = 2
    with_bound: bool = True
    members: int = 1
    epochs: int = 16
    steps: int = 50
    batch: int = 128
    patience: int = 12
    validation_share: float = 0.1
    validate_programs: bool = False
    learning_rate: float = 5e-3
    weight_decay: float = 1e-2
    dropout: float = 0.1
    any_tool: float = 0.1
    gradient_limit: float = 1.0
    loss_width: float = 0.3
    ranking: float = 1.0


class Samples(NamedTuple):
    """Programs and configurations with what is to be answered: (configurations,) each, or scalars of them."""

    programs: ProgramTensors
    choices: ChoiceTensors
    answers: Tensor

    def rows(self, there: Tensor) -> Samples:
        """Some of the configurations: (configurations,), True for those that stay."""
        return Samples(self.programs, rows_of(self.choices, there), self.answers[there])


def fit_pragma_gnn(
    designs: Sequence[MeasuredDesign],
    summaries: Mapping[str, Summary],
    target: Target,
    options: FitOptions,
    *,
    seed: int,
    about: str,
) -> PragmaGnnPredictor:
    """Train; the same arguments give the same bits on one machine.

    Args:    designs: of any source; summaries: of all of their programs, by name.
    Raises:  PredictorError: there is nothing to train on.
    """
    if not designs:
        raise PredictorError("the surrogate must have measured designs to learn from, got none")
    shape = NetworkShape(
        width=options.width,
        rounds=options.rounds,
        climbs=options.climbs,
        tools=tuple(sorted({design.tool for design in designs})),
        with_bound=options.with_bound,
        dropout=options.dropout,
    )
    ordered = sorted(designs, key=lambda design: design.program)
    samples = samples_of(ordered, summaries, target, shape)
    members: list[PragmaGnn] = []
    for own_seed in range(seed, seed + options.members):
        apart = apart_of(ordered, options, own_seed)
        validation = samples.rows(apart) if apart.any() else None
        members.append(_fit_member(samples.rows(~apart), validation, shape, options, own_seed))
    return PragmaGnnPredictor(shape=shape, target=target, members=tuple(members), about=about)


def apart_of(designs: Sequence[MeasuredDesign], options: FitOptions, seed: int) -> Tensor:
    """Which designs stop the training. (designs,)

    Raises: PredictorError: none would be left to train on.
    """
    if options.validate_programs:
        apart = programs_apart({design.program for design in designs}, options.validation_share, seed)
        found = torch.tensor([design.program in apart for design in designs])
    else:
        share = options.validation_share
        found = torch.tensor([part_of(design, share, seed) for design in designs])
    if found.all():
        raise PredictorError(
            f"a validation part must leave designs to learn from, got all {len(designs)} of them in it"
        )
    return found


def samples_of(
    designs: Sequence[MeasuredDesign], summaries: Mapping[str, Summary], target: Target, shape: NetworkShape
) -> Samples:
    """Designs, in the order of their programs, as tensors."""
    by_program: dict[str, list[MeasuredDesign]] = {}
    for design in designs:
        by_program.setdefault(design.program, []).append(design)
    choices = [
        describe_choices(summaries[name], [d.configuration for d in found], target, [d.bound for d in found])
        for name, found in by_program.items()
    ]
    measured = np.log([d.latency_cycles for d in designs])
    least = np.concatenate([c.log_bound for c in choices]) if shape.with_bound else 0.0
    tools = [[tool_number(shape.tools, d.tool) for d in found] for found in by_program.values()]
    return Samples(
        programs=program_tensors([program_graph(summaries[name]) for name in by_program]),
        choices=choice_tensors(choices, tools),
        answers=torch.from_numpy((measured - least).astype(np.float32)),
    )


def measure_features(network: PragmaGnn, samples: Samples) -> None:
    """Take means and deviations of features, and the mean answer, from what is trained on."""
    for kind, features in samples.programs.nodes.items():
        network.program.features[kind].measure(features)  # pyright: ignore[reportCallIssue]
    there = samples.programs.there[samples.choices.program]
    for group, standard in network.loop_features.items():
        standard.measure(samples.choices.loops[group][there])  # pyright: ignore[reportCallIssue]
    for group, standard in network.whole_features.items():
        standard.measure(samples.choices.whole[group])  # pyright: ignore[reportCallIssue]
    with torch.no_grad():
        network.center.fill_(samples.answers.mean())


def _fit_member(
    training: Samples, validation: Samples | None, shape: NetworkShape, options: FitOptions, seed: int
) -> PragmaGnn:
    with deterministic(seed), quiet():
        network = shape.untrained()
        measure_features(network, training)
        best = _Best(options.patience)
        trainer = Trainer(
            accelerator="cpu",
            devices=1,
            max_epochs=options.epochs,
            callbacks=[best] if validation is not None else [],
            gradient_clip_val=options.gradient_limit,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            limit_val_batches=0 if validation is None else 1.0,
        )
        fit = _Fit(network, training, validation, options)
        batches = DataLoader(_Batches(training, options, seed), batch_size=None)
        trainer.fit(fit, batches, DataLoader(_Once(), batch_size=None))
    if best.weights is not None:
        network.load_state_dict(best.weights)
    return network.eval()


class _Once(IterableDataset[Tensor]):
    """Validation is one step, over all of its samples."""

    def __iter__(self) -> Iterator[Tensor]:
        yield torch.zeros(1)


class _Batches(IterableDataset[Tensor]):
    """Rows of a step's designs, an epoch's steps at a time."""

    def __init__(self, samples: Samples, options: FitOptions, seed: int) -> None:
        program = samples.choices.program
        count = torch.bincount(program)[program].double()  # designs of a design's program
        self._weights, self._options = count.rsqrt(), options
        self._generator = torch.Generator().manual_seed(seed)

    def __iter__(self) -> Iterator[Tensor]:
        for _ in range(self._options.steps):
            yield torch.multinomial(
                self._weights, self._options.batch, replacement=True, generator=self._generator
            )


class _Fit(LightningModule):
    """AdamW, one cycle of the learning rate."""

    def __init__(
        self, network: PragmaGnn, training: Samples, validation: Samples | None, options: FitOptions
    ) -> None:
        super().__init__()
        self.network = network
        self._training, self._validation, self._options = training, validation, options

    def training_step(self, batch: Tensor) -> Tensor:
        """Loss of designs by their rows: (batch,)."""
        choices = rows_of(self._training.choices, batch)
        hidden = torch.rand(len(batch)) < self._options.any_tool
        choices = choices._replace(tool=choices.tool.masked_fill(hidden, 0))
        errors = self.network(self._training.programs, choices) - self._training.answers[batch]
        return loss_of(errors, choices.program, self._options)

    def validation_step(self, batch: Tensor) -> None:
        """Error of all of the validation part."""
        del batch
        if self._validation is not None:
            found = self.network(self._validation.programs, self._validation.choices)
            self.log(
                "validation",
                loss_of(found - self._validation.answers, self._validation.choices.program, self._options),
                batch_size=1,
            )

    def configure_optimizers(self) -> dict[str, object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """AdamW under one cycle."""
        options = self._options
        rate, decay = options.learning_rate, options.weight_decay
        optimizer = torch.optim.AdamW(self.parameters(), lr=rate, weight_decay=decay)
        steps = options.epochs * options.steps
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": cycle, "interval": "step"}}


def loss_of(errors: Tensor, program: Tensor, options: FitOptions) -> Tensor:
    """Huber loss of errors, and of what they differ by within a program. (batch,), (batch,) -> ()"""
    programs = int(program.max()) + 1
    count = torch.bincount(program, minlength=programs).clamp(min=1)
    mean = torch.zeros(programs).index_add(0, program, errors) / count
    within = errors - mean[program]
    return _huber(errors, options) + options.ranking * _huber(within, options)


def _huber(errors: Tensor, options: FitOptions) -> Tensor:
    return nn.functional.smooth_l1_loss(errors, torch.zeros_like(errors), beta=options.loss_width)


class _Best(Callback):
    """Keeps the weights of the best validation error; stops after some epochs without a better one."""

    def __init__(self, patience: int) -> None:
        self.weights: dict[str, Tensor] | None = None
        self._patience, self._least, self._since = patience, float("inf"), 0

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """After each epoch."""
        error = float(trainer.callback_metrics["validation"])
        self._since += 1
        if error < self._least:
            network: nn.Module = pl_module.network  # pyright: ignore
            self._least, self._since = error, 0
            self.weights = {name: values.clone() for name, values in network.state_dict().items()}
        trainer.should_stop = self._since >= self._patience
