"""Measured designs, from any source, and how they are split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.base import PredictorError
from models.reference_sets import Vector, mean_errors, reference_set_of, relative_errors
from models.tasks import Reference, ReferenceSet
from pipelines.dataset.splits import places_by_name
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Bound, Target, bound, read_target
from pipelines.pragmas.configuration import Configuration, configuration_key, configuration_of_key
from pipelines.pragmas.summary import Summary
from pipelines.schemas import OK, PragmaDesignRow, read_table, table_spec


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredDesign:
    """A configuration and what a tool measured of it.

    Attributes:
        program: name by which its summary is known; tool: that measured, with its version.
        latency_cycles: of one call, above 0; fits: it fits the device, as far as is known.
    """

    program: str
    tool: str
    configuration: Configuration
    bound: Bound
    latency_cycles: int
    fits: bool = True

    @property
    def key(self) -> str:
        """The same for the same configuration of the same program, whatever measured it."""
        return f"{self.program} {configuration_key(self.configuration)}"


def explored_designs(
    rows: Iterable[PragmaDesignRow], summaries: Mapping[str, Summary], target: Target
) -> list[MeasuredDesign]:
    """Return the rows of explorations with a latency, of the programs, by `program_id`, that there are
    summaries of.

    A configuration that several explorations measured with one tool is there once.
    """
    designs_by_key: dict[tuple[str, str, str], MeasuredDesign] = {}
    for row in rows:
        key = (row.program_id, row.evaluator, row.configuration or "")
        measured = row.status == OK and bool(row.latency_cycles) and row.configuration is not None
        if not measured or row.program_id not in summaries or key in designs_by_key:
            continue
        configuration = configuration_of_key(key[2])
        designs_by_key[key] = MeasuredDesign(
            program=row.program_id,
            tool=row.evaluator,
            configuration=configuration,
            bound=bound(summaries[row.program_id], configuration, target),
            latency_cycles=row.latency_cycles or 0,
        )
    return list(designs_by_key.values())


def part_of(design: MeasuredDesign, share: float, seed: int) -> bool:
    """Tell whether a design is in the smaller part: by its configuration, tools' repetitions together."""
    digest = hashlib.sha256(f"{seed} {design.key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def programs_apart(programs: Iterable[str], share: float, seed: int) -> frozenset[str]:
    """Return a share of programs, rounded: those whose names' hashes are the least."""
    names = sorted(set(programs), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return frozenset(names[: round(share * len(names))])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explorations:
    """Explored designs of programs, of one target.

    Attributes: summaries, groups: by program.
    """

    designs: tuple[MeasuredDesign, ...]
    summaries: Mapping[str, Summary]
    groups: Mapping[str, str]
    target: Target


def explorations_of(
    data_dirs: Sequence[Path], *, parts: Sequence[str], split: str = "by_kernel_v1"
) -> Explorations:
    """Return the explored designs of the programs of some parts of a split.

    Raises: PredictorError: there are none, or they are of several targets.
    """
    rows, groups = explored_rows(data_dirs, parts=parts, split=split)
    explored = {row.program_id for row in rows}
    targets = sorted({row.target for row in rows})
    if len(targets) != 1:
        raise PredictorError(
            f"explorations of one target are needed, in parts {', '.join(parts)} of split {split} "
            f"are {', '.join(targets) or 'none'}"
        )
    programs = {
        row.program_id: row
        for folder in data_dirs
        for row in read_table(folder, table_spec("programs"))
        if row.program_id in explored
    }
    summaries = {
        name: summarise(program.source, program.top, file=program.name) for name, program in programs.items()
    }
    target = read_target(targets[0])
    return Explorations(
        designs=tuple(explored_designs(rows, summaries, target)),
        summaries=summaries,
        groups=groups,
        target=target,
    )


def explored_rows(
    data_dirs: Sequence[Path], *, parts: Sequence[str], split: str
) -> tuple[list[PragmaDesignRow], dict[str, str]]:
    """Return the rows of the explored designs of some parts of a split, and the group of every program."""
    places = [row for folder in data_dirs for row in places_by_name(folder, split)]
    groups = {row.program_id: row.group for row in places if row.part in parts}
    rows = [row for folder in data_dirs for row in read_table(folder, table_spec("pragma_designs"))]
    return [row for row in rows if row.program_id in groups], groups


def pragma_reference(reference: Reference) -> ReferenceSet:
    """Return explored designs; a program's error is the mean over its designs, the baseline is the bound."""
    known = explorations_of([reference.folder], parts=reference.parts, split=reference.split)
    names = [design.program for design in known.designs]
    actual = np.array([design.latency_cycles for design in known.designs], np.float64)

    def score(predictor: Any) -> Vector:
        predicted = np.empty(len(actual))
        for name in sorted(set(names)):
            places = [n for n, program in enumerate(names) if program == name]
            designs = [known.designs[n] for n in places]
            predicted[places] = predictor.surrogate(known.summaries[name]).predict(
                [d.configuration for d in designs], [d.bound for d in designs], tool=designs[0].tool
            )
        return mean_errors(names, relative_errors(predicted, actual))[1]

    bounds = np.array([design.bound.latency_cycles for design in known.designs], np.float64)
    programs, baseline = mean_errors(names, relative_errors(bounds, actual))
    return reference_set_of(programs, known.groups, baseline, score)
