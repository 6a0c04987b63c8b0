"""A mapped netlist as arrays: nets are numbers, cells of one type stand together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipelines.base.summation import ordered_sum
from pipelines.silicon.synthesis.liberty import Liberty, SynthesisError

ABSENT = -1  # net of a pin that is not connected
CONSTANT_NETS = {"0": 0, "1": 1, "x": 0, "z": 0}  # an undefined bit is 0, as in the recipe
_FIRST_NET = 2


class _Port(BaseModel):
    model_config = ConfigDict(extra="ignore")
    direction: str
    bits: list[int | str]


class _Cell(BaseModel):
    model_config = ConfigDict(extra="ignore")
    type: str
    connections: dict[str, list[int | str]]


class _Module(BaseModel):
    model_config = ConfigDict(extra="ignore")
    ports: dict[str, _Port]
    cells: dict[str, _Cell]


class _Design(BaseModel):
    model_config = ConfigDict(extra="ignore")
    modules: dict[str, _Module]


_DESIGN = TypeAdapter(_Design)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellGroup:
    """All cells of one type.

    Attributes:
        names: instance names, (cells,).
        pins: net of each cell by pin name, each (cells,); ABSENT where not connected.
    """

    names: tuple[str, ...]
    pins: Mapping[str, NDArray[np.intp]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Netlist:
    """A flat netlist of one module.

    Attributes:
        net_count: nets, of which 0 and 1 are the constants.
        inputs, outputs: nets of the ports' bits by port name; an inout port is in both.
        groups: cells by type.
    """

    net_count: int
    inputs: Mapping[str, NDArray[np.intp]]
    outputs: Mapping[str, NDArray[np.intp]]
    groups: Mapping[str, CellGroup]

    @property
    def cells_by_type(self) -> dict[str, int]:
        """Number of cells of each type, in order of type."""
        return {t: len(self.groups[t].names) for t in sorted(self.groups)}


class _Numbering:
    """Dense net numbers in order of first appearance."""

    def __init__(self) -> None:
        self.numbers: dict[int | str, int] = {**CONSTANT_NETS}
        self.count = _FIRST_NET

    def nets(self, bits: Sequence[int | str]) -> list[int]:
        for bit in bits:
            if bit not in self.numbers:
                self.numbers[bit] = self.count
                self.count += 1
        return [self.numbers[bit] for bit in bits]


def _group(type_name: str, cells: Mapping[str, _Cell], numbering: _Numbering) -> CellGroup:
    names = tuple(sorted(cells))
    pins = sorted({pin for c in cells.values() for pin in c.connections})
    nets: dict[str, list[int]] = {pin: [] for pin in pins}
    for name in names:
        for pin in pins:
            bits = cells[name].connections.get(pin, [])
            if len(bits) > 1:
                raise SynthesisError(
                    f"a mapped cell's pin must have one bit, got {len(bits)} at {type_name}.{pin}"
                )
            nets[pin].append(numbering.nets(bits)[0] if bits else ABSENT)
    return CellGroup(names=names, pins={p: np.array(n, np.intp) for p, n in nets.items()})


def parse_netlist(text: str | bytes, top: str) -> Netlist:
    """Read the top module of yosys' JSON netlist.

    Raises: SynthesisError: not JSON of this form, or no such module.
    """
    try:
        modules = _DESIGN.validate_json(text).modules
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SynthesisError(f"netlist is not yosys JSON: {first['msg']} at {first['loc']}") from error
    if top not in modules:
        known = ", ".join(sorted(modules)) or "none"
        raise SynthesisError(f"unknown top module: {top!r}; modules: {known}")
    module, numbering = modules[top], _Numbering()
    ports = {name: (p.direction, numbering.nets(p.bits)) for name, p in module.ports.items()}
    by_type: dict[str, dict[str, _Cell]] = {}
    for name, cell in module.cells.items():
        by_type.setdefault(cell.type, {})[name] = cell
    groups = {t: _group(t, by_type[t], numbering) for t in sorted(by_type)}
    return Netlist(
        net_count=numbering.count,
        inputs={n: np.array(b, np.intp) for n, (d, b) in ports.items() if d in ("input", "inout")},
        outputs={n: np.array(b, np.intp) for n, (d, b) in ports.items() if d in ("output", "inout")},
        groups=groups,
    )


def unmapped_cells(netlist: Netlist, liberty: Liberty) -> dict[str, int]:
    """Return the cells whose type is not in the library, by type."""
    return {t: n for t, n in netlist.cells_by_type.items() if t not in liberty.cells}


def cell_area_um2(netlist: Netlist, liberty: Liberty) -> float:
    """Return the area of all cells in um2; every type must be in the library."""
    return float(ordered_sum(n * liberty.cells[t].area_um2 for t, n in netlist.cells_by_type.items()))


def cell_leakage_mw(netlist: Netlist, liberty: Liberty) -> float | None:
    """Return the leakage of all cells in mW; None when the library lacks it for a cell."""
    total = 0.0
    for type_name, count in netlist.cells_by_type.items():
        leakage_mw = liberty.cells[type_name].leakage_mw
        if leakage_mw is None:
            return None
        total += count * leakage_mw
    return total


def flip_flop_count(netlist: Netlist, liberty: Liberty) -> int:
    """Return the flip-flops: the `ff` groups of all cells."""
    return sum(n * len(liberty.cells[t].flip_flops) for t, n in netlist.cells_by_type.items())


def netlist_record(netlist: Netlist) -> dict[str, Any]:
    """Return a netlist as a JSON value."""
    return {
        "net_count": netlist.net_count,
        "inputs": {name: _steps(nets) for name, nets in netlist.inputs.items()},
        "outputs": {name: _steps(nets) for name, nets in netlist.outputs.items()},
        "groups": {
            kind: {
                "cells": len(group.names),
                "pins": {pin: _steps(nets) for pin, nets in group.pins.items()},
            }
            for kind, group in netlist.groups.items()
        },
    }


def read_netlist_record(record: Mapping[str, Any]) -> Netlist:
    """Read the netlist of a record; an instance is named by its type and place.

    Raises: SynthesisError: not such a record.
    """
    try:
        return Netlist(
            net_count=int(record["net_count"]),
            inputs={name: _nets(steps) for name, steps in record["inputs"].items()},
            outputs={name: _nets(steps) for name, steps in record["outputs"].items()},
            groups={kind: _recorded_group(kind, group) for kind, group in record["groups"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SynthesisError(f"not a record of `netlist_record`: {error!r}") from error


def _recorded_group(kind: str, group: Mapping[str, Any]) -> CellGroup:
    count = int(group["cells"])
    pins = {pin: _nets(steps) for pin, steps in group["pins"].items()}
    if any(nets.size != count for nets in pins.values()):
        raise ValueError(f"{kind} has {count} cells")
    return CellGroup(names=tuple(f"{kind}_{i}" for i in range(count)), pins=pins)


def _steps(nets: NDArray[np.intp]) -> list[int]:
    return np.diff(nets, prepend=0).tolist()


def _nets(steps: Sequence[int]) -> NDArray[np.intp]:
    return np.cumsum(np.array(steps, np.intp), dtype=np.intp)
