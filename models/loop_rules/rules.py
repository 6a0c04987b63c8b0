"""The rules: what they count of loop nests, a cost per component, and answers.

    cycles = sum of counts times cycles per count
    area, flip-flops = sum of components times their size
    energy = sum of actions times energy per action
    power = energy / (cycles * clock period)

Counts of cycles are control states, fetches, stores, conflicts and operators; components are operators at
once, registers, local arrays and ports; actions are operations, fetches, reuses, clock and leakage.
Costs per component are non-negative and come from the training part by least squares of relative errors, as
Accelergy takes them from measurements of a technology.

Source: Parashar et al. 2019, Timeloop, sections V and VI (fetches by reuse; energy as actions times energy
    per action); Wu et al. 2019, Accelergy. Differs: one level of reuse, a register per access; no mapping is
    searched, the program's own loop order is the mapping; cycles of a loop that is not pipelined add up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from models.base import Estimate, LabelPredictor, read_rows
from models.catalogue import Trained, TrainingInput
from models.labelled import LabelledDesign, training_designs
from models.leaderboard import predictions_of
from models.loop_rules import TrainOptions
from models.loop_rules.nests import KINDS, Body, LoopNests, UnsupportedError, nests_of
from models.model_files import ModelFiles
from models.query import POWER, Query
from models.tasks import DatasetError, TooFewRows
from models.tenset_mlp.features import LoopPlan, facts_of, plan_of
from pipelines.base.summation import ordered_sum

AREA, FLIP_FLOPS, CYCLES, ENERGY = "area_um2", "flip_flop_count", "latency_cycles", "energy_nj"
TARGETS = (AREA, FLIP_FLOPS, CYCLES, POWER)
Counts = Mapping[str, float]
Matrix = NDArray[np.float64]
_LEAST = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A query as counts by target; energy lacks those that depend on other answers."""

    cycles: Counts
    area: Counts
    flip_flops: Counts
    energy: Counts


def describe(query: Query) -> Described:
    """Describe the counts of a query.

    Raises: UnsupportedError: the rules do not describe the program. ValueError: it cannot be read.
    """
    nests = _nests(query.source, query.top)
    if isinstance(nests, UnsupportedError):
        raise nests
    plan = _NO_PLAN
    if query.directives != "[]":
        plan = plan_of(query.directives, _facts(query.source, query.top))
    return Described(
        cycles=cycle_counts(nests, plan, query),
        area=area_counts(nests, plan),
        flip_flops=flip_flop_counts(nests, plan),
        energy=energy_counts(nests),
    )


@lru_cache(maxsize=4096)
def _nests(source: str, top: str) -> LoopNests | UnsupportedError:
    try:
        return nests_of(source, top)
    except UnsupportedError as error:
        return error


_facts = lru_cache(maxsize=4096)(facts_of)
_NO_PLAN = LoopPlan(intervals={}, unroll_factors={}, parallel_factors={}, banks={}, counts={})


def _copies(body: Body, plan: LoopPlan) -> float:
    """Count the copies of a body that directives make."""
    names = [level.name for level in body.levels]
    return math.prod(plan.unroll_factors.get(n, 1) * plan.parallel_factors.get(n, 1) for n in names)


def _interval(body: Body, plan: LoopPlan) -> int | None:
    return plan.intervals.get(body.levels[-1].name) if body.levels else None


def cycle_counts(nests: LoopNests, plan: LoopPlan, query: Query) -> Counts:
    """Return what takes cycles, counted over the whole run."""
    counts = dict.fromkeys(
        ("start", "states", "loads", "stores", "conflicts", "intervals", "carried", *KINDS), 0.0
    )
    counts["start"] = 1.0
    for body in nests.bodies:
        copies = _copies(body, plan)
        executions = body.executions / copies
        if _interval(body, plan) is not None:
            interval = max(float(_interval(body, plan) or 1), _conflicts(body) + 1.0)
            counts["intervals"] += executions * interval
            counts["carried"] += executions * body.carried
            executions = body.entries
        counts["states"] += executions
        counts["loads"] += executions * query.memory_read_delay_cycles * _share(body, is_store=False)
        counts["stores"] += executions * query.memory_write_delay_cycles * _share(body, is_store=True)
        counts["conflicts"] += executions * _conflicts(body) * copies
        for kind, number in body.operations.items():
            counts[kind] += executions * number * max(1.0, 10.0 / query.clock_period_ns)
    return counts


def _share(body: Body, *, is_store: bool) -> float:
    """Return the share of the executions of a body in which it fetches, or stores, at all."""
    fetches = [a.fetches for a in body.accesses if a.is_store == is_store]
    return max(fetches, default=0.0) / max(body.executions, _LEAST)


def _conflicts(body: Body) -> float:
    """Return the accesses of the busiest array per execution, after reuse, beyond its first."""
    by_array: dict[tuple[str, bool], float] = {}
    for access in body.accesses:
        key = (access.array, access.is_store)
        by_array[key] = by_array.get(key, 0.0) + access.fetches / max(body.executions, _LEAST)
    return max(0.0, max(by_array.values(), default=0.0) - 1.0)


def area_counts(nests: LoopNests, plan: LoopPlan) -> Counts:
    """Return components: concurrent operators by kind, each of the widest body, flip-flops and tables."""
    units = dict.fromkeys(KINDS, 0.0)
    for body in nests.bodies:
        for kind in KINDS:
            units[kind] = max(units[kind], body.bits.get(kind, 0.0) * _copies(body, plan))
    return {**units, **flip_flop_counts(nests, plan), "tables": nests.table_bits / 32}


def flip_flop_counts(nests: LoopNests, plan: LoopPlan) -> Counts:
    """Return registers: of variables, fetched values, results, local arrays, addresses and the controller."""
    copies = [_copies(body, plan) for body in nests.bodies]
    pairs = list(zip(nests.bodies, copies, strict=True))
    return {
        "constant": 1.0,
        "variables": float(nests.variable_bits),
        "fetched": ordered_sum(n * a.width_bits for b, n in pairs for a in b.accesses if not a.is_store),
        "results": ordered_sum(n * 32.0 * ordered_sum(b.bits.values()) for b, n in pairs),
        "local_arrays": float(nests.local_bits),
        "addresses": ordered_sum(n * b.address_operations for b, n in pairs),
        "statements": ordered_sum(n * b.statements for b, n in pairs),
        "ports": float(nests.port_bits),
    }


def energy_counts(nests: LoopNests) -> Counts:
    """Return the actions over the whole run: operations in units of 32 bits, fetched and reused bits."""
    counts = dict.fromkeys((*KINDS, "fetched_bits", "stored_bits", "reused_bits", "addresses"), 0.0)
    for body in nests.bodies:
        for kind, bits in body.bits.items():
            counts[kind] += body.executions * bits
        counts["addresses"] += body.executions * body.address_operations
        for access in body.accesses:
            counts["stored_bits" if access.is_store else "fetched_bits"] += access.fetches * access.width_bits
            counts["reused_bits"] += (access.executions - access.fetches) * access.width_bits
    return counts


# ---- costs -----------------------------------------------------------------------------------------


def fit_costs(counts: Sequence[Counts], actual: Sequence[float], rounds: int) -> dict[str, float]:
    """Return the non-negative cost per count that bring the sums near the actual values, by relative error.

    Args: rounds: of reweighting; with many, the sum of absolute relative errors is least.
    """
    if not counts:
        raise TooFewRows("no training design that the rules of loop-rules describe")
    names = list(counts[0])
    matrix = np.array([[row[name] for name in names] for row in counts], np.float64)
    relative = matrix / np.asarray(actual, np.float64)[:, None]
    largest = np.maximum(relative.max(axis=0), _LEAST)
    weights = np.ones(len(relative))
    costs = np.zeros(len(names))
    for _ in range(rounds):
        root = np.sqrt(weights)
        costs, _ = nnls(relative / largest * root[:, None], root)
        errors = np.abs(relative / largest @ costs - 1.0)
        weights = 1.0 / np.maximum(errors, 0.02)
    return {name: float(cost) for name, cost in zip(names, costs / largest, strict=True)}


def total(counts: Counts, costs: Counts) -> float:
    """Return the sum of counts times costs."""
    return ordered_sum(costs[name] * number for name, number in counts.items())


def _power_counts(described: Described, cycles: float, flip_flops: float, area: float) -> Counts:
    """Return the actions with clocked flip-flops and leakage."""
    return {**described.energy, "clocked": cycles * flip_flops, "leaking": cycles * area}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEstimate(Estimate):
    """An estimate; without one the values are NaN. Attributes: status: ok or unsupported. reason: why."""

    status: str = "ok"
    reason: str = ""

    @property
    def further(self) -> dict[str, Any]:
        """Status and reason."""
        return {"status": self.status, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePredictor(LabelPredictor):
    """Answers queries by the rules.

    Attributes:
        costs: by target and count.
        seen: counts, as `target: name`, that a training design had.
    """

    costs: Mapping[str, Counts]
    seen: frozenset[str]

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the predicted label columns."""
        return tuple(t for t in TARGETS if t in self.costs or (t == POWER and ENERGY in self.costs))

    def predict(self, queries: Sequence[Query]) -> list[RuleEstimate]:
        """Predict one estimate per query, in order; for unsupported programs NaN and a reason.

        Raises: PredictorError: a query cannot be read; the message names its row, from 0.
        """
        return read_rows(self._estimate, queries)

    def _estimate(self, query: Query) -> RuleEstimate:
        try:
            described = describe(query)
            answers = self.answers(described, query.clock_period_ns)
            used = used_counts(described)
        except UnsupportedError as error:
            return _unsupported(self.targets, str(error))
        unknown = tuple(name for name in used if name not in self.seen)
        return RuleEstimate(values=answers, outside_training=unknown)

    def answers(self, described: Described, clock_period_ns: float) -> dict[str, float]:
        """Return the values by target."""
        values = {
            target: max(_LEAST, total(counts, self.costs[target]))
            for target, counts in _by_target(described).items()
            if target != ENERGY
        }
        if ENERGY not in self.costs:
            return values
        counts = _power_counts(described, values[CYCLES], values[FLIP_FLOPS], values[AREA])
        energy_nj = total(counts, self.costs[ENERGY])
        return {**values, POWER: max(_LEAST, energy_nj / (values[CYCLES] * clock_period_ns) * 1e3)}

    @property
    def files(self) -> ModelFiles:
        """The predictor as plain data."""
        costs = {target: dict(counts) for target, counts in self.costs.items()}
        return ModelFiles(card={"costs": costs, "seen": sorted(self.seen)}, arrays={})


def _by_target(described: Described) -> dict[str, Counts]:
    return {
        AREA: described.area,
        FLIP_FLOPS: described.flip_flops,
        CYCLES: described.cycles,
        ENERGY: described.energy,
    }


def used_counts(described: Described) -> list[str]:
    """Return the counts above 0, as `target: name`."""
    pairs = _by_target(described).items()
    return [f"{target}: {name}" for target, counts in pairs for name, number in counts.items() if number > 0]


def _unsupported(targets: Sequence[str], reason: str) -> RuleEstimate:
    return RuleEstimate(
        values=dict.fromkeys(targets, math.nan),
        outside_training=(),
        status="unsupported",
        reason=reason,
    )


def load(files: ModelFiles) -> RulePredictor:
    """Load the predictor from its files."""
    costs = {target: dict(counts) for target, counts in files.card["costs"].items()}
    return RulePredictor(costs=costs, seen=frozenset(files.card["seen"]))


# ---- training --------------------------------------------------------------------------------------


def train(data: TrainingInput) -> Trained:
    """Measure the costs of components on the supported designs of the training part.

    Raises: DatasetError: no training design is supported, or one cannot be read.
    """
    options: TrainOptions = data.options
    designs = training_designs(data.data_dirs, options)
    described = [(design, _described(design)) for design in designs]
    supported = [(design, known) for design, known in described if known is not None]
    learned = [(design, known) for design, known in supported if design.part == "train"]
    if not learned:
        raise TooFewRows("no training design is a loop nest that the rules describe")
    seen = frozenset(name for _, known in learned for name in used_counts(known))
    predictor = RulePredictor(costs=measure_costs(learned, options.rounds), seen=seen)
    answers = [predictor.answers(known, design.query.clock_period_ns) for design, known in supported]
    values = np.array([[answer[t] for t in predictor.targets] for answer in answers], np.float64)
    return Trained(
        files=predictor.files,
        seen_groups=sorted({design.group for design, _ in learned}),
        summary={
            "train_designs": float(len(learned)),
            "supported_share": len(supported) / len(designs),
            "parameter_count": float(sum(len(costs) for costs in predictor.costs.values())),
        },
        predictions=predictions_of([design for design, _ in supported], values, predictor.targets),
        split=options.split,
        resamples=options.bootstrap_resamples,
    )


def measure_costs(
    learned: Sequence[tuple[LabelledDesign, Described]], rounds: int
) -> dict[str, dict[str, float]]:
    """Return the costs by target and count; energy where designs have power."""
    costs = {
        target: fit_costs(
            [_by_target(known)[target] for design, known in learned if target in design.labels],
            [design.labels[target] for design, _ in learned if target in design.labels],
            rounds,
        )
        for target in (AREA, FLIP_FLOPS, CYCLES)
    }
    powered = [(design, known) for design, known in learned if POWER in design.labels]
    if powered:
        actions = [
            _power_counts(known, *(design.labels[t] for t in (CYCLES, FLIP_FLOPS, AREA)))
            for design, known in powered
        ]
        energy_nj = [
            design.labels[POWER] * design.labels[CYCLES] * design.query.clock_period_ns / 1e3
            for design, _ in powered
        ]
        costs[ENERGY] = fit_costs(actions, energy_nj, rounds)
    return costs


def _described(design: LabelledDesign) -> Described | None:
    """Return the counts of a design; None where the rules do not describe it."""
    try:
        return describe(design.query)
    except UnsupportedError:
        return None
    except ValueError as error:
        raise DatasetError(f"no counts of design {design.design_id}: {error}") from error
