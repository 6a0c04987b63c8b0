"""Batches of a release, from cheap to dear, and the configuration that they are made under.

A batch is one partition in one round. Rounds go from cheap to dear: all programs, then designs with their
features, then labels. A release may be finished with small shares of mapped designs and grow by larger ones
(`GROWING`), and by the discarded attempts of its AST programs (`ast.options.keep_discarded`).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assets.configuration import (
    compose_configuration,
    parameters_text,
    read_parameters_file,
)
from assets.errors import FoundryError
from assets.releases.writing import unused_groups
from assets.settings import MACHINE_GROUPS, Configuration, Settings
from assets.step import Step
from assets.steps import STEPS
from assets.suites import BY_SUITE, Shard, shards
from pipelines.dataset.labelling import Labelling, Synthesis
from pipelines.dataset.releases import (
    PARAMETERS_FILE,
    derived_tables,
    released_tables,
)
from pipelines.programs import LLM

GROWING = (
    "synthesis.fraction",
    "synthesis.demanding_fraction",
    "synthesis.all_most_um2",
    "synthesis.fpga_unmapped_fraction",
    "synthesis.other_library_unmapped_fraction",
    "labelling.full_power_fraction",
    "labelling.light_um2_cycles",
    "labelling.cross_check_fraction",
)
"""Options of which a larger value only adds figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One partition in one round."""

    round: str
    partition: str
    steps: tuple[Step, ...]


def plan_batches(settings: Settings) -> tuple[Batch, ...]:
    """Return all batches of a configuration: cheap rounds first; a round takes a shard per suite in turn."""
    rounds: dict[str, list[Step]] = {"programs": [], "designs": [], "labels": []}
    costly: set[str] = set()
    for step in (s for s in STEPS if s.partitioned.name == BY_SUITE.name and s.is_active(settings)):
        is_costly = step.name == "labels" or bool(costly & set(step.reads))
        costly |= set(step.tables) if is_costly else set()
        rounds["labels" if is_costly else "designs" if step.reads else "programs"].append(step)
    return tuple(
        Batch(round=name, partition=partition, steps=tuple(steps))
        for name, steps in rounds.items()
        for partition in _in_turn(shards(settings.configuration))
    )


def _in_turn(parts: Sequence[Shard]) -> tuple[str, ...]:
    """Return the names of shards, the first of each suite first: an unfinished release has programs of every
    suite.

    Suites of one shard come before the others, except a generated one, which is as large as all its shards.
    """
    return tuple(part.partition for part in sorted(parts, key=lambda part: (part.suite == LLM, part.first)))


def all_steps(settings: Settings) -> tuple[Step, ...]:
    """List every step of the batches once, in order."""
    return tuple({step.name: step for batch in plan_batches(settings) for step in batch.steps}.values())


def whole_steps(settings: Settings) -> tuple[Step, ...]:
    """Return the steps with one file that follow from the batches' tables: splits, reports, records."""
    known = {table for step in all_steps(settings) for table in step.tables}
    steps: list[Step] = []
    for step in (s for s in STEPS if s.partitioned.is_whole and s.is_active(settings)):
        is_ours = set(step.tables) <= {*released_tables(), *derived_tables()}
        if step.tables and step.reads and is_ours and set(step.reads) <= known:
            steps.append(step)
            known |= set(step.tables)
    return tuple(steps)


def read_configuration(
    folder: Path, overrides: Sequence[str], parameters: Path | None
) -> tuple[Configuration, bytes]:
    """Read the configuration and its text in the release: that of an unfinished release stays.

    Raises: FoundryError: another one is asked for.
    """
    if parameters is not None and overrides:
        raise FoundryError(f"overrides and --config are mutually exclusive: {parameters}")
    asked = read_parameters_file(parameters) if parameters else compose_configuration(overrides)
    without = unused_groups({})
    asked = asked.model_copy(update={name: type(getattr(asked, name))() for name in without})
    path = folder / PARAMETERS_FILE
    if not path.is_file():
        return asked, parameters_text(asked, without=without)
    text = path.read_bytes()
    if (parameters or overrides) and parameters_text(asked, without=without) != text:
        raise FoundryError(
            f"the configuration of an unfinished release stays: {path}; leave out the overrides, "
            "or choose another name"
        )
    return read_parameters_file(path).model_copy(
        update={name: getattr(asked, name) for name in MACHINE_GROUPS}
    ), text


def grow_configuration(
    configuration: Configuration, shares: Mapping[str, float], *, keeps_discarded: bool
) -> tuple[Configuration, bytes]:
    """Return the configuration with larger shares of designs that are mapped or with more rows, and its text.

    Args:   shares, keeps_discarded: see `MakeOptions`.
    Raises: FoundryError: a share cannot grow, or is smaller than that of the release.
    """
    synthesis, labelling = configuration.group(Synthesis), configuration.group(Labelling)
    changed: dict[str, Any] = {"synthesis": synthesis, "labelling": labelling}
    for name, share in shares.items():
        if name not in GROWING:
            raise FoundryError(f"a release cannot grow by {name}; accepted: {', '.join(GROWING)}")
        group, key = name.split(".")
        present = getattr(changed[group], key)
        present = sys.float_info.max if present is None else present  # no limit
        most = 1 if name.endswith("fraction") else sys.float_info.max
        if not present <= share <= most:
            raise FoundryError(
                f"{name} must be at least that of the release ({present:g}) and at most {most:g}, "
                f"got {share:g}"
            )
        changed[group] = replace(changed[group], **{key: share})
    if keeps_discarded:
        ast = configuration.ast
        changed["ast"] = ast.model_copy(update={"options": replace(ast.options, keep_discarded=True)})
    grown = configuration.model_copy(update=changed)
    return grown, parameters_text(grown, without=unused_groups({}))
