"""Digits of the numeric language model: round trips in every base, and the search against brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from models.base import PredictorError
from models.numeric_lm import ANSWERS, BASES
from models.numeric_lm.answers import METRICS, RATIO, FixedDigits, Scientific, form_of
from models.numeric_lm.network import DigitDecoder, metric_mask, pad_prompts
from models.numeric_lm.prompts import EncodedPrompt, Kind
from models.numeric_lm.search import answer_of, search

FORMS = {
    f"{metric.target}-{base}-{answer}": form_of(metric, base=base, answer=answer)
    for metric in (*METRICS, RATIO)
    for base in BASES
    for answer in ANSWERS
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@given(share=st.floats(0, 1))
def test_a_value_survives_its_classes(form, share: float) -> None:
    """The value comes back within half a step, of the lowest place or of the mantissa."""
    exact = isinstance(form, FixedDigits)
    largest = form.value([n - 1 for n in form.choices]) if exact else float(form.base) ** form.highest
    step = form.step if exact else float(form.base) ** form.lowest
    value = step * (largest / step) ** share
    classes = form.encode(value)
    assert all(0 <= c < n for c, n in zip(classes, form.choices, strict=True))
    error = step / 2 if exact else value * 0.5 * form.base ** (1.0 - form.mantissa)
    assert abs(form.value(classes) - value) <= error * 1.000001


@pytest.mark.sample(6)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@given(share=st.floats(0, 1))
def test_the_interval_of_each_prefix_holds_the_value(form, share: float) -> None:
    highest = 1e4 if isinstance(form, FixedDigits) else float(form.base) ** form.highest
    classes = np.array([form.encode(highest**share / 2)])
    value = form.value(classes[0])
    before = (0.0, np.inf)
    for steps in range(1, classes.shape[1] + 1):
        low, high = (ends[0] for ends in form.intervals(classes[:, :steps]))
        assert low <= value <= high
        assert low >= before[0] - 1e-9 * value
        assert high <= before[1] * (1 + 1e-9)
        before = low, high


def test_digits_are_those_of_the_paper() -> None:
    """655 has the digits 6, 5, 5, and 128 in base 2 one 1 and seven 0 (LLMulator section 4.2)."""
    assert FixedDigits(base=10, places=3, step=1.0).encode(655.0) == (6, 5, 5)
    assert FixedDigits(base=2, places=8, step=1.0).encode(128.0) == (1, 0, 0, 0, 0, 0, 0, 0)
    assert Scientific(base=10, mantissa=3, lowest=-4, highest=8).encode(655.0) == (0, 6, 5, 5, 5)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), 1e9])
def test_digits_reject_what_has_no_place(value: float) -> None:
    for form in (
        FixedDigits(base=10, places=3, step=1.0),
        Scientific(base=10, mantissa=3, lowest=0, highest=3),
    ):
        with pytest.raises(PredictorError, match=r"^value (too large|is no label): .*; accepted: "):
            form.encode(value)


def _decoder(forms) -> tuple[DigitDecoder, torch.Tensor]:
    torch.manual_seed(3)
    decoder = DigitDecoder(forms, 16, width=16, layers=2, heads=2, dropout=0.0).eval()
    nn.init.normal_(decoder.out.weight, std=1.0)
    return decoder, torch.randn(2, 5, 16)


def _prompt(count: int) -> EncodedPrompt:
    zeros = np.zeros(count, np.int32)
    return EncodedPrompt(
        ids=zeros,
        magnitudes=np.full(count, np.nan, np.float32),
        position=zeros,
        block=zeros,
        kind=np.full(count, Kind.PARAMS, np.int32),
        dynamic=zeros.astype(bool),
    )


@pytest.mark.parametrize(
    "form",
    [
        FixedDigits(base=2, places=5, step=1.0),
        FixedDigits(base=10, places=2, step=0.1),
        Scientific(base=2, mantissa=2, lowest=0, highest=2),
    ],
    ids=["binary", "decimal", "scientific"],
)
def test_search_with_all_beams_equals_brute_force(form) -> None:
    """With a beam per answer the search is exact; with few, the leaves still hold the whole probability."""
    shorter = FixedDigits(base=2, places=2, step=1.0)
    forms = [form, shorter, form, form, form]
    decoder, states = _decoder(forms)
    memory = decoder.remember(states, metric_mask(pad_prompts([_prompt(5)] * 2)))
    anchors = torch.full((2, 5), float("nan"))
    every = np.array(list(product(*(range(n) for n in form.choices))))
    exact = _log_likelihoods(decoder, memory, anchors, every)
    found = search(decoder, memory, anchors, forms, beams=len(every))
    narrow = search(decoder, memory, anchors, forms, beams=2)
    for row in range(2):
        for metric in (0, 2, 4):
            distribution = found[row][metric]
            best = int(np.argmax(exact[row, metric]))
            assert distribution.best == tuple(every[best])
            chances = np.prod(distribution.probabilities)
            assert chances == pytest.approx(np.exp(exact[row, metric, best]), rel=1e-4)
            positive = every[:, 0] == 0 if isinstance(form, Scientific) else np.full(len(every), True)
            low, high = form.intervals(every)
            middle = float(np.median((low + high)[positive] / 2))
            below = np.exp(exact[row, metric]) @ ((low + high) / 2 < middle)
            assert distribution.probability(-1e9, middle - 0.01) == pytest.approx(below, abs=0.02)
            assert narrow[row][metric].mass.sum() == pytest.approx(1.0)
            answer = answer_of(narrow[row][metric], 2.0)
            assert answer.low <= answer.value <= answer.high


def _log_likelihoods(decoder, memory, anchors, every) -> np.ndarray:
    """(prompts, metrics, answers), each answer by teacher forcing."""
    logs = []
    with torch.inference_mode():
        for answer in every:
            classes = torch.zeros((2, 5, decoder.steps), dtype=torch.int64)
            classes[:, [0, 2, 3, 4]] = torch.tensor(answer)
            given = decoder(memory, classes, anchors).log_softmax(-1)
            logs.append(given.gather(3, classes.unsqueeze(3)).squeeze(3).sum(2).numpy())
    return np.stack(logs, axis=2)
