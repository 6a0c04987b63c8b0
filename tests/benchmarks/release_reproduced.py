"""Whether a release comes out with the same bytes twice, and how long a refresh of cached designs takes.

    python -m tests.benchmarks.release_reproduced [--designs 10000] [--keep FOLDER]
        [--only reproduced|refresh|partitions]
        [--release releases/v1 --partitions ast-001,stationary|all|whole]

Reproduced: `simfoundry run` with a small configuration and `simfoundry release`, in two clones of this
checkout with nothing but its tracked files, and every file compared, but for the wall-clock columns and their
manifest.

Partitions: some partitions of a committed release made again from its params.yaml with an empty cache, every
step from generation to labels and features, and each table compared with the release's; `all` makes the whole
release again, tables without partitions included, and `whole` makes these alone from the release's others.
With --keep an interrupted run goes on.

Refresh: `simfoundry run` with every design in the cache, Dagster and DVC included. Labelling as many designs
for real takes hours, so the cache is filled as an import does, with rows copied from a few designs that are
labelled here: programs are the generators' own, and ids, keys and sizes are right; figures are those of the
copied design. The run does not know the difference. It is timed after one run that fills DVC's cache and
trains the predictor. The checkout must have no changes that are not committed, for the clone runs what is.
"""

from __future__ import annotations

import filecmp
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from assets.configuration import compose_configuration, read_parameters_file, write_parameters
from assets.deployments import local_deployment
from assets.label_settings import label_context, label_options, target_of
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from assets.suites import suite_options
from pipelines.c import read_interface
from pipelines.dataset.features import (
    FeatureRows,
    FeatureTables,
    Graphs,
    extract_features,
    import_features,
)
from pipelines.dataset.labelling import (
    CacheImport,
    ConfigurationSpace,
    ProgramRows,
    cross_check_designs,
    import_rows,
    label_designs,
    liberty_name,
    plan_designs,
)
from pipelines.dataset.labelling.cross_checks import is_cross_checked
from pipelines.dataset.labelling.runs import is_audited
from pipelines.dataset.releases import Release, open_release
from pipelines.hls import HlsOptions, design_id
from pipelines.programs import Generation, data_id, draw_data, suite_programs
from pipelines.schemas import (
    OK,
    CrossCheckRow,
    DesignRow,
    LabelRow,
    ProgramRow,
    RunRow,
    read_arrow,
    table_path,
    table_spec,
    write_arrow,
)
from tests.benchmarks.harness import (
    ROOT,
    clone_project,
    options_parser,
    print_header,
    print_machine,
    print_row,
    run_simfoundry,
    timed,
)

SUITES = ("ast", "dataflow")
SMALL = (
    *("programs.suites=[ast,dataflow]", "ast.count=3", "dataflow.count=3"),
    *("hls.memory_delay=[2,10]", "models.tenset_mlp.max_epochs=2"),
)
REFRESHED = (
    *("programs.suites=[ast,dataflow]", "models.tenset_mlp.max_epochs=2"),
    *("hls.memory_delay=[2,3,4,5,6,7,8,9]", "hls.pipeline=[false]"),
)
COPIED_PROGRAMS, OTHER_SEED = 4, 1


def files_of(release: Path) -> dict[str, Path]:
    """The files whose bytes follow from the inputs."""
    found = {str(p.relative_to(release)): p for p in sorted(release.rglob("*")) if p.is_file()}
    return {name: p for name, p in found.items() if not name.startswith("measured")}


def reproduced(base: Path) -> None:
    releases: list[Path] = []
    for name in ("first", "second"):
        folder = clone_project(base / name)
        run_simfoundry(("run", *SMALL), folder, code=folder)
        run_simfoundry(("release", "small"), folder, code=folder)
        releases.append(folder / "releases" / "small")
    first, second = map(files_of, releases)
    same = [n for n in first if n in second and filecmp.cmp(first[n], second[n], shallow=False)]
    size = sum(p.stat().st_size for p in first.values())
    print_header("release made twice from its seed", "")
    print_row("files", f"{len(first)} and {len(second)}")
    print_row("byte-identical", len(same))
    print_row("bytes", size)
    differing = sorted({*first, *second} - {*same})
    for name in differing:
        print_row("DIFFERENT", name)
    if differing:
        raise SystemExit(f"a release must come out the same twice, got {len(differing)} other files")
    print()


# ---- partitions ------------------------------------------------------------------------------------

REMADE = ("programs", "designs", "labels", "features")
"""Steps whose tables have a file a partition."""
REMADE_WHOLE = ("splits", "stage_reports")
"""Steps whose tables have one file, of all partitions."""
EVERY, ONLY_WHOLE = "all", "whole"


def partitions_reproduced(base: Path, release: Release, names: Sequence[str]) -> None:
    """Make partitions of a release again, and say which tables are the same."""
    folder = base / "remade"
    configuration = read_parameters_file(release.folder / "params.yaml")
    settings = Settings(configuration=configuration, deployment=local_deployment(folder))
    every = step_named("programs").partitions(settings)
    asked = list(names)
    if asked == [ONLY_WHOLE]:
        take_partitions(settings, release, every)
        asked = []
    jobs = [(partition, REMADE) for partition in (every if asked == [EVERY] else asked)]
    if list(names) in ([EVERY], [ONLY_WHOLE]):
        jobs += [(p, (name,)) for name in REMADE_WHOLE for p in step_named(name).partitions(settings)]
    print_header(f"partition of {release.manifest.name}", "table", "rows", "")
    differing = sum(remade_otherwise(settings, release, *job) for job in jobs)
    if differing:
        raise SystemExit(f"partitions must come out the same, got {differing} other tables")
    print()


def take_partitions(settings: Settings, release: Release, partitions: Sequence[str]) -> None:
    """Write a release's tables of partitions as if they had been made here."""
    for partition in partitions:
        for table in [t for name in REMADE for t in step_named(name).tables if t in release.tables()]:
            rows = release.arrow(table, partition)
            write_arrow(settings.deployment.data_dir, table_spec(table), rows, partition)


def remade_otherwise(settings: Settings, release: Release, partition: str, steps: Sequence[str]) -> int:
    """Make a partition's tables by these steps; how many are not the release's."""
    start, differing = time.perf_counter(), 0
    for name in steps:
        step_named(name).make(settings, partition, ignore_progress)
    for table in [t for name in steps for t in step_named(name).tables if t in release.tables()]:
        there = release.arrow(table, partition)
        made = read_arrow(table_path(settings.deployment.data_dir, table_spec(table), partition))
        differing += not made.equals(there)
        same = "identical" if made.equals(there) else "DIFFERENT"
        print_row(partition, table, there.num_rows, same)
    print_row(partition, "", "", f"{time.perf_counter() - start:.0f} s")
    return differing


# ---- refresh ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A design that was labelled, all of whose rows are copied."""

    program: ProgramRow
    design: DesignRow
    label: LabelRow
    run: RunRow
    checks: tuple[CrossCheckRow, ...]
    nodes: pa.Table
    edges: pa.Table


def originals(settings: Settings) -> tuple[list[Original], FeatureTables]:
    """A few designs of the generated suites, labelled, each audited and cross-checked."""
    every = replace(label_options(settings), audit_fraction=1.0, cross_check_fraction=1.0)
    context = replace(label_context(settings), options=every)
    few = Generation(count=COPIED_PROGRAMS, seed=OTHER_SEED)
    options = replace(suite_options(settings), ast=few, dataflow=few)
    programs = [p for s in SUITES for p in suite_programs(s, options)]
    planned = plan_designs(
        programs, replace(settings.group(ConfigurationSpace), memory_delay=(2, 10)), context
    )
    made = label_designs(programs, planned.designs, context)
    checks = cross_check_designs(programs, planned.designs, made, context)
    features = extract_features(programs, planned.designs, cache=settings.cache, options=every)
    by_id = {p.program_id: p for p in programs}
    labels = {label.design_id: label for label in made.labels}
    runs = {run.design_id: run for run in made.runs}
    found = [
        Original(
            program=by_id[d.program_id],
            design=d,
            label=labels[d.design_id],
            run=runs[d.design_id],
            checks=tuple(c for c in checks if c.design_id == d.design_id),
            nodes=_of(features.cdfg_nodes, d.design_id),
            edges=_of(features.cdfg_edges, d.design_id),
        )
        for d in planned.designs
        if labels[d.design_id].status == OK
    ]
    return [o for o in found if o.checks and all(c.status == OK for c in o.checks)], features


def _of(table: pa.Table, identity: str) -> pa.Table:
    return table.filter(pc.equal(table.column("design_id"), identity))


def copied(
    program: ProgramRow, data: str, configuration: HlsOptions, original: Original, settings: Settings
) -> tuple[DesignRow, LabelRow, RunRow, tuple[CrossCheckRow, ...], Graphs]:
    """The rows of a design as the original's under another program and configuration.

    Args: data: id of the program's data set.
    """
    identity, suite = design_id(program, configuration), program.suite
    design = replace(
        original.design,
        design_id=identity,
        program_id=program.program_id,
        suite=suite,
        directives="[]",
        memory_read_delay_cycles=configuration.memory_read_delay_cycles,
        memory_write_delay_cycles=configuration.memory_write_delay_cycles,
    )
    run = replace(original.run, design_id=identity, data_id=data, suite=suite)
    if not is_audited(identity, label_options(settings).audit_fraction):
        unknown = ("audit_engine", "audit_engine_version", "audit_latency_cycles")
        times = ("audit_build_wall_s", "audit_simulate_wall_s")
        run = replace(run, audited=False, **dict.fromkeys((*unknown, *times)))
    checks = tuple(replace(c, design_id=identity, data_id=data, suite=suite) for c in original.checks)
    graphs = Graphs(
        nodes=_renamed(original.nodes, identity, suite), edges=_renamed(original.edges, identity, suite)
    )
    label = replace(original.label, design_id=identity, suite=suite)
    return design, label, run, checks if is_cross_checked(identity, label_options(settings)) else (), graphs


def _renamed(table: pa.Table, identity: str, suite: str) -> pa.Table:
    for name, value in (("design_id", identity), ("suite", suite)):
        index = table.column_names.index(name)
        table = table.set_column(index, table.schema.field(name), pa.array([value] * table.num_rows))
    return table


def configurations(settings: Settings) -> Iterator[HlsOptions]:
    """Those that a program has, all without directives."""
    liberty = liberty_name(target_of(settings))
    for delay in settings.group(ConfigurationSpace).memory_delay:
        yield HlsOptions(memory_read_delay_cycles=delay, memory_write_delay_cycles=delay, liberty=liberty)


def fill(settings: Settings) -> Mapping[str, int]:
    """Fill the cache with a design for every configuration of every program; rows by table."""
    templates, features = originals(settings)
    source = cycle(templates)
    entries, counts = CacheImport(), {"programs": 0, "designs": 0, "cdfg_nodes": 0}
    for suite in SUITES:
        for program in suite_programs(suite, suite_options(settings)):
            values = draw_data(read_interface(program.source, program.top), program.inputs, seed=0)
            data = data_id(values)
            rows = [copied(program, data, c, next(source), settings) for c in configurations(settings)]
            designs = [row[0] for row in rows]
            import_rows(
                ProgramRows(
                    program=program,
                    designs=designs,
                    outcomes=(),
                    labels=[row[1] for row in rows],
                    runs=[row[2] for row in rows],
                    cross_checks=[check for row in rows for check in row[3]],
                ),
                label_context(settings),
                entries,
            )
            like = templates[counts["programs"] % len(templates)].program.program_id
            import_features(
                _features(program, designs, [row[4] for row in rows], features, like), settings.cache
            )
            counts["programs"] += 1
            counts["designs"] += len(rows)
            counts["cdfg_nodes"] += sum(row[4].nodes.num_rows for row in rows)
    if entries.other or entries.different:
        raise SystemExit(f"every row must become an entry, got {entries.other} and {entries.different[:3]}")
    return counts


def _features(
    program: ProgramRow,
    designs: Sequence[DesignRow],
    graphs: Sequence[Graphs],
    features: FeatureTables,
    like: str,
) -> FeatureRows:
    own = {"program_id": program.program_id, "suite": program.suite}
    return FeatureRows(
        program=program,
        designs=designs,
        program_facts=[replace(f, **own) for f in features.program_facts if f.program_id == like],
        loops=[replace(loop, **own) for loop in features.loops if loop.program_id == like],
        graphs=Graphs(
            nodes=pa.concat_tables([g.nodes for g in graphs]),
            edges=pa.concat_tables([g.edges for g in graphs]),
        ),
    )


def refresh(base: Path, designs: int) -> None:
    folder = clone_project(base / "refreshed")
    a_program = 8  # configurations
    count = -(-designs // (a_program * len(SUITES)))
    overrides = [*REFRESHED, f"ast.count={count}", f"dataflow.count={count}"]
    configuration = compose_configuration(overrides)
    write_parameters(folder, configuration)
    settings = Settings(configuration=configuration, deployment=local_deployment(folder))
    counts, filled = timed(lambda: fill(settings))
    first, *others = (run_simfoundry(("run", *overrides), folder, code=folder) for _ in range(3))
    print_header("refresh | ")
    for name, value in counts.items():
        print_row(name, value)
    print_row("filling the cache", f"{filled.wall_s:.0f} s")
    print_row("first run", f"{first.wall_s:.0f} s")
    for spent in others:
        print_row("cached run", f"{spent.wall_s:.1f} s, {spent.processor_s:.1f} s of processor time")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--designs", type=int, default=10_000)
    parser.add_argument("--keep", type=Path, help="work here and keep the folder")
    parser.add_argument("--only", choices=("reproduced", "refresh", "partitions"))
    parser.add_argument("--release", type=Path, default=ROOT / "releases" / "v1")
    parser.add_argument("--partitions", default="ast-001,stationary", help="names, with commas, or all")
    chosen = parser.parse_args()
    print_machine()
    with tempfile.TemporaryDirectory() as temporary:
        base = chosen.keep or Path(temporary)
        if chosen.only in (None, "reproduced"):
            reproduced(base)
        if chosen.only in (None, "partitions"):
            partitions_reproduced(base, open_release(chosen.release), chosen.partitions.split(","))
        if chosen.only in (None, "refresh"):
            refresh(base, chosen.designs)


if __name__ == "__main__":
    main()
