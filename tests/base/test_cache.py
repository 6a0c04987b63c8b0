"""The content-addressed store: what was put comes back, and damage is absence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from pipelines.cache import ContentCache

KEY = "ab12cd"


@pytest.fixture
def cache(tmp_path: Path) -> ContentCache:
    return ContentCache(folder=tmp_path / "a folder; with 'quotes'")


def _only_file(cache: ContentCache) -> Path:
    (file,) = (p for p in cache.folder.rglob("*") if p.is_file())
    return file


def test_what_was_put_comes_back(cache: ContentCache) -> None:
    value = {"rows": [1, 2.5, None, "µ"], "ok": True}
    cache.put("labels", KEY, value)
    assert cache.get("labels", KEY) == value


def test_absent_is_none_and_kinds_are_apart(cache: ContentCache) -> None:
    cache.put("labels", KEY, 1)
    assert cache.get("labels", "ab12ce") is None
    assert cache.get("designs", KEY) is None


def test_the_last_put_wins(cache: ContentCache) -> None:
    cache.put("labels", KEY, 1)
    cache.put("labels", KEY, 2)
    assert cache.get("labels", KEY) == 2
    _only_file(cache)


def test_the_same_value_gives_the_same_bytes(cache: ContentCache, tmp_path: Path) -> None:
    other = ContentCache(folder=tmp_path / "other")
    for store in (cache, other):
        store.put("labels", KEY, {"a": 1})
    content = _only_file(cache).read_bytes()
    assert content == _only_file(other).read_bytes()
    assert content[4:8] == bytes(4), "the time field of gzip stays empty"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not gzip",
        gzip.compress(b'{"half":'),
        gzip.compress(b"[1, 2, 3]" * 99)[:-9],
        gzip.compress(b"1")[:10] + bytes([0b111]) + b"a block of no known kind",
    ],
    ids=["empty", "not gzip", "not json", "cut short", "not deflate"],
)
def test_a_damaged_entry_is_absent_and_can_be_put_again(cache: ContentCache, content: bytes) -> None:
    cache.put("labels", KEY, 1)
    _only_file(cache).write_bytes(content)
    assert cache.get("labels", KEY) is None
    cache.put("labels", KEY, 1)
    assert cache.get("labels", KEY) == 1


def test_put_rejects_what_json_cannot_hold_and_stores_nothing(cache: ContentCache) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        cache.put("labels", KEY, {1, 2})
    assert cache.get("labels", KEY) is None
