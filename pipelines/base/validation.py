"""JSON and YAML that people write against a pydantic model: strict types, and errors in their words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from pipelines.base.files import plain_json, shown

M = TypeVar("M", bound=BaseModel)
_THE_FILE = "the file"
_ACCEPTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "list_type": "a list",
    "literal_error": "{expected}",
    "string_pattern_mismatch": "text that matches {pattern}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "string_type": "text",
    "too_long": "at most {max_length} items",
    "too_short": "at least {min_length} items",
    "tuple_type": "a list",
    **dict.fromkeys(
        ("dataclass_type", "dict_type", "model_attributes_type", "model_type"), "names and values"
    ),
}
"""What is accepted by pydantic's type of an error; others keep its message."""


def _whole(value: Any) -> Any:
    """Return a float without a fraction as a whole number, such as 1e9."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Count: TypeAlias = Annotated[int, Field(ge=1)]
Positive: TypeAlias = Annotated[float, Field(gt=0)]
Fraction: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number, also written as 1e9; strict models refuse text and truth values."""


def some_of(choices: Sequence[str]) -> Any:
    """Return a non-empty list of some of the choices, kept in their order and without repeats."""

    def check(names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in names if name not in choices]
        if unknown or not names:
            raise ValueError(f"{', '.join(unknown) or 'none'}; accepted: some of {', '.join(choices)}")
        return tuple(choice for choice in choices if choice in names)

    return AfterValidator(check)


def one_of(choices: Sequence[str]) -> Any:
    """Return one of the choices."""

    def check(name: str) -> str:
        if name not in choices:
            raise ValueError(f"{name}; accepted: {', '.join(choices)}")
        return name

    return AfterValidator(check)


UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
"""Types of pydantic's errors about keys that a model or a dataclass does not have."""


class NotJson(ValueError):
    """A file that is not JSON; the message says where."""


def parse_json_model(content: bytes, model: type[M]) -> M:
    """Parse the value of JSON that a person wrote: types are strict, names in an object distinct.

    Raises: NotJson: not JSON in UTF-8. ValidationError: not of the model, see `describe_invalid`.
    """
    try:
        plain_json(content.decode("utf-8"), keeps=False)
    except UnicodeDecodeError as error:
        raise NotJson(f"not UTF-8: byte 0x{content[error.start]:02x} at {error.start}") from error
    except ValueError as error:
        raise NotJson(f"not JSON: {error}") from error
    return model.model_validate_json(content, strict=True)


def describe_invalid(error: ValidationError, model: type[Any], path: Path | str) -> str:
    """Describe the first problem: key, value and what is accepted; a rule of ours has its own words.

    An unknown key comes first, because a misspelt one is missing, too. The errors of an engine's own class
    name their key.
    """
    first = min(error.errors(include_url=False), key=lambda problem: problem["type"] not in UNKNOWN_KEY)
    context: Mapping[str, Any] = first.get("ctx", {})
    key = ".".join(str(part) for part in first["loc"])
    if isinstance(own := context.get("error"), ValueError):
        problem, separator, accepted = str(own).partition("; accepted")
        named = f"{key}: {problem}" if key and type(own) is ValueError else problem
        return f"{named} ({path}){separator}{accepted}"
    key = key or _THE_FILE
    if first["type"] in UNKNOWN_KEY:
        return f"unknown key: {key} ({path}); accepted: {', '.join(_keys(model, first['loc'][:-1]))}"
    if first["type"] == "missing":
        needed = _keys(model, first["loc"][:-1], needed=True)
        return f"missing key: {key} ({path}); needed: {', '.join(needed)}"
    accepted = _ACCEPTED.get(first["type"])
    if accepted is None:
        return f"{key}: {first['msg']} ({path})"
    limits = {name: _plain(limit) for name, limit in context.items()}
    return f"{key}: {_in_words(first['input'])} ({path}); accepted: {accepted.format(**limits)}"


def _plain(limit: Any) -> Any:
    """Return a limit without the point of whole floats, or the values of a literal without quotes."""
    return limit.replace("'", "") if isinstance(limit, str) else _whole(limit)


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "names and values" if value else "nothing"
    if isinstance(value, list | tuple):
        return f"a list of {len(cast('list[Any]', value))}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return shown(json.dumps(value, ensure_ascii=False, default=str))


def _keys(model: type[Any], place: tuple[int | str, ...], *, needed: bool = False) -> list[str]:
    """Return the keys that a model has at a place, all or those without a default."""
    kinds = [model]
    for part in place:
        kinds = [kind for outer in kinds for kind in _inner(outer, part)]
    keys = (key for kind in kinds for key in keys_of(kind) if not needed or key.is_needed)
    return list(dict.fromkeys(key.name for key in keys))


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of a model or dataclass: its type, and whether it has no default."""

    name: str
    kind: Any
    is_needed: bool


def is_model(kind: Any) -> bool:
    """Tell whether a type has keys: a model or a dataclass."""
    return isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, BaseModel))


def keys_of(model: type[Any]) -> list[Key]:
    """Return the keys of a model or a dataclass, in the order of their declaration."""
    if not is_dataclass(model):
        declared = model.model_fields.items()
        return [Key(name=name, kind=one.annotation, is_needed=one.is_required()) for name, one in declared]
    kinds = get_type_hints(model)
    return [
        Key(name=one.name, kind=kinds[one.name], is_needed=one.default is one.default_factory is MISSING)
        for one in fields(model)
    ]


def _inner(model: type[Any], part: int | str) -> list[type[Any]]:
    """Return the models behind a key of a model; a list's indices or a mapping's names share one."""
    kinds = [key.kind for key in keys_of(model) if key.name == part]
    return list(_models(kinds[0])) if kinds else [model]


def _models(annotation: Any) -> Iterator[type[Any]]:
    if get_origin(annotation) is None:
        if is_model(annotation):
            yield annotation
        return
    for argument in get_args(annotation):
        yield from _models(argument)
