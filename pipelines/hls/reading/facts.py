"""What a function's text says before it is read: its loops, and which names it changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pycparser import c_ast

from pipelines.hls.reading.values import UPDATES


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionFacts:
    """Loops with their labels, in source order; names assigned, names whose address is taken, uses of all."""

    loops: tuple[tuple[c_ast.Node, str | None], ...]
    changed: frozenset[str]
    exposed: frozenset[str]
    uses: Mapping[str, int]


def facts_of(definition: c_ast.FuncDef) -> FunctionFacts:
    """Facts of a function."""
    loops: list[tuple[c_ast.Node, str | None]] = []
    changed: set[str] = set()
    exposed: set[str] = set()
    uses: Counter[str] = Counter()
    labels: dict[int, str] = {}
    for node in _nodes(definition.body):
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
        loops=tuple(loops), changed=frozenset(changed), exposed=frozenset(exposed), uses=uses
    )


def _nodes(root: c_ast.Node) -> Iterator[c_ast.Node]:
    """Every node, in source order."""
    stack: list[c_ast.Node] = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for _, child in reversed(node.children()))


def _root(node: c_ast.Node) -> tuple[str, ...]:
    """The variable whose address `&node` is, or of a member of which; array elements are no variables."""
    while isinstance(node, c_ast.StructRef) and node.type == ".":
        node = node.name
    return (str(node.name),) if isinstance(node, c_ast.ID) else ()


def block_items(node: c_ast.Node | None) -> list[c_ast.Node]:
    """The statements of a block; a single statement alone; nothing for none."""
    if node is None:
        return []
    return list(node.block_items or []) if isinstance(node, c_ast.Compound) else [node]


def labelled_loop(node: c_ast.Label) -> c_ast.Node | None:
    """The loop a label names; pragmas may stand between them."""
    others = [i for i in block_items(node.stmt) if not isinstance(i, c_ast.Pragma)]
    if len(others) == 1 and isinstance(others[0], c_ast.For | c_ast.While | c_ast.DoWhile):
        return others[0]
    return None
