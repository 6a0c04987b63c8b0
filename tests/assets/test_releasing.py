"""Releases out of a project and into another one; a wrong one is refused before anything changes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from foundry_fakes import fill_tables
from invoking import invoke

from assets.configuration import compose_configuration, parameters_text
from assets.deployments import Deployment, local_deployment
from assets.errors import FoundryError
from assets.releases.importing import import_release, settings_of
from assets.releases.versions import liberty_digests, other_versions
from assets.releases.writing import release_tables
from assets.settings import Settings
from pipelines.dataset.labelling import present_versions
from pipelines.dataset.releases import ReleaseError, WrittenRelease, open_release
from pipelines.dataset.releases.manifest import read_manifest
from pipelines.dataset.releases.toolset import NOT_RECORDED
from pipelines.schemas import read_table, table_path, table_spec, write_table
from pipelines.silicon.synthesis import find_liberty


@pytest.fixture
def filled(settings: Settings, engines: Any, kept_tables: Path) -> Settings:
    """A project with every table of a small configuration, made by engines that need no tools."""
    return fill_tables(settings, kept_tables, without=("tenset_mlp", "promotions"))


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    return tmp_path / "releases; all"


@pytest.fixture
def other(tmp_path: Path) -> Deployment:
    """Another project, empty."""
    folder = tmp_path / "other"
    folder.mkdir()
    return local_deployment(folder)


def write(settings: Settings, releases: Path, **options: Any) -> WrittenRelease:
    return release_tables(settings.deployment, "v1", releases=releases, **options)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_same_tables_give_the_same_bytes(filled: Settings, releases: Path, tmp_path: Path) -> None:
    first = contents(write(filled, releases).folder)
    assert contents(write(filled, releases).folder) == first
    assert contents(write(filled, tmp_path / "elsewhere").folder) == first
    assert [p.name for p in releases.iterdir()] == ["v1"]


def test_other_times_change_nothing_but_the_measured_files(filled: Settings, releases: Path) -> None:
    first = contents(write(filled, releases).folder)
    data = filled.deployment.data_dir
    spec = table_spec("labels")
    rows = [replace(row, synthesis_wall_s=99.0) for row in read_table(data, spec, ["stencil"])]
    write_table(data, spec, rows, "stencil")
    second = contents(write(filled, releases).folder)
    assert {n for n in first if first[n] != second[n]} == {
        "measured.json",
        "measured/labels/stencil-0000.parquet",
    }


def test_a_release_has_everything_and_says_what_it_is(filled: Settings, releases: Path) -> None:
    written = write(filled, releases)
    tables = set(written.manifest.rows)
    assert {"programs", "designs", "labels", "runs", "loops", "splits", "cdfg_nodes"} <= tables
    assert not {"leaderboard", "records", "vendor_designs"} & tables
    card = (written.folder / "README.md").read_text()
    for text in (
        "| `labels` |",
        "| `area_um2` | double or null | um2 |",
        "`labelling.data_seeds`",
        "Apache-2.0",
    ):
        assert text in card
    assert "simfoundry run --parameters releases/v1/params.yaml" in card
    assert "wall_s` | double or null | s |" in card
    said = parameters_text(filled.configuration, without=("fixed",))  # it has no group
    assert (written.folder / "params.yaml").read_bytes() == said
    assert written.manifest.toolset.tools["simfoundry-hls"] == "1"
    assert written.bytes == sum(map(len, contents(written.folder).values()))


def test_shards_have_bounded_rows_and_come_back_in_order(filled: Settings, releases: Path) -> None:
    release = open_release(write(filled, releases, rows_a_shard=3).folder)
    nodes = [f for f in release.manifest.files if f.table == "cdfg_nodes" and f.partition == "stencil"]
    assert [f.rows for f in nodes] == [3, 3, 2]
    for table in release.tables():
        for partition in release.partitions(table):
            path = table_path(filled.deployment.data_dir, table_spec(table), partition)
            assert release.arrow(table, partition).equals(pq.read_table(path, partitioning=None))


def test_import_gives_the_same_bytes_in_another_project(
    filled: Settings, releases: Path, other: Deployment
) -> None:
    found = import_release(other, write(filled, releases).folder)
    for room in ("tables", "measured"):
        given = contents(filled.deployment.data_dir / room)
        assert contents(other.data_dir / room) == {n: c for n, c in given.items() if "records/" not in n}
    assert found.rows["labels"] == found.rows["designs"]


def test_import_says_that_rows_of_other_versions_are_not_in_the_cache(
    filled: Settings, releases: Path, other: Deployment
) -> None:
    found = import_release(other, write(filled, releases).folder)
    assert any(note.startswith("simfoundry-hls is ") for note in found.notes)
    assert "designs of another version of the engine" in found.remembered.other
    assert found.remembered.stored == {"networks": 1, "placements": 1, "searches": 1}  # of this version
    rows: list[Any] = read_table(other.data_dir, table_spec("designs"))
    assert {row.tool_version for row in rows} == {"1"}


def test_the_manifest_has_the_sha256_of_every_liberty(
    filled: Settings, releases: Path, tmp_path: Path
) -> None:
    liberty = find_liberty("osu018")
    digest = hashlib.sha256(liberty.read_bytes()).hexdigest()
    assert write(filled, releases).manifest.toolset.liberties == {"osu018": digest}
    second = tmp_path / "second.lib"
    second.write_bytes(liberty.read_bytes() + b"\n")
    configuration = compose_configuration([f"synthesis.other_libraries=[{second}]"])
    both = Settings(configuration=configuration, deployment=filled.deployment)
    own = hashlib.sha256(second.read_bytes()).hexdigest()
    assert liberty_digests(both) == {"osu018": digest, f"second-{own[:8]}": own}


def test_import_accepts_the_first_digits_of_a_liberty_in_older_manifests(
    filled: Settings, releases: Path, other: Deployment
) -> None:
    folder = write(filled, releases).folder
    digest = liberty_digests(filled)["osu018"]
    for recorded, is_filled in ((digest[:32], True), (digest[:8], False), ("", False)):
        _change_manifest(folder, lambda m, r=recorded: m["toolset"].update(liberties={"osu018": r}))
        notes = import_release(other, folder).notes
        assert any("the library is another one" in note for note in notes) != is_filled
        shutil.rmtree(other.data_dir)


def test_import_of_another_library_fills_no_cache(
    filled: Settings, releases: Path, other: Deployment
) -> None:
    folder = write(filled, releases).folder
    _change_manifest(folder, lambda m: m["toolset"].update(liberties={"osu018": "0" * 32}))
    notes = import_release(other, folder).notes
    assert any(note.startswith("the cache was not filled, for the library is another one") for note in notes)
    _change_parameters(folder, lambda p: p["synthesis"].update(liberty="/nowhere.lib"))
    notes = import_release(other, folder).notes
    assert any(
        note.startswith("the cache was not filled, for the library is not here: ") and "/nowhere.lib" in note
        for note in notes
    )
    assert read_table(other.data_dir, table_spec("labels"))


def test_import_rejects_a_broken_configuration_and_changes_nothing(
    filled: Settings, releases: Path, other: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dvc.yaml", "workspace.yaml"):
        (other.project / name).touch()
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(other.project))
    whole = write(filled, releases).folder
    for damage, message in BROKEN_CONFIGURATIONS:
        folder = shutil.copytree(whole, releases / "copy" / "v1")
        damage(folder)
        result = invoke("import", str(folder))
        reason = (
            f"simfoundry: release v1 cannot be imported: {message}; import it with the version that wrote it"
        )
        assert re.fullmatch(reason, result.stderr.removesuffix("\n")), result.stderr
        assert (result.exit_code, result.stdout) == (1, "")
        assert not other.data_dir.exists()
        shutil.rmtree(folder)


def _change_parameters(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = yaml.safe_load((folder / "params.yaml").read_text())
    change(content)
    _replace(folder, "params.yaml", yaml.safe_dump(content).encode())


def _replaced(content: bytes) -> Callable[[Path], object]:
    return lambda folder: _replace(folder, "params.yaml", content)


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda folder: _change_parameters(folder, change)


FILE = r".*/params\.yaml"
BROKEN_CONFIGURATIONS: list[tuple[Callable[[Path], object], str]] = [
    (_replaced(b"programs: ["), f"not YAML: {FILE}: while parsing .*"),
    (_replaced(b"\xff\xfe\xfa"), rf"configuration is not UTF-8: byte 0xff \({FILE}:\d+\)"),
    (_replaced(b"a: !!bool x"), f"not YAML: {FILE}: a value that cannot be read: 'x'"),
    (_replaced(b"[" * 500_000), f"not YAML: {FILE}: values nested deeper than 64 levels"),
    (_replaced(b"a: &a [1]\nb: [*a, *a]"), f"not YAML: {FILE}: an alias; accepted: values written out"),
    (
        _replaced(b" " * (1 << 20) + b"#"),
        f"cannot read the configuration {FILE}: 1048577 bytes; accepted: a regular file of at most 1 MiB",
    ),
    (_replaced(b""), rf"the file: null \({FILE}\); accepted: names and values"),
    (
        _changed(lambda p: p.update(colour="red")),
        rf"unknown key: colour \({FILE}\); accepted keys: accelerators, .*; scales: .*",
    ),
    (
        _changed(lambda p: p["hls"].pop("memory_delay")),
        rf"missing key: hls\.memory_delay \({FILE}\); accepted keys: .*",
    ),
    (
        _changed(lambda p: p["hls"].update(memory_delay=3)),
        rf"hls\.memory_delay: 3 \({FILE}\); accepted: a list",
    ),
    (
        _changed(lambda p: p["network"]["groups"].update(x={"network": "ring"})),
        rf"unknown network of a group: ring \({FILE}\); accepted: fat_tree, two_tier, drawn",
    ),
]


def _change_manifest(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def _entry_of(manifest: dict[str, Any], path: str) -> dict[str, Any]:
    return next(entry for entry in manifest["files"] if entry["path"] == path)


def _replace(folder: Path, name: str, content: bytes) -> None:
    """Another file with a manifest that fits it."""
    import hashlib

    (folder / name).write_bytes(content)
    entry = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    _change_manifest(folder, lambda m: next(f for f in m["files"] if f["path"] == name).update(entry))


LABELS = "tables/labels/stencil-0000.parquet"
SLOWLY_IMPORTED = (
    "v2",
    "v1",
    "network-long-v1",
    "accelerators-v2",
    "fixed-v2",
    "fabric-v1",
    "rtl-v1",
    "pragmas-v1",
)


def _flip(folder: Path) -> None:
    path = folder / LABELS
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _rename_column(folder: Path) -> None:
    table = pq.read_table(folder / LABELS, partitioning=None)
    names = ["older_name" if n == "area_um2" else n for n in table.column_names]
    sink = pa.BufferOutputStream()
    pq.write_table(table.rename_columns(names), sink)
    _replace(folder, LABELS, sink.getvalue().to_pybytes())


def _infinite_area(folder: Path) -> None:
    table = pq.read_table(folder / LABELS, partitioning=None)
    at = table.column_names.index("area_um2")
    areas = [float("inf"), *table.column("area_um2").to_pylist()[1:]]
    sink = pa.BufferOutputStream()
    pq.write_table(table.set_column(at, table.schema.field(at), pa.array(areas)), sink)
    _replace(folder, LABELS, sink.getvalue().to_pybytes())


def _pipe(folder: Path) -> None:
    (folder / LABELS).unlink()
    os.mkfifo(folder / LABELS)
    _change_manifest(folder, lambda m: _entry_of(m, LABELS).update(bytes=0))


def _link(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere.parquet"
    (folder / LABELS).rename(elsewhere)
    (folder / LABELS).symlink_to(elsewhere)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_flip, r"a file must have SHA-256 [0-9a-f]{64} as the manifest says, got [0-9a-f]{64} \(.*labels"),
        (
            lambda f: (f / LABELS).write_bytes(b"x"),
            r"a file must have \d+ bytes as the manifest says, got 1 \(",
        ),
        (lambda f: (f / LABELS).unlink(), r"a release must have the file tables/labels/.*, got No such file"),
        (_link, r"a file of a release must lie in its folder, got a link \("),
        (
            _pipe,
            r"^cannot read the file of a release .*labels/.*: a pipe; accepted: a regular file of at most 10",
        ),
        (
            lambda f: (f / "manifest.json").write_text('{"files": [' + "{}," * 100_000 + "{}]}"),
            r"^a manifest must have at most 100000 JSON objects, got 100002 \(.*manifest\.json\)$",
        ),
        (
            lambda f: (f / "manifest.json").write_text("{}"),
            r"a manifest must have the form 1, got at format: ",
        ),
        (
            lambda f: (f / "manifest.json").write_text("no"),
            r"a manifest must have the form 1, got at the file",
        ),
        (
            lambda f: _change_manifest(f, lambda m: m["files"][0].update(path="../../x")),
            r"a manifest must have the form 1, got at files.0.path: ",
        ),
        (
            lambda f: _change_manifest(f, lambda m: m["files"][0].update(partition="../../x")),
            r"a manifest must have the form 1, got at files.0.partition: ",
        ),
        (
            lambda f: _change_manifest(f, lambda m: _entry_of(m, LABELS).update(rows=99)),
            r"a shard must have 99 rows as the manifest says, got \d+ \(",
        ),
        (
            lambda f: _change_manifest(f, lambda m: m["files"].remove(_entry_of(m, "params.yaml"))),
            r"a manifest must name params.yaml, got no such file",
        ),
        (
            lambda f: (f / "tables" / "added.bin").write_bytes(b"x"),
            r"a release must have the files of its manifests alone, got tables/added.bin too",
        ),
        (
            lambda f: _change_manifest(f, lambda m: m["files"][0].update(table="no_such")),
            r"unknown table: no_such; nearest: .* \(.*import it with the version that wrote it",
        ),
        (
            lambda f: _replace(f, LABELS, b"PAR1 no"),
            r"a shard must be a Parquet file, got a damaged one \(.*labels",
        ),
        (
            _infinite_area,
            r"^table labels must fit its schema: column area_um2 has 1 values that are NaN or infinite",
        ),
        (_rename_column, r"table labels must have the columns .*area_um2 double.*, got .*older_name"),
    ],
)
def test_import_rejects_a_damaged_release_and_changes_nothing(
    filled: Settings, releases: Path, other: Deployment, damage: Callable[[Path], object], message: str
) -> None:
    folder = write(filled, releases).folder
    damage(folder)
    with pytest.raises(ReleaseError, match=message):
        import_release(other, folder)
    assert not (other.data_dir / "tables").exists()


def test_a_release_without_times_is_read_with_none(
    filled: Settings, releases: Path, other: Deployment
) -> None:
    folder = write(filled, releases).folder
    (folder / "measured.json").unlink()
    shutil.rmtree(folder / "measured")
    import_release(other, folder)
    rows: list[Any] = read_table(other.data_dir, table_spec("labels"))
    assert rows
    assert {row.synthesis_wall_s for row in rows} == {None}


def _rewrite_shards(folder: Path, room: str, change: Callable[[pa.Table], pa.Table]) -> None:
    for path in sorted((folder / room / "labels").glob("*.parquet")):
        sink = pa.BufferOutputStream()
        pq.write_table(change(pq.read_table(path, partitioning=None)), sink)
        _replace(folder, path.relative_to(folder).as_posix(), sink.getvalue().to_pybytes())


def test_columns_of_an_older_release_come_under_their_present_names(
    filled: Settings, releases: Path, other: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def older(table: pa.Table) -> pa.Table:
        names = ["cell_area" if n == "area_um2" else n for n in table.column_names]
        return table.rename_columns(names).drop_columns(["delay_ns", "leakage_mw"])

    expected: list[Any] = read_table(filled.deployment.data_dir, table_spec("labels"))
    folder = write(filled, releases).folder
    _rewrite_shards(folder, "tables", older)
    with pytest.raises(ReleaseError, match=r"^table labels must have the columns .*, got .*cell_area double"):
        import_release(other, folder)
    monkeypatch.setattr("pipelines.schemas.storage.FORMER_NAMES", {"labels": {"cell_area": "area_um2"}})
    import_release(other, folder)
    rows: list[Any] = read_table(other.data_dir, table_spec("labels"))
    assert rows == [replace(row, delay_ns=None, leakage_mw=None, synthesis_wall_s=None) for row in expected]


def test_an_older_release_rejects_a_key_that_is_absent(
    filled: Settings, releases: Path, other: Deployment
) -> None:
    folder = write(filled, releases).folder
    _rewrite_shards(folder, "tables", lambda table: table.drop_columns(["design_id"]))
    with pytest.raises(ReleaseError, match=r"^table labels must have the columns design_id string, "):
        import_release(other, folder)


@pytest.mark.parametrize(
    "name",
    [
        "network-v2",
        *(pytest.param(name, marks=pytest.mark.slow) for name in SLOWLY_IMPORTED),
    ],
)
def test_every_shipped_release_imports_and_fits_the_present_tables(
    name: str, repository: Path, other: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assets.releases.importing._fill_cache", lambda settings, release, found: None)
    folder = repository / "releases" / name
    found = import_release(other, folder)
    assert found.rows == open_release(folder).manifest.rows
    for table, rows in found.rows.items():
        paths = (other.data_dir / "tables" / table).glob("*.parquet")
        assert sum(pq.read_metadata(path).num_rows for path in paths) == rows


def test_a_release_rejects_runs_of_another_configuration(filled: Settings, releases: Path) -> None:
    data, spec = filled.deployment.data_dir, table_spec("runs")
    rows: list[Any] = read_table(data, spec, ["stencil"])
    write_table(data, spec, rows[1:], "stencil")
    with pytest.raises(
        FoundryError, match=r"table runs of stencil must be made under params.yaml, got other rows"
    ):
        write(filled, releases)


def test_runs_on_other_kinds_of_data_are_not_asked_for_by_seed(filled: Settings, releases: Path) -> None:
    data, spec = filled.deployment.data_dir, table_spec("runs")
    rows: list[Any] = read_table(data, spec, ["stencil"])
    sparse = replace(rows[0], data_id="0" * 32, data_kind="sparse", seed=3)
    write_table(data, spec, [*rows, sparse], "stencil")
    assert write(filled, releases).manifest.rows["runs"] >= len(rows) + 1


def test_a_release_leaves_what_follows_out_before_it_is_too_large(filled: Settings, releases: Path) -> None:
    whole = write(filled, releases).bytes
    without_inputs = write(filled, releases, size_limit_bytes=whole - 1)
    assert list(without_inputs.manifest.left_out) == ["inputs"]
    written = write(filled, releases, size_limit_bytes=without_inputs.bytes - 1)
    assert list(written.manifest.left_out) == ["inputs", "cdfg_edges"]
    assert not {"cdfg_edges", "inputs"} & set(written.manifest.rows)
    card = (written.folder / "README.md").read_text()
    assert "`cdfg_edges` is left out: with it the release is larger than" in card
    assert open_release(written.folder).tables() == tuple(written.manifest.rows)


def test_a_release_rejects_sizes_names_folders_and_missing_tables(filled: Settings, releases: Path) -> None:
    with pytest.raises(
        ReleaseError,
        match=r"at most 0\.001.* MiB, got .* the largest files in MiB: croissant.* README\.md ",
    ):
        write(filled, releases, size_limit_bytes=1049)
    assert not releases.exists()
    for name in ("", "../x", "a/b", ".hidden", "a b"):
        with pytest.raises(ReleaseError, match=r"^a release's name must be letters, digits"):
            release_tables(filled.deployment, name, releases=releases)
    (releases / "v1").mkdir(parents=True)
    (releases / "v1" / "mine.txt").write_text("not a release")
    with pytest.raises(
        ReleaseError, match=r"^a release's folder must be a release or new, got something else"
    ):
        write(filled, releases)
    table_path(filled.deployment.data_dir, table_spec("runs"), "stencil").unlink()
    with pytest.raises(ReleaseError, match=r"every file of runs, got no .*; run `simfoundry run` first$"):
        release_tables(filled.deployment, "v2", releases=releases)


# ---- the commands ----------------------------------------------------------------------------------


def test_release_and_import_by_command(
    filled: Settings, other: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = invoke("release", "v1", "--json")
    assert made.exit_code == 0, made.stderr
    answer = json.loads(made.stdout)
    assert Path(answer["folder"]) == filled.deployment.project / "releases" / "v1"
    shutil.copytree(filled.deployment.project, other.project / "p", ignore=_data)
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(other.project / "p"))
    result = invoke("import", answer["folder"])
    assert result.exit_code == 0, result.stderr
    assert "labels" in result.stdout
    assert "its entries will not be found by the present engines" in result.stdout
    counted = invoke("sql", "--json", "SELECT count(*) AS n FROM labels")
    assert json.loads(counted.stdout) == [{"n": answer["rows"]["labels"]}]


def _data(folder: str, names: list[str]) -> list[str]:
    return [n for n in names if n in ("data", "releases", ".dagster")]


def test_entries_of_release_v2_are_found_by_the_present_engines(other: Deployment) -> None:
    """The lines of `simfoundry import` alone; the import itself takes minutes."""
    release = open_release(Path(__file__).parents[2] / "releases" / "v2")
    settings, _ = settings_of(other, release)
    tools = release.manifest.toolset.tools
    outside = {name: tools[name].split("+")[0] for name in ("native", "verilator", "pyosys")}
    if outside != {
        name: version.split("+")[0] for name, version in present_versions().items() if name in outside
    }:
        pytest.skip(f"the release was made with other tools than those here: {outside}")
    assert other_versions(settings, release.manifest) == []


def test_reports_are_rows_that_sql_sees(settings: Settings, tmp_path: Path) -> None:
    report = (
        "<profile><ReportVersion><Version>2020.2</Version></ReportVersion><UserAssignments>"
        "<TopModelName>fir</TopModelName></UserAssignments><PerformanceEstimates><SummaryOfOverallLatency>"
        "<Worst-caseLatency>32</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates></profile>"
    )
    for solution in ("one", "two"):
        (tmp_path / solution).mkdir()
        (tmp_path / solution / "csynth.xml").write_text(report)
    assert invoke("import", str(tmp_path / "one" / "csynth.xml")).exit_code == 0
    again = invoke("import", "--json", str(tmp_path / "one"))
    assert json.loads(again.stdout)["total"] == {"vendor_designs": 1, "vendor_loops": 0}
    rows = json.loads(
        invoke("sql", "--json", "SELECT kernel, tool, latency_cycles FROM vendor_designs").stdout
    )
    assert rows == [{"kernel": "fir", "tool": "vitis-2020.2", "latency_cycles": 32}]
    (tmp_path / "two" / "csynth.xml").write_text(report.replace("32", "33"))
    clash = invoke("import", str(tmp_path))
    assert clash.exit_code == 1
    assert "one import must have one row of vendor_designs a key" in clash.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "nothing"), "no such file: nothing"),
        (
            ("import", "."),
            "no programs: no C file and no hlsfactory.toml (.); accepted: C programs,",
        ),
        (
            ("release", "v1", "--from", "."),
            "no project folder: . (--from); accepted: a folder with dvc.yaml and workspace.yaml",
        ),
        (
            ("run", "scale=smoke", "--parameters", "x"),
            "overrides and --parameters are mutually exclusive: scale=smoke",
        ),
        (
            ("run", "--parameters", "x"),
            "cannot read the configuration x: No such file or directory",
        ),
    ],
)
def test_commands_reject_what_they_cannot_read(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_import_compares_tools_that_rows_do_not_name(filled: Settings, repository: Path) -> None:
    for name, tool in (("fixed-v2", "da4ml"), ("rtl-v1", "rtl-reuse")):
        manifest = read_manifest(repository / "releases" / name)
        tools = {**manifest.toolset.tools, tool: "0.0"}
        other = manifest.model_copy(update={"toolset": manifest.toolset.model_copy(update={"tools": tools})})
        [line] = [line for line in other_versions(filled, other) if line.startswith(f"{tool} is ")]
        assert "the release was made with 0.0: its entries will not be found" in line
        lines = other_versions(filled, manifest)
        assert not [line for line in lines if NOT_RECORDED in line or line.startswith("da4ml is ")]
