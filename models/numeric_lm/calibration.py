"""Dynamic calibration: the cycles of a program are predicted, profiled on its cycle model, and learned from.

Source: LLMulator section 5.1. Each round predicts fresh inputs, profiles them, adds preferences to the replay
buffer and updates the decoder of digits. The encoder stays as it is, so each prompt is encoded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from models.base import PredictorError
from models.calibration_options import CalibrationOptions
from models.labelled import Query
from models.numeric_lm.anchor import ProfileAnchor, design_hash, fit_anchor
from models.numeric_lm.answers import TARGETS, classes_of
from models.numeric_lm.data import CYCLES, estimates_of, question_features
from models.numeric_lm.network import DigitDecoder, Memory, metric_mask, pad_prompts
from models.numeric_lm.predictor import NumericPredictor, anchors_of, batches_by_length
from models.numeric_lm.preferences import (
    UNKNOWN,
    Preference,
    ReplayBuffer,
    answer_likelihoods,
    batch_of,
    padded,
    preference_loss,
)
from models.numeric_lm.prompts import EncodedPrompt
from models.numeric_lm.search import Answer
from models.scheduled import compile_query
from models.training import deterministic
from pipelines.c import read_interface
from pipelines.c.signature import DataSet
from pipelines.cyclemodel import count_cycles_of
from pipelines.dataset.records import summarise_data
from pipelines.programs import data_sets, program_from_file
from pipelines.schemas import DATA_KINDS, DRAWN, OK

_BATCH_TOKENS = 16384


class Environment(Protocol):
    """What profiles a program."""

    def profile(self, data: Sequence[DataSet]) -> list[float | None]:
        """Return the cycles of each data set; None where the run fails."""
        ...


class CycleEnvironment:
    """The cycle model of a question's design.

    Args:   engine: library and options of high-level synthesis, as in a predictor's card.
    Raises: ValueError: the engine does not accept the program or its configuration.
    """

    def __init__(self, query: Query, engine: Mapping[str, Any]) -> None:
        _, _, self._compiled = compile_query(query, engine)
        self.reason: str | None = None

    def profile(self, data: Sequence[DataSet]) -> list[float | None]:
        """Return the cycles of each data set; `reason` says why the last failed run failed."""
        with TemporaryDirectory() as name:
            results = count_cycles_of(self._compiled, data, folder=Path(name))
        for result in results:
            self.reason = result.reason or self.reason
        return [float(r.latency_cycles) if r.status == OK and r.latency_cycles else None for r in results]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """An input of a program with its question. cycles: NaN until it is profiled."""

    query: Query
    data: DataSet
    cycles: float = float("nan")


def draw_inputs(query: Query, options: CalibrationOptions) -> tuple[list[Profile], list[Profile]]:
    """Draw the inputs to calibrate on and unseen ones; no two have the same summary.

    All kinds of data sets in random order. A program with few inputs gives each side its share.

    Raises: ValueError: the source or its input specification is not acceptable. PredictorError: it has fewer
            than two inputs.
    """
    program = program_from_file(Path("program.c"), top=query.top, source=query.source, inputs=query.inputs)
    calibrated = options.rounds * options.inputs
    total = calibrated + options.unseen
    seeds = range(options.seed, options.seed + 2 * total)
    drawn = data_sets(
        program,
        read_interface(query.source, query.top),
        (DRAWN, *(k for k in DATA_KINDS if k != DRAWN)),
        seeds=seeds,
    )
    by_summary = {summarise_data(one.values): one.values for one in drawn}
    summaries = sorted(by_summary)
    np.random.default_rng(options.seed).shuffle(summaries)
    if len(summaries) < 2:
        raise PredictorError("the program has one input only; calibration needs at least 2")
    if len(summaries) < total:
        calibrated = max(1, len(summaries) * calibrated // total)
    profiles = [
        Profile(query=replace(query, data=summary), data=by_summary[summary]) for summary in summaries[:total]
    ]
    return profiles[:calibrated], profiles[calibrated:]


class _Question(NamedTuple):
    """An encoded prompt: states (tokens, width), mask (metrics, tokens). estimates: of the engine."""

    states: Tensor
    mask: Tensor
    query: Query
    estimates: Mapping[str, float]


class _Profiled(NamedTuple):
    """A triplet ({x, data}, y_w, y_l): the question, the measured and the predicted value."""

    question: _Question
    measured: float
    predicted: float


class Calibrator:
    """A predictor that learns from profiles. The predictor's decoder is changed in place.

    Attributes: reference: the frozen decoder of the static stage. target: that is learned.
    """

    def __init__(
        self, predictor: NumericPredictor, options: CalibrationOptions, target: str = CYCLES
    ) -> None:
        self.predictor, self._options, self.target = predictor, options, target
        self.reference = deepcopy(predictor.network.decoder).requires_grad_(requires_grad=False)
        self._buffer: ReplayBuffer[_Profiled] = ReplayBuffer(options.window)
        self._form = predictor.card.forms()[target]
        self._generator = torch.Generator().manual_seed(options.seed)
        decoder = predictor.network.decoder.requires_grad_(requires_grad=True)
        self._optimizer = torch.optim.AdamW(decoder.parameters(), lr=options.learning_rate, weight_decay=0.0)

    def encode(self, queries: Sequence[Query], features: Mapping[str, float]) -> list[_Question]:
        """Encode questions about one program. features: of the level."""
        prompts = [self.predictor.encode(query, features) for query in queries]
        questions: dict[int, _Question] = {}
        for rows in batches_by_length(prompts, range(len(prompts)), _BATCH_TOKENS):
            for row, states, mask in _encoded(self.predictor, [prompts[row] for row in rows], rows):
                questions[row] = _Question(
                    states, mask, queries[row], self.predictor.starts(features, queries[row])
                )
        return [questions[row] for row in range(len(prompts))]

    def answers(
        self, questions: Sequence[_Question], decoder: DigitDecoder | None = None
    ) -> list[dict[str, Answer]]:
        """Return the answers of the present decoder, or of another one."""
        decoder = decoder or self.predictor.network.decoder
        memory, anchors = self._memory(questions, decoder)
        return self.predictor.decode(memory, anchors, [self._estimates(q) for q in questions], decoder)

    def learn(self, questions: Sequence[_Question], measured: Sequence[float]) -> list[float]:
        """Add the preferences of measured questions, of which there may be none, and update.

        Returns: the loss of every update.
        """
        if questions:
            predicted = [answers[self.target].value for answers in self.answers(questions)]
            self._buffer.add(map(_Profiled, questions, measured, predicted))
            self._anchor()
        known = self._preferences()
        return [self._update(known) for _ in range(self._options.updates)]

    def _anchor(self) -> None:
        """Fit the anchor to all profiles of the window."""
        card = self.predictor.card
        if self._options.anchored and self.target == CYCLES and CYCLES in card.ratios:
            queries = [known.question.query for known in self._buffer]
            cycles = [known.measured for known in self._buffer]
            anchor = fit_anchor(queries[0], [query.data for query in queries], cycles)
            self.predictor.card = card.model_copy(update={"anchor": anchor})

    def _estimates(self, question: _Question) -> dict[str, float]:
        anchor = self.predictor.card.anchor
        is_known = anchor is not None and anchor.design == design_hash(question.query)
        cycles = {CYCLES: anchor.cycles(question.query.data)} if anchor is not None and is_known else {}
        return {**question.estimates, **cycles}

    def _preferences(self) -> list[Preference]:
        kept = self.answers([known.question for known in self._buffer], self.reference)
        return [self._preference(*row) for row in zip(self._buffer, kept, strict=True)]

    def _update(self, known: Sequence[Preference]) -> float:
        options, decoder = self._options, self.predictor.network.decoder
        loss = preference_loss(
            decoder,
            batch_of([known[n] for n in self._buffer.draw(options.minibatch, self._generator)]),
            TARGETS.index(self.target),
            beta=options.beta,
            supervised=options.supervised,
            keep=options.keep,
        )
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(decoder.parameters(), 1.0)
        self._optimizer.step()
        return float(loss.detach())

    def _preference(self, profiled: _Profiled, kept: Mapping[str, Answer]) -> Preference:
        question = profiled.question
        form, scale = self._form, self.predictor.scale(self.target, self._estimates(question))
        values = (profiled.measured, profiled.predicted)
        answers = self._rows([classes_of(form, value / scale) for value in values])
        others = [_classes(kept[t]) if t in kept and t != self.target else () for t in TARGETS]
        memory, anchors = self._memory([question], self.reference)
        with torch.no_grad():
            place = TARGETS.index(self.target)
            [known] = answer_likelihoods(self.reference, memory, anchors, answers.unsqueeze(0), place)
        return Preference(
            states=question.states,
            mask=question.mask,
            anchors=anchors[0],
            answers=answers,
            reference=known,
            kept=self._rows(others),
        )

    def _rows(self, answers: Sequence[Sequence[int]]) -> Tensor:
        """Return the classes as (answers, steps)."""
        rows = torch.full((len(answers), self.reference.steps), UNKNOWN)
        for number, own in enumerate(answers):
            rows[number, : len(own)] = torch.tensor(own)
        return rows

    def _memory(self, questions: Sequence[_Question], decoder: DigitDecoder) -> tuple[Memory, Tensor]:
        states, mask = padded([q.states for q in questions], [q.mask for q in questions])
        with torch.no_grad():
            return decoder.remember(states, mask), anchors_of([self._estimates(q) for q in questions])


def _encoded(
    predictor: NumericPredictor, prompts: Sequence[EncodedPrompt], rows: Sequence[int]
) -> Iterator[tuple[int, Tensor, Tensor]]:
    batch = pad_prompts(prompts)
    with torch.no_grad():
        states, mask = predictor.network.backbone(batch), metric_mask(batch)
    for place, (row, prompt) in enumerate(zip(rows, prompts, strict=True)):
        yield row, states[place, : len(prompt)].clone(), mask[place, :, : len(prompt)]


def _classes(answer: Answer) -> tuple[int, ...]:
    return tuple(digit for digit, _ in answer.digits)


# ---- a whole calibration -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round.

    Attributes:
        inputs: profiled in it. fresh_error: of their predictions before they were learned from; None for no
            inputs. loss: of its last update. unseen_error: after it.
    """

    inputs: int
    fresh_error: float | None
    loss: float
    unseen_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """What a calibration did. Errors are mean absolute percentage errors of cycles, as fractions.

    Attributes:
        calibration_inputs, unseen_inputs, failed_inputs: numbers of inputs.
        distinct_cycles: different numbers of cycles among all inputs; 1 where cycles do not depend on data.
        error_before, error_after: on the unseen inputs. engine_error: of the engine's estimate at level hls.
        anchor_error: of the regression on the profiles alone; None without it.
        drift: largest relative change of the answers to the other targets, on the unseen inputs.
    """

    calibration_inputs: int
    unseen_inputs: int
    failed_inputs: int
    distinct_cycles: int
    error_before: float
    error_after: float
    engine_error: float | None
    anchor_error: float | None
    drift: float
    rounds: tuple[Round, ...]


def calibrate(
    predictor: NumericPredictor,
    query: Query,
    options: CalibrationOptions,
    environment: Environment | None = None,
) -> CalibrationReport:
    """Calibrate a predictor on inputs of a program, in place.

    Args:   environment: of the profiles; the cycle model by default.
    Raises: ValueError: the program cannot be compiled, or its inputs cannot be drawn. PredictorError: it has
            too few inputs, or too many of its runs fail.
    """
    environment = environment or CycleEnvironment(query, predictor.card.engine)
    with deterministic(options.seed):
        learned, unseen = draw_inputs(query, options)
        count = len(learned) + len(unseen)
        known, judged = _profiled(learned, environment), _profiled(unseen, environment)
        if not known or not judged:
            reason = getattr(environment, "reason", None) or "no reason"
            raise PredictorError(f"too few inputs of the program run to their end; the last reason: {reason}")
        features = question_features(query, predictor.card.level, predictor.card.engine)
        calibrator = Calibrator(predictor, options)
        return _calibrated(calibrator, features, known, judged, options, count)


def _profiled(profiles: Sequence[Profile], environment: Environment) -> list[Profile]:
    cycles = environment.profile([profile.data for profile in profiles])
    return [replace(p, cycles=c) for p, c in zip(profiles, cycles, strict=True) if c is not None]


def _calibrated(
    calibrator: Calibrator,
    features: Mapping[str, float],
    known: Sequence[Profile],
    judged: Sequence[Profile],
    options: CalibrationOptions,
    count: int,
) -> CalibrationReport:
    questions = calibrator.encode([profile.query for profile in known], features)
    unseen = calibrator.encode([profile.query for profile in judged], features)
    actual = [profile.cycles for profile in judged]
    before = calibrator.answers(unseen)
    rounds: list[Round] = []
    after = before
    for number in range(options.rounds):
        rows = range(number, len(known), options.rounds)
        fresh, cycles = [questions[row] for row in rows], [known[row].cycles for row in rows]
        error = _error(calibrator.answers(fresh), cycles) if fresh else None
        losses = calibrator.learn(fresh, cycles)
        after = calibrator.answers(unseen)
        rounds.append(
            Round(
                inputs=len(fresh),
                fresh_error=error,
                loss=losses[-1],
                unseen_error=_error(after, actual),
            )
        )
    estimate = estimates_of(features).get(CYCLES)
    return CalibrationReport(
        calibration_inputs=len(known),
        unseen_inputs=len(judged),
        failed_inputs=count - len(known) - len(judged),
        distinct_cycles=len({profile.cycles for profile in (*known, *judged)}),
        error_before=_error(before, actual),
        error_after=_error(after, actual),
        engine_error=None if estimate is None else _mean([abs(estimate / c - 1) for c in actual]),
        anchor_error=_anchor_error(calibrator.predictor.card.anchor, judged),
        drift=_drift(before, after),
        rounds=tuple(rounds),
    )


def _error(answers: Sequence[Mapping[str, Answer]], cycles: Sequence[float]) -> float:
    return _mean([abs(own[CYCLES].value / c - 1) for own, c in zip(answers, cycles, strict=True)])


def _anchor_error(anchor: ProfileAnchor | None, judged: Sequence[Profile]) -> float | None:
    if anchor is None:
        return None
    return _mean([abs(anchor.cycles(profile.query.data) / profile.cycles - 1) for profile in judged])


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _drift(before: Sequence[Mapping[str, Answer]], after: Sequence[Mapping[str, Answer]]) -> float:
    return max(
        abs(own[target].value / max(answer.value, 1e-9) - 1)
        for known, own in zip(before, after, strict=True)
        for target, answer in known.items()
        if target != CYCLES
    )
