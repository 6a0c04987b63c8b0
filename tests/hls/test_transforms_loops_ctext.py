"""Structured IR printed as C means what the program means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from random_programs import random_program
from transform_support import assert_same_meaning, draw_arguments

from pipelines.c import ir, read_function
from pipelines.c.arithmetic import evaluate, float_constant, make_cast
from pipelines.c.frontend import interface_of
from pipelines.c.signature import (
    DOUBLE,
    FLOAT,
    INT32,
    INT64,
    UINT8,
    UINT32,
    Bank,
    BankDimension,
    ScalarType,
)
from pipelines.native import run_native
from pipelines.programs import draw_data
from tests.hls.ctext import c_text, constant_text


@pytest.mark.parametrize("seed", range(2))
def test_text_of_a_program_computes_what_the_program_computes(seed: int, tmp_path: Path) -> None:
    program = random_program(300 + seed)
    function = read_function(program.source, top=program.top)
    interface = interface_of(function)
    data = draw_data(interface, program.inputs, seed=seed)
    first = run_native(program.source, interface, data, folder=tmp_path / "source")
    second = run_native(c_text(function, name=program.top), interface, data, folder=tmp_path / "text")
    assert (first.status, second.status) == ("ok", "ok"), (first.reason, second.reason)
    assert first.returned == second.returned
    for name, values in first.outputs.items():
        np.testing.assert_array_equal(second.outputs[name], values)


def _array(name: str, kind: ScalarType, *shape: int, external: bool = True) -> ir.Array:
    return ir.Array(name=name, type=kind, shape=shape, external=external)


def _function(arrays: tuple[ir.Array, ...], body: tuple[ir.Statement, ...], **more: object) -> ir.Function:
    external = tuple(a for a in arrays if a.external)
    return ir.Function(name="f", parameters=external, arrays=arrays, returns=None, body=body, **more)  # type: ignore[arg-type]


def _store(array: ir.Array, index: int, value: ir.Expression, predicate: int | None = None) -> ir.Store:
    guard = None if predicate is None else ir.Constant(value=predicate)
    return ir.Store(array=array, indices=(ir.Constant(value=index),), value=value, line=1, predicate=guard)


CASES = [
    (operator, left, right, kind)
    for kind in (UINT8, INT32, UINT32, INT64)
    for operator, left, right in (
        ("add", 200, 100),
        ("sub", 3, 5),
        ("mul", 77, 99),
        ("div", 201, 7),
        ("rem", 201, 7),
        ("shl", 201, 7),
        ("shr", 201, 3),
        ("xor", 201, 3),
        ("lt", 3, 201),
    )
]


def test_integer_operators_wrap_as_their_types_do() -> None:
    out = {kind: _array(f"o{kind.c_name}", kind, len(CASES)) for kind in (UINT8, INT32, UINT32, INT64)}
    computed: list[ir.Statement] = []
    expected: list[ir.Statement] = []
    for index, (operator, left, right, kind) in enumerate(CASES):
        operands = [ir.Constant(value=v % (1 << kind.width_bits), type=kind) for v in (left, right)]
        result = INT32 if operator in ir.COMPARISONS else kind
        value = ir.Binary(operator=operator, left=operands[0], right=operands[1], type=result)
        known = evaluate(operator, operands[0].value, operands[1].value, result)
        assert known is not None
        computed.append(_store(out[kind], index, make_cast(value, kind)))
        expected.append(_store(out[kind], index, ir.Constant(value=known, type=kind)))
    arrays = tuple(out.values())
    before, after = _function(arrays, tuple(expected)), _function(arrays, tuple(computed))
    assert_same_meaning(before, after, [draw_arguments(before, 1)])


def test_access_whose_predicate_is_zero_does_not_happen() -> None:
    out = _array("A", INT32, 4)
    outside = ir.Load(
        array=out, indices=(ir.Constant(value=1 << 30),), line=1, predicate=ir.Constant(value=0)
    )
    body = (_store(out, 1, outside), _store(out, 1 << 30, ir.Constant(value=5), predicate=0))
    before = _function((out,), (_store(out, 1, ir.Constant(value=0)),))
    assert_same_meaning(before, _function((out,), body), [draw_arguments(before, 1)])


def test_comparison_notices_a_difference_and_an_index_outside() -> None:
    out = _array("A", INT32, 4)
    one, two = (_function((out,), (_store(out, 1, ir.Constant(value=v)),)) for v in (1, 2))
    with pytest.raises(AssertionError, match="A"):
        assert_same_meaning(one, two, [draw_arguments(one, 1)])
    outside = _function((out,), (_store(out, 4, ir.Constant(value=1)),))
    with pytest.raises(AssertionError, match="heap-buffer-overflow"):
        assert_same_meaning(one, outside, [draw_arguments(one, 1)])


def test_floating_constants_are_exact() -> None:
    numbers = (0.1, -0.0, 1e-45, float("inf"), float("nan"), 3.0e38, -7.25)
    for kind in (FLOAT, DOUBLE):
        constants = [float_constant(n, kind) for n in numbers]
        out = _array("F", kind, len(numbers))
        bits = ScalarType(width_bits=kind.width_bits, signed=False)
        direct = [_store(out, i, c) for i, c in enumerate(constants)]
        by_bits = [
            _store(out, i, ir.Cast(operand=ir.Constant(value=c.value, type=bits), type=kind, bits=True))
            for i, c in enumerate(constants)
        ]
        before, after = _function((out,), tuple(by_bits)), _function((out,), tuple(direct))
        assert_same_meaning(before, after, [draw_arguments(before, 1)])


def test_numbers_outside_an_integer_type_become_zero() -> None:
    out = _array("A", INT32, 4)
    cases = ((2147483647.0, 2147483647), (2147483648.0, 0), (-2147483648.9, -2147483648), (float("nan"), 0))
    computed = [
        _store(out, i, ir.Cast(operand=float_constant(n, DOUBLE), type=INT32))
        for i, (n, _) in enumerate(cases)
    ]
    known = [_store(out, i, ir.Constant(value=v)) for i, (_, v) in enumerate(cases)]
    before, after = _function((out,), tuple(known)), _function((out,), tuple(computed))
    assert_same_meaning(before, after, [draw_arguments(before, 1)])


def test_banks_are_parts_of_their_argument() -> None:
    whole = _array("A", INT32, 2, 6)
    plain = [
        ir.Store(
            array=whole,
            indices=(ir.Constant(value=1), ir.Constant(value=column)),
            value=ir.Constant(value=column),
            line=1,
        )
        for column in (3, 4)
    ]
    dimensions = (
        BankDimension(style="whole", factor=1, number=0, size=2),
        BankDimension(style="cyclic", factor=2, number=1, size=3),
    )
    odd = ir.Array(name="A_1", type=INT32, shape=(2, 3), external=True, argument="A")
    third = ir.Array(name="A_2", type=INT32, shape=(4,), external=True, argument="A")
    banks = (
        Bank(port="A_1", argument="A", shape=(2, 6), dimensions=dimensions),
        Bank(
            port="A_2",
            argument="A",
            shape=(12,),
            dimensions=(BankDimension(style="block", factor=3, number=2, size=4),),
        ),
    )
    dealt = (
        ir.Store(
            array=odd,
            indices=(ir.Constant(value=1), ir.Constant(value=1)),
            value=ir.Constant(value=3),
            line=1,
        ),
        _store(third, 2, ir.Constant(value=4)),
    )
    before = _function((whole,), tuple(plain))
    after = ir.Function(
        name="f", parameters=(whole,), arrays=(odd, third), returns=None, body=dealt, banks=banks
    )
    assert_same_meaning(before, after, [draw_arguments(before, 1)])


def test_local_arrays_start_with_their_values_in_every_call() -> None:
    out = _array("A", INT32, 2)
    for count in (2, 5000):
        table = ir.Array(
            name="T", type=INT32, shape=(count,), external=False, initial=tuple(range(-1, count - 1))
        )
        first = ir.Load(array=table, indices=(ir.Constant(value=0),), line=1)
        after = _function((out, table), (_store(out, 0, first), _store(table, 0, ir.Constant(value=9))))
        before = _function((out,), (_store(out, 0, ir.Constant(value=-1)),))
        assert_same_meaning(before, after, [draw_arguments(before, s) for s in (1, 2)])


def test_leaving_a_block_skips_the_rest_of_it() -> None:
    out = _array("A", INT32, 2)
    body = (
        ir.Block(
            label="done",
            body=(ir.Leave(label="done", line=1), _store(out, 0, ir.Constant(value=7))),
            line=1,
        ),
        _store(out, 1, ir.Constant(value=8)),
    )
    before = _function((out,), (_store(out, 1, ir.Constant(value=8)),))
    assert_same_meaning(before, _function((out,), body), [draw_arguments(before, 1)])


def test_smallest_constants_have_no_overflow() -> None:
    assert constant_text(ir.Constant(value=-(2**31))) == "(-2147483647 - 1)"
    assert constant_text(ir.Constant(value=2**64 - 1, type=ScalarType(width_bits=64, signed=False))) == (
        "18446744073709551615ull"
    )
