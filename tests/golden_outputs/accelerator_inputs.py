"""Inputs of accelerators: drawn hardware, networks compiled for it, and fixed-point pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from engine_outputs import Folders, Output
from value_hash import is_excluded

from pipelines.accelerators.dataset import AcceleratorGroup, LabelTools, make_accelerators
from pipelines.accelerators.fixed.dataset import FixedGroup, make_fixed
from pipelines.base.cache import ContentCache
from pipelines.base.workers import silent
from pipelines.silicon.synthesis import find_liberty


def _values(rows: Sequence[Any]) -> list[object]:
    """Rows in an order that does not depend on ids, which hash versions."""
    kept = [{name: value for name, value in asdict(row).items() if not is_excluded(name)} for row in rows]
    return sorted(kept, key=str)


def accelerator_outputs(folders: Folders) -> Iterator[Output]:
    """Hardware, compiled networks of every family, and the label of one network."""
    tools = LabelTools(liberty=find_liberty("osu018"), folder=folders.engines)
    cache = ContentCache(folder=folders.scratch / "cache")
    compiled = AcceleratorGroup(name="compiled", hardware=2)
    labelled = AcceleratorGroup(name="labelled", families=("mlp",), is_labelled=True)
    for group in (compiled, labelled):
        tables = make_accelerators(group, tools=tools, cache=cache, workers=1, on_progress=silent)
        yield group.name, [_values(part) for part in (tables.accelerators, tables.compiled, tables.labels)]


def fixed_outputs(folders: Folders) -> Iterator[Output]:
    """Pipelines of two families, one of them shared."""
    cache = ContentCache(folder=folders.scratch / "cache")
    for reuse in (1, 4):
        group = FixedGroup(name="group", families=("mlp", "cnn"), reuse_factors=(reuse,))
        rows = make_fixed(
            group,
            liberty=find_liberty("osu018"),
            folder=folders.engines,
            cache=cache,
            workers=1,
            on_progress=silent,
        )
        yield f"reuse {reuse}", _values(rows)
