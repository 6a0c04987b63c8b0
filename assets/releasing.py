"""Release the tables of a project, and import releases and vendor results into a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from assets.configuration import parameters_text, read_parameters, read_parameters_file
from assets.deployments import Deployment, replacing_tables, writing_to
from assets.errors import FoundryError
from assets.label_settings import label_context, label_options, target_of
from assets.language_models import remember_variants
from assets.settings import Configuration, Settings
from assets.step import keep_written, unchanged_rows
from assets.steps import STEPS, step_named
from assets.steps.designs import configuration_space
from assets.steps.network import Network
from assets.steps.pragmas import present_explorations, searches_version
from pipelines.base.limited import reading
from pipelines.base.tools import ToolMissing
from pipelines.dataset.features import (
    GRAPH_TABLES,
    FeatureRows,
    Graphs,
    feature_version,
    import_features,
)
from pipelines.dataset.labelling import (
    CacheImport,
    ProgramRows,
    has_present_labels,
    import_rows,
    labels_version,
    liberty_name,
    planned_ids,
    present_versions,
    target_versions,
)
from pipelines.dataset.releases import (
    MANIFEST_FILE,
    PARAMETERS_FILE,
    ROWS_A_SHARD,
    SIZE_LIMIT_BYTES,
    Manifest,
    Release,
    ReleaseError,
    ReleaseOptions,
    Reproduction,
    Toolset,
    WrittenRelease,
    open_release,
    released_tables,
    write_release,
)
from pipelines.dataset.releases.toolset import (
    NOT_RECORDED,
    SIMULATIONS,
    named_versions,
    simulator_tool,
    table_tools,
)
from pipelines.dataset.vendor import VendorReport, merge_rows
from pipelines.fabric.dataset import VERSION as PLACEMENTS_VERSION
from pipelines.hls import TOOL, tool_version
from pipelines.network import NetworkError
from pipelines.network.runs import RunGroup, runs_of, runs_version
from pipelines.programs import LLM, ProgramError
from pipelines.rtl.reuse.choice import simulator_version
from pipelines.rtl.reuse.engines import ENGINES
from pipelines.schemas import (
    DRAWN,
    OK,
    TableSpec,
    is_lasting,
    read_arrow,
    read_table,
    scan_table,
    table_path,
    table_spec,
    to_frame,
    write_arrow,
    write_table,
)
from pipelines.silicon.synthesis import SynthesisError, liberty_hash

# ---- out -------------------------------------------------------------------------------------------


def release_tables(
    deployment: Deployment,
    name: str,
    *,
    releases: Path,
    tables: Sequence[str] = (),
    size_limit_bytes: int = SIZE_LIMIT_BYTES,
    rows_a_shard: int = ROWS_A_SHARD,
) -> WrittenRelease:
    """Write a release of a project's tables under its params.yaml.

    Args:   releases: folder of releases; tables: that it has, all for none; size_limit_bytes, rows_a_shard:
            see `ReleaseOptions`.
    Raises: ReleaseError: see `write_release`. FoundryError: params.yaml is not acceptable, a table is
            unknown, or the tables were not made by one version of each tool.
    """
    configuration = read_parameters(deployment.project)
    settings = Settings(configuration=configuration, deployment=deployment)
    partitions = _partitions(settings, tables)
    unused = unused_groups(partitions)
    with writing_to(deployment.data_dir):
        require_fresh(settings, partitions)
        options = ReleaseOptions(
            name=name,
            partitions=partitions,
            parameters=parameters_text(configuration, without=unused),
            toolset=toolset_of(settings, partitions),
            reproduction=_reproduction(name, configuration, unused, tables),
            size_limit_bytes=size_limit_bytes,
            rows_a_shard=rows_a_shard,
        )
        return write_release(deployment.data_dir, releases, options)


def unused_groups(tables: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Groups of the configuration that a release with these partitions by table does not have."""
    return tuple(s.group for s in TableSpec.registry.values() if s.group and not tables.get(s.name))


def _partitions(settings: Settings, tables: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Files of each table that is released."""
    known = released_tables()
    for table in tables:
        if table not in known:
            raise FoundryError(f"unknown table: {table}; accepted: {', '.join(known)}")
    partitions = {t: s.partitions(settings) for s in STEPS for t in s.tables if t in (tables or known)}
    if not settings.configuration.pragmas.kernels:
        partitions.pop("pragma_designs", None)
    return partitions


def toolset_of(settings: Settings, partitions: Mapping[str, Sequence[str]]) -> Toolset:
    """Versions as the rows name them; those of tools that rows do not name, as they are here."""
    rows = dict(_tool_rows(settings, partitions))
    versions = named_versions(rows)
    for tool, own in versions.items():
        if len(own) > 1:
            raise FoundryError(
                f"the tables must be made by one version of {tool}, got {', '.join(own)}; "
                "run `simfoundry run` again"
            )
    target = target_of(settings)
    return Toolset(
        tools={"native": present_versions()["native"]}
        | _own_versions(settings, partitions)
        | _tool_versions(table_tools(rows))
        | {tool: own[0] for tool, own in versions.items()},
        liberties={liberty_name(target): liberty_hash(target.liberty)},
    )


def _tool_rows(
    settings: Settings, partitions: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, pl.LazyFrame]]:
    """Columns of tools of the tables that are there; one that is not is an error when it is written."""
    for table, own in partitions.items():
        spec = table_spec(table)
        names = [name for pair in spec.tool_columns for name in pair] if spec.in_manifest else []
        names = names or (["engine"] if table == SIMULATIONS else [*spec.key[:1]] if spec.tools else [])
        paths = [table_path(settings.deployment.data_dir, spec, p) for p in own if names]
        frames = [to_frame(read_arrow(path, columns=names)) for path in paths if path.is_file()]
        if frames:
            yield table, pl.concat(frames).lazy()


def _tool_versions(names: Sequence[str]) -> dict[str, str]:
    """Present versions of tools that rows do not name; those that are not installed are left out."""
    versions: dict[str, str] = {}
    for name in names:
        try:
            versions[name] = _VERSIONS[name]()
        except (ToolMissing, PackageNotFoundError):
            continue
    return versions


def _own_versions(settings: Settings, tables: Container[str]) -> dict[str, str]:
    """Versions of what is no tool: the order of the steps with how data are drawn, features, networks,
    placements, searches for directives."""
    networks = {NETWORKS: runs_version()} if settings.configuration.network.groups else {}
    placements = {PLACEMENTS: PLACEMENTS_VERSION} if settings.configuration.placements.groups else {}
    searches = {SEARCHES: searches_version()} if "pragma_designs" in tables else {}
    return {
        LABELLING: labels_version(settings.configuration.labelling.tools),
        FEATURES: feature_version(),
        **networks,
        **placements,
        **searches,
    }


_VERSIONS: Mapping[str, Callable[[], str]] = {
    "da4ml": partial(package_version, "da4ml"),
    "netlist-simulator": lambda: present_versions()["netlist-simulator"],
    "pyosys": lambda: present_versions()["pyosys"],
    **{simulator_tool(engine): partial(simulator_version, engine) for engine in ENGINES},
}
"""How the present version of a tool is found, by its name in a manifest."""

LABELLING, FEATURES, NETWORKS = "labelling", "features", "networks"
PLACEMENTS, SEARCHES = "placements", "searches"


def require_fresh(settings: Settings, tables: Container[str]) -> None:
    """Check that the tables are those that params.yaml asks for, as far as the present engines know.

    Raises: FoundryError: they are not; the run was ended, or params.yaml changed after it.
    """
    if "designs" in tables:
        _require_fresh_designs(settings)
    for group in settings.group(Network).groups.values() if "network_runs" in tables else ():
        if _is_stale(settings, group):
            raise FoundryError(_STALE.format("network_runs", group.name))
    step = step_named("fabric")
    for name in step.partitions(settings) if "placements" in tables else ():
        is_there = table_path(settings.deployment.data_dir, table_spec("placements"), name).is_file()
        if is_there and unchanged_rows(settings, step.inputs_key(settings, name), name) is None:
            raise FoundryError(_STALE.format("placements", name))
    path = table_path(settings.deployment.data_dir, table_spec("pragma_designs"), "all")
    if "pragma_designs" in tables and path.is_file():
        rows = read_table(settings.deployment.data_dir, table_spec("pragma_designs"), ["all"])
        if {row.exploration_id for row in rows} != present_explorations(settings):
            raise FoundryError(_STALE.format("pragma_designs", "all"))


def _require_fresh_designs(settings: Settings) -> None:
    data_dir = settings.deployment.data_dir
    seeds = pl.LazyFrame({"seed": sorted(label_options(settings).data_seeds)}, schema={"seed": pl.Int64})
    for partition in step_named("designs").partitions(settings):
        paths = [table_path(data_dir, table_spec(t), partition) for t in _COMPARED]
        if not all(path.is_file() for path in paths):
            continue  # an error when the release is written
        programs = read_table(data_dir, table_spec("programs"), [partition])
        designs = read_table(data_dir, table_spec("designs"), [partition])
        own = {d.design_id for d in designs if d.tool == TOOL}
        is_present = all(d.tool_version == tool_version() for d in designs if d.tool == TOOL)
        if is_present and TOOL in configuration_space(settings).tools and own != _asked(programs, settings):
            raise FoundryError(_STALE.format("designs", partition))
        runs, labels = (scan_table(data_dir, table_spec(t), [partition]) for t in ("runs", "labels"))
        ok = labels.filter(pl.col("status") == OK).select("design_id").unique()
        drawn = runs.filter(pl.col("data_kind").is_null() | (pl.col("data_kind") == DRAWN))
        labelled = drawn.join(ok, on="design_id", how="semi").select("design_id", "seed").unique()
        expected = ok.join(seeds, how="cross")
        pairs = [rows.sort("design_id", "seed").collect() for rows in (labelled, expected)]
        if not pairs[0].equals(pairs[1]):
            raise FoundryError(_STALE.format("runs", partition))


def _is_stale(settings: Settings, group: RunGroup) -> bool:
    """Whether a group of networks was made of other options, or by another version.

    Files are known again by their hash; a group with failures, which is tried again, by its configurations.
    """
    if (
        unchanged_rows(settings, step_named("network").inputs_key(settings, group.name), group.name)
        is not None
    ):
        return False
    path = table_path(settings.deployment.data_dir, table_spec("network_runs"), group.name)
    if not path.is_file():
        return False  # an error when the release is written
    rows = read_arrow(path)
    asked = {run.configuration() for run in runs_of(group)}
    return _is_lasting(rows) or set(rows.column("configuration").to_pylist()) != asked


def _is_lasting(runs: pa.Table) -> bool:
    return all(map(is_lasting, set(runs.column("status").to_pylist())))


_COMPARED = ("programs", "designs", "labels", "runs")
_STALE = "the {} of {} must be those of params.yaml, got others; run `simfoundry run` again"


def _asked(programs: Sequence[Any], settings: Settings) -> set[str]:
    """Ids of the designs of the engine that the configuration asks for."""
    chosen = {"liberty": liberty_name(target_of(settings)), "cache": settings.cache}
    return {
        identity for p in programs for identity in planned_ids(p, configuration_space(settings), **chosen)
    }


def _reproduction(
    name: str, configuration: Configuration, unused: Sequence[str], tables: Sequence[str]
) -> Reproduction:
    """Args: unused: groups of the configuration; tables: that are released, all for none."""
    content = configuration.model_dump(mode="json", exclude={"run", *unused})
    parameters = f"releases/{name}/{PARAMETERS_FILE}"
    steps = [step.name for step in STEPS if any(table in tables for table in step.tables)]
    makes = [f"cp {parameters} {PARAMETERS_FILE}", *(f"simfoundry stage {step}" for step in steps)]
    return Reproduction(
        commands=(
            "make setup",
            *(makes if tables else (f"simfoundry run --parameters {parameters}",)),
            " ".join((f"simfoundry release {name}", *(f"--table {table}" for table in tables))),
        ),
        seeds=seeds_of(content),
        notes=(
            "After `simfoundry import` the first of these runs takes its labels from the cache; in an empty "
            "folder it makes them anew.",
        ),
    )


def seeds_of(content: Mapping[str, Any]) -> dict[str, str]:
    """Every seed of a configuration by its key."""
    return dict(_seeds(content))


def _seeds(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _seeds(value, f"{prefix}{key}.")
        elif key in SEED_KEYS:
            yield f"`{prefix}{key}`", str(value)


SEED_KEYS = ("seed", "data_seeds", "seeds", "routing_seeds", "sample_seed")


# ---- in --------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class ImportedRelease:
    """What an import did.

    Attributes:
        rows: by table; remembered: entries of the cache; notes: anything else worth saying, one line each.
    """

    name: str
    rows: dict[str, int] = field(default_factory=dict[str, int])
    remembered: CacheImport = field(default_factory=CacheImport)
    notes: list[str] = field(default_factory=list[str])


def is_release(path: Path) -> bool:
    """Whether a path is the folder of a release."""
    return (path / MANIFEST_FILE).is_file()


def import_release(deployment: Deployment, folder: Path) -> ImportedRelease:
    """Check a release, write its tables into a project, and fill the cache from them.

    Tables of the same partitions are replaced. Entries of the cache are added where there are none. What
    other versions of the engines made is in the tables and not in the cache, and the notes say so.

    Raises: ReleaseError: a file is not what the manifest says, or has other columns; the configuration is not
            acceptable. FoundryError: another process writes to the data folder.
    """
    with reading(f"the release {folder}"):
        release = open_release(folder)
        settings, networks = _settings(deployment, release)
    imported = ImportedRelease(name=release.manifest.name)
    with writing_to(deployment.data_dir):
        with replacing_tables(deployment.data_dir) as tables:
            _write_tables(tables, release, imported)
        _remember_networks(settings, networks, release, imported)
        _remember_placements(settings, release, imported)
        _remember_searches(settings, release, imported)
        if _same_liberties(settings, release.manifest, imported):
            imported.notes += _other_versions(settings, release.manifest)
            _fill_cache(settings, release, imported)
            _remember_variants(settings, release, imported)
            _remember_accelerators(settings, release, imported)
    return imported


def _write_tables(data_dir: Path, release: Release, imported: ImportedRelease) -> None:
    """Every partition of a release into the tables of a folder."""
    for table in release.tables():
        spec = table_spec(table)
        imported.rows[table] = 0
        for partition in release.partitions(table):
            content = release.arrow(table, partition)
            imported.rows[table] += content.num_rows
            if spec.has_measured:
                times = release.times(table, partition)
                write_arrow(data_dir, spec, times, partition, measured=True)
            write_arrow(data_dir, spec, content, partition)
    imported.notes += [
        f"{table} is not in the release: {why}" for table, why in release.manifest.left_out.items()
    ]


def _settings(deployment: Deployment, release: Release) -> tuple[Settings, Mapping[str, RunGroup]]:
    """The configuration of a release in a deployment, and its groups of networks."""
    path = release.folder / PARAMETERS_FILE
    try:
        settings = Settings(configuration=read_parameters_file(path), deployment=deployment)
        return settings, settings.group(Network).groups
    except (FoundryError, NetworkError) as error:
        raise ReleaseError(
            f"release {release.manifest.name} cannot be imported: {error}; "
            "import it with the version that wrote it"
        ) from error


def _same_liberties(settings: Settings, manifest: Manifest, imported: ImportedRelease) -> bool:
    try:
        target = target_of(settings)
    except SynthesisError as error:
        imported.notes.append(f"the cache was not filled, for the library is not here: {error}")
        return False
    own = {liberty_name(target): liberty_hash(target.liberty)}
    if own == dict(manifest.toolset.liberties):
        return True
    imported.notes.append(
        "the cache was not filled, for the library is another one: "
        f"{dict(manifest.toolset.liberties)} in the release, {own} here"
    )
    return False


def _other_versions(settings: Settings, manifest: Manifest) -> list[str]:
    """A line a tool whose version is not the one of the release."""
    chosen = settings.configuration.labelling.tools
    own = _tool_versions([tool for tool in manifest.toolset.tools if tool in _VERSIONS])
    here = own | present_versions(chosen) | target_versions(label_options(settings))
    here |= _own_versions(settings, manifest.rows)
    return [
        f"{tool} is {here.get(tool, 'not here')}, the release was made with {version}: "
        "its entries will not be found by the present engines"
        for tool, version in manifest.toolset.tools.items()
        if here.get(tool) != version
        and version != NOT_RECORDED
        and not here.get(tool, "").startswith(f"{version} ")
        and not (tool == LABELLING and has_present_labels(version, chosen))
    ]


def _fill_cache(settings: Settings, release: Release, imported: ImportedRelease) -> None:
    versions, tools = release.manifest.toolset.tools, settings.configuration.labelling.tools
    for suite in release.partitions("programs"):
        lacking = [t for t in ("designs", *BY_PROGRAM) if suite not in release.partitions(t)]
        if lacking:
            imported.notes.append(
                f"nothing of {suite} is in the cache: the release lacks {', '.join(lacking)}"
            )
            continue
        rows = _rows_by_program(release, suite)
        graphs = _graphs_by_program(release, suite, rows["designs"])
        for identity, (program,) in rows["programs"].items():
            own = {table: groups.get(identity, []) for table, groups in rows.items()}
            labelled = ProgramRows(
                program=program,
                designs=own["designs"],
                outcomes=own["directive_outcomes"],
                labels=own["labels"],
                runs=own["runs"],
                inputs=own["inputs"],
                loop_runs=own["loop_runs"],
                cross_checks=own["cross_checks"],
            )
            import_rows(
                labelled,
                configuration_space(settings),
                label_context(settings),
                imported.remembered,
                whole=has_present_labels(versions.get(LABELLING, ""), tools),
            )
            if versions.get(FEATURES) != feature_version():
                continue
            features = FeatureRows(
                program=program,
                designs=own["designs"],
                program_facts=own["program_facts"],
                loops=own["loops"],
                graphs=graphs.get(identity),
            )
            imported.remembered.stored += import_features(features, settings.cache)


def _remember_variants(settings: Settings, release: Release, imported: ImportedRelease) -> None:
    """The programs that a language model wrote, so that the next run need not ask one."""
    if LLM not in release.partitions("programs"):
        return
    try:
        imported.remembered.stored["variants"] += remember_variants(settings, release.rows("programs", LLM))
    except (FoundryError, ProgramError) as error:
        imported.notes.append(f"the programs of the suite {LLM} are not in the cache: {error}")


def _remember_networks(
    settings: Settings, groups: Mapping[str, RunGroup], release: Release, imported: ImportedRelease
) -> None:
    """The files of each group of networks, so that the next run leaves them; failures are tried again."""
    tables = step_named("network").tables
    if release.manifest.toolset.tools.get(NETWORKS) != runs_version():
        return
    for name, group in groups.items():
        is_whole = all(name in release.partitions(table) for table in tables)
        if is_whole and _is_lasting(release.arrow("network_runs", name)):
            keep_written(settings, step_named("network").inputs_key(settings, group.name), tables, name)
            imported.remembered.stored["networks"] += 1


def _remember_placements(settings: Settings, release: Release, imported: ImportedRelease) -> None:
    """The files of each group of placements, so that the next run leaves them."""
    step = step_named("fabric")
    if release.manifest.toolset.tools.get(PLACEMENTS) != PLACEMENTS_VERSION:
        return
    for name in step.partitions(settings):
        if all(name in release.partitions(table) for table in step.tables):
            keep_written(settings, step.inputs_key(settings, name), step.tables, name)
            imported.remembered.stored["placements"] += 1


def _remember_accelerators(settings: Settings, release: Release, imported: ImportedRelease) -> None:
    """Labels of networks on accelerators and as fixed-point pipelines, so that the next run makes none."""
    networks, pipelines = (release.partitions(table) for table in ("accelerator_labels", "fixed_networks"))
    if not networks and not pipelines:
        return
    try:
        from pipelines.accelerators import AcceleratorError, dataset  # lazy import: loads onnx
        from pipelines.accelerators.fixed import dataset as fixed
    except ImportError as error:
        imported.notes.append(f"the labels of accelerators are not in the cache: {error}")
        return
    liberty, stored = target_of(settings).liberty, imported.remembered.stored
    try:
        for group in networks:
            tables = dataset.AcceleratorTables(
                accelerators=release.rows("accelerators", group),
                compiled=release.rows("compiled_networks", group),
                labels=release.rows("accelerator_labels", group),
            )
            stored += dataset.import_labels(tables, liberty=liberty, cache=settings.cache)
        for group in pipelines:
            rows = release.rows("fixed_networks", group)
            stored += fixed.import_labels(rows, liberty=liberty, cache=settings.cache)
    except AcceleratorError as error:
        imported.notes.append(f"the labels of accelerators are not in the cache: {error}")


def _remember_searches(settings: Settings, release: Release, imported: ImportedRelease) -> None:
    """The file of all searches for directives, so that the next run leaves it."""
    step = step_named("pragmas")
    if release.manifest.toolset.tools.get(SEARCHES) != searches_version():
        return
    rows = release.rows("pragma_designs", "all")
    if {row.exploration_id for row in rows} == present_explorations(settings):
        keep_written(
            settings, step.inputs_key(settings, "all"), step.tables, "all", {row.status for row in rows}
        )
        imported.remembered.stored["searches"] += 1


def _rows_by_program(release: Release, suite: str) -> dict[str, dict[str, list[Any]]]:
    """Rows of each table that a program's labels need, by program."""
    grouped: dict[str, dict[str, list[Any]]] = {}
    program_of: dict[str, str] = {}
    for table in ("programs", "designs", *BY_PROGRAM, *LATER_BY_PROGRAM):
        grouped[table] = {}
        if table in LATER_BY_PROGRAM and suite not in release.partitions(table):
            continue
        for row in release.rows(table, suite):
            identity = row.program_id if hasattr(row, "program_id") else program_of[row.design_id]
            grouped[table].setdefault(identity, []).append(row)
            if table == "designs":
                program_of[row.design_id] = identity
    return grouped | {"inputs": _inputs_by_program(release, suite, grouped["runs"])}


def _inputs_by_program(
    release: Release, suite: str, runs: Mapping[str, Sequence[Any]]
) -> dict[str, list[Any]]:
    """Rows of inputs of each program's runs; programs with the same data share them."""
    if suite not in release.partitions("inputs"):
        return {}
    by_data: dict[str, list[Any]] = {}
    for row in release.rows("inputs", suite):
        by_data.setdefault(row.data_id, []).append(row)
    return {
        identity: [row for data in dict.fromkeys(run.data_id for run in own) for row in by_data.get(data, [])]
        for identity, own in runs.items()
    }


BY_PROGRAM = ("directive_outcomes", "labels", "runs", "cross_checks", "program_facts", "loops")
LATER_BY_PROGRAM = ("loop_runs",)
"""Tables that releases before v2 lack."""


def _graphs_by_program(
    release: Release, suite: str, designs: Mapping[str, Sequence[Any]]
) -> dict[str, Graphs]:
    """Graphs of each program's designs; none when they were left out of the release."""
    if any(suite not in release.partitions(table) for table in GRAPH_TABLES):
        return {}
    nodes, edges = (_by_design(release.arrow(table, suite)) for table in GRAPH_TABLES)
    graphs: dict[str, Graphs] = {}
    for identity, group in designs.items():
        ids = sorted(d.design_id for d in group if d.design_id in nodes)
        if ids:
            graphs[identity] = Graphs(
                nodes=pa.concat_tables([nodes[i] for i in ids]),
                edges=pa.concat_tables(
                    [edges[i] for i in ids if i in edges] or [release.empty("cdfg_edges")]
                ),
            )
    return graphs


def _by_design(content: pa.Table) -> dict[str, pa.Table]:
    """Pieces of a table that is sorted by design, by design."""
    designs = to_frame(content.select(["design_id"])).select(pl.col("design_id").rle().struct.unnest())
    ends = designs["len"].cum_sum()
    pieces = zip(designs["value"], ends - designs["len"], designs["len"], strict=True)
    return {identity: content.slice(start, length) for identity, start, length in pieces}


# ---- vendors ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedReports:
    """What an import of vendor results did.

    Attributes:
        rows: of this import, by table; replaced: earlier rows that differed; total: rows there are now;
        statuses: rows of this import by outcome.
    """

    rows: Mapping[str, int]
    replaced: Mapping[str, int]
    total: Mapping[str, int]
    statuses: Mapping[str, int]


def import_reports(deployment: Deployment, reports: Sequence[VendorReport]) -> ImportedReports:
    """Add vendor results to the tables; of one key the new row stays.

    Raises: VendorError: two different rows of one key. FoundryError: another process writes to the folder.
    """
    new: Mapping[str, list[Any]] = {
        "vendor_designs": [row for report in reports for row in report.designs],
        "vendor_loops": [row for report in reports for row in report.loops],
    }
    rows: dict[str, int] = {}
    replaced: dict[str, int] = {}
    total: dict[str, int] = {}
    with writing_to(deployment.data_dir), replacing_tables(deployment.data_dir) as data_dir:
        for table, imported in new.items():
            spec = table_spec(table)
            there = table_path(data_dir, spec, VENDOR_PARTITION).is_file()
            present = read_table(data_dir, spec, [VENDOR_PARTITION]) if there else []
            merged, replaced[table] = merge_rows(spec, present, imported)
            write_table(data_dir, spec, merged, VENDOR_PARTITION)
            rows[table], total[table] = len(imported), len(merged)
    statuses = Counter(row.status for row in new["vendor_designs"])
    return ImportedReports(rows=rows, replaced=replaced, total=total, statuses=dict(sorted(statuses.items())))


VENDOR_PARTITION = "imported"
