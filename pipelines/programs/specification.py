"""The input specification of a program: for each argument, how its data is drawn.

    {"A": {"kind": "uniform", "low": -16, "high": 16}, "n": {"kind": "constant", "value": 3}}

Ranges of an integer argument exclude their end. A floating argument gets real numbers, drawn in double and
rounded to its type, which may reach the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from pipelines.base.files import plain_json
from pipelines.c.signature import Argument, ScalarType
from pipelines.programs.errors import ProgramError

Drawn = NDArray[Any]
Number = int | Annotated[float, Field(allow_inf_nan=False)]

ACCEPTED = (
    '{"kind": "uniform", "low": a, "high": b} (high exclusive), '
    '{"kind": "constant", "value": v}, '
    '{"kind": "permutation"}, '
    '{"kind": "sorted", "low": a, "high": b}, '
    '{"kind": "csr_rows", "nonzeros": n}, '
    '{"kind": "dominant_lower", "low": a, "high": b}, '
    '{"kind": "positive_definite", "low": a, "high": b}, '
    '{"kind": "lu_product", "low": a, "high": b}, '
    '{"kind": "text"}, '
    '{"kind": "values", "values": [...]}'
)
"""Every kind with its fields, for error messages and the documentation."""


class _Kind(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Range(_Kind):
    low: Number
    high: Number

    @model_validator(mode="after")
    def _not_empty(self) -> _Range:
        if self.low >= self.high:
            raise ValueError(f"low must be below high, got {self.low} and {self.high}")
        return self


class Uniform(_Range):
    """Independent values, low <= value < high."""

    kind: Literal["uniform"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type."""
        if argument.type.floating:
            _require_range(argument, self.low, self.high)
            if math.isinf(float(self.high) - float(self.low)):
                raise ProgramError(
                    f"values of {argument.name} must span what a double holds, got {self.low} to {self.high}"
                )
            return _uniform(argument, self, argument.shape, generator).astype(argument.type.dtype)
        low, high = _integer_range(argument, self)
        _require_range(argument, low, high - 1)
        return np.asarray(generator.integers(low, high, argument.shape, dtype=argument.type.dtype))


class Constant(_Kind):
    """The same value everywhere."""

    kind: Literal["constant"]
    value: Number

    def draw(self, argument: Argument, _generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type."""
        _require_integers(argument, self.value)
        _require_range(argument, self.value, self.value)
        return np.full(argument.shape, self.value, dtype=argument.type.dtype)


class Permutation(_Kind):
    """Each of 0 .. elements - 1 once, in random order over the whole array."""

    kind: Literal["permutation"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type."""
        _require_range(argument, 0, argument.element_count - 1)
        order = generator.permutation(argument.element_count)
        return order.astype(argument.type.dtype).reshape(argument.shape)


class Sorted(_Range):
    """Independent values, low <= value < high, ascending over the whole array."""

    kind: Literal["sorted"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type."""
        uniform = Uniform(kind="uniform", low=self.low, high=self.high)
        drawn = uniform.draw(argument, generator).reshape(-1)
        return np.sort(drawn).reshape(argument.shape)


class CsrRows(_Kind):
    """Row pointers of a sparse matrix: ascending, first 0, last the count of nonzeros."""

    kind: Literal["csr_rows"]
    nonzeros: Annotated[int, Field(ge=0, lt=1 << 63)]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type; the shape must be (rows + 1,)."""
        if argument.type.floating:
            raise ProgramError(
                f"csr_rows needs an integer type, got {argument.name} of {argument.type.c_name}"
            )
        if len(argument.shape) != 1 or argument.shape[0] < 2:
            raise _wrong_shape(argument, "csr_rows", "one dimension of rows + 1 elements")
        _require_range(argument, 0, self.nonzeros)
        inner = generator.integers(0, self.nonzeros + 1, argument.shape[0] - 2)
        rows = np.concatenate(([0], np.sort(inner), [self.nonzeros]))
        return rows.astype(argument.type.dtype)


class Text(_Kind):
    """Lower-case letters, as many as the draw says, and zeros behind them: at least one."""

    kind: Literal["text"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type; the shape must have one dimension."""
        if argument.type.floating:
            raise ProgramError(f"text needs an integer type, got {argument.name} of {argument.type.c_name}")
        if len(argument.shape) != 1:
            raise _wrong_shape(argument, "text", "one dimension")
        letters = generator.integers(ord("a"), ord("z") + 1, argument.shape)
        count = generator.integers(0, argument.shape[0])
        return np.where(np.arange(argument.shape[0]) < count, letters, 0).astype(argument.type.dtype)


class DominantLower(_Range):
    """A lower triangle whose diagonal is 1 more than the magnitudes left of it in its row.

    Left of the diagonal low <= value < high; right of it 0. Then forward substitution never divides
    by zero and no |x| exceeds the largest |b|: by induction, with m = max |b| and d the diagonal,
    |x_i| <= (m + (d_i - 1) m) / d_i = m.
    """

    kind: Literal["dominant_lower"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type; the shape must be square."""
        return _fitted(argument, _dominant_lower(argument, self, _order(argument, self.kind), generator))


class PositiveDefinite(_Range):
    """L L^T of a lower triangle L as drawn by dominant_lower.

    Cholesky's method finds L again: in integers each quotient and root is exact, and in floating point
    it meets no pivot near zero, since every pivot is the square of a diagonal element of L, at least 1.
    """

    kind: Literal["positive_definite"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type; the shape must be square."""
        lower = _dominant_lower(argument, self, _order(argument, self.kind), generator)
        largest = np.abs(lower).sum(axis=1).max().item()
        _require_range(argument, 0, largest * largest)
        return _fitted(argument, lower @ lower.T)


class LuProduct(_Range):
    """L U: ones on the diagonal of L and one more element of at most 1 in each row, U dominant by rows.

    Right of the diagonal of U low <= value < high; the diagonal is 1 more than the magnitudes right of
    it. The other element of a row of L lies left of the diagonal; it is -1 or 1 in an integer type.
    Elimination without pivoting finds L and U again, in integers exactly. Substitution stays small: with
    m = max |b|, |y_i| <= (i + 1) m for L y = b, and no |x| exceeds the largest |y| for U x = y.
    """

    kind: Literal["lu_product"]

    def draw(self, argument: Argument, generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type; the shape must be square."""
        order = _order(argument, self.kind)
        upper = _dominant_lower(argument, self, order, generator)[::-1, ::-1]
        lower = np.eye(order, dtype=upper.dtype)
        for row in range(1, order):
            other = generator.uniform(-1, 1) if argument.type.floating else generator.integers(0, 2) * 2 - 1
            lower[row, generator.integers(0, row)] = other
        return _fitted(argument, lower @ upper)


class Values(_Kind):
    """The values themselves: nested lists of the argument's shape, or one number for a scalar."""

    kind: Literal["values"]
    values: Any

    def draw(self, argument: Argument, _generator: np.random.Generator) -> Drawn:
        """Draw the values of the argument's shape and type."""
        return values_of(argument, self.values)


ArgumentKind = Annotated[
    Uniform
    | Constant
    | Permutation
    | Sorted
    | CsrRows
    | Text
    | DominantLower
    | PositiveDefinite
    | LuProduct
    | Values,
    Field(discriminator="kind"),
]
_SPECIFICATION: TypeAdapter[dict[str, ArgumentKind]] = TypeAdapter(dict[str, ArgumentKind])


def default_kind(argument: Argument) -> Uniform:
    """Return an argument's default range: uniform -16 .. 15, unsigned 0 .. 15, floating -1 .. 1."""
    if argument.type.floating:
        return Uniform(kind="uniform", low=-1.0, high=1.0)
    low, high = default_range(argument.type)
    return Uniform(kind="uniform", low=low, high=high)


def kind_of(argument: Argument, specification: Mapping[str, ArgumentKind]) -> ArgumentKind | None:
    """Return how an argument is drawn; None for a static object that keeps its initial values."""
    if argument.static is not None:
        return specification.get(argument.name)
    return specification.get(argument.name, default_kind(argument))


def default_range(kind: ScalarType) -> tuple[int, int]:
    """Return the range of the drawn values of an integer without specification; the second is excluded."""
    return -16 if kind.signed else 0, 16


def read_specification(inputs: str) -> dict[str, ArgumentKind]:
    """Read the kind of every argument named in a JSON specification.

    Raises: ProgramError: not a JSON object of accepted kinds; the message lists them.
    """
    try:
        return _SPECIFICATION.validate_python(read_json_object(inputs))
    except ValidationError as error:
        raise ProgramError(
            f"invalid input specification: {_first_problem(error)}; accepted: {ACCEPTED}"
        ) from error


def read_json_object(text: str) -> dict[str, Any]:
    """Read a JSON object whose names are distinct at every level.

    Raises: ProgramError: anything else; the message has the position.
    """
    try:
        value = plain_json(text)
    except ValueError as error:
        raise ProgramError(f"inputs are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ProgramError(f"inputs are not a JSON object: {_short(value)}")
    return value  # pyright: ignore[reportUnknownVariableType]


def values_of(argument: Argument, value: object) -> Drawn:
    """Return the nested lists of numbers as the argument's array, or one number as its scalar.

    Raises: ProgramError: another shape, a value that is not a number of the argument's type (integers for an
            integer type, finite numbers for a floating one), or one out of range.
    """
    flat: list[int | float] = []
    _flatten(argument, value, argument.shape, flat)
    if flat:
        _require_range(argument, min(flat), max(flat))
    return np.array(flat, dtype=argument.type.dtype).reshape(argument.shape)


def _flatten(argument: Argument, value: object, shape: tuple[int, ...], flat: list[int | float]) -> None:
    if not shape:
        flat.append(_number(argument, value))
        return
    if not isinstance(value, list) or len(value) != shape[0]:  # pyright: ignore[reportUnknownArgumentType]
        got = f"a list of {len(value)}" if isinstance(value, list) else _short(value)  # pyright: ignore[reportUnknownArgumentType]
        is_sized = len(argument.shape) == 1 and argument.static is None
        remedy = f"; #pragma simfoundry size {argument.name}=N sets those of a pointer" if is_sized else ""
        raise ProgramError(
            f"values of {argument.name} must have the shape {_shape_text(argument)}, "
            f"got {got} where {shape[0]} elements belong{remedy}"
        )
    for inner in value:  # pyright: ignore[reportUnknownVariableType]
        _flatten(argument, inner, shape[1:], flat)  # pyright: ignore[reportUnknownArgumentType]


def _number(argument: Argument, value: object) -> int | float:
    kinds = (int, float) if argument.type.floating else (int,)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ProgramError(
            f"values of {argument.name} must be {_numbers(argument)} in the shape {_shape_text(argument)}, "
            f"got {_short(value)}"
        )
    return value


def _numbers(argument: Argument) -> str:
    return "finite numbers" if argument.type.floating else "integers"


def _require_integers(argument: Argument, *values: int | float) -> None:
    for value in values:
        if not argument.type.floating and not isinstance(value, int):
            raise ProgramError(f"values of {argument.name} must be integers, got {_short(value)}")


def _require_range(argument: Argument, lowest: int | float, highest: int | float) -> None:
    lower, upper = _limits(argument)
    if lowest < lower or highest > upper or math.inf in (-lowest, highest):
        wrong = lowest if lowest < lower else highest
        raise ProgramError(
            f"values of {argument.name} must fit {argument.type.c_name}, {lower} .. {upper}, "
            f"got {_short(wrong)}"
        )


def _limits(argument: Argument) -> tuple[int | float, int | float]:
    if argument.type.floating:
        largest = float(np.finfo(argument.type.dtype).max)
        return -largest, largest
    limits = np.iinfo(argument.type.dtype)
    return int(limits.min), int(limits.max)


# ---- drawing ---------------------------------------------------------------------------------------


def _integer_range(argument: Argument, bounds: _Range) -> tuple[int, int]:
    _require_integers(argument, bounds.low, bounds.high)
    return int(bounds.low), int(bounds.high)


def _uniform(
    argument: Argument, bounds: _Range, shape: tuple[int, ...], generator: np.random.Generator
) -> Drawn:
    """Return the values of a range in int64 or double."""
    if argument.type.floating:
        return np.asarray(generator.uniform(bounds.low, bounds.high, shape))
    low, high = _integer_range(argument, bounds)
    return np.asarray(generator.integers(low, high, shape))


def _dominant_lower(argument: Argument, bounds: _Range, order: int, generator: np.random.Generator) -> Drawn:
    farthest = bounds.high if argument.type.floating else bounds.high - 1
    widest = (order - 1) * max(abs(bounds.low), abs(farthest)) + 1
    _require_range(argument, min(bounds.low, 0), max(farthest, widest))
    left = np.tril(_uniform(argument, bounds, (order, order), generator), -1)
    return left + np.diag(1 + np.abs(left).sum(axis=1))


def _fitted(argument: Argument, values: Drawn) -> Drawn:
    _require_range(argument, values.min().item(), values.max().item())
    return values.astype(argument.type.dtype)


def _order(argument: Argument, kind: str) -> int:
    """Return the rows of a square matrix.

    Raises: ProgramError: the argument is not a square matrix.
    """
    shape = argument.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise _wrong_shape(argument, kind, "a square matrix")
    return shape[0]


# ---- messages --------------------------------------------------------------------------------------


def _wrong_shape(argument: Argument, kind: str, accepted: str) -> ProgramError:
    return ProgramError(f"{kind} needs {accepted}, got {argument.name} of shape {_shape_text(argument)}")


def _shape_text(argument: Argument) -> str:
    return "[" + "][".join(map(str, argument.shape)) + "]" if argument.shape else _one(argument)


def _one(argument: Argument) -> str:
    return "one number" if argument.type.floating else "one integer"


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{_short(first['input'])} at {place or 'the top'} ({first['msg']})"


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**40 else "a huge integer"
    return text if len(text) <= 60 else text[:57] + "..."
