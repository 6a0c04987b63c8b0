"""`simfoundry release make`: a release in batches, each of them saved before the next begins.

A batch is one partition in one round. Rounds go from cheap to dear: all programs, then designs with their
features, then labels. Each batch goes through the steps of `simfoundry stage`. The release is written between
batches, so that a copy of its folder is all that another machine needs to go on. A release may be finished
with small shares of mapped designs and grow by larger ones (`GROWING`), and by the discarded attempts of its
AST programs (`ast.options.keep_discarded`).
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from assets.configuration import (
    compose_configuration,
    parameters_text,
    read_parameters_file,
    write_parameters,
)
from assets.deployments import Deployment, find_deployment, sweep_leftovers, writing_to
from assets.errors import FoundryError
from assets.label_settings import Labelling, Synthesis, label_options
from assets.materialise import prune_partitions
from assets.overview import environment_problems
from assets.progress import shown_progress
from assets.releasing import import_release, require_fresh, seeds_of, toolset_of, unused_groups
from assets.resources import ProgressResource
from assets.settings import Configuration, Settings
from assets.step import Step, read_rows
from assets.steps import STEPS
from assets.suites import BY_SUITE, Shard, options_of_shard, shard_named, shards, suite_options
from pipelines.base.folders import restore_folder
from pipelines.base.identity import text_sha256
from pipelines.base.workers import Outcome, run_all
from pipelines.c import HlsError
from pipelines.dataset.labelling import LabelTables, label_targets
from pipelines.dataset.labelling.synthesis import is_mapped
from pipelines.dataset.releases import (
    MANIFEST_FILE,
    PARAMETERS_FILE,
    SIZE_LIMIT_BYTES,
    Manifest,
    ReleaseError,
    ReleaseOptions,
    Reproduction,
    derived_tables,
    open_release,
    released_tables,
    write_release,
)
from pipelines.hls import TOOL, compile_program, options_of
from pipelines.programs import AST, LLM
from pipelines.programs.ast import lacks_discarded
from pipelines.schemas import (
    OK,
    DesignRow,
    ProgramRow,
    SchemaError,
    read_arrow,
    table_path,
    table_spec,
    write_bytes_atomically,
)
from simfoundry.commands.stage import attempt

LEFT_OUT = "it follows from the others; `simfoundry release make {} --derived` makes it and compares hashes"
PROGRAMS = "programs"
LABELS = "labels"
"""The step that maps designs to cells."""
GROWING = (
    "synthesis.fraction",
    "synthesis.demanding_fraction",
    "synthesis.fpga_unmapped_fraction",
    "synthesis.other_library_unmapped_fraction",
    "labelling.full_power_fraction",
    "labelling.light_um2_cycles",
    "labelling.cross_check_fraction",
)
"""Options of which a larger value only adds figures."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One partition in one round."""

    round: str
    partition: str
    steps: tuple[Step, ...]


# ---- plan ------------------------------------------------------------------------------------------


def plan_batches(settings: Settings) -> tuple[Batch, ...]:
    """All batches of a configuration: the cheap rounds first; in a round, one shard of each suite in turn."""
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
    """Names of shards, the first of each suite first: an unfinished release has programs of every suite.

    Suites of one shard come before the others, except a generated one, which is as large as all its shards.
    """
    return tuple(part.partition for part in sorted(parts, key=lambda part: (part.suite == LLM, part.first)))


def _steps(settings: Settings) -> tuple[Step, ...]:
    """Every step of the batches once, in order."""
    return tuple({step.name: step for batch in plan_batches(settings) for step in batch.steps}.values())


def whole_steps(settings: Settings) -> tuple[Step, ...]:
    """Steps with one file whose tables follow from those of the batches: splits, reports, records."""
    known = {table for step in _steps(settings) for table in step.tables}
    steps: list[Step] = []
    for step in (s for s in STEPS if s.partitioned.is_whole and s.is_active(settings)):
        is_ours = set(step.tables) <= {*released_tables(), *derived_tables()}
        if step.tables and step.reads and is_ours and set(step.reads) <= known:
            steps.append(step)
            known |= set(step.tables)
    return tuple(steps)


def _configuration(
    folder: Path, overrides: Sequence[str], parameters: Path | None
) -> tuple[Configuration, bytes]:
    """The configuration and its text in the release: that of an unfinished release stays.

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
    return read_parameters_file(path).model_copy(update={"run": asked.run}), text


def _grown(
    configuration: Configuration, shares: Mapping[str, float], *, keeps_discarded: bool
) -> tuple[Configuration, bytes]:
    """The configuration with larger shares of designs that are mapped or with more rows, and its text.

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
        most = 1 if name.endswith("fraction") else sys.float_info.max
        if not present <= share <= most:
            raise FoundryError(
                f"{name} must be at least that of the release ({present:g}) and at most {most:g}, "
                f"got {share:g}"
            )
        changed[group] = changed[group].model_copy(update={key: share})
    if keeps_discarded:
        ast = configuration.ast
        changed["ast"] = ast.model_copy(update={"options": replace(ast.options, keep_discarded=True)})
    grown = configuration.model_copy(update=changed)
    return grown, parameters_text(grown, without=unused_groups({}))


# ---- make ------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class ReleaseMaking:
    """A release on its way.

    Attributes:
        finished: partitions by table that are in the release. derived: see `Manifest`.
        made, problems, notes: of this call, one line each.
    """

    settings: Settings
    folder: Path
    parameters: bytes
    options: MakeOptions
    finished: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    derived: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    made: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    _is_unwritten: bool = False
    _mapped: set[str] = field(default_factory=set[str])
    _attempted: set[str] = field(default_factory=set[str])

    @property
    def _data_dir(self) -> Path:
        return self.settings.deployment.data_dir

    def restore(self) -> Manifest | None:
        """Take up what the release has; its tables and cache are imported unless the project has them.

        Raises: ReleaseError: it is damaged, or made with other versions than its rows can be joined with.
        """
        if not (self.folder / MANIFEST_FILE).is_file():
            return None
        release = open_release(self.folder)
        self.finished = {table: list(release.partitions(table)) for table in release.tables()}
        self.derived = {t: dict(hashes) for t, hashes in (release.manifest.derived or {}).items()}
        is_here = all(
            self._holds(table, partition, release.arrow(table, partition))
            for table, partitions in self.finished.items()
            for partition in partitions
        )
        if not is_here:
            self.notes += import_release(self.settings.deployment, self.folder).notes
        return release.manifest

    def _holds(self, table: str, partition: str, content: Any) -> bool:
        try:
            return read_arrow(self._path(table, partition)).equals(content)
        except (FileNotFoundError, SchemaError):
            return False

    def _path(self, table: str, partition: str) -> Path:
        return table_path(self._data_dir, table_spec(table), partition)

    def is_done(self, step: Step, partition: str) -> bool:
        """Whether every table of a step has that partition, or its hash where it is derived."""
        is_there = all(
            partition in (self.derived if table in derived_tables() else self.finished).get(table, ())
            for table in step.tables
        )
        if is_there and step.name == PROGRAMS:
            return self._has_attempts(partition)
        return is_there and (step.name != LABELS or self._is_mapped(partition))

    def _has_attempts(self, partition: str) -> bool:
        """Whether the programs of a shard of AST have the discarded attempts that the configuration keeps."""
        shard = shard_named(partition, self.settings.configuration)
        if shard.suite == AST and partition not in self._attempted:
            ast = options_of_shard(suite_options(self.settings), shard)
            rows = read_rows(self.settings, PROGRAMS, partition)
            if lacks_discarded(rows, **asdict(ast.ast), options=ast.ast_options):
                return False
            self._attempted.add(partition)
        return True

    def _is_mapped(self, partition: str) -> bool:
        """Whether the labels of a partition have figures of every design that is to be mapped."""
        if partition in self._mapped:
            return True
        names = ("designs", "labels", "runs", "cross_checks")
        designs, labels, runs, checks = (read_rows(self.settings, table, partition) for table in names)
        tables = LabelTables(labels=labels, runs=runs, cross_checks=checks)
        options = label_options(self.settings)
        if any(target.lacking(designs, tables, options) for target in label_targets(options)):
            return False
        self._mapped.add(partition)
        return True

    def run(self, progress: ProgressResource) -> None:
        """Make what is lacking, until all is there, a limit is reached or a step fails.

        The release is written after each batch, unless that would take more than a share of the time; what
        is finished is written however the call ends.
        """
        try:
            self._run(progress)
        finally:
            if self._is_unwritten:
                self._write()

    def _run(self, progress: ProgressResource) -> None:
        began, count, written, cost_s = time.monotonic(), 0, -math.inf, 0.0
        for batch in plan_batches(self.settings):
            steps = self._lacking(batch)
            if not steps:
                continue
            late = self.options.limit_s is not None and time.monotonic() - began >= self.options.limit_s
            if late or count == self.options.batches or self.problems:
                return
            if not self._make(steps, batch.partition, progress):
                return
            count += 1
            self.made.append(f"{batch.round} {batch.partition}")
            self._is_unwritten = True
            self._make_whole(progress)
            if time.monotonic() - written >= cost_s / WRITING_SHARE:
                start = time.monotonic()
                self._write()
                written, self._is_unwritten = time.monotonic(), False
                cost_s = written - start
        self._make_whole(progress)

    def _lacking(self, batch: Batch) -> list[Step]:
        """Steps of a batch that lack a table, and those that read what they make."""
        steps: list[Step] = []
        changed: set[str] = set()
        for step in batch.steps:
            if changed & set(step.reads) or not self.is_done(step, batch.partition):
                steps.append(step)
                changed |= set(step.tables)
        return steps

    def _make(self, steps: Sequence[Step], partition: str, progress: ProgressResource) -> bool:
        before = self._figures(partition)
        for step in steps:
            summary = attempt(step, partition, self.settings, progress, self.problems)
            self.problems += environment_problems(summary.failures) if summary is not None else []
            if self.problems:
                return False
            if any(partition in self.finished.get(table, ()) for table in step.tables):
                self._forget_followers(step)
            for table in step.tables:
                self._keep(table, partition)
        lost = len(before - self._figures(partition))
        if lost:
            self.notes.append(f"{partition}: {lost} ok labels are outside the shares and left the release")
        return True

    def _figures(self, partition: str) -> set[tuple[str, str]]:
        """Design and tool of each finished ok label with figures."""
        if partition not in self.finished.get("labels", ()):
            return set()
        rows = read_rows(self.settings, "labels", partition)
        return {(row.design_id, row.tool) for row in rows if is_mapped(row)}

    def _forget_followers(self, step: Step) -> None:
        """Forget the whole tables that are made from those of a step, which has made other rows."""
        changed = set(step.tables)
        for follower in whole_steps(self.settings):
            if changed & set(follower.reads):
                changed |= set(follower.tables)
                for table in follower.tables:
                    self.finished.pop(table, None)
                    self.derived.pop(table, None)

    def remake(self, step: Step, table: str, progress: ProgressResource) -> None:
        """Make a derived table again; a file that differs is a problem."""
        for partition, digest in self.derived[table].items():
            attempt(step, partition, self.settings, progress, self.problems)
            path = self._path(table, partition)
            if not path.is_file() or _digest(path) != digest:
                self.problems.append(f"a derived file must have SHA-256 {digest}, got another ({path})")
            else:
                self.made.append(f"{table} {partition}, equal to the release's")

    def _keep(self, table: str, partition: str) -> None:
        if table in derived_tables():
            self.derived.setdefault(table, {})[partition] = _digest(self._path(table, partition))
        elif partition not in self.finished.setdefault(table, []):
            self.finished[table].append(partition)

    def _make_whole(self, progress: ProgressResource) -> None:
        """Make the tables of all partitions that have all that they are made from."""
        whole = whole_steps(self.settings)
        makers = {table: s for s in (*_steps(self.settings), *whole) for table in s.tables}
        for step in whole:
            ready = all(
                self.is_done(makers[table], partition)
                for table in step.reads
                for partition in makers[table].partitions(self.settings)
            )
            for partition in step.partitions(self.settings) if ready else ():
                if not self.is_done(step, partition):
                    self._is_unwritten |= self._make([step], partition, progress)

    @property
    def pending(self) -> tuple[str, ...]:
        """Partitions that lack a table, those of whole tables at the end."""
        lacking = [
            partition
            for step in (*_steps(self.settings), *whole_steps(self.settings))
            for partition in step.partitions(self.settings)
            if not self.is_done(step, partition)
        ]
        return tuple(dict.fromkeys(lacking))

    def _write(self) -> None:
        """Write the release with all that is finished; shards of unchanged rows stay as they are."""
        name, pending = self.folder.name, self.pending
        partitions = self._in_order()
        if not pending:
            require_fresh(self.settings, partitions)
        write_release(
            self._data_dir,
            self.folder.parent,
            ReleaseOptions(
                name=name,
                partitions=partitions,
                parameters=self.parameters,
                toolset=toolset_of(self.settings, partitions),
                reproduction=self._reproduction(),
                size_limit_bytes=self.options.size_limit_bytes,
                left_out={
                    table: LEFT_OUT.format(name) for table in derived_tables() if table in self.derived
                },
                pending=pending or None,
                derived=self.derived or None,
                keeps_shards=True,
            ),
        )

    def _in_order(self) -> dict[str, tuple[str, ...]]:
        """Finished partitions of each table in the order of the steps, whenever they were made."""
        steps = {table: step for step in STEPS for table in step.tables if table in self.finished}
        return {
            table: tuple(p for p in step.partitions(self.settings) if p in self.finished[table])
            for table, step in steps.items()
        }

    def _reproduction(self) -> Reproduction:
        name = self.folder.name
        content = self.settings.configuration.model_dump(mode="json", exclude={"run", *unused_groups({})})
        return Reproduction(
            commands=(
                "make setup",
                f"simfoundry release make {name}-again --config releases/{name}/{PARAMETERS_FILE}",
            ),
            seeds=seeds_of(content),
            notes=(f"In a copy of an unfinished release, `simfoundry release make {name}` goes on with it.",),
        )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make_release(
    name: str, *, overrides: Sequence[str], parameters: Path | None, options: MakeOptions
) -> dict[str, Any]:
    """Make a release of a configuration, or go on with an unfinished one.

    Args:   overrides: Hydra's; parameters: a file with the whole configuration instead.
    Raises: FoundryError: the configuration is not acceptable or not that of the unfinished release.
            ReleaseError: the release is damaged. ToolMissing: a tool is not installed; nothing was begun.
    """
    making, deployment = _open(name, overrides, parameters, options)
    for require in dict.fromkeys(step.require for step in _steps(making.settings) if step.require):
        require(making.settings)
    with writing_to(deployment.data_dir):
        write_parameters(deployment.project, making.settings.configuration)
        sweep_leftovers(deployment.data_dir)
        prune_partitions(making.settings, _steps(making.settings))
    manifest = making.restore()
    with writing_to(deployment.data_dir), shown_progress() as progress:
        if manifest is None or making.pending:
            making.run(progress)
    return _answer(making)


def make_derived(name: str, *, rtl: Path | None = None) -> dict[str, Any]:
    """Make the tables that a release has left out, and compare each file with its hash in the manifest.

    Args:    rtl: folder for the Verilog of each design, which is compared too; None makes none.
    Returns: the answer of `make_release`, with a line of `problems` per file that differs.
    Raises:  ReleaseError: no such release, or it is damaged. FoundryError: see `make_release`.
    """
    making, deployment = _open(name, (), None, MakeOptions())
    if making.restore() is None:
        raise ReleaseError(f"no such release: {making.folder}")
    with writing_to(deployment.data_dir), shown_progress() as progress:
        for step in (*_steps(making.settings), *whole_steps(making.settings)):
            for table in (table for table in step.tables if table in making.derived):
                making.remake(step, table, progress)
        if rtl is not None:
            making.problems += _wrong_rtl(making, rtl, progress)
    return _answer(making)


def _wrong_rtl(making: ReleaseMaking, folder: Path, progress: ProgressResource) -> Iterator[str]:
    """Designs of the engine whose Verilog is not that of the release; the others become files."""
    folder.mkdir(parents=True, exist_ok=True)
    for partition in making.finished.get("designs", ()):
        programs = {row.program_id: row for row in read_rows(making.settings, "programs", partition)}
        rows = read_rows(making.settings, "designs", partition)
        designs = [(row, programs[row.program_id]) for row in rows if row.tool == TOOL and row.status == OK]
        title = f"Verilog {partition}"
        problems = run_all(
            title,
            designs,
            partial(_checked_rtl, folder),
            workers=making.settings.configuration.run.workers or os.cpu_count() or 1,
            on_progress=progress.listener(title, lambda _: None),
        )
        progress.ended(title, failure=None)
        wrong = [problem for problem in problems if problem is not None]
        equal = len(designs) - len(wrong)
        making.made.append(f"{title}, {equal} of {len(designs)} designs equal to the release's")
        yield from wrong


def _checked_rtl(folder: Path, pair: tuple[DesignRow, ProgramRow]) -> Outcome[str | None]:
    """What is wrong with a design's Verilog; the right one becomes a file."""
    design, program = pair
    problem = None
    try:
        compiled = compile_program(
            program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
        )
    except HlsError as error:
        problem = f"design {design.design_id} must compile: {error}"
    else:
        if text_sha256(compiled.verilog) == design.rtl_sha256:
            write_bytes_atomically(folder / f"{design.design_id}.v", compiled.verilog.encode())
        else:
            problem = f"design {design.design_id} must have the Verilog {design.rtl_sha256}, got another"
    return Outcome(result=problem, failed=problem is not None, name=design.design_id)


def _open(
    name: str, overrides: Sequence[str], parameters: Path | None, options: MakeOptions
) -> tuple[ReleaseMaking, Deployment]:
    deployment = find_deployment()
    folder = deployment.project / "releases" / name
    restore_folder(folder)
    configuration, text = _configuration(folder, overrides, parameters)
    if options.shares or options.keeps_discarded:
        configuration, text = _grown(configuration, options.shares, keeps_discarded=options.keeps_discarded)
    settings = Settings(configuration=configuration, deployment=deployment)
    return ReleaseMaking(settings=settings, folder=folder, parameters=text, options=options), deployment


def _answer(making: ReleaseMaking) -> dict[str, Any]:
    pending = making.pending
    return {
        "release": making.folder.name,
        "folder": str(making.folder),
        "made": making.made,
        "pending": list(pending),
        "complete": not pending,
        "problems": making.problems[:PROBLEMS_SHOWN],
        "notes": making.notes,
    }


def make_text(answer: Mapping[str, Any]) -> str:
    """The answer of `make_release` or `make_derived` for a person."""
    lines = [f"made: {batch}" for batch in answer["made"]]
    if answer["pending"]:
        lines.append(f"pending: {', '.join(answer['pending'])}; the same command goes on with them")
    else:
        lines.append(f"{answer['release']} is complete: {answer['folder']}")
    return "\n".join([*lines, *answer["notes"]])
