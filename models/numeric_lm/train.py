"""Training: examples to prompts and digits, batches of similar length, and a network fitted to them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from models.catalogue import Trained, TrainingInput
from models.intervals import TRIPS_ASSUMED, Difficulty, Residual, trips_of
from models.labelled import training_designs
from models.leaderboard import Prediction
from models.model_files import ModelFiles
from models.numeric_lm import TrainOptions
from models.numeric_lm.answers import TARGETS, classes_of
from models.numeric_lm.data import STAGES, Example, LevelData, estimates_of, load_examples
from models.numeric_lm.intervals import Judged, conformal_widths, coverage, widened
from models.numeric_lm.network import AnswerBatch, NumericNetwork, PromptBatch, pad_prompts
from models.numeric_lm.predictor import (
    Card,
    NumericPredictor,
    anchors_of,
    batches_by_length,
    build_network,
    spread_of,
)
from models.numeric_lm.prompts import Block, EncodedPrompt, Kind, PromptEncoder, blocks_of
from models.numeric_lm.search import Answer
from models.numeric_lm.starts import example_estimates, fit_starts
from models.numeric_lm.tokens import PromptTokenizer, train_tokenizer
from models.tasks import DatasetError, TooFewRows
from models.training import Fit, Training, fit
from pipelines.base.identity import content_hash

_JUDGED = ("validation", "test", "evaluation")
_WARM_UP = 0.05
"""Share of the steps in which the learning rate rises."""
_LENGTH_NOISE = 0.1
"""Relative noise of lengths when batches are cut, so that their members change from epoch to epoch."""


class Batch(NamedTuple):
    """Prompts and their answers."""

    prompts: PromptBatch
    answers: AnswerBatch


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Encoded:
    """Examples as arrays.

    Attributes:
        classes: (examples, metrics, steps), see `network.AnswerBatch`. anchors, differences: (examples,
            metrics).
        stages: place of each example's stage in the curriculum.
    """

    prompts: Sequence[EncodedPrompt]
    classes: Tensor
    anchors: Tensor
    differences: Tensor
    stages: Sequence[int]

    def batch(self, rows: Sequence[int], without_data: Sequence[bool] | None = None) -> Batch:
        """Return the examples of some rows, the marked ones without run-time data."""
        prompts = [self.prompts[row] for row in rows]
        if without_data is not None:
            pairs = zip(prompts, without_data, strict=True)
            prompts = [_without_data(prompt) if drop else prompt for prompt, drop in pairs]
        chosen = list(rows)
        answers = AnswerBatch(self.classes[chosen], self.anchors[chosen], self.differences[chosen])
        return Batch(pad_prompts(prompts), answers)


def train(data: TrainingInput, level: str) -> Trained:
    """Train on what a level gives. Raises: DatasetError: the tables cannot be trained on."""
    options: TrainOptions = data.options
    known = load_examples(data.data_dirs, options, level)
    examples = [e for e in known.examples if _is_used(e, options, data.seed)]
    learned = [e for e in examples if e.design.part == "train"]
    if not learned:
        raise TooFewRows(f"no runs in part train of split {options.split}, with share {options.share:g}")
    blocks = [_blocks(example, known, options) for example in examples]
    tokenizer = _tokenizer(examples, blocks, options)
    starts = _starts(data, level, examples, known.engine)
    card = _card(data, level, known, learned, tokenizer, starts)
    encoder = PromptEncoder(tokenizer)
    prompts = [encoder.encode(own) for own in blocks]
    estimates = starts.estimates
    encoded = encode_examples(examples, prompts, estimates, card)
    fitted = fit_network(encoded, examples, card, data, tokenizer.size)
    device = "cuda" if options.accelerator != "cpu" and torch.cuda.is_available() else "cpu"
    predictor = NumericPredictor(card, fitted.network.to(device), starts.trees)
    rows = [row for row, e in enumerate(examples) if e.design.part in _JUDGED]
    answers = predictor.answer_prompts([prompts[row] for row in rows], [estimates[row] for row in rows])
    fitted.network.cpu()
    judged = _judged([examples[row] for row in rows], answers)
    widths = conformal_widths(one for _, one in judged if one.part == "validation")
    covered_rows = [
        (example, replace(one, answer=widened(one.answer, widths.get(one.target, 0.0))))
        for example, one in judged
    ]
    covered = [one for _, one in covered_rows]
    card = card.model_copy(update={"widths": widths})
    return Trained(
        files=NumericPredictor(card, fitted.network, starts.trees).files,
        seen_groups=card.seen_groups,
        curves=fitted.curves,
        summary={
            "kept_epoch": float(fitted.epoch),
            "parameters": float(sum(p.numel() for p in fitted.network.parameters())),
            "train_examples": float(len(learned)),
            "train_tokens": float(
                sum(len(prompts[n]) for n, e in enumerate(examples) if e.design.part == "train")
            ),
            **coverage(covered),
        },
        predictions=prediction_rows(judged),
        residuals=residual_rows(covered_rows),
        split=options.split,
        resamples=options.bootstrap_resamples,
    )


class _Starts(NamedTuple):
    """What answers are ratios to, by example; the targets of ratios; the trees that estimate, if they do."""

    estimates: list[dict[str, float]]
    ratios: list[str]
    trees: ModelFiles | None


def _starts(
    data: TrainingInput, level: str, examples: Sequence[Example], engine: Mapping[str, Any]
) -> _Starts:
    options: TrainOptions = data.options
    if options.stacked and level not in ("text", "static"):
        raise DatasetError(f"option stacked is of levels text and static, got level {level}")
    if options.stacked:
        whole, apart = fit_starts(
            data.data_dirs[0], training_designs(data.data_dirs, options), level, engine, data.seed
        )
        if apart:  # else every tree has learned from the examples: plain values
            ratios = [t for t in TARGETS if all(t in trees.targets for trees in (whole, *apart.values()))]
            return _Starts(example_estimates(examples, whole, apart), ratios, whole.files)
    ratios = list(TARGETS) if options.ratio and level in ("hls", "run") else []
    return _Starts([estimates_of(example.features) for example in examples], ratios, None)


def _is_used(example: Example, options: TrainOptions, seed: int) -> bool:
    """Tell whether an example is judged, or learned from; shares of groups are nested, by their names."""
    if example.design.part != "train":
        return example.design.part in _JUDGED and example.is_drawn
    return int(content_hash("share", seed, example.design.group)[:8], 16) < options.share * 16**8


def _blocks(example: Example, data: LevelData, options: TrainOptions) -> tuple[Block, ...]:
    try:
        return blocks_of(
            example.query,
            features=example.features if options.features else {},
            liberty=data.liberty,
            program=options.program,
        )
    except ValueError as error:
        raise DatasetError(f"no prompt of design {example.design.design_id}: {error}") from error


def _tokenizer(
    examples: Sequence[Example], blocks: Sequence[Sequence[Block]], options: TrainOptions
) -> PromptTokenizer:
    """Return a vocabulary of the training part, or that of a folder."""
    if options.backbone != "compact":
        from models.numeric_lm.folder_backbone import backbone_folder, folder_tokenizer

        return folder_tokenizer(backbone_folder(options.backbone), isolates=options.isolated)
    pairs = zip(examples, blocks, strict=True)
    texts = {block.text for example, own in pairs if example.design.part == "train" for block in own}
    names = sorted({name for example in examples for name in example.features})
    return train_tokenizer(sorted(texts), names, size=options.vocabulary, isolates=options.isolated)


def _card(
    data: TrainingInput,
    level: str,
    known: LevelData,
    learned: Sequence[Example],
    tokenizer: PromptTokenizer,
    starts: _Starts,
) -> Card:
    options: TrainOptions = data.options
    targets = [target for target in TARGETS if any(target in example.labels for example in learned)]
    names = sorted({name for example in learned for name in example.features})
    columns = {name: [example.features.get(name, 0.0) for example in learned] for name in names}
    digest = ""
    if options.backbone != "compact":
        from models.numeric_lm.folder_backbone import backbone_folder, folder_digest

        digest = folder_digest(backbone_folder(options.backbone))
    return Card(
        level=level,
        targets=targets,
        ratios=starts.ratios,
        base=options.base,
        answer=options.answer,
        isolated=options.isolated,
        magnitudes=options.magnitudes,
        program=options.program,
        features=options.features,
        backbone=options.backbone,
        backbone_digest=digest,
        lora_rank=options.lora_rank,
        width=options.width,
        layers=options.layers,
        heads=options.heads,
        decoder_width=options.decoder_width,
        decoder_layers=options.decoder_layers,
        dropout=options.dropout,
        beams=options.beams,
        liberty=known.liberty,
        engine=dict(known.engine),
        low={name: min(column) for name, column in columns.items()},
        high={name: max(column) for name, column in columns.items()},
        split=options.split,
        seen_groups=sorted(
            {e.design.group for e in known.examples if e.design.part in ("train", "validation")}
        ),
        dataset_hash=data.dataset_hash,
        tokenizer=tokenizer.as_json(),
        trees=None if starts.trees is None else dict(starts.trees.card),
        undirected=options.undirected,
    )


def encode_examples(
    examples: Sequence[Example],
    prompts: Sequence[EncodedPrompt],
    estimates: Sequence[Mapping[str, float]],
    card: Card,
) -> Encoded:
    """Return prompts with the classes of their answers; a value out of its form's range counts as its end."""
    forms = card.forms()
    steps = max(len(form.choices) for form in forms.values())
    classes = torch.full((len(examples), len(TARGETS), steps), -100)
    for row, (example, own) in enumerate(zip(examples, estimates, strict=True)):
        for place, target in enumerate(TARGETS):
            if target in example.labels:
                scale = own[target] if target in card.ratios else 1.0
                known = classes_of(forms[target], example.labels[target] / scale)
                classes[row, place, : len(known)] = torch.tensor(known)
    return Encoded(
        prompts=prompts,
        classes=classes,
        anchors=anchors_of(estimates),
        differences=undirected_differences(examples),
        stages=[STAGES.index(e.stage) if e.stage in STAGES else len(STAGES) for e in examples],
    )


def undirected_differences(examples: Sequence[Example]) -> Tensor:
    """Return the logarithms of the ratios of labels to those of the same run without directives.

    Returns: (examples, metrics), NaN where one of both is unknown.
    """

    def run_of(example: Example) -> tuple[Any, ...]:
        query = example.query
        delays = (query.memory_read_delay_cycles, query.memory_write_delay_cycles)
        return example.design.program_id, *delays, query.clock_period_ns, query.data

    plain = {run_of(e): e.labels for e in examples if e.query.directives == "[]"}
    differences = torch.full((len(examples), len(TARGETS)), math.nan)
    for row, example in enumerate(examples):
        others = plain.get(run_of(example), {})
        for place, target in enumerate(TARGETS):
            own, other = example.labels.get(target, 0.0), others.get(target, 0.0)
            if own > 0 and other > 0:
                differences[row, place] = math.log(own / other)
    return differences


def _without_data(prompt: EncodedPrompt) -> EncodedPrompt:
    """Return a prompt up to its data, which are the last block."""
    count = int((prompt.kind != Kind.DATA).sum())
    names = ("ids", "magnitudes", "position", "block", "kind", "dynamic")
    return replace(prompt, **{name: getattr(prompt, name)[:count] for name in names})


def fit_network(
    encoded: Encoded, examples: Sequence[Example], card: Card, data: TrainingInput, vocabulary: int
) -> Fit[NumericNetwork]:
    """Fit a network to the training part; the test and evaluation parts are never handed to the trainer."""
    options: TrainOptions = data.options
    learned = [n for n, example in enumerate(examples) if example.design.part == "train"]
    validated = [n for n, example in enumerate(examples) if example.design.part == "validation"]
    generator = torch.Generator().manual_seed(data.seed)
    first = drawn_runs(examples, learned, options.runs, torch.Generator().manual_seed(data.seed))
    per_epoch = len(list(batches_by_length(encoded.prompts, first, options.batch_tokens)))
    steps = max(1, per_epoch * options.max_epochs // options.accumulate)

    def batches(epoch: int) -> Iterator[Batch]:
        rows = drawn_runs(examples, learned, options.runs, generator)
        for chosen in epoch_batches(encoded, rows, options, epoch, generator):
            dropped = torch.rand(len(chosen), generator=generator) < options.data_dropout
            yield encoded.batch(chosen, dropped.tolist())

    validation = batches_by_length(encoded.prompts, validated, options.batch_tokens)
    return fit(
        lambda: _Fit(build_network(card, vocabulary), options, steps),
        batches,
        epochs=options.max_epochs,
        seed=data.seed,
        validation=[encoded.batch(chosen) for chosen in validation],
        patience=options.patience if validated else None,
        gradient_limit=1.0,
        threads=options.threads,
        generator=generator,
        loggers=data.loggers,
        checkpoints=data.checkpoints,
        precision="bf16-mixed" if options.precision == "bf16-mixed" else "32-true",
        accumulate=options.accumulate,
        accelerator=options.accelerator,
    )


def drawn_runs(
    examples: Sequence[Example], rows: Sequence[int], count: int, generator: torch.Generator
) -> list[int]:
    """Draw at most so many examples of each design, in the order of the designs."""
    by_design: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_design[examples[row].design.design_id].append(row)
    return [
        own[place]
        for own in by_design.values()
        for place in torch.randperm(len(own), generator=generator)[:count].tolist()
    ]


def epoch_batches(
    encoded: Encoded,
    rows: Sequence[int],
    options: TrainOptions,
    epoch: int,
    generator: torch.Generator,
) -> Iterator[list[int]]:
    """Yield the batches of an epoch, of similar lengths: shuffled, or stage by stage in the first epochs."""
    stages = [encoded.stages[row] for row in rows] if epoch < options.curriculum_epochs else [0] * len(rows)
    for stage in sorted(set(stages)):
        own = [row for row, known in zip(rows, stages, strict=True) if known == stage]
        noise = 1.0 + _LENGTH_NOISE * torch.rand(len(own), generator=generator).numpy()
        lengths = np.array([len(encoded.prompts[row]) for row in own])
        batches: list[list[int]] = [[]]
        longest = 0
        for place in np.argsort(lengths * noise, kind="stable"):
            longest = max(longest, int(lengths[place]))
            if batches[-1] and longest * (len(batches[-1]) + 1) > options.batch_tokens:
                batches.append([])
                longest = int(lengths[place])
            batches[-1].append(own[place])
        for place in torch.randperm(len(batches), generator=generator).tolist():
            yield batches[place]


class _Fit(Training[NumericNetwork]):
    """Cross-entropy per digit; the learning rate rises, then falls along a cosine."""

    def __init__(self, network: NumericNetwork, options: TrainOptions, steps: int) -> None:
        super().__init__(network, learning_rate=options.learning_rate, weight_decay=options.weight_decay)
        self._steps = steps

    def loss(self, batch: Batch) -> Tensor:
        return self.network.loss(batch.prompts, batch.answers)

    def batch_size(self, batch: Batch) -> int:
        return len(batch.prompts.ids)

    def configure_optimizers(self) -> Any:
        """Return AdamW over the weights that are trained."""
        weights = [p for p in self.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(weights, lr=self._learning_rate, weight_decay=self._weight_decay)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, self._rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def _rate(self, step: int) -> float:
        """Return the share of the highest learning rate at a step."""
        done = min(1.0, step / self._steps)
        if done < _WARM_UP:
            return (step + 1) / (_WARM_UP * self._steps + 1)
        return 0.02 + 0.98 * 0.5 * (1.0 + math.cos(math.pi * (done - _WARM_UP) / (1.0 - _WARM_UP)))


def judge_examples(predictor: NumericPredictor, examples: Sequence[Example]) -> list[tuple[Example, Judged]]:
    """Return the answers of a trained predictor to examples of its level, with their labels."""
    prompts = [predictor.encode(example.query, example.features) for example in examples]
    starts = [predictor.starts(example.features, example.query) for example in examples]
    return _judged(examples, predictor.answer_prompts(prompts, starts))


def _judged(
    examples: Sequence[Example], answers: Sequence[Mapping[str, Answer]]
) -> list[tuple[Example, Judged]]:
    """Return one answer per run and target that has a label."""
    return [
        (
            example,
            Judged(
                target=target,
                group=example.design.group,
                part=example.design.part,
                actual=example.labels[target],
                answer=answer,
            ),
        )
        for example, own in zip(examples, answers, strict=True)
        for target, answer in own.items()
        if target in example.labels
    ]


def residual_rows(judged: Iterable[tuple[Example, Judged]]) -> list[Residual]:
    """Return the judged answers as residuals."""
    return [
        Residual(
            target=own.target,
            family=example.design.family,
            group=own.group,
            part=own.part,
            actual=own.actual,
            predicted=own.answer.value,
            difficulty=Difficulty(
                spread={own.target: spread_of(own.answer)},
                outside=0,
                trips=trips_of(example.features) or TRIPS_ASSUMED,
            ),
        )
        for example, own in judged
    ]


def prediction_rows(judged: Iterable[tuple[Example, Judged]]) -> list[Prediction]:
    """Return the judged answers as predictions of the leaderboard."""
    return [
        Prediction(
            design_id=example.design.design_id,
            group=own.group,
            part=own.part,
            target=own.target,
            actual=own.actual,
            predicted=own.answer.value,
            samples=own.answer.samples,
        )
        for example, own in judged
    ]
