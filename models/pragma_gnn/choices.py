"""Configurations as properties of loops: what is asked for, what tools make of it, what the bound says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.pragma_gnn.graph import Values
from pipelines.base.summation import ordered_sum
from pipelines.pragmas.bound import COMPUTATION, Bound, Leaf, Target, bound, complete, leaf
from pipelines.pragmas.configuration import COARSE, FINE, OFF, Configuration, LoopChoice
from pipelines.pragmas.summary import Loop, Summary

PIPELINES = (OFF, COARSE, FINE)
LOOP_FEATURES: Mapping[str, tuple[str, ...]] = {
    "pipeline": (
        *(f"asked_{word}" for word in PIPELINES),
        *(f"made_{word}" for word in PIPELINES),
        "by_tool",
        "log_interval",
    ),
    "unroll": (
        "log_asked",
        "log_made",
        "log_ignored",
        "log_left",
        "log_steps_left",
        "whole",
        "divides",
    ),
    "tile": ("log_tile", "log_tiles", "tiled", "divides", "log_copies_a_tile"),
    "around": (
        "in_pipeline",
        "log_copies_around",
        "log_copies_inside",
        "log_steps_around",
        "log_partitions",
        "log_partitions_last",
    ),
    "bound": ("log_nest_share", "critical", "is_leaf", "log_latency", "log_interval", "log_fill_share"),
}
"""Features of a loop, a group a module of the network; `bound` is left out where the bound is not used."""

WHOLE_FEATURES: Mapping[str, tuple[str, ...]] = {
    "whole": ("coarse", "fine", "tiled", "log_partitions", "log_copies", "log_steps"),
    "whole_bound": ("log_transfer_share", "log_computation_share", "log_dsp", "log_cycles_a_step"),
}
"""Features of a configuration."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choices:
    """Configurations of one program.

    Attributes:
        loops: by group, in the order of `LOOP_FEATURES`. (configurations, loops, features)
        whole: by group, in the order of `WHOLE_FEATURES`. (configurations, features)
        log_bound: natural logarithm of the bound in cycles. (configurations,)
    """

    loops: Mapping[str, Values]
    whole: Mapping[str, Values]
    log_bound: Values

    def __len__(self) -> int:
        return len(self.log_bound)

    def part(self, start: int, stop: int) -> Choices:
        """Return the choices from `start` to `stop`."""
        return Choices(
            loops={group: features[start:stop] for group, features in self.loops.items()},
            whole={group: features[start:stop] for group, features in self.whole.items()},
            log_bound=self.log_bound[start:stop],
        )


def describe_choices(
    summary: Summary,
    configurations: Sequence[Configuration],
    target: Target,
    bounds: Sequence[Bound] | None = None,
) -> Choices:
    """Describe the features of configurations.

    Args:   bounds: of the configurations, where they are known already; computed otherwise.
    Raises: PragmaError: a directive of a loop that the program has not, or an impossible one.
    """
    bounds_used = bounds if bounds is not None else [bound(summary, c, target) for c in configurations]
    describing = _Describing(summary, target)
    described = [describing.describe(c, b) for c, b in zip(configurations, bounds_used, strict=True)]
    loops = {
        group: np.array(
            [[row[name] for name in names] for loops, _ in described for row in loops], np.float32
        ).reshape(len(described), len(summary.loops), len(names))
        for group, names in _prefixed(LOOP_FEATURES).items()
    }
    whole = {
        group: np.array([[row[name] for name in names] for _, row in described], np.float32).reshape(
            len(described), len(names)
        )
        for group, names in WHOLE_FEATURES.items()
    }
    log_bound = np.array([math.log(max(1.0, b.latency_cycles)) for b in bounds_used], np.float32)
    return Choices(loops=loops, whole=whole, log_bound=log_bound)


def _prefixed(groups: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {group: [f"{group}.{name}" for name in names] for group, names in groups.items()}


class _Describing:
    """What is the same for all configurations of a program is found once."""

    def __init__(self, summary: Summary, target: Target) -> None:
        self.summary, self.target = summary, target
        self.around = {name: summary.loops_around(name) for name in summary.loops}
        self.inside = {name: summary.loops_inside(name) for name in summary.loops}
        self.arrays = _indexing_loops(summary)
        self.leaves: dict[tuple[str, int, int], Leaf] = {}

    def describe(self, asked: Configuration, least: Bound) -> tuple[list[dict[str, float]], dict[str, float]]:
        """Describe the features of the loops by `group.name`, and of the whole by name."""
        applied = complete(self.summary, asked)
        steps = {
            name: max(1.0, float(loop.trip_count_average) / applied.of(name).unroll)
            for name, loop in self.summary.loops.items()
        }
        partitions = self._partitions(applied)
        rows: list[dict[str, float]] = []
        for name, loop in self.summary.loops.items():
            row = _directive_features(loop, asked.of(name), applied.of(name), steps[name])
            row |= self._place(name, applied, steps, partitions)
            row |= self._limits(name, applied, least)
            rows.append(row)
        return rows, self._whole(applied, steps, partitions, least)

    def _partitions(self, applied: Configuration) -> dict[str, tuple[float, float]]:
        """Return logarithms of the banks that copies need in each array: of all dimensions, of the last."""
        logs_by_array: dict[str, tuple[float, float]] = {}
        for array, dimensions in self.arrays.items():
            logs = [max((math.log(applied.of(name).unroll) for name in d), default=0.0) for d in dimensions]
            logs_by_array[array] = (ordered_sum(logs), logs[-1] if logs else 0.0)
        return logs_by_array

    def _place(
        self,
        name: str,
        applied: Configuration,
        steps: Mapping[str, float],
        partitions: Mapping[str, tuple[float, float]],
    ) -> dict[str, float]:
        touched = [partitions[a] for (place, a) in self.summary.footprints if place == name]
        around, inside = self.around[name], self.inside[name]
        return {
            "around.in_pipeline": any(applied.of(other).pipeline == FINE for other in around),
            "around.log_copies_around": ordered_sum(math.log(applied.of(other).unroll) for other in around),
            "around.log_copies_inside": ordered_sum(math.log(applied.of(other).unroll) for other in inside),
            "around.log_steps_around": ordered_sum(math.log(steps[other]) for other in around),
            "around.log_partitions": max((whole for whole, _ in touched), default=0.0),
            "around.log_partitions_last": max((last for _, last in touched), default=0.0),
        }

    def _limits(self, name: str, applied: Configuration, least: Bound) -> dict[str, float]:
        nest = (self.around[name] or (name,))[0]
        part = next((p for p in least.parts if p.place == nest and p.kind == COMPUTATION), None)
        share = part.cycles / max(1.0, least.latency_cycles) if part else 0.0
        row = {
            "bound.log_nest_share": math.log(max(share, _LITTLE)),
            "bound.critical": bool(part and part.critical),
            "bound.is_leaf": applied.of(name).pipeline == FINE,
        }
        if applied.of(name).pipeline != FINE:
            return row | {f"bound.{name}": 0.0 for name in ("log_latency", "log_interval", "log_fill_share")}
        leaf = self._leaf(name, applied.of(name))
        return row | {
            "bound.log_latency": math.log1p(leaf.latency_cycles),
            "bound.log_interval": math.log(max(1, leaf.interval_cycles)),
            "bound.log_fill_share": math.log((1 + leaf.latency_cycles) / (1 + leaf.cycles)),
        }

    def _leaf(self, name: str, applied: LoopChoice) -> Leaf:
        key = (name, applied.unroll, applied.interval)
        if key not in self.leaves:
            self.leaves[key] = leaf(self.summary, name, applied.unroll, self.target, applied.interval)
        return self.leaves[key]

    def _whole(
        self,
        applied: Configuration,
        steps: Mapping[str, float],
        partitions: Mapping[str, tuple[float, float]],
        least: Bound,
    ) -> dict[str, float]:
        choices = [applied.of(name) for name in self.summary.loops]
        cycles = max(1.0, least.latency_cycles)
        most = max((self._steps_of(name, steps) for name in self.summary.loops), default=0.0)
        return {
            "coarse": sum(choice.pipeline == COARSE for choice in choices),
            "fine": sum(choice.pipeline == FINE for choice in choices),
            "tiled": any(choice.tile > 1 for choice in choices),
            "log_partitions": max((whole for whole, _ in partitions.values()), default=0.0),
            "log_copies": max((self._copies(name, applied) for name in self.summary.loops), default=0.0),
            "log_steps": most,
            "log_transfer_share": math.log(max(least.transfer_cycles / cycles, _LITTLE)),
            "log_computation_share": math.log(max(least.computation_cycles / cycles, _LITTLE)),
            "log_dsp": math.log1p(least.dsp_count),
            "log_cycles_a_step": math.log(cycles) - most,
        }

    def _steps_of(self, name: str, steps: Mapping[str, float]) -> float:
        return ordered_sum(math.log(steps[other]) for other in (*self.around[name], name))

    def _copies(self, name: str, applied: Configuration) -> float:
        return ordered_sum(math.log(applied.of(other).unroll) for other in (*self.around[name], name))


_LITTLE = 1e-3
"""Share of the bound below which a part counts as this much."""


def _directive_features(loop: Loop, asked: LoopChoice, applied: LoopChoice, steps: float) -> dict[str, float]:
    """Return the features of a loop's own directives."""
    trips = max(1.0, float(loop.trip_count_average))
    return {
        **{f"pipeline.asked_{word}": asked.pipeline == word for word in PIPELINES},
        **{f"pipeline.made_{word}": applied.pipeline == word for word in PIPELINES},
        "pipeline.by_tool": applied.pipeline != asked.pipeline,
        "pipeline.log_interval": math.log(asked.interval),
        "unroll.log_asked": math.log(asked.unroll),
        "unroll.log_made": math.log(applied.unroll),
        "unroll.log_ignored": math.log(asked.unroll / applied.unroll),
        "unroll.log_steps_left": math.log(steps),
        "unroll.log_left": math.log(max(1.0, trips / asked.unroll)),
        "unroll.divides": trips % asked.unroll == 0,
        "unroll.whole": applied.unroll >= trips,
        "tile.log_tile": math.log(asked.tile),
        "tile.log_tiles": math.log(max(1.0, trips / asked.tile)),
        "tile.tiled": asked.tile > 1,
        "tile.divides": trips % asked.tile == 0,
        "tile.log_copies_a_tile": math.log(asked.unroll / asked.tile) if asked.tile > 1 else 0.0,
    }


def _indexing_loops(summary: Summary) -> dict[str, list[set[str]]]:
    """Return the loops whose iterators stand in each dimension of each array."""
    loops_by_dimension = {name: [set[str]() for _ in array.shape] for name, array in summary.arrays.items()}
    for statement in summary.statements:
        for access in statement.accesses:
            for loops, subscript in zip(loops_by_dimension[access.array], access.subscripts, strict=False):
                loops.update(loop for loop, _ in subscript.terms)
    return loops_by_dimension
