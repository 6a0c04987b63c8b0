"""Targets from JSON files: those of the package by name, others by path."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipelines.files import read_bounded
from pipelines.pragmas.bound.target import OperationCost, Target
from pipelines.pragmas.errors import PragmaError

LIMIT_BYTES = 1 << 20
_LARGEST = 10**12

_FIELDS: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class _Operation(BaseModel):
    """A row of figures and where they come from."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kinds: tuple[str, ...]
    type: str
    latency_cycles: int = Field(ge=0, le=_LARGEST)
    dsp_count: int = Field(default=0, ge=0, le=_LARGEST)
    source: str


class _File(BaseModel):
    """A target's file."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str
    about: str
    clock_period_ns: float = Field(gt=0, le=_LARGEST)
    burst_bits: int | None = Field(default=None, ge=1, le=_LARGEST)
    dsp_available: int | None = Field(default=None, ge=0, le=_LARGEST)
    onchip_bits: int | None = Field(default=None, ge=0, le=_LARGEST)
    most_partitions: int = Field(ge=1, le=_LARGEST)
    tree_reduction: bool = True
    chained_array_sums: bool = False
    update_cycles: int = Field(default=0, ge=0, le=_LARGEST)
    partial_sums: bool = False
    separate_rests: bool = False
    unrolled_trips: int = Field(default=0, ge=0, le=_LARGEST)
    unrolled_copies: int = Field(default=0, ge=0, le=_LARGEST)
    access_cycles: int = Field(default=0, ge=0, le=_LARGEST)
    outermost_copies: bool = False
    swapped_nests: bool = True
    varying_copies: bool = False
    varying_factors: tuple[Annotated[int, Field(ge=2, le=_LARGEST)], ...] = ()
    intervals: tuple[Annotated[int, Field(ge=1, le=_LARGEST)], ...] = (1,)
    banked_reads: bool = False
    ports: int | None = Field(default=None, ge=1, le=_LARGEST)
    sources: dict[str, str]
    operations: tuple[_Operation, ...]


def target_names() -> tuple[str, ...]:
    """Targets that the package has."""
    files = resources.files("pipelines.pragmas.bound").joinpath("targets").iterdir()
    return tuple(sorted(f.name.removesuffix(".json") for f in files if f.name.endswith(".json")))


def read_target(name_or_path: str | Path) -> Target:
    """Read a target of the package by its name, or any by the path of its file.

    Raises: PragmaError: no such target or file, larger than 1 MiB, or not of the format.
    """
    try:
        found = _File.model_validate(_fields(name_or_path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(p) for p in first["loc"]) or "the file"
        raise PragmaError(
            f"a target must be of the format of targets/u200.json, got at {place}: {first['msg']} "
            f"({name_or_path}:1)"
        ) from error
    costs = {
        (kind, row.type): OperationCost(latency_cycles=row.latency_cycles, dsp_count=row.dsp_count)
        for row in found.operations
        for kind in row.kinds
    }
    return Target(
        name=found.name,
        clock_period_ns=found.clock_period_ns,
        operations=costs,
        burst_bits=found.burst_bits,
        dsp_available=found.dsp_available,
        onchip_bits=found.onchip_bits,
        most_partitions=found.most_partitions,
        tree_reduction=found.tree_reduction,
        chained_array_sums=found.chained_array_sums,
        update_cycles=found.update_cycles,
        partial_sums=found.partial_sums,
        separate_rests=found.separate_rests,
        unrolled_trips=found.unrolled_trips,
        unrolled_copies=found.unrolled_copies,
        access_cycles=found.access_cycles,
        outermost_copies=found.outermost_copies,
        swapped_nests=found.swapped_nests,
        varying_copies=found.varying_copies,
        varying_factors=found.varying_factors,
        intervals=found.intervals,
        banked_reads=found.banked_reads,
        ports=found.ports,
    )


def _fields(name_or_path: str | Path) -> dict[str, Any]:
    """Fields of a file, over those of the target that it extends."""
    try:
        own = _FIELDS.validate_json(_text(name_or_path))
    except ValidationError as error:
        raise PragmaError(
            f"a target must be a JSON object, got {error.errors()[0]['msg']} ({name_or_path}:1)"
        ) from error
    base = own.pop("extends", None)
    if base is None:
        return own
    if base not in target_names() or base == name_or_path:
        known = ", ".join(target_names())
        raise PragmaError(
            f"extends must name another target, got {base!r} ({name_or_path}:1); known are {known}"
        )
    under = _fields(str(base))
    return under | own | {"sources": under["sources"] | own.get("sources", {})}


def _text(name_or_path: str | Path) -> str:
    if isinstance(name_or_path, str) and name_or_path in target_names():
        return (
            resources.files("pipelines.pragmas.bound").joinpath("targets", f"{name_or_path}.json").read_text()
        )
    known = ", ".join(target_names())

    def refused(problem: str) -> PragmaError:
        return PragmaError(f"{problem}; the names of targets are {known}")

    content = read_bounded(Path(name_or_path), what="target", most_bytes=LIMIT_BYTES, error=refused)
    return content.decode("utf-8", errors="replace")
