"""One plain function a step: read tables, call one engine function, write tables.

The Dagster assets and the DVC stages call these same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from assets.configuration import Configuration, compose_configuration, scales
from assets.databases import require_whole_registry
from assets.errors import FoundryError
from assets.language_models import make_variants, usage_notes
from assets.partitions import (
    BY_GROUP,
    BY_SUITE,
    WHOLE,
    options_of_shard,
    partitions,
    partitions_by,
    shard_named,
)
from assets.settings import Listener, Settings
from assets.unchanged import inputs_key, keep_written, unchanged_rows
from models.registry import Registration, RegistryStore, promotion_rows, register, register_shipped
from models.tenset_mlp import PREDICTOR as TENSET_MLP
from pipelines.features import extract_features, feature_version, freeze_split
from pipelines.identity import content_hash
from pipelines.labelling import (
    cross_check_designs,
    designs_version,
    label_designs,
    liberty_name,
    place_designs,
    plan_designs,
)
from pipelines.network.runs import RunGroup, runs_of, runs_version, simulate_runs
from pipelines.programs import LLM, remembered_programs, stage_reports
from pipelines.records import LabelledRows, make_records, remembered_records, runtime_data
from pipelines.schemas import (
    OK,
    SchemaError,
    read_arrow,
    read_table,
    table_path,
    table_spec,
    write_arrow,
    write_table,
)

REASON_LENGTH = 100
ALL_STAGES = "all"
"""The one file of the table stage_reports."""
EXPLORED = "polybench"
"""The one file of the table pragma_designs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSummary:
    """What a step did.

    Attributes:
        step: name of the step.
        partition: name of the table files it wrote.
        rows: rows written, by table.
        failures: rows that are not ok, by table, status and reason.
        notes: anything else worth showing, by name.
    """

    step: str
    partition: str
    rows: Mapping[str, int]
    failures: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One engine call of a stage.

    Attributes:
        name: of the step; the stage's own unless a stage has several.
        stage: DVC stage and Dagster asset group.
        tables: what it writes.
        reads: tables it needs.
        partitioned: what a file of its tables holds: BY_SUITE, BY_GROUP or WHOLE.
        run: the function.
    """

    name: str
    stage: str
    tables: tuple[str, ...]
    reads: tuple[str, ...]
    partitioned: str
    run: Callable[[Settings, str, Listener], StepSummary]


def make_programs(settings: Settings, partition: str, listen: Listener) -> StepSummary:
    """Write the programs of a suite, or of a shard of it."""
    shard = shard_named(partition, settings.configuration)
    if shard.suite == LLM:
        made = make_variants(settings, listen)
        notes = usage_notes(made.usage)
        return _write(settings, "programs", partition, {"programs": made.rows}, notes=notes)
    options = options_of_shard(settings.suite_options, shard)
    return _write(
        settings,
        "programs",
        partition,
        {"programs": remembered_programs(shard.suite, options, settings.cache)},
    )


def make_designs(settings: Settings, suite: str, listen: Listener) -> StepSummary:
    """Write the designs of a suite: every program under every configuration, through HLS."""
    key = inputs_key(settings, "designs", _designs_version(settings), ("programs",), suite)
    unchanged = unchanged_rows(settings, key, suite)
    if unchanged is not None:
        return _summary(settings, "designs", suite, unchanged)
    made = plan_designs(
        _read(settings, "programs", suite),
        settings.space,
        target=settings.target,
        cache=settings.cache,
        options=settings.options,
        on_progress=listen,
    )
    rows = {"designs": made.designs, "directive_outcomes": made.directive_outcomes}
    summary = _write(settings, "designs", suite, rows)
    keep_written(settings, key, tuple(rows), suite, (design.status for design in made.designs))
    return summary


def _designs_version(settings: Settings) -> str:
    """Hash of all that designs of given programs depend on."""
    space = settings.space
    return content_hash(designs_version(space.tools), asdict(space), liberty_name(settings.target))


def make_labels(settings: Settings, suite: str, listen: Listener) -> StepSummary:
    """Write the labels, runs and cross-checks of a suite: synthesis, simulation, power, other tools."""
    programs, designs = _read(settings, "programs", suite), _read(settings, "designs", suite)
    chosen: Mapping[str, Any] = {
        "cache": settings.cache,
        "options": settings.options,
        "on_progress": listen,
    }
    made = label_designs(programs, designs, target=settings.target, **chosen)
    placed = place_designs(programs, designs, made.labels, **chosen)
    checks = cross_check_designs(programs, designs, made, target=settings.target, **chosen)
    rows = {"labels": [*made.labels, *placed], "runs": made.runs, "cross_checks": checks}
    return _write(settings, "labels", suite, rows)


def make_features(settings: Settings, suite: str, listen: Listener) -> StepSummary:
    """Write the facts and loop nests of programs and the control/data-flow graphs of designs of a suite."""
    key = inputs_key(settings, "features", feature_version(), ("programs", "designs"), suite)
    unchanged = unchanged_rows(settings, key, suite)
    if unchanged is not None:
        return _summary(settings, "features", suite, unchanged)
    made = extract_features(
        _read(settings, "programs", suite),
        _read(settings, "designs", suite),
        cache=settings.cache,
        options=settings.options,
        on_progress=listen,
    )
    rows = {
        "program_facts": made.program_facts,
        "loops": made.loops,
        "cdfg_nodes": made.cdfg_nodes,
        "cdfg_edges": made.cdfg_edges,
    }
    summary = _write(settings, "features", suite, rows)
    keep_written(settings, key, tuple(rows), suite)
    return summary


def make_splits(settings: Settings, split: str, listen: Listener) -> StepSummary:
    """Write the place of every program in the frozen split; places given before stay.

    Places of programs that the configuration leaves out are not kept in the file, so that it says
    the same after any history; the rule of the split gives them the same place when they return.
    """
    del listen  # seconds at most
    programs = [row for part in _partitions(settings) for row in _read(settings, "programs", part)]
    places = freeze_split(programs, name=split, existing=_existing_split(settings, split))
    present = {program.program_id for program in programs}
    rows = {"splits": [place for place in places if place.program_id in present]}
    return _write(settings, "splits", split, rows)


def make_stage_reports(settings: Settings, partition: str, listen: Listener) -> StepSummary:
    """Write what each stage of generation gave, over the programs of all suites."""
    del listen  # seconds at most
    programs = [row for part in _partitions(settings) for row in _read(settings, "programs", part)]
    facts = [row for part in _partitions(settings) for row in _read(settings, "program_facts", part)]
    return _write(settings, "stage_reports", partition, {"stage_reports": stage_reports(programs, facts)})


def make_record_table(settings: Settings, split: str, listen: Listener) -> StepSummary:
    """Write the labelled designs of all suites as records, each program where the split has it."""
    del listen  # seconds at most
    places = _read(settings, "splits", split)
    pieces = [_records_of(settings, split, partition, places) for partition in _partitions(settings)]
    spec = table_spec("records")
    whole = pa.concat_tables([spec.schema().empty_table(), *pieces])
    whole = whole.sort_by([(name, "ascending") for name in spec.key])
    return _write(settings, "records", split, {"records": whole})


RECORDED = ("programs", "loops", "designs", "labels", "runs")


def _records_of(settings: Settings, split: str, partition: str, places: Sequence[Any]) -> pa.Table:
    """Records of one partition's designs."""
    data_dir = settings.deployment.data_dir
    rows: dict[str, list[Any]] = {"programs": _read(settings, "programs", partition)}

    def make() -> list[Any]:
        tables = rows | {t: _read(settings, t, partition) for t in RECORDED if t not in rows}
        given = LabelledRows(**tables, splits=places)
        texts = partial(runtime_data, cache=settings.cache)
        return make_records(given, split=split, data_text=texts)

    own = {program.program_id for program in rows["programs"]}
    paths = [table_path(data_dir, table_spec(table), partition) for table in RECORDED]
    if not all(path.is_file() for path in paths):
        return table_spec("records").to_arrow(make())  # says which table is not there
    parts = {row.program_id: row.part for row in places if row.split == split and row.program_id in own}
    return remembered_records(paths, parts, make, split=split, cache=settings.cache)


def make_networks(settings: Settings, name: str, listen: Listener) -> StepSummary:
    """Write the runs of a group of networks, their flows, and their flows at queues."""
    group = _group_named(settings, name)
    key = networks_key(settings, group)
    unchanged = unchanged_rows(settings, key, name)
    if unchanged is not None:
        return _summary(settings, "network", name, unchanged)
    made = simulate_runs(
        group,
        cache=settings.cache,
        workers=settings.options.workers,
        timeout_s=settings.configuration.network.timeout_s,
        on_progress=listen,
    )
    rows = {"network_runs": made.runs, "network_flows": made.flows, "network_hops": made.hops}
    summary = _write(settings, "network", name, rows)
    keep_written(settings, key, tuple(rows), name, (run.status for run in made.runs))
    return summary


def networks_key(settings: Settings, group: RunGroup) -> str | None:
    """What the files of a group of networks follow from."""
    return inputs_key(settings, "network", content_hash(runs_version(), asdict(group)), (), group.name)


def require_groups(settings: Settings) -> None:
    """Check every group of networks of a configuration, before work begins.

    Raises: NetworkError: a value is not acceptable.
    """
    for group in settings.network_groups.values():
        runs_of(group)[0].topology()  # of all its runs


def _group_named(settings: Settings, name: str) -> RunGroup:
    groups = settings.network_groups
    if name not in groups:
        valid = ", ".join(groups) or "none"
        raise FoundryError(f"a group must be one of the configuration, got {name}; groups: {valid}")
    return groups[name]


def make_explorations(settings: Settings, name: str, listen: Listener) -> StepSummary:
    """Write the designs that searches for directives tried."""
    from pipelines.pragmas.explore import explore_suite  # with the solver, which other steps save

    options = settings.explorations
    rows = explore_suite(options, cache=settings.cache, on_progress=listen)
    return _write(settings, "pragmas", name, {"pragma_designs": rows})


def make_models(
    settings: Settings,
    predictor: str,
    listen: Listener,
    tags: Mapping[str, str] | None = None,
) -> StepSummary:
    """Train a predictor, register it, and write its rows of the leaderboard and the gate's decisions.

    Args: tags: set on the MLflow run and version, such as DVC hashes of the tables.
    """
    del listen  # the trainer has none; the key makes a second training free
    options = settings.configuration.models.tenset_mlp.model_dump()
    seed = options.pop("seed")
    store = registry_store(settings)
    outcome = TENSET_MLP.train(
        settings.deployment.data_dir,
        TENSET_MLP.options(split=settings.configuration.features.split, **options),
        seed=seed,
    )
    register_shipped(store)
    placed = register(outcome, store, may_promote=may_promote(settings.configuration), tags=tags)
    rows = {"leaderboard": outcome.leaderboard, "promotions": promotion_rows(store)}
    return _write(settings, "models", predictor, rows, notes=_registration_notes(placed))


def may_promote(configuration: Configuration) -> bool:
    """Whether models of a configuration may become champion: a scale other than smoke, not overridden."""
    own = configuration.model_dump(exclude={"run"})
    judged = [scale for scale in scales() if scale != "smoke"]
    return any(compose_configuration([f"scale={s}"]).model_dump(exclude={"run"}) == own for s in judged)


def registry_store(settings: Settings) -> RegistryStore:
    """The model registry of the deployment.

    Raises: FoundryError: it is damaged.
    """
    require_whole_registry(settings.deployment)
    return RegistryStore(
        tracking_uri=settings.deployment.tracking_uri,
        artifact_folder=settings.deployment.artifact_folder,
    )


STEPS: tuple[Step, ...] = (
    Step(
        name="programs",
        stage="programs",
        tables=("programs",),
        reads=(),
        partitioned=BY_SUITE,
        run=make_programs,
    ),
    Step(
        name="designs",
        stage="designs",
        tables=("designs", "directive_outcomes"),
        reads=("programs",),
        partitioned=BY_SUITE,
        run=make_designs,
    ),
    Step(
        name="labels",
        stage="labels",
        tables=("labels", "runs", "cross_checks"),
        reads=("programs", "designs"),
        partitioned=BY_SUITE,
        run=make_labels,
    ),
    Step(
        name="features",
        stage="features",
        tables=("program_facts", "loops", "cdfg_nodes", "cdfg_edges"),
        reads=("programs", "designs"),
        partitioned=BY_SUITE,
        run=make_features,
    ),
    Step(
        name="splits",
        stage="features",
        tables=("splits",),
        reads=("programs",),
        partitioned=WHOLE,
        run=make_splits,
    ),
    Step(
        name="stage_reports",
        stage="features",
        tables=("stage_reports",),
        reads=("programs", "program_facts"),
        partitioned=WHOLE,
        run=make_stage_reports,
    ),
    Step(
        name="records",
        stage="records",
        tables=("records",),
        reads=("programs", "loops", "designs", "labels", "runs", "splits"),
        partitioned=WHOLE,
        run=make_record_table,
    ),
    Step(
        name="network",
        stage="network",
        tables=("network_runs", "network_flows", "network_hops"),
        reads=(),
        partitioned=BY_GROUP,
        run=make_networks,
    ),
    Step(
        name="pragmas",
        stage="pragmas",
        tables=("pragma_designs",),
        reads=(),
        partitioned=WHOLE,
        run=make_explorations,
    ),
    Step(
        name="models",
        stage="models",
        tables=("leaderboard", "promotions"),
        reads=("programs", "designs", "labels", "runs", "loops", "splits"),
        partitioned=WHOLE,
        run=make_models,
    ),
)

STAGES: tuple[str, ...] = tuple(dict.fromkeys(step.stage for step in STEPS))


def step_named(name: str) -> Step:
    """The step of that name.

    Raises: FoundryError: no such step.
    """
    for step in STEPS:
        if step.name == name:
            return step
    raise FoundryError(f"a step must be one of {', '.join(s.name for s in STEPS)}, got {name!r}")


def steps_of(stage: str) -> tuple[Step, ...]:
    """The steps of a stage, in order.

    Raises: FoundryError: no such stage.
    """
    if stage not in STAGES:
        raise FoundryError(f"a stage must be one of {', '.join(STAGES)}, got {stage!r}")
    return tuple(step for step in STEPS if step.stage == stage)


def partitions_of(step: Step, settings: Settings) -> tuple[str, ...]:
    """Names of the table files that a step writes under these settings."""
    if step.partitioned != WHOLE:
        return partitions_by(step.partitioned, settings.configuration)
    one_file = {"models": TENSET_MLP.name, "stage_reports": ALL_STAGES, "pragmas": EXPLORED}
    return (one_file.get(step.name, settings.configuration.features.split),)


def count_failures(table: str, rows: Sequence[Any]) -> Counter[tuple[str, str, str]]:
    """Rows that are not ok, or whose power is not, by table, status and reason."""
    found: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        power = getattr(row, "power_status", None)
        if getattr(row, "status", OK) != OK:
            found[table, row.status, _short(row.reason or "no reason")] += 1
        elif power not in (None, OK):
            found[table, power, _short(f"power: {row.power_reason or 'no reason'}")] += 1
    return found


def _short(reason: str) -> str:
    return " ".join(reason.split())[:REASON_LENGTH]


def _partitions(settings: Settings) -> tuple[str, ...]:
    return partitions(settings.configuration)


def _read(settings: Settings, table: str, partition: str) -> list[Any]:
    """Rows of one file of a table that an earlier stage made.

    Raises: FoundryError: it is not there. SchemaError: it is damaged.
    """
    spec = table_spec(table)
    try:
        return read_table(settings.deployment.data_dir, spec, [partition])
    except FileNotFoundError as error:
        path = table_path(settings.deployment.data_dir, spec, partition)
        raise FoundryError(
            f"table {table} must be made before it is read, got no file {path}; "
            f"run `simfoundry stage {spec.stage}` first"
        ) from error


def _existing_split(settings: Settings, split: str) -> list[Any]:
    """Places given before; none when there is no readable file, for then they are given anew."""
    try:
        return read_table(settings.deployment.data_dir, table_spec("splits"), [split])
    except (FileNotFoundError, SchemaError):
        return []


def _write(
    settings: Settings,
    step: str,
    partition: str,
    rows: Mapping[str, Sequence[Any] | pa.Table],
    *,
    notes: Mapping[str, str] | None = None,
) -> StepSummary:
    failures: Counter[tuple[str, str, str]] = Counter()
    for table, content in rows.items():
        if isinstance(content, pa.Table):  # columns, of tables with millions of rows and no failures
            write_arrow(settings.deployment.data_dir, table_spec(table), content, partition)
            continue
        write_table(settings.deployment.data_dir, table_spec(table), content, partition)
        failures += count_failures(table, content)
    return StepSummary(
        step=step,
        partition=partition,
        rows={table: len(content) for table, content in rows.items()},
        failures=dict(failures),
        notes=notes or {},
    )


def _summary(settings: Settings, step: str, partition: str, rows: Mapping[str, int]) -> StepSummary:
    """What a step says of files that it left as they are."""
    failures: Counter[tuple[str, str, str]] = Counter()
    for table in rows:
        spec = table_spec(table)
        if "status" in {column.name for column in spec.columns}:
            path = table_path(settings.deployment.data_dir, spec, partition)
            failures += count_failures(table, spec.from_arrow(read_arrow(path)))
    return StepSummary(step=step, partition=partition, rows=rows, failures=dict(failures))


def _registration_notes(placed: Registration) -> dict[str, str]:
    alias = "champion" if placed.is_champion else "not champion"
    return {"registered": f"{placed.name} version {placed.version}, {alias}: {placed.reason}"}
