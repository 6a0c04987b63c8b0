"""Intervals of power and energy: they hold what they say, and widen on the way out of what was labelled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from models.compile_power import FIXED_PREDICTOR, PREDICTOR
from models.compile_power.data import Pair, fixed_pair, read_pairs
from models.compile_power.inference import QueryModel, read_query_model
from models.compile_power.intervals import Labelled, fit_weights, half_widths, hardware_columns, size_columns
from pipelines.accelerators import ACTIVITIES, FIXED_CATEGORIES, Hardware

CASES = pytest.mark.parametrize(
    "seed", [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 500))]
)
STEPS = 12


def _model(name: str) -> QueryModel:
    spec = PREDICTOR if name == "systolic" else FIXED_PREDICTOR
    return read_query_model(spec.shipped_folder, spec.name)


@pytest.fixture(scope="module")
def models() -> dict[str, QueryModel]:
    return {name: _model(name) for name in ("systolic", "fixed")}


def _drawn_pair(draw: Random, known: Labelled, *, is_fixed: bool) -> Pair:
    """A network inside what was labelled, on hardware of which some columns may be outside."""
    layers = draw.randint(*map(int, known.sizes["layers"]))
    parameters = draw.randint(*map(int, known.sizes["parameters"]))
    kinds, sizes = ("matmul",) * layers, (parameters, *(0,) * (layers - 1))
    if is_fixed:
        stages = draw.randint(*map(int, known.sizes["stages"]))
        row = {"fixed_id": "", "family": "mlp", "seed": 0, "latency_cycles": 2, "reuse_factor": 1}
        row |= {"layer_kinds": kinds, "layer_parameters": sizes}
        row |= {"stage_counts": [1] * stages * len(FIXED_CATEGORIES)}
        return fixed_pair(row | {"stage_activity": [1] * stages * len(ACTIVITIES)})
    hardware = Hardware().model_copy(
        update={
            name: draw.choice([True, False]) if value in ("true", "false") else value
            for name, words in known.hardware.items()
            for value in [draw.choice(words)]
            if isinstance(value, str)
        }
        | {
            name: round(draw.uniform(*words)) if draw.random() < 0.8 else round(2 * words[1] + 1)
            for name, words in known.hardware.items()
            if not isinstance(words[0], str)
        }
    )
    return Pair(
        compiled_id="",
        accelerator_id="",
        group="",
        family="mlp",
        counts=np.ones((layers, 1), np.int64),
        edges=np.zeros((2, 0), np.int64),
        kinds=kinds,
        parameters=sizes,
        hardware=hardware,
        estimated_cycles=1,
        multiplications=draw.randint(*map(int, known.sizes["multiplications"])),
        parts={},
    )


def _with(pair: Pair, column: str, value: int) -> Pair:
    """The pair with another value of a column."""
    if column == "reuse_factor":
        return replace(pair, interval_cycles=value)
    if column == "parameters":
        return replace(pair, parameters=(value, *pair.parameters[1:]))
    if column == "layers":
        return replace(pair, kinds=("matmul",) * value)
    if column == "stages":
        return replace(pair, counts=np.ones((value, pair.counts.shape[1]), np.int64))
    if column == "multiplications":
        return replace(pair, multiplications=value)
    return replace(pair, hardware=pair.of_hardware.model_copy(update={column: value}))


@CASES
@pytest.mark.parametrize("flow", ["systolic", "fixed"])
def test_no_interval_shrinks_on_the_way_out(flow: str, seed: int, models: dict[str, QueryModel]) -> None:
    draw, model = Random(f"{flow} {seed}"), models[flow]
    known = model.labelled
    pair = _drawn_pair(draw, known, is_fixed=flow == "fixed")
    for column, ends in {**known.hardware, **known.sizes}.items():
        if isinstance(ends[0], str):
            continue
        for way in (1, -1):
            edge = int(ends[1]) if way > 0 else int(ends[0])
            values = [edge + way * step * max(1, edge // 4) for step in range(STEPS)]
            asked = [_with(pair, column, value) for value in values if value >= 0]
            widths = half_widths(known, model.arrays["interval.weights"], asked)
            assert (widths > 0).all()
            assert (np.diff(widths, axis=0) >= -1e-12).all(), (column, values)
            assert len(asked) < 3 or (widths[-1] > widths[0]).all(), (column, values)
            for value, one in zip(values, asked, strict=False):
                is_named = column in {outside.column for outside in known.outside(one)}
                assert is_named == (not ends[0] <= value <= ends[1]), (column, value)


def test_a_word_that_was_not_labelled_is_named_and_widens(models: dict[str, QueryModel]) -> None:
    model = models["systolic"]
    pair = _drawn_pair(Random(0), model.labelled, is_fixed=False)
    known = replace(model.labelled, hardware=dict(model.labelled.hardware) | {"dataflow": ("output",)})
    inside, outside = (
        replace(pair, hardware=pair.of_hardware.model_copy(update={"dataflow": flow}))
        for flow in ("output", "weight")
    )
    assert "dataflow" not in {column.column for column in known.outside(inside)}
    [named] = [column for column in known.outside(outside) if column.column == "dataflow"]
    assert (named.value, named.labelled) == ("weight", ("output",))
    weights = model.arrays["interval.weights"]
    assert (half_widths(known, weights, [outside]) >= half_widths(known, weights, [inside])).all()


def test_the_shipped_model_covers_what_it_was_trained_on(models: dict[str, QueryModel]) -> None:
    release = Path(__file__).resolve().parents[2] / "releases/accelerators-v2"
    pairs = [p for p in read_pairs([release]) if p.power_mw and p.parts["random"] == "train"]
    known = Labelled.of(pairs)
    assert known.hardware == models["systolic"].labelled.hardware
    assert known.sizes == models["systolic"].labelled.sizes
    assert np.allclose(known.configurations, models["systolic"].labelled.configurations, atol=1e-6)
    shipped = models["systolic"].labelled
    assert not any(shipped.outside(pair) for pair in pairs)
    near = [shipped.distances(pair)[1] for pair in pairs]
    assert near == pytest.approx([0.0] * len(pairs), abs=1e-5)
    other = replace(shipped, hardware=dict(reversed(list(shipped.hardware.items()))))
    assert (other.distances(pairs[0]) == shipped.distances(pairs[0])).all()
    assert hardware_columns(pairs[0]).keys() == known.hardware.keys()
    assert size_columns(pairs[0]).keys() == known.sizes.keys()


def test_weights_hold_the_share_and_grow_with_the_distance() -> None:
    generator = np.random.default_rng(3)
    distances = np.column_stack([np.ones(4000), generator.uniform(0, 3, (4000, 2))])
    scale = distances @ np.array([0.1, 0.2, 0.4])
    errors = np.abs(generator.normal(0.0, 1.0, (4000, 2))) * scale[:, None]
    groups = [str(place // 10) for place in range(4000)]
    weights = fit_weights(distances, errors, ["configuration"] * 4000, groups)
    assert (weights >= 0).all()
    assert weights[0] / 1.96 == pytest.approx([0.1, 0.2, 0.4], abs=0.03)
    assert (errors <= distances @ weights.T).mean() == pytest.approx(0.95, abs=0.01)


def test_intervals_hold_the_kind_that_is_hardest() -> None:
    distances = np.column_stack([np.ones(400), np.zeros((400, 2))])
    generator = np.random.default_rng(5)
    errors = np.abs(generator.normal(0.0, 1.0, (400, 2)))
    errors[200:] *= 3
    kinds = ["configuration"] * 200 + ["family"] * 200
    weights = fit_weights(distances, errors, kinds, [str(place) for place in range(400)])
    assert (errors[200:] <= weights[:, 0]).mean() >= 0.95
    assert (weights[:, 1:] >= 0.099 * weights[:, :1]).all()  # distances that nothing was seen of widen, too
