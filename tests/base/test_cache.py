"""The content-addressed store: what was put comes back, and damage is absence."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines.base.cache import ContentCache

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
    assert _only_file(cache).read_bytes() == _only_file(other).read_bytes()


@pytest.mark.parametrize("content", [b"", b"not sealed", bytes(64)], ids=["empty", "text", "zeros"])
def test_a_damaged_entry_is_absent_and_can_be_put_again(
    cache: ContentCache, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cache.put("labels", KEY, 1)
    _only_file(cache).write_bytes(content)
    assert cache.get("labels", KEY) is None
    (said,) = caplog.messages
    assert said == f"damaged file, made again: {_only_file(cache)} (its content does not have its hash)"
    cache.put("labels", KEY, 1)
    assert cache.get("labels", KEY) == 1


def test_every_flipped_bit_makes_an_entry_absent(cache: ContentCache) -> None:
    table = pa.table({"area_um2": [12.5, 99.0], "name": ["a", "b"]})
    cache.put("labels", KEY, {"area_um2": [12.5, 99.0]})
    cache.put_table("graphs", KEY, table)
    draw = random.Random(0)
    for read in (lambda: cache.get("labels", KEY), lambda: cache.get_table("graphs", KEY)):
        path = next(cache.folder.glob("graphs/*/*" if read() == table else "labels/*/*"))
        whole = path.read_bytes()
        for place in draw.sample(range(8 * len(whole)), 200):
            flipped = bytearray(whole)
            flipped[place // 8] ^= 1 << place % 8
            path.write_bytes(flipped)
            assert read() is None, f"bit {place} of {path.name}"
        path.write_bytes(whole)
        assert read() is not None


def test_an_entry_under_the_name_of_another_is_absent(cache: ContentCache) -> None:
    cache.put("labels", KEY, 1)
    own = _only_file(cache)
    own.rename(own.with_name(own.name.replace(KEY, "ab12ce")))
    assert cache.get("labels", "ab12ce") is None


@pytest.mark.parametrize("status", ["ok", "rejected", "infeasible", "timeout", None])
def test_outcomes_that_follow_from_the_inputs_are_kept(cache: ContentCache, status: str | None) -> None:
    assert cache.keep("labels", KEY, {"status": status}, status)
    assert cache.get("labels", KEY) == {"status": status}


def test_what_the_machine_may_have_failed_at_is_not_kept(cache: ContentCache) -> None:
    rows = [{"status": "ok"}, {"status": "tool_error", "reason": "No space left on device"}]
    assert not cache.keep("exploration", KEY, rows, *(row["status"] for row in rows))
    assert cache.get("exploration", KEY) is None


def test_put_rejects_numbers_that_json_cannot_hold(cache: ContentCache) -> None:
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        cache.put("labels", KEY, {"area_um2": math.nan})
    assert cache.get("labels", KEY) is None


def test_put_rejects_what_json_cannot_hold_and_stores_nothing(cache: ContentCache) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        cache.put("labels", KEY, {1, 2})
    assert cache.get("labels", KEY) is None


@dataclass(frozen=True, kw_only=True)
class Part:
    """A value with a status."""

    name: str
    status: str = "ok"


def part(stored: dict[str, str]) -> Part:
    return Part(**stored)


def refuse() -> Part:
    raise AssertionError("made again")


def test_a_cached_value_is_made_once(cache: ContentCache) -> None:
    assert cache.cached("part", "ab", lambda: Part(name="a"), part) == Part(name="a")
    assert cache.cached("part", "ab", refuse, part) == Part(name="a")
    assert cache.get("part", "ab") == {"name": "a", "status": "ok"}


def test_cached_parts_are_a_list(cache: ContentCache) -> None:
    def read(stored: list[dict[str, str]]) -> list[Part]:
        return [part(one) for one in stored]

    parts = [Part(name="a"), Part(name="b")]
    assert cache.cached("parts", "ab", lambda: parts, read) == parts
    assert cache.cached("parts", "ab", list[Part], read) == parts


def test_a_cached_failure_is_tried_again(cache: ContentCache) -> None:
    failed = Part(name="a", status="tool_error")

    def statuses(value: Part) -> tuple[str]:
        return (value.status,)

    assert cache.cached("part", "ab", lambda: failed, part, statuses=statuses) == failed
    assert cache.cached("part", "ab", lambda: Part(name="a"), part, statuses=statuses).status == "ok"


def test_a_cached_table_of_another_schema_is_made_again(cache: ContentCache) -> None:
    old, new = pa.table({"a": [1]}), pa.table({"b": [2]})
    cache.put_table("table", "ab", old)
    assert cache.cached_table("table", "ab", new.schema, lambda: new) == new
    assert cache.cached_table("table", "ab", new.schema, lambda: old) == new
