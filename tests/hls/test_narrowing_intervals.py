"""Interval arithmetic against the operators themselves, on numbers drawn from the ranges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.c.analysis.intervals import (
    Range,
    constraints_of,
    join,
    meet,
    operation_range,
    refined_select,
)
from pipelines.c.arithmetic import evaluate, value_range, wrap
from pipelines.c.cdfg import Operation
from pipelines.c.ir import BINARY_OPERATORS, COMPARISONS
from pipelines.c.signature import INT8, INT16, INT32, INT64, UINT8, UINT32, UINT64, ScalarType

TYPES = st.sampled_from([INT8, UINT8, INT16, INT32, UINT32, INT64, UINT64])


@st.composite
def numbers(draw: st.DrawFn, kind: ScalarType) -> tuple[int, Range]:
    """A number of a type and a range around it; small ranges and the type's ends are likely."""
    low, high = value_range(kind)
    edges = st.sampled_from([low, high, 0, 1, low + 1, high - 1])
    any_number = st.one_of(edges, st.integers(low, high), st.integers(max(low, -20), min(high, 20)))
    values = sorted(draw(st.tuples(any_number, any_number, any_number)))
    return values[1], (values[0], values[2])


def operation(opcode: str, kind: ScalarType, *, value: int | None = None, operands: int = 2) -> Operation:
    return Operation(
        index=operands, opcode=opcode, operands=tuple(range(operands)), type=kind, line=1, value=value
    )


def leaves(count: int, kind: ScalarType = INT32) -> list[Operation]:
    """Operations that stand for values with given ranges."""
    return [Operation(index=i, opcode="read", operands=(), type=kind, line=1) for i in range(count)]


@given(st.data(), st.sampled_from(BINARY_OPERATORS), TYPES)
def test_range_of_a_binary_operator_holds_every_result(
    data: st.DataObject, opcode: str, kind: ScalarType
) -> None:
    (a, left), (b, right) = data.draw(numbers(kind)), data.draw(numbers(kind))
    result = INT32 if opcode in COMPARISONS else kind
    value = evaluate(opcode, a, b, result)
    bounds = operation_range(operation(opcode, result if opcode in COMPARISONS else kind), [left, right])
    assert bounds is not None
    assert value is None or bounds[0] <= value <= bounds[1]


@given(st.data(), st.sampled_from(["neg", "not"]), TYPES)
def test_range_of_a_unary_operator_holds_every_result(
    data: st.DataObject, opcode: str, kind: ScalarType
) -> None:
    a, own = data.draw(numbers(kind))
    bounds = operation_range(operation(opcode, kind, operands=1), [own])
    value = wrap(-a if opcode == "neg" else ~a, kind)
    assert bounds is not None
    assert bounds[0] <= value <= bounds[1]


@given(st.data(), TYPES, st.sampled_from([INT8, UINT8, INT32, ScalarType(width_bits=3, signed=False)]))
def test_range_of_a_conversion_holds_every_result(
    data: st.DataObject, source: ScalarType, kind: ScalarType
) -> None:
    a, own = data.draw(numbers(source))
    bounds = operation_range(operation("cast", kind, operands=1), [own])
    assert bounds is not None
    assert bounds[0] <= wrap(a, kind) <= bounds[1]


@given(st.data(), TYPES, st.integers(-9, 300).filter(bool))
def test_range_of_a_quotient_by_a_constant_holds_every_result(
    data: st.DataObject, kind: ScalarType, divisor: int
) -> None:
    a, own = data.draw(numbers(kind))
    bounds = operation_range(operation("divc", kind, value=divisor, operands=1), [own])
    value = evaluate("div", a, divisor, kind)
    assert bounds is not None
    assert value is None or bounds[0] <= value <= bounds[1]


@given(st.data(), st.sampled_from(COMPARISONS), st.booleans())
def test_what_a_condition_says_is_true_of_numbers_that_meet_it(
    data: st.DataObject, opcode: str, negated: bool
) -> None:
    (a, left), (b, right) = data.draw(numbers(INT8)), data.draw(numbers(INT8))
    holds = bool(evaluate(opcode, a, b, INT32))
    operations = [*leaves(2), operation(opcode, INT32)]
    ranges: list[Range | None] = [left, right, (0, 1)]
    condition, expected = 2, holds
    if negated:
        zero = Operation(index=3, opcode="const", operands=(), type=INT32, line=1, value=0)
        operations += [zero, Operation(index=4, opcode="eq", operands=(2, 3), type=INT32, line=1)]
        ranges += [(0, 0), (0, 1)]
        condition, expected = 4, not holds
    constraints = constraints_of(operations, ranges, condition, expected)
    assert constraints is not None
    for index, value in ((0, a), (1, b)):
        low, high = constraints.get(index, (value, value))
        assert low <= value <= high


@given(st.data(), st.sampled_from(COMPARISONS), st.permutations([0, 1]))
def test_range_of_a_selection_by_its_own_comparison_holds_every_result(
    data: st.DataObject, opcode: str, order: list[int]
) -> None:
    (a, left), (b, right) = data.draw(numbers(INT8)), data.draw(numbers(INT8))
    select = Operation(index=3, opcode="select", operands=(2, *order), type=INT8, line=1)
    operations = [*leaves(2, INT8), operation(opcode, INT32), select]
    compared = operation_range(operations[2], [left, right])
    bounds = refined_select(select, operations, [left, right, compared, None])
    value = (a, b)[order[0]] if evaluate(opcode, a, b, INT32) else (a, b)[order[1]]
    assert bounds is not None
    assert bounds[0] <= value <= bounds[1]


def test_clamp_is_as_narrow_as_its_bounds() -> None:
    select = Operation(index=3, opcode="select", operands=(2, 1, 0), type=INT32, line=1)
    seven = Operation(index=1, opcode="const", operands=(), type=INT32, line=1, value=7)
    operations = [leaves(1)[0], seven, operation("gt", INT32), select]
    assert refined_select(select, operations, [(0, 1000), (7, 7), (0, 1), None]) == (0, 7)


def test_ranges_join_and_meet() -> None:
    assert join((0, 3), (7, 9)) == (0, 9)
    assert meet((0, 3), (2, 9)) == (2, 3)
    assert meet((0, 3), (7, 9)) is None
