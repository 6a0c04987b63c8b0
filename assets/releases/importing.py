"""Importing a release: its tables into a project, and the cache filled from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from assets.configuration import read_parameters_file
from assets.deployments import Deployment, replacing_tables, writing_to
from assets.errors import FoundryError
from assets.label_settings import label_context, target_of
from assets.language_models import remember_variants
from assets.releases.freshness import have_lasting_runs
from assets.releases.versions import (
    FEATURES,
    LABELLING,
    NETWORKS,
    PLACEMENTS,
    SEARCHES,
    liberty_digests,
    other_versions,
)
from assets.settings import Settings
from assets.shared_tables import publish_shards
from assets.step import keep_written
from assets.steps import step_named
from assets.steps.network import Network
from assets.steps.pragmas import present_explorations, searches_version
from pipelines.base.limited import reading
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
)
from pipelines.dataset.releases import (
    MANIFEST_FILE,
    PARAMETERS_FILE,
    Manifest,
    Release,
    ReleaseError,
    open_release,
)
from pipelines.fabric.dataset import VERSION as PLACEMENTS_VERSION
from pipelines.network import NetworkError
from pipelines.network.runs import RunGroup, runs_version
from pipelines.programs import LLM, ProgramError
from pipelines.schemas import (
    table_spec,
    to_frame,
    write_arrow,
)
from pipelines.silicon.synthesis import SynthesisError

BY_PROGRAM = ("directive_outcomes", "labels", "runs", "cross_checks", "program_facts", "loops")
LATER_BY_PROGRAM = ("loop_runs",)
"""Tables that releases before v2 lack."""


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
    """Tell whether a path is the folder of a release."""
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
        settings, networks = settings_of(deployment, release)
    imported = ImportedRelease(name=release.manifest.name)
    with writing_to(deployment.data_dir):
        with replacing_tables(deployment.data_dir) as tables:
            _write_tables(tables, release, imported)
        publish_shards(deployment, {table: release.partitions(table) for table in release.tables()})
        _remember_networks(settings, networks, release, imported)
        _remember_placements(settings, release, imported)
        _remember_searches(settings, release, imported)
        if _same_liberties(settings, release.manifest, imported):
            imported.notes += other_versions(settings, release.manifest)
            _fill_cache(settings, release, imported)
            _remember_variants(settings, release, imported)
            _remember_accelerators(settings, release, imported)
    return imported


def _write_tables(data_dir: Path, release: Release, imported: ImportedRelease) -> None:
    """Write every partition of a release into the tables of a folder."""
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


def settings_of(deployment: Deployment, release: Release) -> tuple[Settings, Mapping[str, RunGroup]]:
    """Read the configuration of a release into a deployment.

    Returns: settings, and the release's groups of networks.
    Raises:  ReleaseError: this version does not accept the configuration.
    """
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
        own = liberty_digests(settings)
    except SynthesisError as error:
        imported.notes.append(f"the cache was not filled, for the library is not here: {error}")
        return False
    recorded = manifest.toolset.liberties
    if recorded and all(_is_digest_of(digest, own.get(name, "")) for name, digest in recorded.items()):
        return True
    imported.notes.append(
        "the cache was not filled, for the library is another one: "
        f"{dict(recorded)} in the release, {own} here"
    )
    return False


def _is_digest_of(recorded: str, sha256: str) -> bool:
    """Tell whether a manifest records a SHA-256; older ones have its first 32 digits."""
    return len(recorded) in (32, 64) and sha256.startswith(recorded)


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
                loop_runs=own["loop_runs"],
                cross_checks=own["cross_checks"],
            )
            import_rows(
                labelled,
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
    """Store the programs that a language model wrote, so that the next run need not ask one."""
    if LLM not in release.partitions("programs"):
        return
    try:
        imported.remembered.stored["variants"] += remember_variants(settings, release.rows("programs", LLM))
    except (FoundryError, ProgramError) as error:
        imported.notes.append(f"the programs of the suite {LLM} are not in the cache: {error}")


def _remember_networks(
    settings: Settings, groups: Mapping[str, RunGroup], release: Release, imported: ImportedRelease
) -> None:
    """Store the files of each group of networks, so that the next run leaves them; it retries failures."""
    tables = step_named("network").tables
    if release.manifest.toolset.tools.get(NETWORKS) != runs_version():
        return
    for name, group in groups.items():
        is_whole = all(name in release.partitions(table) for table in tables)
        if is_whole and have_lasting_runs(release.arrow("network_runs", name)):
            keep_written(settings, step_named("network").inputs_key(settings, group.name), tables, name)
            imported.remembered.stored["networks"] += 1


def _remember_placements(settings: Settings, release: Release, imported: ImportedRelease) -> None:
    """Store the files of each group of placements, so that the next run leaves them."""
    step = step_named("fabric")
    if release.manifest.toolset.tools.get(PLACEMENTS) != PLACEMENTS_VERSION:
        return
    for name in step.partitions(settings):
        if all(name in release.partitions(table) for table in step.tables):
            keep_written(settings, step.inputs_key(settings, name), step.tables, name)
            imported.remembered.stored["placements"] += 1


def _remember_accelerators(settings: Settings, release: Release, imported: ImportedRelease) -> None:
    """Store labels of networks on accelerators and as fixed-point pipelines for the next run."""
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
    """Store the file of all searches for directives, so that the next run leaves it."""
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
    """Return the rows of each table that a program's labels need, by program."""
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
    return grouped


def _graphs_by_program(
    release: Release, suite: str, designs: Mapping[str, Sequence[Any]]
) -> dict[str, Graphs]:
    """Return the graphs of each program's designs; none when they were left out of the release."""
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
    """Return the pieces of a table that is sorted by design, by design."""
    designs = to_frame(content.select(["design_id"])).select(pl.col("design_id").rle().struct.unnest())
    ends = designs["len"].cum_sum()
    pieces = zip(designs["value"], ends - designs["len"], designs["len"], strict=True)
    return {identity: content.slice(start, length) for identity, start, length in pieces}
