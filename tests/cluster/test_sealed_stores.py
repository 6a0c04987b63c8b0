"""Sealed entries in a store that several machines share: written once, damage noticed, no credential told."""

from __future__ import annotations

import pickle
import socket
import sys
import threading
import uuid
from pathlib import Path
from threading import Barrier

import pyarrow as pa
import pytest

from assets.errors import ExtraMissing, FoundryError
from assets.stores import _knock, credentials, hide_secrets, open_client, open_sealed
from pipelines.base.cache import ContentCache
from pipelines.base.sealing import FolderStore, ObjectStore, SealedStore, StoreError

NAME = "labels/ab/labels-ab12.json"
KEY = "ab12"


@pytest.fixture(params=["folder", "file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SealedStore:
    if request.param == "folder":
        return FolderStore(tmp_path / "entries")
    if request.param == "file":
        return open_sealed(f"file://{tmp_path}/entries")
    return open_sealed(f"memory:///{uuid.uuid4().hex}")


@pytest.fixture
def shared(tmp_path: Path) -> ObjectStore:
    return open_sealed(f"file://{tmp_path}/shared")


def test_an_entry_is_written_once(store: SealedStore) -> None:
    assert store.read(NAME) is None
    store.write(NAME, b"first")
    store.write(NAME, b"second")
    assert store.read(NAME) == b"first"
    store.write(NAME, b"third", replace=True)
    assert store.read(NAME) == b"third"


def test_all_stores_have_the_same_bytes(tmp_path: Path, shared: ObjectStore) -> None:
    FolderStore(tmp_path / "folder").write(NAME, b"content")
    shared.write(NAME, b"content")
    ContentCache(folder=tmp_path / "cache").put("labels", KEY, 1)
    assert (tmp_path / "shared" / NAME).read_bytes() == (tmp_path / "folder" / NAME).read_bytes()
    assert (tmp_path / "cache" / NAME).is_file()


def test_a_damaged_entry_is_said_and_replaced(
    tmp_path: Path, shared: ObjectStore, caplog: pytest.LogCaptureFixture
) -> None:
    shared.write(NAME, b"content")
    (tmp_path / "shared" / NAME).write_bytes(b"x" * 40)
    assert shared.read(NAME) is None
    message = f"damaged file, made again: {shared.url}/{NAME} (its content does not have its hash)"
    assert caplog.messages == [message]
    shared.write(NAME, b"content")
    assert shared.read(NAME) == b"content"


def test_an_entry_of_another_name_is_damaged(tmp_path: Path, shared: ObjectStore) -> None:
    shared.write(NAME, b"content")
    (tmp_path / "shared" / NAME).rename(tmp_path / "shared/labels/ab/labels-ab13.json")
    assert shared.read("labels/ab/labels-ab13.json") is None


def test_machines_share_what_one_of_them_made(tmp_path: Path, shared: ObjectStore) -> None:
    one, other = (ContentCache(folder=tmp_path / name, shared=shared) for name in ("one", "other"))
    calls: list[str] = []

    def make() -> int:
        calls.append("made")
        return 7

    assert [cache.cached("labels", KEY, make, int) for cache in (one, other, other)] == [7, 7, 7]
    assert calls == ["made"]
    assert (tmp_path / "other" / NAME).read_bytes() == (tmp_path / "one" / NAME).read_bytes()
    (tmp_path / "shared" / NAME).unlink()
    assert other.get("labels", KEY) == 7


def test_entries_of_a_store_are_read_many_at_a_time(tmp_path: Path) -> None:
    both, one = Barrier(2, timeout=10), FolderStore(tmp_path / "shared")

    class Meeting(FolderStore):
        def read(self, name: str) -> bytes | None:
            both.wait()  # only if two are read at once
            return one.read(name)

    keys = [f"{number:032x}" for number in range(4)]
    for number, key in enumerate(keys[:3]):
        ContentCache(folder=tmp_path / "first", shared=one).put("labels", key, number)
    cache = ContentCache(folder=tmp_path / "second", shared=Meeting(tmp_path))
    assert cache.read_each(lambda key: cache.get("labels", key), keys) == [0, 1, 2, None]
    local = ContentCache(folder=tmp_path / "second")
    assert local.read_each(lambda key: local.get("labels", key), keys) == [0, 1, 2, None]


def test_columns_of_another_schema_are_replaced_in_the_store(tmp_path: Path, shared: ObjectStore) -> None:
    before, after = pa.table({"a": [1]}), pa.table({"b": [2.5]})
    one = ContentCache(folder=tmp_path / "one", shared=shared)
    one.put_table("graphs", KEY, before)
    other = ContentCache(folder=tmp_path / "other", shared=shared)
    assert other.cached_table("graphs", KEY, after.schema, lambda: after).equals(after)
    third = ContentCache(folder=tmp_path / "third", shared=shared)
    assert third.cached_table("graphs", KEY, after.schema, lambda: pytest.fail("made again")).equals(after)


def test_a_store_is_pickled_as_its_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-nobody-1234")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-nobody-1234")
    store = open_sealed("s3://bucket/team")
    content = pickle.dumps(ContentCache(folder=Path("cache"), shared=store))
    assert b"nobody" not in content
    assert "nobody" not in repr(store)
    again: ContentCache = pickle.loads(content)
    assert again.shared == store
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(
        FoundryError, match=r"not set: AWS_SECRET_ACCESS_KEY; the store s3://bucket/team needs them"
    ):
        pickle.loads(content)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("gs://bucket", "not the URL of a store: gs://bucket; accepted: s3://BUCKET/PREFIX"),
        ("s3:///no-bucket", "not the URL of a store"),
        ("file://host/folder", "not the URL of a store"),
        ("memory:///", "not the URL of a store"),
        ("data/store", "not the URL of a store"),
        ("s3://key:geheim@bucket", "the URL of a store has a user, a query or a fragment: s3://\\*\\*\\*"),
        ("s3://bucket?secret=geheim", "the URL of a store has a user, a query or a fragment"),
    ],
)
def test_a_store_rejects_another_url(url: str, message: str) -> None:
    with pytest.raises(FoundryError, match=message) as error:
        open_client(url)
    assert "geheim" not in str(error.value)


def test_credentials_are_hidden_in_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "schluessel")
    text = "request of schluessel with geheim and p%40ss, p@ss"
    assert hide_secrets(text, "postgresql://user:p%40ss@host/db") == "request of *** with *** and ***, ***"
    assert credentials("file:///folder") == {}


def test_a_server_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import timedelta

    from obstore.store import S3Store

    client = S3Store(
        "bucket",
        endpoint="http://127.0.0.1:9",
        access_key_id="key-of-nobody-1234",
        secret_access_key="secret-of-nobody-1234",
        region="us-east-1",
        client_options={"allow_http": True},
        retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=1)},
    )
    store = ObjectStore("s3://bucket", client, open_sealed)
    for call in (lambda: store.read(NAME), lambda: store.write(NAME, b"content")):
        with pytest.raises(StoreError, match=r"^s3://bucket: the object store does not answer$") as error:
            call()
        assert error.value.__cause__ is None


def test_a_store_without_its_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    monkeypatch.setattr("assets.errors.extras_of", lambda module: ["cluster"] if module == "obstore" else [])
    with pytest.raises(ExtraMissing, match=r'obstore is not installed; .*pip install "\.\[cluster\]"'):
        open_sealed(f"memory:///{uuid.uuid4().hex}")


@pytest.fixture
def credentials_of_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "schluessel")
    _knock.cache_clear()


@pytest.mark.usefixtures("credentials_of_a_store")
def test_a_store_that_never_answers_is_an_error_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:geheim@127.0.0.1:9")
    monkeypatch.setattr("assets.stores.RETRY_S", 0.1)
    words = r"^the store does not answer at http://127\.0\.0\.1:9 \(AWS_ENDPOINT_URL: Connection refused\)"
    with pytest.raises(FoundryError, match=words):
        open_client("s3://foundry/tables")


@pytest.mark.usefixtures("credentials_of_a_store")
def test_a_store_that_starts_late_is_waited_for_and_named_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        starting = threading.Timer(1.2, server.listen)
        starting.start()
        for folder in ("tables", "cache"):
            open_client(f"s3://foundry/{folder}")
        starting.join()
    (warning,) = caplog.records
    assert warning.getMessage().endswith("it is waited for, at most 90 s")
