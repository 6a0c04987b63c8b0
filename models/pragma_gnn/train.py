"""Training with Lightning: measured designs in, a predictor out, the same bits on one machine.

The graphs of all programs are encoded together once per step, and a step's configurations are of any of them,
so that configurations alone cost. A program counts as the square root of its designs. The loss is Huber's of
the error of the logarithm, and again of the error less its mean over the program's designs in the step: the
second is what hurts a search among one program's designs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from models.base import PredictorError
from models.catalogue import Trained, TrainingInput
from models.pragma_gnn import FitOptions
from models.pragma_gnn.choices import describe_choices
from models.pragma_gnn.data import MeasuredDesign, explorations_of, part_of, programs_apart
from models.pragma_gnn.graph import program_graph
from models.pragma_gnn.network import (
    ChoiceTensors,
    PragmaGnn,
    ProgramTensors,
    choice_tensors,
    program_tensors,
    rows_of,
)
from models.pragma_gnn.predictor import NetworkShape, PragmaGnnPredictor, tool_number
from models.training import Loggers, Training, fit
from pipelines.pragmas.bound import Target
from pipelines.pragmas.summary import Summary


class Samples(NamedTuple):
    """Programs and configurations with what is to be answered: (configurations,) each, or scalars of them."""

    programs: ProgramTensors
    choices: ChoiceTensors
    answers: Tensor

    def rows(self, there: Tensor) -> Samples:
        """Select configurations: (configurations,), True for those that stay."""
        return Samples(self.programs, rows_of(self.choices, there), self.answers[there])


def train(data: TrainingInput) -> Trained:
    """Train on explorations of programs of the train and validation parts.

    Raises: PredictorError: there is nothing to train on.
    """
    explorations = explorations_of(data.data_dirs, parts=("train", "validation"))
    counts = f"{len(explorations.designs)} designs of {len(explorations.summaries)} programs"
    predictor = fit_pragma_gnn(
        explorations.designs,
        explorations.summaries,
        explorations.target,
        data.options,
        seed=data.seed,
        about=f"{counts}, seed {data.seed}",
        groups=explorations.groups,
        loggers=data.loggers,
    )
    return Trained(
        files=predictor.files,
        seen_groups=sorted({explorations.groups[design.program] for design in explorations.designs}),
        summary={"designs": float(len(explorations.designs))},
    )


def fit_pragma_gnn(
    designs: Sequence[MeasuredDesign],
    summaries: Mapping[str, Summary],
    target: Target,
    options: FitOptions,
    *,
    seed: int,
    about: str,
    groups: Mapping[str, str] | None = None,
    loggers: Loggers | None = None,
) -> PragmaGnnPredictor:
    """Train; the same arguments give the same bits on one machine.

    Args:    designs: of any source; summaries: of all of their programs, by name; groups: of these, programs
             of one are validated together; None: each is its own.
    Raises:  PredictorError: there is nothing to train on.
    """
    if not designs:
        raise PredictorError("no measured designs to learn from")
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
    for member, own_seed in enumerate(range(seed, seed + options.members)):
        apart = apart_of(ordered, options, own_seed, groups or {})
        validation = samples.rows(apart) if apart.any() else None
        learned = samples.rows(~apart)
        members.append(
            _fit_member(learned, validation, shape, options, own_seed, loggers, f"member {member}")
        )
    return PragmaGnnPredictor(shape=shape, target=target, members=tuple(members), about=about)


def apart_of(
    designs: Sequence[MeasuredDesign], options: FitOptions, seed: int, groups: Mapping[str, str]
) -> Tensor:
    """Return which designs stop the training. (designs,)

    Args:   groups: by program; without one a program is its own.

    Raises: PredictorError: none would be left to train on.
    """
    if options.validate_programs:
        names = [groups.get(design.program, design.program) for design in designs]
        apart = programs_apart(names, options.validation_share, seed)
        is_apart = torch.tensor([name in apart for name in names])
    else:
        share = options.validation_share
        is_apart = torch.tensor([part_of(design, share, seed) for design in designs])
    if is_apart.all():
        raise PredictorError(
            f"all {len(designs)} designs are in the validation part, none is left to learn from"
        )
    return is_apart


def samples_of(
    designs: Sequence[MeasuredDesign], summaries: Mapping[str, Summary], target: Target, shape: NetworkShape
) -> Samples:
    """Return designs, in the order of their programs, as tensors."""
    by_program: dict[str, list[MeasuredDesign]] = {}
    for design in designs:
        by_program.setdefault(design.program, []).append(design)
    choices = [
        describe_choices(
            summaries[name], [d.configuration for d in of_one], target, [d.bound for d in of_one]
        )
        for name, of_one in by_program.items()
    ]
    measured = np.log([d.latency_cycles for d in designs])
    least = np.concatenate([c.log_bound for c in choices]) if shape.with_bound else 0.0
    tools = [[tool_number(shape.tools, d.tool) for d in of_one] for of_one in by_program.values()]
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
    training: Samples,
    validation: Samples | None,
    shape: NetworkShape,
    options: FitOptions,
    seed: int,
    loggers: Loggers | None,
    part: str,
) -> PragmaGnn:
    program = training.choices.program
    count = torch.bincount(program)[program].double()  # designs of a design's program
    weights, generator = count.rsqrt(), torch.Generator().manual_seed(seed)

    def batches(epoch: int) -> Iterator[Tensor]:
        """Yield the rows of the designs of every step of an epoch."""
        del epoch
        for _ in range(options.steps):
            yield torch.multinomial(weights, options.batch, replacement=True, generator=generator)

    def build() -> _Fit:
        network = shape.untrained()
        measure_features(network, training)
        return _Fit(network, training, validation, options)

    return fit(
        build,
        batches,
        epochs=options.epochs,
        seed=seed,
        validation=[] if validation is None else [torch.zeros(1)],  # one step, over all of its samples
        patience=None if validation is None else options.patience,
        gradient_limit=options.gradient_limit,
        generator=generator,
        loggers=loggers,
        part=part,
    ).network


class _Fit(Training[PragmaGnn]):
    """Huber loss of designs of any programs."""

    def __init__(
        self, network: PragmaGnn, training: Samples, validation: Samples | None, options: FitOptions
    ) -> None:
        super().__init__(
            network,
            learning_rate=options.learning_rate,
            weight_decay=options.weight_decay,
            cycle_steps=options.epochs * options.steps,
        )
        self._training, self._validation, self._options = training, validation, options

    def loss(self, batch: Tensor) -> Tensor:
        """Return the loss of designs by their rows: (batch,)."""
        choices = rows_of(self._training.choices, batch)
        hidden = torch.rand(len(batch)) < self._options.any_tool
        choices = choices._replace(tool=choices.tool.masked_fill(hidden, 0))
        errors = self.network(self._training.programs, choices) - self._training.answers[batch]
        return loss_of(errors, choices.program, self._options)

    def validation_loss(self, batch: Tensor) -> Tensor:
        del batch
        samples = self._validation
        assert samples is not None  # or no validation step is run
        answers = self.network(samples.programs, samples.choices)
        return loss_of(answers - samples.answers, samples.choices.program, self._options)


def loss_of(errors: Tensor, program: Tensor, options: FitOptions) -> Tensor:
    """Return Huber loss of errors, and of what they differ by within a program. (batch,), (batch,) -> ()"""
    programs = int(program.max()) + 1
    count = torch.bincount(program, minlength=programs).clamp(min=1)
    mean = torch.zeros(programs).index_add(0, program, errors) / count
    within = errors - mean[program]
    return _huber(errors, options) + options.ranking * _huber(within, options)


def _huber(errors: Tensor, options: FitOptions) -> Tensor:
    return nn.functional.smooth_l1_loss(errors, torch.zeros_like(errors), beta=options.loss_width)
