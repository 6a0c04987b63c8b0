"""Calibration: the preference loss against its closed form, the replay buffer, a program that is learned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from models.base import PredictorError
from models.calibration_options import CalibrationOptions
from models.labelled import Query
from models.numeric_lm.anchor import design_hash, fit_anchor
from models.numeric_lm.answers import TARGETS, forms_of
from models.numeric_lm.calibration import CycleEnvironment, calibrate, draw_inputs
from models.numeric_lm.network import CompactBackbone, DigitDecoder, NumericNetwork
from models.numeric_lm.predictor import Card, NumericPredictor
from models.numeric_lm.preferences import (
    UNKNOWN,
    Likelihoods,
    ReplayBuffer,
    dpo_loss,
    log_probability,
)
from models.numeric_lm.tokens import train_tokenizer
from pipelines.hls import HlsOptions, TransformOptions

SOURCE = """void top(int x[32], int n, int y[32]) {
    for (int i = 0; i < n; i++)
        y[i] = x[i] * 3 + 1;
}
"""
QUERY = Query(
    source=SOURCE,
    top="top",
    memory_read_delay_cycles=2,
    memory_write_delay_cycles=2,
    clock_period_ns=10.0,
    inputs='{"n": {"kind": "uniform", "low": 1, "high": 32}}',
)
OPTIONS = CalibrationOptions(rounds=2, inputs=8, unseen=6, updates=15, minibatch=8, learning_rate=3e-3)


def _predictor() -> NumericPredictor:
    """A predictor that learned nothing yet."""
    tokenizer = train_tokenizer([SOURCE], [], size=300, isolates=True)
    torch.manual_seed(0)
    forms = list(forms_of(base=10, answer="digits", ratios=()).values())
    network = NumericNetwork(
        CompactBackbone(tokenizer.size, 32, 1, 4, 0.0, True),
        DigitDecoder(forms, 32, width=32, layers=1, heads=4, dropout=0.0),
    )
    return NumericPredictor(_card(tokenizer.as_json()), network)


def _card(tokenizer: str) -> Card:
    options = HlsOptions()
    permissions = {name: getattr(options.transforms, name) for name in TransformOptions.__dataclass_fields__}
    return Card(
        level="text",
        targets=list(TARGETS),
        ratios=[],
        base=10,
        answer="digits",
        isolated=True,
        magnitudes=True,
        program=True,
        features=True,
        backbone="compact",
        backbone_digest="",
        lora_rank=1,
        width=32,
        layers=1,
        heads=4,
        decoder_width=32,
        decoder_layers=1,
        dropout=0.0,
        beams=4,
        liberty="osu018",
        engine={"liberty": "osu018", "engine_options": json.dumps(permissions)},
        low={},
        high={},
        split="",
        seen_groups=[],
        dataset_hash="",
        tokenizer=tokenizer,
    )


# ---- the loss ----------------------------------------------------------------------------------------


def test_the_gradient_of_the_preference_loss_is_its_closed_form() -> None:
    """d loss / d logit = -+ beta sigmoid(-margin) (1[class is the answer's] - probability) / batch."""
    torch.manual_seed(1)
    beta, shape = 0.7, (3, 1, 4, 5)
    logits = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    reference = torch.randn(shape, dtype=torch.float64)
    chosen, rejected = (torch.randint(0, 5, shape[:3]) for _ in range(2))
    pairs = [(values, answer) for values in (logits, reference) for answer in (chosen, rejected)]
    known = [log_probability(*pair)[:, 0] for pair in pairs]
    dpo_loss(Likelihoods(*known[:2]), Likelihoods(*known[2:]), beta).backward()
    margin = beta * ((known[0] - known[2]) - (known[1] - known[3])).detach()
    weight = (beta * torch.sigmoid(-margin) / shape[0]).view(-1, 1, 1, 1)
    probability = logits.detach().softmax(-1)
    one = one_hot(chosen, 5) - probability - (one_hot(rejected, 5) - probability)
    assert logits.grad is not None
    torch.testing.assert_close(logits.grad, -weight * one)


def test_equal_answers_of_a_policy_at_its_reference_give_log_2() -> None:
    same = Likelihoods(torch.tensor([-1.0]), torch.tensor([-2.0]))
    torch.testing.assert_close(dpo_loss(same, same, 0.1), torch.tensor(2.0).log())


def test_unknown_steps_have_no_probability() -> None:
    logits = torch.zeros(1, 2, 3, 4)
    classes = torch.tensor([[[1, 2, UNKNOWN], [UNKNOWN] * 3]])
    expected = torch.tensor([[-2 * torch.tensor(4.0).log(), 0.0]])
    torch.testing.assert_close(log_probability(logits, classes), expected)


# ---- the buffer --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("window", "kept"), [(1, {4}), (3, {2, 3, 4}), (9, {0, 1, 2, 3, 4})])
def test_the_buffer_keeps_the_latest_profiles(window: int, kept: set[int]) -> None:
    buffer: ReplayBuffer[int] = ReplayBuffer(window)
    for number in range(5):
        buffer.add([number])
    places = buffer.draw(100, torch.Generator().manual_seed(0))
    assert set(buffer) == kept
    assert sorted(places) == list(range(len(buffer)))
    assert len(buffer.draw(1, torch.Generator())) == 1


# ---- the anchor --------------------------------------------------------------------------------------


def test_the_anchor_learns_products_of_scalars_and_stays_near_its_profiles() -> None:
    generator = np.random.default_rng(0)
    sizes = generator.integers(2, 50, (40, 2))
    summaries = [json.dumps({"m": int(m), "n": int(n)}) for m, n in sizes]
    cycles = [5.0 * m * n for m, n in sizes + 1]
    anchor = fit_anchor(QUERY, summaries[:30], cycles[:30])
    found = [anchor.cycles(summary) for summary in summaries[30:]]
    assert found == pytest.approx(cycles[30:], rel=0.05)
    assert anchor.cycles('{"m": 1000000, "n": 1000000}') <= 2 * max(cycles[:30]) * (1 + 1e-9)
    assert anchor.design == design_hash(replace(QUERY, data="{}")) != design_hash(replace(QUERY, top="x"))


def test_the_anchor_of_one_profile_is_that_profile() -> None:
    anchor = fit_anchor(QUERY, ['{"n": 3}'], [77.0])
    assert anchor.cycles('{"n": 9}') == pytest.approx(77.0)


# ---- inputs and a whole calibration ------------------------------------------------------------------


def test_inputs_are_distinct_and_unseen_ones_are_apart() -> None:
    known, unseen = draw_inputs(QUERY, OPTIONS)
    summaries = [profile.query.data for profile in (*known, *unseen)]
    assert len(known) == 16
    assert len(unseen) == 6
    assert len(set(summaries)) == 22


def test_calibration_lowers_the_error_on_unseen_inputs() -> None:
    predictor = _predictor()
    report = calibrate(predictor, QUERY, OPTIONS)
    assert report.distinct_cycles > 5
    assert (report.calibration_inputs, report.unseen_inputs, report.failed_inputs) == (16, 6, 0)
    assert report.error_after < 1e-3 * report.error_before  # from random weights
    assert [r.inputs for r in report.rounds] == [8, 8]


def test_the_environment_counts_cycles_and_says_why_a_run_failed() -> None:
    environment = CycleEnvironment(QUERY, _card("").engine)
    known, _ = draw_inputs(QUERY, OPTIONS)
    few = {**known[0].data, "n": known[0].data["n"] * 0 + 4}
    many = {**few, "n": few["n"] * 0 + 8}
    beyond = {**few, "n": few["n"] * 0 + (1 << 30)}
    cycles = environment.profile([few, many, beyond])
    assert cycles[0] is not None
    assert cycles[1] is not None
    assert cycles[0] < cycles[1]
    assert cycles[2] is None
    assert environment.reason


def test_calibration_rejects_programs_whose_runs_fail_and_that_have_one_input() -> None:
    class _Failing:
        reason = "no end"

        def profile(self, data: Sequence[object]) -> list[float | None]:
            return [None for _ in data]

    with pytest.raises(PredictorError, match=r"^too few inputs .*; the last reason: no end$"):
        calibrate(_predictor(), QUERY, OPTIONS, _Failing())
    alone = replace(QUERY, source="int top(void) { return 3; }\n", inputs="{}")
    with pytest.raises(PredictorError, match=r"^the program has one input only"):
        draw_inputs(alone, OPTIONS)


def test_repeated_questions_answer_like_whole_prompts() -> None:
    predictor = _predictor()
    known, _ = draw_inputs(QUERY, OPTIONS)
    prompts = [predictor.encode(profile.query, {}) for profile in known[:3]]
    estimates = [{} for _ in prompts]
    whole = predictor.answer_prompts(prompts, estimates)
    for one, two in zip(predictor.answer_one_by_one(prompts, estimates), whole, strict=True):
        assert list(one) == list(two)
        assert [a.value for a in one.values()] == pytest.approx([a.value for a in two.values()], rel=1e-4)
    static = [answers["area_um2"] for answers in predictor.answer_one_by_one(prompts, estimates)]
    assert static[0] is static[1] is static[2]


@pytest.mark.parametrize(("option", "value"), [("rounds", 0), ("beta", 0.0), ("keep", -1.0)])
def test_options_reject_values_out_of_range(option: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"^{option} out of range: {value!r}; accepted: "):
        replace(CalibrationOptions(), **{option: value})


def test_a_calibrated_model_is_a_folder_that_answers(tmp_path: Path) -> None:
    from models.model_files import model_bytes, write_folder
    from simfoundry.commands.calibrate import answer_calibrate, calibration_text
    from simfoundry.commands.predict import predict_file
    from simfoundry.questions import CalibrateQuestion

    write_folder(tmp_path / "model", model_bytes("numeric-lm-text", _predictor().files))
    (tmp_path / "p.c").write_text(SOURCE)
    (tmp_path / "inputs.json").write_text(QUERY.inputs)
    common = {"file": tmp_path / "p.c", "top": "top", "directives": None, "memory_delay": 2, "clock": 10.0}
    question = CalibrateQuestion(
        file=tmp_path / "p.c",
        top="top",
        model=str(tmp_path / "model"),
        specification=tmp_path / "inputs.json",
        out=tmp_path / "calibrated",
        rounds=1,
        inputs=2,
        unseen=2,
        updates=1,
    )
    answer = answer_calibrate(question)
    assert "unseen inputs" in calibration_text(answer)
    models = [str(tmp_path / name) for name in ("model", "calibrated")]
    before, after = (predict_file(**common, model=model) for model in models)
    assert before.keys() == after.keys()
    assert before != after
    with pytest.raises(PredictorError, match="holds calibrated"):
        answer_calibrate(replace(question, model="no model", specification=None, out=tmp_path))
    assert (tmp_path / "p.c").exists()
