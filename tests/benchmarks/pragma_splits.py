"""Vendor rows as measured designs, and splits of designs by configuration and by program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from models.base import PredictorError
from models.pragma_gnn.data import MeasuredDesign, part_of
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, bound, impossible
from pipelines.pragmas.summary import Summary
from pipelines.schemas import VendorDesignRow
from tests.support.vendor_kernels import configuration_of_row, vendor_kernel


def vendor_designs(
    rows: Iterable[VendorDesignRow], summaries: Mapping[str, Summary], target: Target
) -> list[MeasuredDesign]:
    """Rows with a latency that a design can have, of the kernels that there are summaries of.

    Raises: PragmaError: a row's directives are not of its kernel.
    """
    found: list[MeasuredDesign] = []
    for row in rows:
        if not row.latency_cycles or row.kernel not in summaries:
            continue
        if impossible(summaries[row.kernel], target, row.latency_cycles) is None:
            found.append(measured_design(row, summaries[row.kernel], target))
    return found


def measured_design(row: VendorDesignRow, summary: Summary, target: Target) -> MeasuredDesign:
    """Return a row with a latency as a measured design. Raises: PragmaError: as `vendor_designs`."""
    kernel = vendor_kernel(row.kernel)
    configuration = configuration_of_row(kernel, row.directives, row.directives_by_loop)
    return MeasuredDesign(
        program=row.kernel,
        tool=row.tool,
        configuration=configuration,
        bound=bound(summary, configuration, target),
        latency_cycles=int(row.latency_cycles or 0),
        fits=bool(row.fits),
    )


def vendor_summaries(names: Iterable[str]) -> dict[str, Summary]:
    """Return the summaries of the vendor's kernels."""
    kernels = {name: vendor_kernel(name) for name in sorted(set(names))}
    return {name: summarise(own.source, own.top, relaxed=True) for name, own in kernels.items()}


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
