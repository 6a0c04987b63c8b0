"""Suites of a user's own, a data folder each in `data/suites`: their names, labels and splits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assets.configuration import write_parameters
from assets.deployments import INBOX, Deployment
from assets.errors import FoundryError
from assets.settings import Listener, Settings
from assets.steps import STEPS
from assets.suites import BY_SUITE
from pipelines.dataset.splits import BY_KERNEL, freeze_split
from pipelines.schemas import ProgramRow, SplitRow, table_spec, write_table

STEPS_OF_SUITES = tuple(s for s in STEPS if s.partitioned.name == BY_SUITE.name and s.name != "programs")
TRAINING, TEST = "train", "test"
NAME_BYTES = 200
"""Limit on a file's name, so that names made of it stay within the 255 bytes of file systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSuite:
    """What an import wrote.

    Attributes:
        folder: of the suite, which is a data folder. rows: by table. statuses: of the labels.
        parts: programs by part of the split. reasons: rows by reason, of labels that are not ok, and of
            programs that cannot be read.
        programs: by status, where programs that cannot be read are rows.
    """

    suite: str
    folder: Path
    rows: Mapping[str, int]
    statuses: Mapping[str, int]
    parts: Mapping[str, int]
    reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    programs: Mapping[str, int] = field(default_factory=dict[str, int])


def require_own_name(suite: str, taken: Sequence[str] = ()) -> None:
    """Refuse a name for a user's suite that means another one.

    Raises: FoundryError: it is that of the inbox, or one of those that are taken.
    """
    if suite == INBOX:
        raise FoundryError(f"reserved for files of the inbox: suite {INBOX}; accepted: another name")
    if suite in taken:
        raise FoundryError(f"suite of the project: {suite}; accepted: another name (--suite NAME)")


def name_problem(path: Path) -> str | None:
    """Return why a file's name cannot be that of a program; None when it can."""
    if len(os.fsencode(path.name)) > NAME_BYTES or not path.name.isprintable():  # undecodable bytes are not
        return f"name of the file; accepted: printable UTF-8 of at most {NAME_BYTES} bytes"
    return None


def require_suite_tools(settings: Settings) -> None:
    """Check that the tools of all steps of a suite are installed.

    Raises: ToolMissing: one is not. FoundryError: the configuration cannot be done.
    """
    for require in dict.fromkeys(step.require for step in STEPS_OF_SUITES if step.require):
        require(settings)


def label_suite(
    suite: Settings, name: str, programs: Sequence[ProgramRow], listener: Callable[[str], Listener]
) -> dict[str, int]:
    """Write the tables of a suite: programs, and what every step makes of them under the configuration.

    Args:    suite: settings whose data folder is the suite's; listener: of a step by its name.
    Returns: rows by table.
    """
    write_parameters(suite.deployment.parameters_folder, suite.configuration)
    write_table(suite.deployment.data_dir, table_spec("programs"), programs, name)
    rows = {"programs": len(programs)}
    for step in STEPS_OF_SUITES:
        rows |= step.make(suite, name, listener(step.name)).rows
    return rows


def clear_suite(suite: Deployment) -> None:
    """Remove the tables of an earlier import; what is done is in the cache."""
    for room in ("tables", "measured"):
        shutil.rmtree(suite.data_dir / room, ignore_errors=True)


def suite_places(programs: Sequence[ProgramRow]) -> list[SplitRow]:
    """Return the split by name; where it leaves the test or training empty, one group goes there."""
    places = freeze_split(programs, name=BY_KERNEL)
    groups = sorted({place.group for place in places})
    for part, group in ((TEST, groups[0]), (TRAINING, groups[-1])) if groups else ():
        if len(groups) > 1 and part not in {place.part for place in places}:
            places = [replace(p, part=part) if p.group == group else p for p in places]
    return places
