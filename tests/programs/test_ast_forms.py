"""Each form that programs of the AST stage have on request alone: with it there are more than without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from pipelines.c.signature import DOUBLE, FLOAT
from pipelines.programs import ProgramError
from pipelines.programs.ast import FORMS, AstOptions, generate_program, tree
from pipelines.programs.ast.operations import COMPARISONS

OPTIONS = AstOptions(
    statements=(5, 14),
    loop_depth_weights=(0.05, 0.35, 0.4, 0.2),
    control_share=0.8,
    control_weights=(4, 2, 2, 4, 6, 1),
    array_extent=(3, 8),
    helper_probability=0.1,
)
PROGRAMS = range(60)


def _statements(program: tree.Program) -> Iterator[tree.Statement]:
    for function in program.functions:
        yield from tree.walk_statements(function.body)


def _expressions(program: tree.Program) -> Iterator[tree.Expression]:
    for statement in _statements(program):
        for outer in tree.expressions_of(statement):
            yield from tree.walk_expression(outer)


def _bodies(program: tree.Program) -> Iterator[tuple[tree.Statement, ...]]:
    yield from (function.body for function in program.functions)
    for statement in _statements(program):
        yield from tree.bodies_of(statement)


def _has_computed_store(program: tree.Program) -> bool:
    targets = [s.target for s in _statements(program) if isinstance(s, tree.Assign)]
    subscripts = [i for t in targets if isinstance(t, tree.Element) for i in t.subscripts]
    return any(isinstance(i, tree.Binary) and i.operator in ("&", "%") for i in subscripts)


def _has_dead_store(program: tree.Program) -> bool:
    pairs = [pair for body in _bodies(program) for pair in pairwise(body)]
    stores = [(a, b) for a, b in pairs if isinstance(a, tree.Assign) and isinstance(b, tree.Assign)]
    return any(a.target == b.target and a.operator == b.operator == "=" for a, b in stores)


def _has_early_return(program: tree.Program) -> bool:
    inner = [s for outer in _statements(program) for body in tree.bodies_of(outer) for s in body]
    return any(isinstance(s, tree.Return) for s in inner)


def _has_truth_value(program: tree.Program) -> bool:
    sums = [e for e in _expressions(program) if isinstance(e, tree.Binary) and e.operator in "+-*^"]
    operands = [o for e in sums for o in (e.left, e.right)]
    return any(isinstance(o, tree.Binary) and o.operator in (*COMPARISONS, "&&", "||") for o in operands)


def _wraps(expression: tree.Expression) -> bool:
    if not (isinstance(expression, tree.Cast) and expression.type.signed):
        return False
    inside = expression.operand
    is_unsigned = isinstance(inside, tree.Binary) and not inside.type.signed and inside.operator in "+-*"
    return is_unsigned and all(isinstance(o, tree.Cast) for o in (inside.left, inside.right))


def _clamps(expression: tree.Expression) -> bool:
    """Whether a conversion to an integer is of a value with both bounds by calls."""
    if not (isinstance(expression, tree.Cast) and not expression.type.floating):
        return False
    inside = expression.operand
    return (
        isinstance(inside, tree.Call)
        and inside.function.startswith("fmax")
        and isinstance(inside.arguments[0], tree.Call)
        and inside.arguments[0].function.startswith("fmin")
    )


HAS: dict[str, Callable[[tree.Program], bool]] = {
    "computed_stores": _has_computed_store,
    "dead_stores": _has_dead_store,
    "early_returns": _has_early_return,
    "fall_through": lambda p: any(isinstance(s, tree.Switch) and s.falls for s in _statements(p)),
    "local_values": lambda p: any(
        isinstance(s, tree.DeclareArray) and s.array.values for s in _statements(p)
    ),
    "mixed_types": lambda p: {FLOAT, DOUBLE} <= {e.type for e in _expressions(p)},
    "negative_divisors": lambda p: any(
        isinstance(e, tree.Binary) and e.operator in ("/", "%") and e.right.high < 0 for e in _expressions(p)
    ),
    "negation": lambda p: any(isinstance(e, tree.Unary) and e.operator == "!" for e in _expressions(p)),
    "non_finite": lambda p: any(map(_clamps, _expressions(p))),
    "truth_values": _has_truth_value,
    "wrapping": lambda p: any(map(_wraps, _expressions(p))),
}


def test_every_form_is_tested() -> None:
    assert set(HAS) == set(FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_there_on_request(form: str) -> None:
    counts = [
        sum(
            HAS[form](generate_program(seed=2, number=n, options=OPTIONS, forms=forms).program)
            for n in PROGRAMS
        )
        for forms in ((), (form,))
    ]
    assert counts[0] + 2 <= counts[1], counts


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"^forms must be of computed_stores, .*, got goto$"):
        generate_program(seed=0, number=0, options=OPTIONS, forms=("goto",))
