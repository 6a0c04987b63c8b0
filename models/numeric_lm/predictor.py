"""The trained predictor: questions to prompts, prompts to answers with intervals and confidence by digit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict
from torch import Tensor, nn

from models.base import Estimate, LabelPredictor, PredictorError, read_rows
from models.intervals import TRIPS_ASSUMED, trips_of
from models.labelled import Query
from models.model_files import ModelFiles
from models.numeric_lm.anchor import ProfileAnchor, design_hash
from models.numeric_lm.answers import METRICS, TARGETS, AnswerForm, forms_of
from models.numeric_lm.block_cache import BlockCache
from models.numeric_lm.data import CYCLES, estimates_of, question_features
from models.numeric_lm.intervals import widened
from models.numeric_lm.network import (
    CompactBackbone,
    DigitDecoder,
    Memory,
    NumericNetwork,
    PromptBatch,
    pad_prompts,
)
from models.numeric_lm.prompts import MOST_CHARACTERS, EncodedPrompt, PromptEncoder, blocks_of
from models.numeric_lm.search import Answer, answer_of, search
from models.numeric_lm.tokens import load_tokenizer
from pipelines.base.identity import canonical_json

PROMPT_FORMAT = 3
"""Raised when prompts of the same questions change; earlier weights are refused."""
_BATCH_TOKENS = 16384
_LEAST = 1e-9
_TREES = "trees."
_STATIC = tuple(metric.target for metric in METRICS if not metric.dynamic)
_DYNAMIC = tuple(metric.target for metric in METRICS if metric.dynamic)
_MOST_STATIC = 256
"""Programs whose static answers are kept while their data change."""


class Card(BaseModel):
    """What stands beside the weights.

    Attributes:
        targets: those with labels in training. ratios: targets answered by the ratio to their estimate.
        low, high: range of each feature in training.
        widths: of the conformal intervals by target, see `intervals.conformal_widths`; 0 where it is absent.
        anchor: of a calibrated model: the estimate of the cycles of one design.
        trees: those whose estimates are answered the ratio to, without their arrays; None for none.
        undirected: weight in training of the differences to the program without directives.
        backbone: compact, smollm2, or a folder in Hugging Face's layout. backbone_digest: hash of its files.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt_format: int = PROMPT_FORMAT
    level: str
    targets: list[str]
    ratios: list[str]
    base: int
    answer: str
    isolated: bool
    magnitudes: bool
    program: bool
    features: bool
    backbone: str
    backbone_digest: str
    lora_rank: int
    width: int
    layers: int
    heads: int
    decoder_width: int
    decoder_layers: int
    dropout: float
    beams: int
    liberty: str
    engine: dict[str, str]
    low: dict[str, float]
    high: dict[str, float]
    split: str
    seen_groups: list[str]
    dataset_hash: str
    tokenizer: str
    widths: dict[str, float] = {}
    anchor: ProfileAnchor | None = None
    trees: dict[str, Any] | None = None
    undirected: float = 0.0

    def forms(self) -> dict[str, AnswerForm]:
        """Return the form of the answers by target."""
        return forms_of(base=self.base, answer=self.answer, ratios=self.ratios)


def build_network(card: Card, vocabulary: int) -> NumericNetwork:
    """Build a network of the card's sizes, untrained.

    Raises: PredictorError: the back-bone's folder cannot be used.
    """
    backbone: nn.Module
    if card.backbone == "compact":
        backbone = CompactBackbone(
            vocabulary, card.width, card.layers, card.heads, card.dropout, card.magnitudes
        )
    else:
        backbone = _folder_backbone(card)
    decoder = DigitDecoder(
        list(card.forms().values()),
        int(backbone.width),  # pyright: ignore[reportArgumentType]
        width=card.decoder_width,
        layers=card.decoder_layers,
        heads=card.heads,
        dropout=card.dropout,
        differences=card.undirected > 0,
    )
    return NumericNetwork(backbone, decoder, card.undirected)


def _folder_backbone(card: Card) -> nn.Module:
    """Return a language model in a folder, with adapters or, at rank 0, as it is."""
    from models.numeric_lm.folder_backbone import FolderBackbone, backbone_folder

    folder = backbone_folder(card.backbone)
    known: dict[str, Any] = {"digest": card.backbone_digest, "magnitudes": card.magnitudes}
    if card.lora_rank:
        return FolderBackbone(folder, rank=card.lora_rank, dropout=card.dropout, **known)
    from models.numeric_lm.frozen_backbone import FrozenBackbone

    return FrozenBackbone(folder, kept=Path(f"{folder}.states"), **known)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericEstimate(Estimate):
    """An estimate with the answer of each target.

    Attributes:
        answers: by target.
        level: of information.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    level: str = ""

    @property
    def further(self) -> dict[str, Any]:
        """Ends of intervals, confidence by digit, digits as JSON, and the level."""
        ends = {
            f"{target}_{name}": float(getattr(answer, name))
            for target, answer in self.answers.items()
            for name in ("low", "high")
        }
        sure = {f"{target}_digit_confidence": own.confidence for target, own in self.answers.items()}
        digits = {
            f"{target}_digits": canonical_json([[digit, round(p, 4)] for digit, p in answer.digits])
            for target, answer in self.answers.items()
        }
        return {**ends, **sure, **digits, "level": self.level}


class NumericPredictor(LabelPredictor):
    """Answers queries with a trained network."""

    def __init__(self, card: Card, network: NumericNetwork, trees: ModelFiles | None = None) -> None:
        self.card, self.network = card, network.eval()
        self._tree_files, self._starts = trees, None if trees is None else _tree_starts(trees)
        self.encoder = PromptEncoder(load_tokenizer(card.tokenizer, isolates=card.isolated))
        self._forms = list(card.forms().values())
        is_compact = isinstance(network.backbone, CompactBackbone)
        self._cache = BlockCache(network) if is_compact else None
        self._static: dict[tuple[Any, ...], dict[str, Answer]] = {}

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return tuple(self.card.targets)

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data. Frozen weights of a back-bone in a folder stay there."""
        trained = {name for name, p in self.network.named_parameters() if p.requires_grad}
        arrays = {name: t.numpy() for name, t in self.network.state_dict().items() if name in trained}
        if self._tree_files is not None:
            arrays |= {f"{_TREES}{name}": values for name, values in self._tree_files.arrays.items()}
        return ModelFiles(card=self.card.model_dump(mode="json"), arrays=arrays)

    def predict(self, queries: Sequence[Query]) -> list[NumericEstimate]:
        """Predict one estimate per query, in order.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """
        asked = read_rows(self._read, queries)
        known = [features for _, features in asked]
        estimates = [self.estimates(*pair) for pair in zip(known, queries, strict=True)]
        answers = self.answer_one_by_one([prompt for prompt, _ in asked], estimates)
        return [self._estimate(*pair) for pair in zip(answers, known, strict=True)]

    def _read(self, query: Query) -> tuple[EncodedPrompt, Mapping[str, float]]:
        _require_length(query)
        features = question_features(query, self.card.level, self.card.engine)
        return self.encode(query, features), features

    def encode(self, query: Query, features: Mapping[str, float]) -> EncodedPrompt:
        """Return the prompt of a question.

        Raises: ValueError: the source, the directives or the data cannot be read.
        """
        blocks = blocks_of(
            query,
            features=features if self.card.features else {},
            liberty=self.card.liberty,
            program=self.card.program,
        )
        return self.encoder.encode(blocks)

    def estimates(self, features: Mapping[str, float], query: Query | None = None) -> dict[str, float]:
        """Return the estimates that answers are ratios to; the anchor's cycles for questions about it.

        Raises: PredictorError: trees estimate, and the query cannot be read.
        """
        known, anchor = self.starts(features, query), self.card.anchor
        if anchor is not None and query is not None and query.data and anchor.design == design_hash(query):
            known[CYCLES] = anchor.cycles(query.data)
        return known

    def starts(self, features: Mapping[str, float], query: Query | None = None) -> dict[str, float]:
        """Return estimates of the engine at levels hls and run, else of the trees; none without either."""
        if self._starts is None or query is None:
            return estimates_of(features)
        return self._starts([query])[0]

    def answer_prompts(
        self, prompts: Sequence[EncodedPrompt], estimates: Sequence[Mapping[str, float]]
    ) -> list[dict[str, Answer]]:
        """Return the answers by target of every prompt. estimates: of the engine, for anchors and ratios."""
        answers: list[dict[str, Answer]] = [{} for _ in prompts]
        device = self.network.decoder.places.device
        for rows in batches_by_length(prompts, range(len(prompts)), _BATCH_TOKENS):
            batch = PromptBatch(*(own.to(device) for own in pad_prompts([prompts[row] for row in rows])))
            anchors = anchors_of([estimates[row] for row in rows]).to(device)
            with torch.inference_mode():
                memory = self.network.read(batch)
            own = self.decode(memory, anchors, [estimates[row] for row in rows])
            for row, answer in zip(rows, own, strict=True):
                answers[row] = answer
        return answers

    def answer_one_by_one(
        self, prompts: Sequence[EncodedPrompt], estimates: Sequence[Mapping[str, float]]
    ) -> list[dict[str, Answer]]:
        """Answer prompts one by one with the block cache; static metrics stay while data change."""
        if self._cache is None:
            return self.answer_prompts(prompts, estimates)
        answers: list[dict[str, Answer]] = []
        for prompt, known in zip(prompts, estimates, strict=True):
            memory, anchors = self._cache.read(prompt), anchors_of([known])
            name = (self._cache.static_name, *(known.get(target) for target in _STATIC))
            static = self._static.get(name)
            if static is None:
                [own] = self.decode(memory, anchors, [known])
                if len(self._static) >= _MOST_STATIC:
                    self._static.clear()
                self._static[name] = {target: own[target] for target in _STATIC if target in own}
            else:
                [own] = self.decode(memory, anchors, [known], targets=_DYNAMIC)
            both = {**own, **(static or {})}
            answers.append({target: both[target] for target in TARGETS if target in both})
        return answers

    def decode(
        self,
        memory: Memory,
        anchors: Tensor,
        estimates: Sequence[Mapping[str, float]],
        decoder: DigitDecoder | None = None,
        targets: Sequence[str] = TARGETS,
    ) -> list[dict[str, Answer]]:
        """Return answers by target of prompts that are encoded. decoder: another one than the network's."""
        decoder = decoder or self.network.decoder
        metrics = [TARGETS.index(target) for target in targets]
        answers = search(decoder, memory, anchors, self._forms, beams=self.card.beams, metrics=metrics)
        return [
            {
                target: widened(
                    answer_of(distribution, self.scale(target, known)), self.card.widths.get(target, 0.0)
                )
                for target, distribution in zip(targets, distributions, strict=True)
                if target in self.card.targets
            }
            for distributions, known in zip(answers, estimates, strict=True)
        ]

    def scale(self, target: str, estimates: Mapping[str, float]) -> float:
        """Return the factor of an answer: the estimate where ratios are answered, else 1."""
        return estimates[target] if target in self.card.ratios else 1.0

    def _estimate(self, answers: Mapping[str, Answer], features: Mapping[str, float]) -> NumericEstimate:
        outside = [
            name
            for name, value in features.items()
            if name in self.card.low
            and not self.card.low[name] - 1e-9 <= value <= self.card.high[name] + 1e-9
        ]
        return NumericEstimate(
            values={target: answer.value for target, answer in answers.items()},
            outside_training=tuple(outside),
            spread={target: spread_of(answer) for target, answer in answers.items()},
            trips=trips_of(features) or TRIPS_ASSUMED,
            answers=answers,
            level=self.card.level,
        )


def spread_of(answer: Answer) -> float:
    """Return the width of the interval of the model's own probability, as a logarithm."""
    return math.log(max(answer.high, _LEAST) / max(answer.low, _LEAST))


def _tree_starts(files: ModelFiles) -> Callable[[Sequence[Query]], list[dict[str, float]]]:
    from models.numeric_lm.starts import load_trees, tree_estimates

    return partial(tree_estimates, load_trees(files))


def _require_length(query: Query) -> None:
    if len(query.source) > MOST_CHARACTERS:
        raise PredictorError(
            f"program too long: {len(query.source)} characters; accepted: up to {MOST_CHARACTERS}"
        )


def anchors_of(estimates: Sequence[Mapping[str, float]]) -> Tensor:
    """Return the decimal logarithms of 1 + estimates, NaN where there is none: (rows, metrics)."""
    return torch.tensor(
        [[math.log10(1.0 + row[t]) if t in row else math.nan for t in TARGETS] for row in estimates]
    )


def batches_by_length(
    prompts: Sequence[EncodedPrompt], rows: Sequence[int], tokens: int
) -> Iterator[list[int]]:
    """Yield rows in batches of similar length, of one prompt or of so many tokens with padding at most."""
    batch: list[int] = []
    for row in sorted(rows, key=lambda r: (len(prompts[r]), r)):
        if batch and len(prompts[row]) * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def load(files: ModelFiles) -> NumericPredictor:
    """Load the predictor from its files.

    Raises: PredictorError: it was trained on other prompts. ValueError: not such a predictor.
    """
    known = files.card.get("prompt_format")
    if known != PROMPT_FORMAT:
        raise PredictorError(f"prompt format {known} is not {PROMPT_FORMAT}, this version's; train again")
    card = Card.model_validate(files.card)
    network = build_network(card, load_tokenizer(card.tokenizer, isolates=card.isolated).size)
    required = {name for name, p in network.named_parameters() if p.requires_grad}
    own = {name: values for name, values in files.arrays.items() if not name.startswith(_TREES)}
    if required != set(own):
        raise PredictorError(f"weights of other names: {min(required ^ set(own))}; train again")
    weights = {name: torch.from_numpy(values.copy()) for name, values in own.items()}
    network.load_state_dict(weights, strict=False)
    if card.trees is None:
        return NumericPredictor(card, network)
    others = {n.removeprefix(_TREES): a for n, a in files.arrays.items() if n.startswith(_TREES)}
    return NumericPredictor(card, network, ModelFiles(card=card.trees, arrays=others))
