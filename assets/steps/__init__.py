"""The steps, one module each, found automatically: a module adds its assets, DVC stage and command.

Belongs here: what Dagster, DVC and the command line need of a step, bound to STEP or STEPS. Does not: engine
logic.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module

from assets.errors import FoundryError
from assets.step import Step
from pipelines.schemas import TableSpec, unknown_table

EVERYTHING = ("*",)
"""`Step.reads` of a step that reads every table."""


def _declared() -> Iterator[Step]:
    for module in pkgutil.iter_modules(__path__):
        loaded = import_module(f"{__name__}.{module.name}")
        yield from getattr(loaded, "STEPS", None) or (loaded.STEP,)


def _ordered(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps after those that they read; those that most others need, directly or not, come first."""
    tables = tuple(sorted({table for step in steps for table in step.tables}))
    steps = [replace(step, reads=tables) if step.reads == EVERYTHING else step for step in steps]
    check_tables(steps)
    readers = {step.name: {s.name for s in steps if set(s.reads) & set(step.tables)} for step in steps}

    def all_readers(name: str, path: tuple[str, ...] = ()) -> set[str]:
        if name in path:
            raise FoundryError(f"steps read each other's tables: {' -> '.join((*path, name))}")
        further = (all_readers(reader, (*path, name)) for reader in readers[name])
        return readers[name].union(*further)

    return tuple(sorted(steps, key=lambda step: (-len(all_readers(step.name)), step.name)))


def check_tables(steps: Sequence[Step]) -> None:
    """Check that SQL sees every table that a step writes or reads.

    Raises: FoundryError: a step names a table that no module of `pipelines/schemas/` declares.
    """
    for step in steps:
        for name in (*step.tables, *step.reads):
            if name not in TableSpec.registry:
                raise FoundryError(f"step {step.name}: {unknown_table(name, TableSpec.registry)}")


STEPS: tuple[Step, ...] = _ordered(list(_declared()))
STAGES: tuple[str, ...] = tuple(dict.fromkeys(step.stage for step in STEPS))


def step_named(name: str) -> Step:
    """Return the step of that name.

    Raises: FoundryError: no such step.
    """
    for step in STEPS:
        if step.name == name:
            return step
    raise FoundryError(f"unknown step: {name}; accepted: {', '.join(step.name for step in STEPS)}")


def steps_of(stage: str) -> tuple[Step, ...]:
    """Return the steps of a stage, in order, or the step of that name.

    Raises: FoundryError: no such stage.
    """
    steps = tuple(step for step in STEPS if step.stage == stage) or tuple(
        step for step in STEPS if step.name == stage
    )
    if not steps:
        raise FoundryError(f"unknown stage: {stage}; accepted: {', '.join(STAGES)}")
    return steps


def makers_of(table: str) -> tuple[Step, ...]:
    """Return the steps that write a table."""
    return tuple(step for step in STEPS if table in step.tables)
