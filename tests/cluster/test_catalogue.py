"""Publication of shards: each is there once, whatever comes between, and nothing that is present is swept."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from assets import catalogue as published
from assets.catalogue import Catalogue, CatalogueError
from assets.iceberg_tables import SHARD
from pipelines.schemas import (
    SchemaError,
    SplitRow,
    TableSpec,
    table_path,
    table_spec,
    write_arrow,
    write_table,
)
from pipelines.schemas.columns import column, table

SPEC = table_spec("splits")
NONE = timedelta(0)


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(f"file://{tmp_path}/store", f"sqlite:///{tmp_path}/catalogue.db")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of a shard; the count of rows is its content."""

    def write(shard: str, count: int = 1) -> Path:
        rows = [SplitRow(split="s", program_id=f"p{k}", group="g", part="test") for k in range(count)]
        write_table(tmp_path / "data", SPEC, rows, shard)
        return table_path(tmp_path / "data", SPEC, shard)

    return write


def _rows(catalogue: Catalogue) -> Counter[str]:
    table = catalogue.table("splits")
    assert table is not None
    return Counter(table.scan(selected_fields=(SHARD,)).to_arrow()[SHARD].to_pylist())


def _files(catalogue: Catalogue, ending: str = ".parquet") -> set[str]:
    folder = Path(catalogue.store.removeprefix("file://"))
    return {str(p.relative_to(folder)) for p in folder.rglob(f"*{ending}")}


def test_a_shard_is_published_once_and_replaced(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    assert catalogue.publish(SPEC, "a", write("a", 2))
    assert not catalogue.publish(SPEC, "a", write("a", 2))
    assert catalogue.publish(SPEC, "b", write("b", 3))
    assert _rows(catalogue) == {"a": 2, "b": 3}
    assert catalogue.publish(SPEC, "a", write("a", 5))
    assert _rows(catalogue) == {"a": 5, "b": 3}
    state = catalogue.state("splits")
    assert state.rows == 8
    assert list(state.shards) == ["a", "b"]


def test_a_snapshot_says_what_it_published(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    catalogue.publish(SPEC, "a", write("a"))
    snapshot = catalogue.table("splits").current_snapshot()  # type: ignore[union-attr]
    summary = snapshot.summary.additional_properties
    assert summary["simfoundry.table"] == "splits"
    assert summary["simfoundry.shard"] == "a"
    assert summary["simfoundry.sha256"] == catalogue.state("splits").shards["a"]


def test_shards_of_equal_content_are_apart(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    for shard in ("a", "b"):
        catalogue.publish(SPEC, shard, write(shard, 2))
    assert len(set(catalogue.state("splits").shards.values())) == 1
    assert _rows(catalogue) == {"a": 2, "b": 2}
    assert catalogue.remove(SPEC, ["a"])
    assert _rows(catalogue) == {"b": 2}


def test_shards_are_removed_and_come_back(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    path = write("a", 2)
    catalogue.publish(SPEC, "a", path)
    before = catalogue.version()
    assert catalogue.remove(SPEC, ["a", "other"])
    assert not catalogue.remove(SPEC, ["a"])
    assert catalogue.state("splits").shards == {}
    assert catalogue.version() != before
    assert catalogue.publish(SPEC, "a", path)
    assert catalogue.version() == before


def test_several_shards_are_one_transaction(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    catalogue.publish(SPEC, "gone", write("gone"))
    assert catalogue.replace(SPEC, {"a": write("a"), "b": write("b", 2), "gone": None})
    assert _rows(catalogue) == {"a": 1, "b": 2}
    assert len(catalogue.table("splits").metadata.snapshots) == 2  # type: ignore[union-attr]


def test_files_keep_their_bytes(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    path = write("a", 4)
    catalogue.publish(SPEC, "a", path)
    state = catalogue.state("splits")
    assert catalogue.fetch(state.files["a"], state.shards["a"]) == path.read_bytes()
    assert Path(state.files["a"]).name == f"{state.shards['a']}.parquet"


class Killed(BaseException):
    """The process ended here."""


@pytest.mark.parametrize(
    "moment", ["before the put", "before the commit", "in the commit", "after the commit"]
)
def test_a_publication_that_was_killed_is_repeated(
    catalogue: Catalogue, write: Callable[..., Path], moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue.publish(SPEC, "a", write("a", 1))
    path = write("a", 3)
    target, name = {
        "before the put": (Catalogue, "_put"),
        "before the commit": (Catalogue, "_commit"),
        "in the commit": (type(catalogue._sql), "commit_table"),
        "after the commit": (type(catalogue._sql), "commit_table"),
    }[moment]
    method = getattr(target, name)

    def kill(*arguments: Any) -> Any:
        if moment == "after the commit":
            method(*arguments)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(target, name, kill)
        with pytest.raises(Killed):
            catalogue.publish(SPEC, "a", path)
    again = Catalogue(catalogue.store, catalogue.database)
    assert again.publish(SPEC, "a", path) is (moment != "after the commit")
    assert _rows(again) == {"a": 3}
    again.sweep(older=NONE, delete=True)
    assert again.sweep(older=NONE).names == ()
    assert _rows(again) == {"a": 3}


def test_another_publication_in_between_is_read_again(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second racer commits the same file, then another one, after the first racer has read the table."""
    other = Catalogue(catalogue.store, catalogue.database)
    commit, waiting = type(catalogue._sql).commit_table, [("b", 2), ("a", 5), ("a", 3)]
    path = write("a", 3)
    shards = {"a": path}

    def commit_after(sql: Any, *arguments: Any) -> Any:
        if sql is catalogue._sql and waiting:
            shard, count = waiting.pop(0)
            other.publish(SPEC, shard, write(shard, count))
        return commit(sql, *arguments)

    monkeypatch.setattr(type(catalogue._sql), "commit_table", commit_after)
    content = path.read_bytes()

    def own_file() -> Path:
        copy = path.with_name("own")
        copy.write_bytes(content)
        return copy

    shards["a"] = own_file()
    assert not catalogue.publish(SPEC, "a", shards["a"])  # the other one published this very file
    assert waiting == []
    assert _rows(catalogue) == {"a": 3, "b": 2}


def test_an_answer_that_was_lost_is_no_second_file(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    commit, lost = type(catalogue._sql).commit_table, ["once"]

    def lose_answer(sql: Any, *arguments: Any) -> Any:
        answer = commit(sql, *arguments)
        if lost:
            lost.pop()
            raise OperationalError("COMMIT", {}, Exception("server closed the connection unexpectedly"))
        return answer

    monkeypatch.setattr(type(catalogue._sql), "commit_table", lose_answer)
    catalogue.publish(SPEC, "a", write("a", 2))
    assert _rows(catalogue) == {"a": 2}
    assert len(catalogue.table("splits").metadata.snapshots) == 1  # type: ignore[union-attr]


def test_the_time_of_a_publication_follows_the_shards_not_the_history(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    most, kept = 4, 3
    monkeypatch.setattr("assets.catalogue.KEPT_STATES", kept)
    monkeypatch.setattr("assets.iceberg_tables.MERGED_MANIFESTS", most)
    for count in range(1, 2 * most + 2):
        catalogue.publish(SPEC, "a", write("a", count))
    table = catalogue.table("splits")
    assert table is not None
    assert len(table.current_snapshot().manifests(table.io)) <= 2
    for shard in range(2 * most + 2):
        catalogue.publish(SPEC, f"s{shard}", write(f"s{shard}"))
    table.refresh()
    assert len(table.current_snapshot().manifests(table.io)) <= most
    assert len(catalogue.state("splits").shards) == 2 * most + 3
    assert len(table.metadata.snapshots) <= 2 * kept
    assert sum(_rows(catalogue).values()) == 4 * most + 3


def test_a_state_that_did_not_change_is_not_read_again(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue.publish(SPEC, "a", write("a"))
    state = catalogue.state("splits")
    monkeypatch.setattr(Catalogue, "_load", lambda *_: pytest.fail("read again"))
    assert catalogue.state("splits") is state


# ---- columns -----------------------------------------------------------------------------------------------


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Callable[..., TableSpec]:
    """Declare a table anew with more columns, as a later version does."""
    monkeypatch.setattr(TableSpec, "registry", dict(TableSpec.registry))

    def declare(**columns: Any) -> TableSpec:
        names = {"name": str, "sizes": tuple[int, ...], **{name: kind for name, (kind, _) in columns.items()}}
        fields = {"name": column("Name.", key=True), "sizes": column("Sizes.")}
        fields |= {name: of for name, (_, of) in columns.items()}
        body = {"__annotations__": names, "__doc__": "A row.", **fields}
        row = dataclass(frozen=True, kw_only=True)(type("GrownRow", (), body))
        TableSpec.registry.pop("grown", None)
        table("grown", stage="programs", checked_by={})(row)
        return table_spec("grown")

    return declare


def test_a_table_gets_the_columns_that_were_declared_later(
    catalogue: Catalogue, declared: Callable[..., TableSpec], tmp_path: Path
) -> None:
    spec = declared()
    write_table(tmp_path, spec, [spec.row(name="x", sizes=(1, 2))], "old")
    catalogue.publish(spec, "old", table_path(tmp_path, spec, "old"))
    spec = declared(area=(float | None, column("Area.")))
    write_table(tmp_path, spec, [spec.row(name="y", sizes=(), area=0.5)], "new")
    catalogue.publish(spec, "new", table_path(tmp_path, spec, "new"))
    dataset = catalogue.dataset(spec)
    assert dataset is not None
    expected = {"name": ["y", "x"], "sizes": [[], [1, 2]], "area": [0.5, None]}
    assert dataset.to_table().to_pydict() == expected
    scanned = catalogue.table("grown").scan(selected_fields=tuple(expected))  # type: ignore[union-attr]
    assert sorted(scanned.to_arrow().to_pylist(), key=str) == sorted(dataset.to_table().to_pylist(), key=str)


def test_a_column_that_is_not_declared_any_more_may_be_absent(
    catalogue: Catalogue, declared: Callable[..., TableSpec], tmp_path: Path
) -> None:
    spec = declared(area=(float, column("Area.")))
    write_table(tmp_path, spec, [spec.row(name="x", sizes=(), area=1.0)], "a")
    catalogue.publish(spec, "a", table_path(tmp_path, spec, "a"))
    spec = declared()
    write_table(tmp_path, spec, [spec.row(name="x", sizes=())], "a")
    catalogue.publish(spec, "a", table_path(tmp_path, spec, "a"))
    assert catalogue.dataset(spec).to_table().to_pydict() == {"name": ["x"], "sizes": [[]]}  # type: ignore[union-attr]


def test_a_table_rejects_a_column_of_another_type(
    catalogue: Catalogue, declared: Callable[..., TableSpec], tmp_path: Path
) -> None:
    for kind, value in ((float, 1.0), (str, "1")):
        spec = declared(area=(kind, column("Area.")))
        write_table(tmp_path, spec, [spec.row(name="x", sizes=(), area=value)], "a")
        if kind is float:
            catalogue.publish(spec, "a", table_path(tmp_path, spec, "a"))
    with pytest.raises(
        SchemaError, match=r"column area of tables.grown is double in the catalogue and string here"
    ):
        catalogue.publish(spec, "a", table_path(tmp_path, spec, "a"))


def test_a_table_rejects_a_file_of_another_table(catalogue: Catalogue, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pl.DataFrame({"a": [1]}).to_arrow(), path)
    with pytest.raises(SchemaError, match=r"a.parquet does not fit tables.splits of the catalogue"):
        catalogue.publish(SPEC, "a", path)
    assert catalogue.state("splits").shards == {}


# ---- store -----------------------------------------------------------------------------------------------


def test_a_sweep_takes_what_nothing_references_and_is_old(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue.publish(SPEC, "a", write("a", 1))
    catalogue.publish(SPEC, "a", write("a", 2))
    with monkeypatch.context() as patched:
        patched.setattr(Catalogue, "_commit", lambda *_: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Killed):
            catalogue.publish(SPEC, "b", write("b", 3))
    assert catalogue.sweep().names == ()  # all of it is young
    before = _files(catalogue)
    listed = catalogue.sweep(older=NONE)
    assert sum(name.endswith(".parquet") for name in listed.names) == 2
    assert _files(catalogue) == before
    assert set(catalogue.sweep(older=NONE, delete=True).names) >= set(listed.names)
    assert len(_files(catalogue)) == 1
    assert _rows(catalogue) == {"a": 2}
    assert catalogue.publish(SPEC, "b", write("b", 3))
    assert catalogue.publish(SPEC, "a", write("a", 1))
    assert _rows(catalogue) == {"a": 1, "b": 3}


def test_an_old_object_is_young_before_it_is_published(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep that lists an old object would take it from a publication that finds it there."""
    catalogue.publish(SPEC, "a", write("a", 1))
    catalogue.publish(SPEC, "a", write("a", 2))
    folder = Path(catalogue.store.removeprefix("file://"))
    for name in _files(catalogue):
        os.utime(folder / name, (0, 0))
    monkeypatch.setattr(Catalogue, "_commit", lambda *_: True)
    catalogue.publish(SPEC, "a", write("a", 1))
    assert sum((folder / name).stat().st_mtime > 0 for name in _files(catalogue)) == 1


def test_an_object_that_a_sweep_took_is_put_again(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Catalogue._commit

    def sweep_before(own: Catalogue, change: Any) -> bool:
        for name in _files(own):
            Path(own.store.removeprefix("file://"), name).unlink()
        return commit(own, change)

    monkeypatch.setattr(Catalogue, "_commit", sweep_before)
    catalogue.publish(SPEC, "a", write("a", 2))
    assert _rows(catalogue) == {"a": 2}


def test_a_file_that_changes_while_it_is_published_is_rejected(
    catalogue: Catalogue, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, hash_of = write("a"), published.file_sha256

    def hash_before(own: Path) -> str:
        sha256 = hash_of(own)
        write("a", 2)
        return sha256

    monkeypatch.setattr(published, "file_sha256", hash_before)
    message = f"{path} was written anew while it was published; publish it again"
    with pytest.raises(SchemaError, match=f"^{re.escape(message)}$"):
        catalogue.publish(SPEC, "a", path)
    assert not _files(catalogue)
    assert not catalogue.state("splits").shards


def test_a_damaged_object_is_said(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    catalogue.publish(SPEC, "a", write("a"))
    state = catalogue.state("splits")
    path = Path(state.files["a"].removeprefix("file://"))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(SchemaError, match=r"parquet is damaged: its content does not have its hash"):
        catalogue.fetch(state.files["a"], state.shards["a"])
    path.unlink()
    with pytest.raises(SchemaError, match=r"the catalogue names an object that is not there"):
        catalogue.fetch(state.files["a"], state.shards["a"])


def test_a_catalogue_rejects_another_store(
    catalogue: Catalogue, write: Callable[..., Path], tmp_path: Path
) -> None:
    catalogue.publish(SPEC, "a", write("a"))
    other = Catalogue(f"file://{tmp_path}/other", catalogue.database)
    with pytest.raises(CatalogueError, match=r"the catalogue has table splits at .*, not in the store"):
        other.publish(SPEC, "a", write("a"))


def test_a_catalogue_rejects_a_name_that_is_no_file(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    for name in ("../a", "", "a/b", ".a", "a,b"):
        with pytest.raises(CatalogueError, match="not a name of a shard"):
            catalogue.publish(SPEC, name, write("a"))


def test_a_database_that_does_not_answer_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assets.catalogue.CONNECT_S", 0.1)
    with pytest.raises(CatalogueError, match="Connection refused") as error:
        Catalogue(f"file://{tmp_path}/store", "postgresql://someone:geheim@127.0.0.1:9/foundry")
    assert "geheim" not in str(error.value)
    with pytest.raises(CatalogueError, match="unable to open database file"):
        Catalogue(f"file://{tmp_path}/store", f"sqlite:///{tmp_path}/no/folder.db")


def test_a_catalogue_tells_no_password(tmp_path: Path, catalogue: Catalogue) -> None:
    assert "catalogue.db" not in repr(catalogue)
    assert repr(catalogue) == f"Catalogue(store='file://{tmp_path}/store', name='simfoundry')"


def test_polars_scans_a_table(catalogue: Catalogue, write: Callable[..., Path]) -> None:
    for shard, count in (("a", 2), ("b", 3)):
        catalogue.publish(SPEC, shard, write(shard, count))
    frame = pl.scan_iceberg(catalogue.table("splits"), reader_override="pyiceberg")
    assert frame.filter(pl.col(SHARD) == "b").select(pl.len()).collect().item() == 3
    assert frame.select("program_id").collect().height == 5


def test_wall_clock_columns_are_no_part_of_the_version(catalogue: Catalogue, tmp_path: Path) -> None:
    spec, version = table_spec("labels"), catalogue.version()
    content = spec.schema(measured=True).empty_table()
    catalogue.publish(spec, "a", write_arrow(tmp_path, spec, content, "a", measured=True), measured=True)
    assert catalogue.version() == version
    assert list(catalogue.states(measured=True)) == ["labels"]
    assert catalogue.states() == {}
