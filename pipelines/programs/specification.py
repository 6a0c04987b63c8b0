"""The input specification of a program: for each argument, how its data is drawn.

Belongs here: the accepted kinds, reading them from JSON, and drawing each. Does not: whole
interfaces (data.py) or which kernel uses what (catalogue.py).

    {"A": {"kind": "uniform", "low": -16, "high": 16}, "n": {"kind": "constant", "value": 3}}
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from pipelines.interface import Argument
from pipelines.programs.errors import ProgramError

IntArray = NDArray[np.integer]

ACCEPTED = (
    '{"kind": "uniform", "low": a, "high": b} (high exclusive), '
    '{"kind": "constant", "value": v}, '
    '{"kind": "permutation"}, '
    '{"kind": "sorted", "low": a, "high": b}, '
    '{"kind": "csr_rows", "nonzeros": n}, '
    '{"kind": "dominant_lower", "low": a, "high": b}, '
    '{"kind": "values", "values": [...]}'
)
"""Every kind with its fields, for error messages and the documentation."""


class _Kind(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Range(_Kind):
    low: int
    high: int

    @model_validator(mode="after")
    def _not_empty(self) -> _Range:
        if self.low >= self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")
        return self


class Uniform(_Range):
    """Independent integers, low <= value < high."""

    kind: Literal["uniform"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> IntArray:
        """Values of the argument's shape and type."""
        _require_range(argument, self.low, self.high - 1)
        return np.asarray(generator.integers(self.low, self.high, argument.shape, dtype=argument.type.dtype))


class Constant(_Kind):
    """The same integer everywhere."""

    kind: Literal["constant"]
    value: int

    def draw(self, argument: Argument, _generator: np.random.Generator) -> IntArray:
        """Values of the argument's shape and type."""
        _require_range(argument, self.value, self.value)
        return np.full(argument.shape, self.value, dtype=argument.type.dtype)


class Permutation(_Kind):
    """Each of 0 .. elements - 1 once, in random order over the whole array."""

    kind: Literal["permutation"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> IntArray:
        """Values of the argument's shape and type."""
        _require_range(argument, 0, argument.element_count - 1)
        order = generator.permutation(argument.element_count)
        return order.astype(argument.type.dtype).reshape(argument.shape)


class Sorted(_Range):
    """Independent integers, low <= value < high, ascending over the whole array."""

    kind: Literal["sorted"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> IntArray:
        """Values of the argument's shape and type."""
        uniform = Uniform(kind="uniform", low=self.low, high=self.high)
        drawn = uniform.draw(argument, generator).reshape(-1)
        return np.sort(drawn).reshape(argument.shape)


class CsrRows(_Kind):
    """Row pointers of a sparse matrix: ascending, first 0, last the count of nonzeros."""

    kind: Literal["csr_rows"]
    nonzeros: Annotated[int, Field(ge=0)]

    def draw(self, argument: Argument, generator: np.random.Generator) -> IntArray:
        """Values of the argument's shape and type; the shape must be (rows + 1,)."""
        if len(argument.shape) != 1 or argument.shape[0] < 2:
            raise _wrong_shape(argument, "csr_rows", "one dimension of rows + 1 elements")
        _require_range(argument, 0, self.nonzeros)
        inner = generator.integers(0, self.nonzeros + 1, argument.shape[0] - 2)
        rows = np.concatenate(([0], np.sort(inner), [self.nonzeros]))
        return rows.astype(argument.type.dtype)


class DominantLower(_Range):
    """A lower triangle whose diagonal is 1 more than the magnitudes left of it in its row.

    Left of the diagonal low <= value < high; right of it 0. Then forward substitution never divides
    by zero and no |x| exceeds the largest |b|: by induction, with m = max |b| and d the diagonal,
    |x_i| <= (m + (d_i - 1) m) / d_i = m.
    """

    kind: Literal["dominant_lower"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> IntArray:
        """Values of the argument's shape and type; the shape must be square."""
        shape = argument.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise _wrong_shape(argument, "dominant_lower", "a square matrix")
        widest = (shape[0] - 1) * max(abs(self.low), abs(self.high - 1)) + 1
        _require_range(argument, min(self.low, 0), max(self.high - 1, widest))
        left = np.tril(generator.integers(self.low, self.high, shape), -1)
        return (left + np.diag(1 + np.abs(left).sum(axis=1))).astype(argument.type.dtype)


class Values(_Kind):
    """The values themselves: nested lists of the argument's shape, or one integer for a scalar."""

    kind: Literal["values"]
    values: Any

    def draw(self, argument: Argument, _generator: np.random.Generator) -> IntArray:
        """Values of the argument's shape and type."""
        return integers_of(argument, self.values)


ArgumentKind = Annotated[
    Uniform | Constant | Permutation | Sorted | CsrRows | DominantLower | Values,
    Field(discriminator="kind"),
]
_SPECIFICATION: TypeAdapter[dict[str, ArgumentKind]] = TypeAdapter(dict[str, ArgumentKind])


def default_kind(argument: Argument) -> Uniform:
    """What an argument that is not named gets: uniform -16 .. 15, or 0 .. 15 when unsigned."""
    return Uniform(kind="uniform", low=-16 if argument.type.signed else 0, high=16)


def read_specification(inputs: str) -> dict[str, ArgumentKind]:
    """The kind of every argument named in a JSON specification.

    Raises: ProgramError: not a JSON object of accepted kinds; the message lists them.
    """
    try:
        return _SPECIFICATION.validate_python(read_json_object(inputs))
    except ValidationError as error:
        raise ProgramError(
            f"an input specification must give each argument an accepted kind, "
            f"got {_first_problem(error)}; accepted: {ACCEPTED}"
        ) from error


def read_json_object(text: str) -> dict[str, Any]:
    """A JSON object whose names are distinct at every level.

    Raises: ProgramError: anything else; the message says where.
    """
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"input data must be a JSON object, got {error}") from error
    if not isinstance(value, dict):
        raise ProgramError(f"input data must be a JSON object, got {_short(value)}")
    return value  # pyright: ignore[reportUnknownVariableType]


def integers_of(argument: Argument, value: object) -> IntArray:
    """Nested lists of integers as the argument's array, or one integer as its scalar.

    Raises: ProgramError: another shape, something that is no integer, or one out of range.
    """
    flat: list[int] = []
    _flatten(argument, value, argument.shape, flat)
    if flat:
        _require_range(argument, min(flat), max(flat))
    return np.array(flat, dtype=argument.type.dtype).reshape(argument.shape)


def _flatten(argument: Argument, value: object, shape: tuple[int, ...], flat: list[int]) -> None:
    if not shape:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ProgramError(
                f"values of {argument.name} must be integers in the shape {_shape_text(argument)}, "
                f"got {_short(value)}"
            )
        flat.append(value)
        return
    if not isinstance(value, list) or len(value) != shape[0]:  # pyright: ignore[reportUnknownArgumentType]
        got = f"a list of {len(value)}" if isinstance(value, list) else _short(value)  # pyright: ignore[reportUnknownArgumentType]
        raise ProgramError(
            f"values of {argument.name} must have the shape {_shape_text(argument)}, "
            f"got {got} where {shape[0]} elements belong"
        )
    for inner in value:  # pyright: ignore[reportUnknownVariableType]
        _flatten(argument, inner, shape[1:], flat)  # pyright: ignore[reportUnknownArgumentType]


def _require_range(argument: Argument, lowest: int, highest: int) -> None:
    limits = np.iinfo(argument.type.dtype)
    if lowest < limits.min or highest > limits.max:
        wrong = lowest if lowest < limits.min else highest
        raise ProgramError(
            f"values of {argument.name} must fit {argument.type.c_name}, "
            f"{limits.min} .. {limits.max}, got {_short(wrong)}"
        )


def _wrong_shape(argument: Argument, kind: str, wanted: str) -> ProgramError:
    return ProgramError(f"{kind} needs {wanted}, got {argument.name} of shape {_shape_text(argument)}")


def _shape_text(argument: Argument) -> str:
    return "[" + "][".join(map(str, argument.shape)) + "]" if argument.shape else "one integer"


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the name {_short(name)} twice in one object")
        result[name] = value
    return result


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{_short(first['input'])} at {place or 'the top'} ({first['msg']})"


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**40 else "a huge integer"
    return text if len(text) <= 60 else text[:57] + "..."
