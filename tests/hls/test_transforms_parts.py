"""Transformations: sums and ranges of expressions, long programs, and banks of accesses never reached."""

from __future__ import annotations

import pytest

from pipelines.c import Directive, ir, read_function
from pipelines.c.analysis.folding import canonical_sum, interval_of
from pipelines.c.analysis.simplify import simplify
from pipelines.c.signature import INT64, UINT8
from pipelines.hls import HlsOptions, compile_program
from pipelines.hls.transforms.ifconversion import convert_ifs


def test_equal_sums_are_equal_expressions() -> None:
    i, j = (ir.Read(variable=ir.Variable(name=n)) for n in "ij")
    four = ir.Constant(value=4)

    def binary(operator: str, left: ir.Expression, right: ir.Expression) -> ir.Binary:
        return ir.Binary(operator=operator, left=left, right=right)

    first = binary("sub", binary("add", binary("mul", i, four), j), binary("mul", j, four))
    wide = [ir.Cast(operand=v, type=INT64) for v in (i, j)]
    shifted = ir.Binary(operator="shl", left=wide[0], right=ir.Constant(value=2, type=INT64), type=INT64)
    three = ir.Binary(operator="mul", left=wide[1], right=ir.Constant(value=3, type=INT64), type=INT64)
    total = ir.Binary(operator="sub", left=shifted, right=three, type=INT64)
    second = ir.Cast(operand=total, type=ir.INT32)
    assert canonical_sum(first) == canonical_sum(second)
    assert canonical_sum(canonical_sum(first)) is not None
    assert canonical_sum(binary("sub", i, i)) == ir.Constant(value=0)


def test_range_of_what_may_wrap_is_that_of_its_type() -> None:
    u = ir.Read(variable=ir.Variable(name="u", type=UINT8))
    total = ir.Binary(operator="add", left=u, right=ir.Constant(value=9, type=UINT8), type=UINT8)
    assert interval_of(total, {}) == (0, 255)
    assert interval_of(total, {"u": (1, 6)}) == (10, 15)


@pytest.mark.parametrize("statements", [2000, 8000])
def test_long_bodies_are_followed_in_one_pass(statements: int) -> None:
    lines = "".join(
        f"t = A[{i % 8}] + s; if (t > {i}) s = t; else s = s ^ {i};" for i in range(statements // 4)
    )
    function = read_function(f"int f(int A[8]) {{ int s = 0, t; {lines} return s; }}", top="f")
    after = simplify(function)
    assert len(after.body) >= statements // 2


def test_size_of_nested_conditions_stays_linear() -> None:
    depth = 40
    opening = "".join(f"if (A[{i % 8}] > {i}) {{ s += A[{i % 8}];" for i in range(depth))
    body = opening + "}" * depth
    source = f"int f(int A[8]) {{ int s = 0; for (int i = 0; i < 4; i++) {{ {body} }} return s; }}"
    after = convert_ifs(read_function(source, top="f"), frozenset(("L0",)))
    assert sum(1 for _ in ir.all_expressions(after.body)) < 60 * depth


def test_an_access_that_is_never_reached_goes_to_one_bank() -> None:
    # At most three iterations leave none for a body of four.
    source = """
    int f(int A[5]) {
        int s = 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j <= i; j++)
                for (int k = 0; k <= j; k++) s += A[k];
        return s;
    }
    """
    directives = (
        Directive(kind="partition", variable="A", style="block", value=4, dimension=1),
        Directive(kind="pipeline", loop="L2"),
        Directive(kind="unroll", loop="L2", value=4),
    )
    compiled = compile_program(source, top="f", options=HlsOptions(directives=directives))
    assert [bank.port for bank in compiled.banks] == ["A__0", "A__1", "A__2"]
