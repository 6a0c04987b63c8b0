"""Targets: times and DSPs of operations, transfers and limits of a tool on a device, from JSON files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from pipelines.base.files import plain_json, read_bounded
from pipelines.base.validation import describe_invalid
from pipelines.pragmas.errors import PragmaError

_LARGEST = 10**12
_Count = Annotated[int, Field(ge=0, le=_LARGEST)]
_Most = Annotated[int, Field(ge=1, le=_LARGEST)]


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCost:
    """Least cycles from operands to result, and DSP blocks of a unit that starts one operation per cycle."""

    latency_cycles: int
    dsp_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A tool on a device.

    Attributes:
        name: `u200`, `simfoundry`; clock_period_ns: the requested one.
        operations: by (kind, type); one that is not listed takes no cycle and no DSP.
        burst_bits: bits per cycle of one transfer from or to external memory; None: nothing is transferred.
        access_cycles: from the request of a transfer to its first bits.
        dsp_available, onchip_bits: limits (equations 15 and 16), None = unlimited.
        most_partitions: of an array (equation 9).
        tree_reduction: associative floating operations may be reordered (`unsafe_math`).
        chained_array_sums: sums in an array's element are not reordered where their loop is unrolled.
        update_cycles: from the load of an element of an external array until a load sees its new value,
            without operations; 0: none known.
        partial_sums: a reduction's pipeline may keep several sums and so start one iteration per cycle.
        separate_rests: iterations that are too few for all partial sums run after the pipeline.
        unrolled_trips, unrolled_copies: the tool unrolls loops without directives of at most so many trips,
            up to so many copies together (0: none).
        outermost_copies: copies of a body that has loops are made of outermost loops alone.
        swapped_nests: a factor of a reduction above a partially unrolled loop makes copies too: the tool
            swaps strips of the two loops (section 4.1).
        varying_copies: modules of parallel loops are copied also where trip counts inside vary.
        varying_factors: of innermost loops without a constant trip count, for a search to use.
        intervals: of pipelined loops, for a search to use; a longer one shares units.
        banked_reads: an array in banks has one read port per bank, and a load whose bank is unknown takes
            that of each.
        ports: reads, and writes, of an array in one bank that may start per cycle; None = unlimited.
    """

    name: str
    clock_period_ns: Annotated[float, Field(gt=0, le=_LARGEST)]
    operations: Mapping[tuple[str, str], OperationCost]
    burst_bits: _Most | None = None
    dsp_available: _Count | None = None
    onchip_bits: _Count | None = None
    most_partitions: _Most
    tree_reduction: bool = True
    chained_array_sums: bool = False
    update_cycles: _Count = 0
    partial_sums: bool = False
    separate_rests: bool = False
    unrolled_trips: _Count = 0
    unrolled_copies: _Count = 0
    access_cycles: _Count = 0
    outermost_copies: bool = False
    swapped_nests: bool = True
    varying_copies: bool = False
    varying_factors: tuple[Annotated[int, Field(ge=2, le=_LARGEST)], ...] = ()
    intervals: tuple[_Most, ...] = (1,)
    banked_reads: bool = False
    ports: _Most | None = None

    def cost(self, kind: str, type_name: str) -> OperationCost:
        """Return the cost of an operation."""
        return self.operations.get((kind, type_name), OperationCost(latency_cycles=0))

    def ordered(self) -> Target:
        """Return the target with ordered floating sums: no trees (theorem 6.12), no partial sums."""
        return replace(self, tree_reduction=False)

    def within_area(self, most_um2: float | None) -> Target:
        """Return the target with a limit on area, if its DSPs stand for 1000 um2 each; None = unlimited."""
        return self if most_um2 is None else replace(self, dsp_available=int(most_um2 / 1000))


LIMIT_BYTES = 1 << 20

_FIELDS: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class _Operation(BaseModel):
    """A row of figures and where they come from."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kinds: tuple[str, ...]
    type: str
    latency_cycles: _Count
    dsp_count: _Count = 0
    source: str


def _file_model() -> type[BaseModel]:
    """Return the model of a target's file: the target's fields, and where its figures come from."""
    hints = get_type_hints(Target, include_extras=True)
    own = {f.name: (hints[f.name], ... if f.default is MISSING else f.default) for f in fields(Target)}
    more = {
        "about": (str, ...),
        "sources": (dict[str, str], ...),
        "operations": (tuple[_Operation, ...], ...),
    }
    declared: dict[str, Any] = {"name": own["name"], "about": more["about"], **own, **more}
    return create_model("_File", __config__=_Operation.model_config, **declared)


_File = _file_model()


def target_names() -> tuple[str, ...]:
    """Return the targets that the package has."""
    files = resources.files("pipelines.pragmas.bound").joinpath("targets").iterdir()
    return tuple(sorted(f.name.removesuffix(".json") for f in files if f.name.endswith(".json")))


def read_target(name_or_path: str | Path) -> Target:
    """Read a target of the package by its name, or any by the path of its file.

    Raises: PragmaError: no such target or file, larger than 1 MiB, or not of the format.
    """
    try:
        content = _File.model_validate(_fields(name_or_path)).model_dump(exclude={"about", "sources"})
    except ValidationError as error:
        raise PragmaError(f"not a target: {describe_invalid(error, _File, name_or_path)}") from error
    costs = {
        (kind, row["type"]): OperationCost(latency_cycles=row["latency_cycles"], dsp_count=row["dsp_count"])
        for row in content.pop("operations")
        for kind in row["kinds"]
    }
    return Target(operations=costs, **content)


def _fields(name_or_path: str | Path) -> dict[str, Any]:
    """Return the fields of a file, over the fields of the target that it extends."""
    text = _text(name_or_path)
    try:
        own = _FIELDS.validate_python(plain_json(text))
    except ValueError as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise PragmaError(f"not a JSON object: {said} ({name_or_path})") from error
    base = own.pop("extends", None)
    if base is None:
        return own
    if base not in target_names() or base == name_or_path:
        known = ", ".join(target_names())
        raise PragmaError(f"unknown target in extends: {base} ({name_or_path}); accepted: {known}")
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
