"""Measured simulations of the tables, a design with its times on every engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.reference_sets import Vector, reference_set_of
from models.tasks import DatasetError, Reference, ReferenceSet, table_files
from pipelines.schemas import OK, read_arrow

CYCLES = (1_000, 100_000, 10_000_000)
"""Numbers of cycles that regret is the mean of."""
_TABLE = "simulations"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredDesign:
    """A design.

    Attributes:
        features: row of the table.
        times: build in s and cycle in ns by engine that accepts it and agrees with most others.
    """

    design: str
    family: str
    features: Mapping[str, Any]
    times: Mapping[str, tuple[float, float]]

    def seconds(self, cycles: int) -> dict[str, float]:
        """Return build plus run time by engine, as measured."""
        return {engine: build + 1e-9 * cycles * cycle for engine, (build, cycle) in self.times.items()}


def read_measured(folders: Sequence[Path]) -> list[MeasuredDesign]:
    """Read the designs with times on two engines or more, one stimulus, in order of families and sizes.

    Raises: DatasetError: a table is missing, or holds no measured row.
    """
    rows = [row for folder in folders for row in _rows(folder)]
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["status"] == OK and row["stimuli"] == 1 and row["cycle_cpu_ns"] and row["nodes"] is not None:
            groups[row["design"]].append(row)
    designs = [
        MeasuredDesign(
            design=design,
            family=found[0]["family"],
            features=found[0],
            times={row["engine"]: (_build_s(row), row["cycle_cpu_ns"]) for row in _agreeing(found)},
        )
        for design, found in groups.items()
    ]
    designs = [design for design in designs if len(design.times) > 1]
    if not designs:
        raise DatasetError(f"no measured simulations by two engines ({', '.join(map(str, folders))})")
    return sorted(designs, key=lambda d: (d.family, d.features["design_size"]))


def _agreeing(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the most frequent digest: an engine with other outputs is no choice."""
    usual, _ = Counter(row["digest"] for row in rows).most_common(1)[0]
    return [row for row in rows if row["digest"] == usual]


def _build_s(row: Mapping[str, Any]) -> float:
    """Return the processor time, or elapsed time where confinement hid it."""
    return row["build_wall_s"] if row["build_cpu_s"] is None else row["build_cpu_s"]


def _rows(folder: Path) -> Iterable[dict[str, Any]]:
    measured: dict[str, dict[str, Any]] = {}
    for path in sorted((folder / "measured" / _TABLE).glob("*.parquet")):
        measured |= {row["simulation_id"]: row for row in read_arrow(path).to_pylist()}
    for path in table_files(folder, _TABLE):
        for row in read_arrow(path).to_pylist():
            if row["simulation_id"] in measured:
                yield {**row, **measured[row["simulation_id"]]}


def regret(design: MeasuredDesign, choose: Callable[[int, Sequence[str]], str]) -> float:
    """Return chosen engine's time over the fastest one's, minus 1, at most 1; mean over numbers of cycles."""
    losses: list[float] = []
    for cycles in CYCLES:
        seconds = design.seconds(cycles)
        chosen = choose(cycles, tuple(seconds))
        losses.append(min(1.0, seconds[chosen] / min(seconds.values()) - 1.0))
    return float(np.mean(losses))


def engine_reference(reference: Reference) -> ReferenceSet:
    """Return designs of families; the error is the regret of the chosen engine, the baseline Verilator."""
    from pipelines.rtl.reuse import VERILATOR

    designs = [d for d in read_measured([reference.folder]) if d.family in reference.parts]

    def errors(choose: Callable[[Any, int, Sequence[str]], str]) -> Vector:
        losses = [
            regret(d, lambda cycles, engines, d=d: choose(d.features, cycles, engines)) for d in designs
        ]
        return np.array(losses, np.float64)

    def take_verilator(_row: Any, _cycles: int, engines: Sequence[str]) -> str:
        return VERILATOR if VERILATOR in engines else engines[0]

    baseline = errors(take_verilator)
    names = [design.design for design in designs]
    groups = {design.design: design.family for design in designs}
    return reference_set_of(names, groups, baseline, lambda picker: errors(picker.choose))
