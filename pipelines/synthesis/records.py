"""A mapped netlist as a small JSON value, to be kept and read again.

Names of instances are not kept: a cell is its place in its group. Nets are differences to the net before,
which compress to some 5 bytes a cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.synthesis.errors import SynthesisError
from pipelines.synthesis.netlist import CellGroup, Netlist


def netlist_record(netlist: Netlist) -> dict[str, Any]:
    """A netlist as a JSON value."""
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
    """The netlist of a record; an instance is named by its type and place.

    Raises: SynthesisError: not such a record.
    """
    try:
        return Netlist(
            net_count=int(record["net_count"]),
            inputs={name: _nets(steps) for name, steps in record["inputs"].items()},
            outputs={name: _nets(steps) for name, steps in record["outputs"].items()},
            groups={kind: _group(kind, group) for kind, group in record["groups"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SynthesisError(f"a netlist must be a record of `netlist_record`, got {error!r}") from error


def _group(kind: str, group: Mapping[str, Any]) -> CellGroup:
    count = int(group["cells"])
    pins = {pin: _nets(steps) for pin, steps in group["pins"].items()}
    if any(nets.size != count for nets in pins.values()):
        raise ValueError(f"{kind} has {count} cells")
    return CellGroup(names=tuple(f"{kind}_{i}" for i in range(count)), pins=pins)


def _steps(nets: NDArray[np.intp]) -> list[int]:
    return np.diff(nets, prepend=0).tolist()


def _nets(steps: Sequence[int]) -> NDArray[np.intp]:
    return np.cumsum(np.array(steps, np.intp), dtype=np.intp)
