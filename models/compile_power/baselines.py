"""Baselines on the same rows: an analytical model of unit energies, and trees on parameters.

The analytical one is of Accelergy's kind: commands times energies of units that scale with widths and
capacities, plus a part per cycle. Its absolute values are arbitrary, so it is compared by rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log2, sqrt
from typing import Any

import numpy as np

from models.compile_power.data import Pair, read_fixed_pairs, read_pairs
from models.reference_sets import Vector, reference_set_of, relative_errors
from models.tasks import Reference, ReferenceSet
from pipelines.accelerators import ACTIVITIES, CATEGORIES, FIXED_CATEGORIES, Hardware
from pipelines.schemas import table_spec

TREES: Mapping[str, Any] = {
    "objective": "regression",
    "num_leaves": 15,
    "learning_rate": 0.05,
    "min_data_in_leaf": 5,
    "feature_fraction": 0.7,
    "seed": 0,
    "deterministic": True,
    "num_threads": 1,
    "verbosity": -1,
}
_ROUNDS = 400
LOADED = (*ACTIVITIES, "register_bits", "select_bits")
"""Bits of a pipeline that take energy: they change, are clocked, or are selected."""
_PERIOD_NS = 20.0
"""Clock period of the default hardware: energy per cycle hardly depends on it, so power is inverse to it."""
_FAMILIES = ("mlp", "cnn", "resnet", "mobilenet", "transformer", "bert")


def unit_energies(hardware: Hardware) -> dict[str, float]:
    """Return the energy of one occurrence of every category, in units of an 8-bit multiplication."""
    h = hardware
    product = h.input_bits**2 / 64 + h.accumulator_bits / 128
    row = h.lanes * h.input_bits
    sums = h.columns * h.accumulator_bits
    scratchpad = row / 64 * sqrt(h.scratchpad_rows / h.scratchpad_banks / 64)
    accumulator = sums / 64 * sqrt(h.accumulator_rows / h.accumulator_banks / 64)
    factor = max(1, h.scale_bits) * h.accumulator_bits / 64
    return {
        "mvin_beats": h.dma_bytes / 4,
        "mvin_rows": scratchpad,
        "preload_rows": scratchpad + h.rows * h.columns * h.input_bits / 64,
        "compute_rows": scratchpad + h.rows * h.columns * product,
        "written_rows": accumulator,
        "accumulated_rows": 2 * accumulator + sums / 64,
        "drain": h.rows * sums / 64,
        "pool_reads": accumulator,
        "mvout_rows": h.columns * factor,
        "mvout_beats": h.dma_bytes / 4,
        "bias": h.accumulator_bits / 32,
    }


def cycle_energy(hardware: Hardware) -> float:
    """Return the energy of a cycle: registers that are clocked."""
    h = hardware
    flip_flops = h.rows * h.columns * (3 * h.input_bits + h.accumulator_bits)
    flip_flops += 64 * (h.load_queue + h.execute_queue + h.store_queue)
    return flip_flops / 128


def block_energies(pair: Pair) -> Vector:
    """Return the energy of every block by category, and by its cycles: (blocks, categories + 1)."""
    energies = unit_energies(pair.of_hardware)
    units = np.array([energies.get(name, 0.0) for name in CATEGORIES], np.float64)
    counted = pair.counts.astype(np.float64) * units
    shares = counted.sum(axis=1) / max(1e-12, counted.sum())
    return np.column_stack([counted, shares * pair.estimated_cycles * cycle_energy(pair.of_hardware)])


def start_logarithms(pairs: Sequence[Pair], loads: Sequence[float] = ()) -> Vector:
    """Return (pairs, 2) where the heads start: the analytical model, with the compiler's cycles as time.

    Args: loads: of pipelines, see `fit_loads`; without them, bits of adders and registers.
    """
    return np.log([_start(pair, loads) for pair in pairs])


def _start(pair: Pair, loads: Sequence[float]) -> tuple[float, float]:
    if pair.hardware is None:
        energy = 1.0 + float(changed_bits(pair, loads).sum())
        return energy / pair.interval_cycles, energy
    cycles = max(1, pair.estimated_cycles)
    power = max(1e-12, float(block_energies(pair).sum()) / cycles)
    energy = power * cycles * _PERIOD_NS * 1e-3
    return power * _PERIOD_NS / pair.hardware.clock_period_ns, energy


def fit_loads(pairs: Sequence[Pair]) -> tuple[float, ...]:
    """Return weights of `LOADED`, none negative, with the least relative error of power; the largest is 1.

    Without an estimate of activity there is nothing to weigh, and the answer is empty.
    """
    from scipy.optimize import nnls  # lazy import: a query has its weights

    changes = np.array([_loaded(pair).sum(axis=0) / pair.interval_cycles for pair in pairs])
    if not changes[:, : len(ACTIVITIES)].any():
        return ()
    power = np.array([pair.power_mw for pair in pairs], np.float64)
    weights: Vector = nnls(changes / power[:, None], np.ones(len(pairs)))[0]
    return tuple((weights / weights.max()).tolist())


def changed_bits(pair: Pair, loads: Sequence[float]) -> Vector:
    """Return (stages,) bits of a pipeline that change or are clocked per inference, weighted."""
    if loads:
        return _loaded(pair) @ np.array(loads)
    return _columns(pair, ("add_bits", "constant_add_bits", "register_bits")).sum(axis=1)


def _loaded(pair: Pair) -> Vector:
    """Return (stages, loads) of `LOADED`; where no register changes, synthesis keeps none."""
    columns = _columns(pair, LOADED)
    is_idle = columns[:, LOADED.index("register_changes")] == 0
    columns[is_idle, LOADED.index("register_bits")] = 0.0
    return columns


def _columns(pair: Pair, names: Sequence[str]) -> Vector:
    places = [(*FIXED_CATEGORIES, *ACTIVITIES).index(name) for name in names]
    return pair.counts[:, places].astype(np.float64)


def analytical(pairs: Sequence[Pair]) -> Vector:
    """Return (pairs, 2) power and energy in arbitrary units."""
    energy = np.array([block_energies(pair).sum() for pair in pairs])
    time = np.array([max(1, pair.estimated_cycles) * pair.of_hardware.clock_period_ns for pair in pairs])
    return np.column_stack([energy / time, energy])


def parameter_features(pair: Pair) -> list[float]:
    """Return the parameters of hardware and network, without what the compiler gives."""
    values = pair.of_hardware.model_dump()
    words = {"weight": 0, "output": 1, "both": 2, "none": 0, "relu": 1, "clip": 2}
    numbers = [float(words[v] if isinstance(v, str) else v) for v in values.values()]
    kinds = [float(pair.kinds.count(kind)) for kind in ("conv", "matmul", "add")]
    sizes = [log2(1 + sum(pair.parameters)), log2(1 + max(pair.parameters)), float(len(pair.kinds))]
    return [*numbers, *kinds, *sizes, log2(1 + pair.multiplications), float(_FAMILIES.index(pair.family))]


def compiled_features(pair: Pair) -> list[float]:
    """Return parameters, and totals of the compiler's counts."""
    return [*parameter_features(pair), *np.log1p(pair.counts.sum(axis=0)), np.log1p(pair.estimated_cycles)]


def stage_features(pair: Pair) -> list[float]:
    """Return the totals of a pipeline's stages, and cycles per inference."""
    return [*np.log1p(pair.counts.sum(axis=0)), float(len(pair.counts)), log2(pair.interval_cycles)]


def trees(train: Sequence[Pair], test: Sequence[Pair], *, is_compiled: bool) -> Vector:
    """Return power and energy of `test`, (pairs, 2), by boosted trees of logarithms trained on `train`."""
    import lightgbm  # lazy import: a query needs unit energies alone

    if train[0].hardware is None:
        features = stage_features
    else:
        features = compiled_features if is_compiled else parameter_features
    inputs = np.array([features(pair) for pair in train])
    asked = np.array([features(pair) for pair in test])
    answers: list[Vector] = []
    for target in ("power_mw", "energy_nj"):
        values = np.log([getattr(pair, target) for pair in train])
        booster = lightgbm.train(dict(TREES), lightgbm.Dataset(inputs, values), num_boost_round=_ROUNDS)
        answers.append(np.exp(np.asarray(booster.predict(asked))))
    return np.column_stack(answers)


def accelerator_reference(reference: Reference) -> ReferenceSet:
    """Return the labelled pairs; the error of a pair is the mean over power and energy.

    The baseline is the analytical model, scaled by the median ratio to the labels of the training part.
    """
    return _power_reference(reference, analytical)


def fixed_reference(reference: Reference) -> ReferenceSet:
    """Build the reference set of pipelines; the baseline is bits of adders and registers, scaled likewise."""
    return _power_reference(reference, lambda pairs: np.exp(start_logarithms(pairs)))


def _power_reference(reference: Reference, estimate: Callable[[Sequence[Pair]], Vector]) -> ReferenceSet:
    def labels(chosen: Sequence[Pair]) -> Vector:
        return np.array([(pair.power_mw, pair.energy_nj) for pair in chosen], np.float64)

    judged, known = (reference_pairs(replace(reference, parts=(part,))) for part in ("test", "train"))
    actual = labels(judged)
    factor = np.median(labels(known) / estimate(known), axis=0)

    def score(predictor: Any) -> Vector:
        return relative_errors(np.exp(predictor.logarithms(judged)), actual).mean(axis=1)

    baseline = relative_errors(factor * estimate(judged), actual).mean(axis=1)
    groups = {pair.compiled_id: pair.accelerator_id or pair.compiled_id for pair in judged}
    return reference_set_of([pair.compiled_id for pair in judged], groups, baseline, score)


def reference_pairs(reference: Reference) -> list[Pair]:
    """Read the labelled pairs of parts, of the systolic accelerator or of pipelines."""
    is_fixed = (reference.folder / "tables" / table_spec("fixed_networks").name).is_dir()
    pairs = (read_fixed_pairs if is_fixed else read_pairs)([reference.folder])
    return [p for p in pairs if p.power_mw is not None and p.parts[reference.split] in reference.parts]
