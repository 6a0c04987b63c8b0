"""Measured designs, from any source, and how they are split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.base import PredictorError
from pipelines.pragmas.bound import Bound, Target, bound, impossible
from pipelines.pragmas.configuration import Configuration, configuration_key, configuration_of_key
from pipelines.pragmas.summary import Summary
from pipelines.pragmas.vendor_kernels import configuration_of_row, vendor_kernel
from pipelines.schemas import OK, PragmaDesignRow, VendorDesignRow


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


def vendor_designs(
    rows: Iterable[VendorDesignRow], summaries: Mapping[str, Summary], target: Target
) -> list[MeasuredDesign]:
    """Rows with a latency that a design can have, of the kernels that there are summaries of.

    Raises: PragmaError: a row's directives are not of its kernel.
    """
    kernels = {name: vendor_kernel(name) for name in summaries}
    found: list[MeasuredDesign] = []
    for row in rows:
        if not row.latency_cycles or row.kernel not in kernels:
            continue
        if impossible(summaries[row.kernel], target, row.latency_cycles) is None:
            configuration = configuration_of_row(kernels[row.kernel], row.directives, row.directives_by_loop)
            found.append(
                MeasuredDesign(
                    program=row.kernel,
                    tool=row.tool,
                    configuration=configuration,
                    bound=bound(summaries[row.kernel], configuration, target),
                    latency_cycles=row.latency_cycles,
                    fits=bool(row.fits),
                )
            )
    return found


def explored_designs(
    rows: Iterable[PragmaDesignRow], summaries: Mapping[str, Summary], target: Target
) -> list[MeasuredDesign]:
    """Rows of explorations with a latency, of the programs, by `program_id`, that there are summaries of.

    A configuration that several explorations measured with one tool is there once.
    """
    found: dict[tuple[str, str, str], MeasuredDesign] = {}
    for row in rows:
        key = (row.program_id, row.evaluator, row.configuration or "")
        measured = row.status == OK and bool(row.latency_cycles) and row.configuration is not None
        if not measured or row.program_id not in summaries or key in found:
            continue
        configuration = configuration_of_key(key[2])
        found[key] = MeasuredDesign(
            program=row.program_id,
            tool=row.evaluator,
            configuration=configuration,
            bound=bound(summaries[row.program_id], configuration, target),
            latency_cycles=row.latency_cycles or 0,
        )
    return list(found.values())


def part_of(design: MeasuredDesign, share: float, seed: int) -> bool:
    """Whether a design is in the smaller part: by its configuration, tools' repetitions together."""
    digest = hashlib.sha256(f"{seed} {design.key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def split_by_configuration(
    designs: Sequence[MeasuredDesign], share: float, seed: int
) -> tuple[list[MeasuredDesign], list[MeasuredDesign]]:
    """Designs apart from a share of the configurations of each program, and that share.

    Raises: PredictorError: a share that is not between 0 and 1.
    """
    if not 0.0 <= share < 1.0:
        raise PredictorError(f"a part must be a share from 0 to below 1, got {share}")
    apart = [part_of(design, share, seed) for design in designs]
    return (
        [d for d, held in zip(designs, apart, strict=True) if not held],
        [d for d, held in zip(designs, apart, strict=True) if held],
    )


def programs_apart(programs: Iterable[str], share: float, seed: int) -> frozenset[str]:
    """A share of programs, rounded: those whose names' hashes are the least."""
    names = sorted(set(programs), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return frozenset(names[: round(share * len(names))])


def folds_of_programs(
    designs: Sequence[MeasuredDesign], folds: int, family: Mapping[str, str]
) -> list[tuple[str, ...]]:
    """Programs in folds of about as many designs; a family is in one fold.

    Args: family: of a program (variants of one kernel); a program that is not named is its own.
    """
    sizes: dict[str, int] = {}
    members: dict[str, list[str]] = {}
    for design in designs:
        name = family.get(design.program, design.program)
        sizes[name] = sizes.get(name, 0) + 1
        if design.program not in members.setdefault(name, []):
            members[name].append(design.program)
    found: list[list[str]] = [[] for _ in range(folds)]
    filled = [0] * folds
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        least = filled.index(min(filled))
        filled[least] += sizes[name]
        found[least] += sorted(members[name])
    return [tuple(fold) for fold in found if fold]
