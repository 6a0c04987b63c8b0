"""A small fabric, and layers that fill most of it."""

from __future__ import annotations

from dataclasses import replace

from pipelines.fabric import Fabric, Operation
from pipelines.fabric.families import ffn


def small_fabric() -> Fabric:
    """4 rows, 5 columns; memory units take two operations; links that some placements overload."""
    rates = {"gemm": 64.0, "gelu": 8.0, "add": 8.0, "layernorm": 8.0, "buffer": 16.0, "weights": 16.0}
    operations = {
        kind: {"unit": "memory" if kind in ("buffer", "weights") else "compute", "rate": rate}
        for kind, rate in rates.items()
    }
    sizes = {"rows": 4, "columns": 5, "link_words": 2, "port_words": 8, "stage_cycles": 3000}
    fields = {"name": "small", "pattern": ["CM", "MC"], "memory_slots": 2, "operations": operations, **sizes}
    return Fabric.model_validate(fields)


def small_layer(seed: int = 0) -> list[Operation]:
    """A feed-forward network that takes 8 of the 10 compute units of `small_fabric`; fewer words by seed."""
    operations = ffn(32, width=64, hidden=96)
    return [replace(operation, words=operation.words / (1 + seed / 4)) for operation in operations]
