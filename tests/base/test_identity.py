"""Equal content has equal ids, different content has different ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.base.identity import canonical_json, content_hash, text_sha256

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_content_hash_is_the_same_on_every_machine() -> None:
    # echo -n '["gemm",{"a":1,"b":[2.5,null]}]' | sha256sum
    value = {"b": [2.5, None], "a": 1}
    assert canonical_json(["gemm", value]) == '["gemm",{"a":1,"b":[2.5,null]}]'
    assert content_hash("gemm", value) == "5f77cd388b70d484a4d4cbb83347ce1a"


def test_text_sha256_is_of_the_utf8_bytes() -> None:
    # printf 'µ' | sha256sum
    assert text_sha256("µ") == "5a072f1be4c3ee04849a9ad686b287d12d6a99dc4eba13c7a2ca1844e7923a0a"


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_content_hash_forgets_the_order_of_keys(value: dict[str, object]) -> None:
    assert content_hash(value) == content_hash(dict(reversed(value.items())))


@given(JSON, JSON)
def test_different_content_has_different_canonical_json(one: object, other: object) -> None:
    assert (canonical_json(one) == canonical_json(other)) == (repr_of(one) == repr_of(other))


def repr_of(value: object) -> object:
    """The value with True and 1 told apart and the order of keys forgotten."""
    if isinstance(value, dict):
        return ("dict", frozenset((k, repr_of(v)) for k, v in value.items()))
    if isinstance(value, list):
        return ("list", tuple(repr_of(v) for v in value))
    return (type(value).__name__, value)


def test_parts_are_kept_apart() -> None:
    assert len({content_hash("ab", "c"), content_hash("a", "bc"), content_hash(["ab", "c"])}) == 3


def test_content_hash_rejects_what_json_cannot_hold() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        content_hash({1, 2})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_canonical_json_rejects_what_json_has_not(number: float) -> None:
    for call in (canonical_json, content_hash):
        with pytest.raises(ValueError, match=r"^Out of range float values are not JSON compliant"):
            call({"a": [number]})
