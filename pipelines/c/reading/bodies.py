"""Whole bodies: facts of a function's text before it is read, and the final form of its statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.errors import HlsError
from pipelines.c.reading.session import Session
from pipelines.c.reading.values import UPDATES
from pipelines.c.text.nesting import (
    EXPRESSION_RULE,
    MAXIMUM_EXPRESSION_DEPTH,
    MAXIMUM_STATEMENT_DEPTH,
    STATEMENT_RULE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFacts:
    """Labelled loops in source order, assigned names, names whose address is taken, uses per name, labels of
    `goto`s."""

    loops: tuple[tuple[c_ast.Node, str | None], ...]
    changed: frozenset[str]
    exposed: frozenset[str]
    uses: Mapping[str, int]
    targets: frozenset[str]


def facts_of(definition: c_ast.FuncDef) -> FunctionFacts:
    """Return the facts of a function."""
    loops: list[tuple[c_ast.Node, str | None]] = []
    changed: set[str] = set()
    exposed: set[str] = set()
    uses: Counter[str] = Counter()
    labels: dict[int, str] = {}
    for node in all_nodes(definition.body):
        match node:
            case c_ast.ID():
                uses[str(node.name)] += 1
            case c_ast.Label():
                labels[id(labelled_loop(node) or node)] = str(node.name)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                loops.append((node, labels.get(id(node))))
            case c_ast.Assignment() if isinstance(node.lvalue, c_ast.ID):
                changed.add(str(node.lvalue.name))
            case c_ast.UnaryOp() if node.op in UPDATES and isinstance(node.expr, c_ast.ID):
                changed.add(str(node.expr.name))
            case c_ast.UnaryOp() if node.op == "&":
                exposed.update(_root(node.expr))
            case _:
                pass
    return FunctionFacts(
        loops=tuple(loops),
        changed=frozenset(changed),
        exposed=frozenset(exposed),
        uses=uses,
        targets=jump_targets(definition.body),
    )


def all_nodes(root: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield every node, in source order."""
    stack: list[c_ast.Node] = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for _, child in reversed(node.children()))


def _root(node: c_ast.Node) -> tuple[str, ...]:
    """Return the variable that `&node` points to or into; array elements are no variables."""
    while isinstance(node, c_ast.StructRef) and node.type == ".":
        node = node.name
    return (str(node.name),) if isinstance(node, c_ast.ID) else ()


def block_items(node: c_ast.Node | None) -> list[c_ast.Node]:
    """Return the statements of a block, or a single statement."""
    if node is None:
        return []
    return list(node.block_items or []) if isinstance(node, c_ast.Compound) else [node]


def labelled_loop(node: c_ast.Label) -> c_ast.Node | None:
    """Return the loop a label names; pragmas may stand between them."""
    others = [i for i in block_items(node.stmt) if not isinstance(i, c_ast.Pragma)]
    if len(others) == 1 and isinstance(others[0], c_ast.For | c_ast.While | c_ast.DoWhile):
        return others[0]
    return None


def jump_targets(node: c_ast.Node) -> frozenset[str]:
    """Return the labels that the `goto`s of a function name."""
    return frozenset(str(n.name) for n in all_nodes(node) if isinstance(n, c_ast.Goto))


def labels_of(node: c_ast.Node) -> tuple[str, ...]:
    """Return the labels directly before a statement, outermost first."""
    names: list[str] = []
    while isinstance(node, c_ast.Label):
        names.append(str(node.name))
        node = node.stmt
    return tuple(names)


MAXIMUM_JOINED_DEPTH = 40
"""Longest run of early exits that becomes nested conditions; longer runs stay a block that is left."""


def make_block(label: str, body: Sequence[ir.Statement], line: int) -> tuple[ir.Statement, ...]:
    """Make a body in a block, or the body alone when no statement leaves it."""
    structured = _without_leaves(tuple(body), label)
    if not _leaves(structured, label):
        return structured
    return (ir.Block(label=label, body=structured, line=line),)


def _leaves(body: tuple[ir.Statement, ...], label: str) -> bool:
    return any(isinstance(s, ir.Leave) and s.label == label for s in ir.walk_statements(body))


def ends_elsewhere(body: tuple[ir.Statement, ...]) -> bool:
    """Tell whether control never reaches the end of a body."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ir.If):
        return ends_elsewhere(last.then) and ends_elsewhere(last.otherwise)
    return isinstance(last, ir.Leave)


def _without_leaves(body: tuple[ir.Statement, ...], label: str) -> tuple[ir.Statement, ...]:
    """Return body without statements that leave `label` at its end, built from the last statement back."""
    kept: list[ir.Statement] = []  # the last one first
    depth = 0
    for statement in reversed(body):
        if isinstance(statement, ir.Leave):
            kept.clear()
            depth = 1
            if statement.label != label:
                kept.append(statement)
        elif isinstance(statement, ir.If) and depth < MAXIMUM_JOINED_DEPTH and _leaves((statement,), label):
            kept = [*reversed(_joined(statement, tuple(reversed(kept)), label))]
            depth = max((nesting(s) for s in kept[-1:]), default=0)
        else:
            kept.append(statement)
            depth = max(depth, nesting(statement))
    return tuple(reversed(kept))


def nesting(statement: ir.Statement) -> int:
    """Return the nesting depth of a statement, itself included."""
    return 1 + max((nesting(s) for body in ir.child_bodies(statement) for s in body), default=0)


def _joined(statement: ir.If, rest: tuple[ir.Statement, ...], label: str) -> tuple[ir.Statement, ...]:
    """Return a condition that may leave the block, with the statements after it in the other branch."""
    then_ends, otherwise_ends = ends_elsewhere(statement.then), ends_elsewhere(statement.otherwise)
    if not rest or (then_ends and otherwise_ends):
        then, otherwise = statement.then, statement.otherwise
    elif then_ends:
        then, otherwise = statement.then, (*statement.otherwise, *rest)
    elif otherwise_ends:
        then, otherwise = (*statement.then, *rest), statement.otherwise
    else:
        return (statement, *rest)
    return (
        replace(
            statement,
            then=_without_leaves(then, label),
            otherwise=_without_leaves(otherwise, label),
        ),
    )


def finish(function: ir.Function, session: Session, result: ir.Variable | None, line: int) -> ir.Function:
    """Return the function with its tables, without unused arrays, ending in its return.

    Args: result: the variable that holds the function's result; None for void.
    """
    _check_depth(function.body, session)
    function = _with_tables(function, session)
    body = function.body
    if result is not None:
        body = _returning(body, result, line)
    used = {e.array.name for e in ir.all_expressions(body) if isinstance(e, ir.Load)}
    used |= ir.stored_arrays(body)
    arrays = tuple(a for a in function.arrays if a.external or a.name in used)
    return replace(function, body=body, arrays=arrays)


def _check_depth(body: tuple[ir.Statement, ...], session: Session) -> None:
    """Refuse nesting too deep for the recursive passes.

    Raises: HlsError: statements or expressions nest too deep.
    """
    for statement in body:
        if nesting(statement) > MAXIMUM_STATEMENT_DEPTH:
            raise HlsError(STATEMENT_RULE, "more", file=session.file, line=statement.line)
    for statement in ir.walk_statements(body):
        for expression in ir.statement_expressions(statement):
            if _depth(expression) > MAXIMUM_EXPRESSION_DEPTH:
                raise HlsError(EXPRESSION_RULE, "more", file=session.file, line=statement.line)


def _depth(expression: ir.Expression) -> int:
    return 1 + max((_depth(e) for e in ir.child_expressions(expression)), default=0)


def _returning(body: tuple[ir.Statement, ...], result: ir.Variable, line: int) -> tuple[ir.Statement, ...]:
    """Return the body ending in `Return`, of the expression itself where it is the last assignment."""
    last = body[-1] if body else None
    if isinstance(last, ir.Assign) and last.variable == result:
        return (*body[:-1], ir.Return(value=last.value, line=last.line))
    return (*body, ir.Return(value=ir.Read(variable=result), line=line))


def _with_tables(function: ir.Function, session: Session) -> ir.Function:
    """Turn arrays that are only filled with constants into tables and remove their stores."""
    fills = {name: fill for name, fill in session.fills.items() if fill[1]}
    if not fills:
        return function
    own = {id(s) for _, body in fills.values() for s in ir.walk_statements(tuple(body))}
    others = {
        s.array.name
        for s in ir.walk_statements(function.body)
        if isinstance(s, ir.Store) and id(s) not in own
    }
    tables = {name: content for name, (content, _) in fills.items() if name not in others}
    if not tables:
        return function
    gone = {id(s) for name in tables for s in ir.walk_statements(tuple(fills[name][1]))}
    arrays = {a.name: replace(a, initial=tables.get(a.name, a.initial)) for a in function.arrays}

    def rewritten(expression: ir.Expression) -> ir.Expression:
        if isinstance(expression, ir.Load) and expression.array.name in tables:
            content = tables[expression.array.name]
            if expression.array.name in session.pointer_arrays and len(set(content)) == 1:
                return ir.Constant(value=content[0], type=expression.array.type)
            return replace(expression, array=arrays[expression.array.name])
        return expression

    def remaining(body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        statements: list[ir.Statement] = []
        for statement in body:
            if id(statement) in gone:
                continue
            inner = tuple(remaining(b) for b in ir.child_bodies(statement))
            mapped = ir.map_own_expressions(statement, lambda e: ir.map_expression(e, rewritten))
            statements.append(ir.with_bodies(mapped, inner))
        return tuple(statements)

    return replace(function, body=remaining(function.body), arrays=tuple(arrays.values()))
