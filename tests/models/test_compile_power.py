"""The power model: losses by their definition, token sequences, files, and answers that follow the data."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from models.base import PredictorError
from models.compile_power import PREDICTOR, FitOptions
from models.compile_power.baselines import (
    analytical,
    block_energies,
    changed_bits,
    fit_loads,
    start_logarithms,
)
from models.compile_power.data import (
    Pair,
    fixed_pair,
    hardware_tokens,
    network_tokens,
    pair_of,
    tree_of,
    wl_similarity,
)
from models.compile_power.inference import QueryModel
from models.compile_power.network import (
    CompilePower,
    Decoder,
    contrastive_loss,
    load,
    software_graphs,
)
from models.compile_power.train import fit_power
from pipelines.accelerators import ACTIVITIES, FIXED_CATEGORIES, Hardware
from pipelines.accelerators.dataset import compiled_row, drawn_hardware

TINY = FitOptions(width=16, layers=2, heads=2, software_epochs=1, hardware_epochs=1, epochs=60, members=1)


def make_pair(number: int, family: str = "mlp") -> Pair:
    """A compiled pair with a label that follows from its estimate."""
    hardware = drawn_hardware(3, number % 6, is_small=True)
    row = compiled_row(hardware, (family, "tiny", number), "test")
    values = {name: getattr(row, name) for name in type(row).__dataclass_fields__}
    pair = pair_of(values, hardware.model_dump_json(), {})
    power = 5.0 + hardware.rows * hardware.columns
    energy = power * pair.estimated_cycles * hardware.clock_period_ns * 1e-3
    return replace(pair, power_mw=power, energy_nj=energy, cycles=pair.estimated_cycles)


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return [make_pair(number, family) for number in range(8) for family in ("mlp", "cnn", "transformer")]


def test_equation_5_is_what_it_says() -> None:
    generator = torch.Generator().manual_seed(1)
    embedding = torch.randn(5, 4, generator=generator)
    similarity = torch.rand(5, 5, generator=generator)
    similarity = (similarity + similarity.T) / 2
    unit = (embedding / embedding.norm(dim=1, keepdim=True)).double().numpy()
    terms = []
    for i in range(5):
        products = [math.exp(float(unit[i] @ unit[k]) / 0.3) for k in range(5)]
        others = [k for k in range(5) if k != i]
        positives = [k for k in others if similarity[i, k] > 0.6]
        if positives:
            terms.append(-math.log(sum(products[k] for k in positives) / sum(products[k] for k in others)))
    found = contrastive_loss(embedding, similarity, temperature=0.3, similar=0.6)
    assert terms
    assert float(found) == pytest.approx(np.mean(terms), rel=1e-5)


def _number(loss: torch.Tensor) -> float:
    return float(loss.detach())


def test_a_decoder_sees_earlier_tokens_alone() -> None:
    torch.manual_seed(0)
    decoder = Decoder(tokens=7, size=3, width=8, heads=2, longest=8).eval()
    embedding = torch.randn(1, 3)
    whole = _number(decoder.loss(embedding, torch.tensor([[0, 3, 4, 5]])))
    padded = _number(decoder.loss(embedding, torch.tensor([[0, 3, 4, 5, -1, -1]])))
    parts = [_number(decoder.loss(embedding, torch.tensor([[0, 3, 4, 5][: n + 1]]))) for n in (1, 2, 3)]
    assert parts[0] < parts[1] < parts[2]
    assert whole == pytest.approx(parts[2], rel=1e-5)
    assert padded == pytest.approx(whole, rel=1e-5)


def test_similarity_of_trees_is_a_normalised_kernel() -> None:
    one, wide = (tree_of(Hardware(columns=columns), 2).words for columns in (4, 8))
    other = tree_of(Hardware(columns=4, rows=2, dataflow="output"), 2).words
    assert wl_similarity(one, one) == pytest.approx(1.0)
    assert 0 < wl_similarity(one, other) < wl_similarity(one, wide) < 1
    assert wl_similarity(one, wide) == wl_similarity(wide, one)


def test_tokens_name_layers_and_compiled_parameters() -> None:
    pair = make_pair(1)
    assert len(network_tokens(pair)) == 2 + 2 * len(pair.kinds)
    changed = replace(pair, hardware=pair.hardware.model_copy(update={"dma_bytes": 8, "store_queue": 7}))
    differing = [a != b for a, b in zip(hardware_tokens(pair), hardware_tokens(changed), strict=True)]
    assert sum(differing) <= 1


def test_graphs_are_joined_without_mixing(pairs: list[Pair]) -> None:
    alone, joined = software_graphs(pairs[1:2]), software_graphs(pairs[:2])
    first = len(pairs[0].counts)
    assert torch.equal(joined.nodes[first:], alone.nodes)
    assert torch.equal(joined.ends[:, joined.ends[0] >= first] - first, alone.ends)


def test_training_fits_answers_and_keeps(pairs: list[Pair]) -> None:
    model, curves = fit_power(pairs, replace(TINY, split="arch1"), seed=0)
    assert curves["train_loss"][-1] < 0.3 * curves["train_loss"][0]
    kept = load(model.files)
    assert np.allclose(kept.logarithms(pairs), model.logarithms(pairs), atol=1e-5)
    assert np.allclose(QueryModel(model.files).logarithms(pairs), model.logarithms(pairs), atol=1e-4)
    seen = [pair for pair in pairs if pair.parts["arch1"] == "train"]
    errors = np.abs(model.logarithms(seen) - np.log([[p.power_mw, p.energy_nj] for p in seen]))
    assert np.median(errors) < 0.1
    example = {column.name: column.example for column in PREDICTOR.task.question}
    [answer] = model.answer([example])
    assert answer["power_low_mw"] <= answer["power_mw"] <= answer["power_high_mw"]


def test_training_rejects_too_few_labels(pairs: list[Pair]) -> None:
    chosen = [pair for pair in pairs if pair.parts["random"] == "train"][:3]
    with pytest.raises(PredictorError, match="3 labels in the training part of split random; needed: 8"):
        fit_power(chosen, TINY, seed=0)


def test_an_answer_names_the_row_that_cannot_be_read() -> None:
    with pytest.raises(PredictorError, match="row 0: not a compiled network"):
        CompilePower.answer(None, [{"hardware": "{}", "compiled": "{}"}])  # type: ignore[arg-type]


def test_power_is_inverse_to_the_clock_period() -> None:
    pair = make_pair(2, "cnn")
    slow = replace(pair, hardware=pair.of_hardware.model_copy(update={"clock_period_ns": 40.0}))
    (power, energy), (less, same) = np.exp(start_logarithms([pair, slow]))
    assert less == pytest.approx(power / 2)
    assert same == pytest.approx(energy)


def test_the_analytical_model_grows_with_work() -> None:
    pair = make_pair(2, "cnn")
    more = replace(pair, counts=2 * pair.counts, estimated_cycles=2 * pair.estimated_cycles)
    (power, energy), (same, twice) = analytical([pair, more])
    assert twice == pytest.approx(2 * energy)
    assert same == pytest.approx(power)
    assert block_energies(pair).shape == (len(pair.counts), 21)


def _pipeline(seed: int, *, interval: int, power: float | None = None) -> Pair:
    draw = np.random.default_rng(seed)
    stages = 2 + seed % 3
    return fixed_pair(
        {
            "fixed_id": str(seed),
            "family": "mlp",
            "seed": seed,
            "reuse_factor": interval,
            "layer_kinds": ["matmul"],
            "layer_parameters": [20],
            "stage_counts": draw.integers(1, 90, stages * len(FIXED_CATEGORIES)).tolist(),
            "stage_activity": draw.integers(1, 90, stages * len(ACTIVITIES)).tolist(),
            "latency_cycles": stages + 1,
            "split_random": "train",
            "power_mw": power,
            "energy_nj": None if power is None else power * interval * 20e-3,
        }
    )


def test_loads_of_pipelines_are_those_that_made_the_power() -> None:
    truth = np.array([1.0, 0.5, 0.25, 0.125, 0.0])
    plain = [_pipeline(seed, interval=1 + seed % 4) for seed in range(30)]
    labelled = [
        replace(pair, power_mw=3.0 * float(changed_bits(pair, truth.tolist()).sum()) / pair.interval_cycles)
        for pair in plain
    ]
    assert np.allclose(fit_loads(labelled), truth, atol=1e-6)
    power, energy = np.exp(start_logarithms(labelled, truth.tolist())).T
    assert np.allclose(energy / power, [pair.interval_cycles for pair in labelled])


def test_pipelines_of_older_releases_start_at_bits_of_adders() -> None:
    older = [replace(pair, counts=_without_activity(pair)) for pair in (_pipeline(1, interval=1, power=2.0),)]
    assert fit_loads(older) == ()
    expected = 1 + sum(
        older[0].counts[:, FIXED_CATEGORIES.index(name)].sum()
        for name in ("add_bits", "constant_add_bits", "register_bits")
    )
    assert np.exp(start_logarithms(older))[0, 0] == pytest.approx(expected)


def _without_activity(pair: Pair) -> np.ndarray[Any, Any]:
    counts = pair.counts.copy()
    counts[:, len(FIXED_CATEGORIES) :] = 0
    return counts


def test_training_on_pipelines_keeps_their_loads() -> None:
    pairs = [_pipeline(seed, interval=1 + seed % 2, power=5.0 + seed) for seed in range(16)]
    model, _ = fit_power(pairs, replace(TINY, epochs=2, has_hardware=False), seed=0)
    assert tuple(load(model.files).settings["loads"]) == fit_loads(pairs)
    assert np.allclose(QueryModel(model.files).logarithms(pairs), model.logarithms(pairs), atol=1e-4)
