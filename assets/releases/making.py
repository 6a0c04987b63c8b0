"""Making a release in batches, each of them saved before the next begins.

Each batch goes through the steps of `simfoundry stage`. The release is written between batches, so that a
copy of its folder is all that another machine needs to go on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assets.attempts import attempt
from assets.configuration import (
    write_parameters,
)
from assets.deployments import find_deployment, sweep_leftovers, writing_to
from assets.materialise import prune_partitions
from assets.overview import environment_problems
from assets.releases.batches import all_steps, grow_configuration, plan_batches, read_configuration
from assets.releases.contents import ReleaseContents, digest_of
from assets.releases.freshness import require_fresh
from assets.releases.importing import import_release
from assets.releases.versions import toolset_of
from assets.releases.writing import seeds_of, unused_groups
from assets.resources import ProgressResource
from assets.settings import MACHINE_GROUPS, Settings
from assets.shared_tables import present_version, pull_tables
from assets.step import Step
from pipelines.base.folders import restore_folder
from pipelines.dataset.releases import (
    MANIFEST_FILE,
    PARAMETERS_FILE,
    SIZE_LIMIT_BYTES,
    Manifest,
    ReleaseOptions,
    Reproduction,
    derived_tables,
    open_release,
    write_release,
)

LEFT_OUT = "it follows from the others; `simfoundry release make {} --derived` makes it and compares hashes"
PROBLEMS_SHOWN = 20
WRITING_SHARE = 0.1
"""Most of the time that writing the release between batches may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeOptions:
    """How far to go.

    Attributes:
        batches: most batches of this call; limit_s: time after which no batch begins; None for no limit.
        size_limit_bytes: of the release.
        shares: new, larger values of options in `GROWING`, by name.
        keeps_discarded: whether discarded attempts of AST programs become rows (`keep_discarded`).
    """

    batches: int | None = None
    limit_s: float | None = None
    size_limit_bytes: int = SIZE_LIMIT_BYTES
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    keeps_discarded: bool = False


NO_LIMITS = MakeOptions()
OnRows = Callable[[Step, str], None]


def ignore_rows(step: Step, partition: str) -> None:
    """Do nothing about the rows that a step made."""


@dataclass(slots=True, kw_only=True)
class ReleaseMaking:
    """A release on its way.

    Attributes:
        contents: what is in the release. parameters: the text of its configuration.
        progress: hears of every step. on_rows: called with each step and partition that was made.
        made, problems, notes: of this call, one line each.
    """

    folder: Path
    contents: ReleaseContents
    parameters: bytes
    options: MakeOptions
    progress: ProgressResource
    on_rows: OnRows = ignore_rows
    made: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    _is_unwritten: bool = False

    @property
    def settings(self) -> Settings:
        """The configuration and the deployment of the release."""
        return self.contents.settings

    def restore(self) -> Manifest | None:
        """Take up what the release has; its tables and cache are imported unless the project has them.

        Raises: ReleaseError: it is damaged, or made with other versions than its rows can be joined with.
        """
        if not (self.folder / MANIFEST_FILE).is_file():
            return None
        release = open_release(self.folder)
        if not self.contents.take_up(release):
            self.notes += import_release(self.settings.deployment, self.folder).notes
        return release.manifest

    def run(self) -> None:
        """Make what is lacking, until all is there, a limit is reached or a step fails.

        The release is written after each batch, unless that would take more than a share of the time; what
        is finished is written however the call ends.
        """
        try:
            self._run()
        finally:
            if self._is_unwritten:
                self._write()

    def _run(self) -> None:
        began, count, written, cost_s = time.monotonic(), 0, -math.inf, 0.0
        for batch in plan_batches(self.settings):
            steps = self.contents.lacking(batch)
            if not steps:
                continue
            late = self.options.limit_s is not None and time.monotonic() - began >= self.options.limit_s
            if late or count == self.options.batches or self.problems:
                return
            if not self._make(steps, batch.partition):
                return
            count += 1
            self.made.append(f"{batch.round} {batch.partition}")
            self._is_unwritten = True
            self._make_whole()
            if time.monotonic() - written >= cost_s / WRITING_SHARE:
                start = time.monotonic()
                self._write()
                written, self._is_unwritten = time.monotonic(), False
                cost_s = written - start
        self._make_whole()

    def _make(self, steps: Sequence[Step], partition: str) -> bool:
        before = self.contents.mapped_labels(partition)
        for step in steps:
            summary = attempt(step, partition, self.settings, self.progress, self.problems)
            self.problems += environment_problems(summary.failures) if summary is not None else []
            if self.problems:
                return False
            if any(partition in self.contents.finished.get(table, ()) for table in step.tables):
                self.contents.forget_followers(step)
            for table in step.tables:
                self.contents.keep(table, partition)
            self.on_rows(step, partition)
        lost = len(before - self.contents.mapped_labels(partition))
        if lost:
            self.notes.append(f"{partition}: {lost} ok labels are outside the shares and left the release")
        return True

    def remake(self, step: Step, table: str) -> None:
        """Make a derived table again; a file that differs is a problem."""
        for partition, digest in self.contents.derived[table].items():
            attempt(step, partition, self.settings, self.progress, self.problems)
            path = self.contents.path(table, partition)
            if not path.is_file() or digest_of(path) != digest:
                self.problems.append(f"a derived file must have SHA-256 {digest}, got another ({path})")
            else:
                self.made.append(f"{table} {partition}, equal to the release's")

    def _make_whole(self) -> None:
        """Make the tables of all partitions that have all that they are made from."""
        for step, partition in self.contents.ready():
            self._is_unwritten |= self._make([step], partition)

    def _write(self) -> None:
        """Write the release with all that is finished; shards of unchanged rows stay as they are."""
        name, pending = self.folder.name, self.contents.pending
        partitions = self.contents.in_order()
        if not pending:
            require_fresh(self.settings, partitions)
        write_release(
            self.settings.deployment.data_dir,
            self.folder.parent,
            ReleaseOptions(
                name=name,
                partitions=partitions,
                parameters=self.parameters,
                toolset=toolset_of(self.settings, partitions),
                reproduction=self._reproduction(),
                size_limit_bytes=self.options.size_limit_bytes,
                left_out={
                    table: LEFT_OUT.format(name)
                    for table in derived_tables()
                    if table in self.contents.derived
                },
                pending=pending or None,
                derived=self.contents.derived or None,
                catalogue=present_version(self.settings.deployment),
                keeps_shards=True,
            ),
        )

    def _reproduction(self) -> Reproduction:
        name = self.folder.name
        content = self.settings.configuration.model_dump(
            mode="json", exclude={*MACHINE_GROUPS, *unused_groups({})}
        )
        return Reproduction(
            commands=(
                "make setup",
                f"simfoundry release make {name}-again --config releases/{name}/{PARAMETERS_FILE}",
            ),
            seeds=seeds_of(content),
            notes=(f"In a copy of an unfinished release, `simfoundry release make {name}` goes on with it.",),
        )


def make_release(
    name: str,
    *,
    progress: ProgressResource,
    overrides: Sequence[str] = (),
    parameters: Path | None = None,
    options: MakeOptions = NO_LIMITS,
    on_rows: OnRows = ignore_rows,
) -> dict[str, Any]:
    """Make a release of a configuration, or go on with an unfinished one.

    Args:   progress, on_rows: see `ReleaseMaking`; overrides: Hydra's; parameters: a file with the whole
            configuration instead.
    Raises: FoundryError: the configuration is not acceptable or not that of the unfinished release.
            ReleaseError: the release is damaged. ToolMissing: a tool is not installed; nothing was begun.
    """
    making = open_making(name, progress, overrides, parameters, options, on_rows)
    deployment = making.settings.deployment
    for require in dict.fromkeys(step.require for step in all_steps(making.settings) if step.require):
        require(making.settings)
    with writing_to(deployment.data_dir):
        write_parameters(deployment.project, making.settings.configuration)
        sweep_leftovers(deployment.data_dir)
        pull_tables(deployment)
        prune_partitions(making.settings, all_steps(making.settings))
    manifest = making.restore()
    with writing_to(deployment.data_dir):
        if manifest is None or making.contents.pending:
            making.contents.leave_out_derived()
            making.run()
    return answer_of(making)


def open_making(
    name: str,
    progress: ProgressResource,
    overrides: Sequence[str] = (),
    parameters: Path | None = None,
    options: MakeOptions = NO_LIMITS,
    on_rows: OnRows = ignore_rows,
) -> ReleaseMaking:
    """Open a release by its name, an unfinished one with its configuration; see `make_release`."""
    deployment = find_deployment()
    folder = deployment.project / "releases" / name
    restore_folder(folder)
    configuration, text = read_configuration(folder, overrides, parameters)
    if options.shares or options.keeps_discarded:
        configuration, text = grow_configuration(
            configuration, options.shares, keeps_discarded=options.keeps_discarded
        )
    settings = Settings(configuration=configuration, deployment=deployment)
    return ReleaseMaking(
        folder=folder,
        contents=ReleaseContents(settings=settings),
        parameters=text,
        options=options,
        progress=progress,
        on_rows=on_rows,
    )


def answer_of(making: ReleaseMaking) -> dict[str, Any]:
    """Say what a call made and what is left to make."""
    pending = making.contents.pending
    return {
        "release": making.folder.name,
        "folder": str(making.folder),
        "made": making.made,
        "pending": list(pending),
        "complete": not pending,
        "problems": making.problems[:PROBLEMS_SHOWN],
        "notes": making.notes,
    }
