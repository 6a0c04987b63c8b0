"""The structural rules of the IR, which every transformation keeps."""

from __future__ import annotations

from pipelines.c import ir
from pipelines.c.signature import INT32, ScalarType


def check_valid(function: ir.Function) -> None:
    """Assert the structural rules of the IR."""
    names: list[str] = []
    kinds: dict[str, ScalarType] = {}
    declared = {a.name for a in function.arrays}
    for statement in ir.walk_statements(function.body):
        if isinstance(statement, ir.For | ir.While):
            names.append(statement.name)
        elif isinstance(statement, ir.Block):
            names.append(statement.label)
        if isinstance(statement, ir.Assign):
            assert (
                kinds.setdefault(statement.variable.name, statement.variable.type) == statement.variable.type
            )
            assert ir.type_of(statement.value) == statement.variable.type
        if isinstance(statement, ir.Store):
            assert statement.array.name in declared
            assert ir.type_of(statement.value) == statement.array.type
        if isinstance(statement, ir.For):
            _check_for(statement)
        if isinstance(statement, ir.If | ir.While):
            assert ir.type_of(statement.condition) == INT32
        for expression in ir.statement_expressions(statement):
            for part in ir.walk_expressions(expression):
                _check_expression(part, kinds, declared)
    assert len(names) == len(set(names)), sorted(n for n in names if names.count(n) > 1)
    assert not set(names) & set(kinds)
    _check_leaves(function.body, frozenset())


def _check_for(loop: ir.For) -> None:
    changed = ir.assigned_variables(loop.body)
    assert loop.variable.name not in changed, f"{loop.variable.name} is assigned in its loop"
    assert ir.type_of(loop.lower) == ir.type_of(loop.upper) == loop.variable.type
    stored = ir.stored_arrays(loop.body)
    for part in ir.walk_expressions(loop.upper):
        if isinstance(part, ir.Read):
            assert part.variable.name not in changed | {loop.variable.name}
        elif isinstance(part, ir.Load):
            assert part.array.name not in stored
    low, high = -(2 ** (loop.variable.type.width_bits - 1)), 2**loop.variable.type.width_bits
    assert low <= loop.step < high


def _check_expression(part: ir.Expression, kinds: dict[str, ScalarType], arrays: set[str]) -> None:
    match part:
        case ir.Read():
            assert kinds.setdefault(part.variable.name, part.variable.type) == part.variable.type
        case ir.Load():
            assert part.array.name in arrays
            assert all(ir.type_of(i) == INT32 for i in part.indices)
            assert len(part.indices) == len(part.array.shape)
            assert part.predicate is None or ir.type_of(part.predicate) == INT32
        case ir.Binary():
            assert ir.type_of(part.left) == ir.type_of(part.right)
            assert part.type == (INT32 if part.operator in ir.COMPARISONS else ir.type_of(part.left))
        case ir.Select():
            assert ir.type_of(part.if_true) == ir.type_of(part.if_false) == part.type
            assert ir.type_of(part.condition) == INT32
        case ir.Constant() if not part.type.floating:
            low = -(1 << (part.type.width_bits - 1)) if part.type.signed else 0
            assert low <= part.value < low + (1 << part.type.width_bits)
        case _:
            pass


def _check_leaves(body: tuple[ir.Statement, ...], labels: frozenset[str]) -> None:
    for statement in body:
        if isinstance(statement, ir.Leave):
            assert statement.label in labels
        inner = labels | {statement.label} if isinstance(statement, ir.Block) else labels
        for nested in ir.child_bodies(statement):
            _check_leaves(nested, inner)
