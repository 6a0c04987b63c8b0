"""Other forms of loops: while, do, counters declared at the top, pointers that are walked, early continue."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pycparser import c_ast

from pipelines.programs.dialects.bindings import (
    LOGIC,
    STEPS,
    Bindings,
    Counted,
    has_jump,
    is_pure,
)
from pipelines.programs.dialects.unit import (
    Unit,
    blocks_of,
    expression,
    replace_nodes,
    set_type_name,
    statement,
    text_of,
    type_name,
    walk,
)

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


# ---- early continue ------------------------------------------------------------------------------------


def continue_early(unit: Unit, share: float) -> None:
    """Write a condition around the rest of a loop's body as an early `continue` instead."""
    bindings = Bindings(unit)
    for loop in [n for n in walk(unit.tree) if isinstance(n, c_ast.For)]:
        items = loop.stmt.block_items
        last: Any = items[-1] if items else None
        if not isinstance(last, c_ast.If) or last.iffalse is not None or not unit.chance(share):
            continue
        inner = last.iftrue.block_items
        if _declared(inner) & _declared(items[:-1]) or (len(inner) == 1 and isinstance(inner[0], _JUMPS)):
            continue
        leave = c_ast.If(_negated(bindings, last.cond), c_ast.Compound([c_ast.Continue()]), None)
        loop.stmt.block_items = [*items[:-1], leave, *inner]


_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Return)


def _declared(items: list[Any]) -> set[str]:
    return {item.name for item in items if isinstance(item, c_ast.Decl)}


def _negated(bindings: Bindings, condition: Any) -> Any:
    if isinstance(condition, c_ast.UnaryOp) and condition.op == "!":
        return condition.expr
    if isinstance(condition, c_ast.BinaryOp) and condition.op in _NEGATED:
        sides = (condition.left, condition.right)
        if condition.op in ("==", "!=") or not any(bindings.type_of(s).floating for s in sides):
            return c_ast.BinaryOp(_NEGATED[condition.op], *sides)
    return c_ast.UnaryOp("!", condition)


# ---- while and do --------------------------------------------------------------------------------------


def loop_otherwise(unit: Unit, *, while_share: float, do_share: float) -> None:
    """Write some counted loops as `while`, and some that run at least once as `do`."""
    for function in unit.functions:
        for block in blocks_of(function.body):
            _loops_of_block(unit, block, while_share, do_share)


def _loops_of_block(unit: Unit, block: Any, while_share: float, do_share: float) -> None:
    bindings = Bindings(unit)
    visible = set(bindings.visible(block))
    own: dict[str, str] = {}
    items: list[Any] = []
    for item in block.block_items:
        if isinstance(item, c_ast.For) and _has_own_counter(item):
            header = bindings.counted.get(id(item))
            surely = header is not None and _runs(bindings, header)
            draw = unit.random.random()
            if surely and draw < do_share and not has_jump(item.stmt, c_ast.Continue):
                items += _hoisted(unit, bindings, item, visible, own, do=True)
                continue
            if draw < while_share:
                items += _hoisted(unit, bindings, item, visible, own, do=False)
                continue
        items.append(item)
    block.block_items = items


def _has_own_counter(loop: Any) -> bool:
    if loop.init is None or loop.cond is None or loop.next is None:
        return False
    return isinstance(loop.init, c_ast.DeclList) and len(loop.init.decls) == 1


def _runs(bindings: Bindings, header: Counted) -> bool:
    """Tell whether the condition surely holds at the start."""
    start, bound = bindings.interval(header.start), bindings.interval(header.bound)
    match header.relation:
        case "<":
            return start[1] < bound[0]
        case "<=":
            return start[1] <= bound[0]
        case ">":
            return start[0] > bound[1]
        case _:
            return start[0] >= bound[1]


def _hoisted(
    unit: Unit, bindings: Bindings, loop: Any, visible: set[str], own: dict[str, str], *, do: bool
) -> list[Any]:
    """Return the statements of a loop whose counter is declared before it."""
    declaration = loop.init.decls[0]
    kind = type_name(declaration.type)
    if own.get(declaration.name) == kind:
        first = c_ast.Assignment("=", c_ast.ID(declaration.name), declaration.init)
    else:
        if declaration.name in visible or declaration.name in own:
            _rename(unit, bindings, declaration)
        own[declaration.name] = kind
        first = declaration
    if do:
        body = c_ast.Compound([*loop.stmt.block_items, *_steps(loop.next)])
        return [first, c_ast.DoWhile(loop.cond, body)]
    _step_before_continue(loop.stmt, _steps(loop.next))
    body = c_ast.Compound([*loop.stmt.block_items, *_steps(loop.next)])
    return [first, c_ast.While(loop.cond, body)]


def _rename(unit: Unit, bindings: Bindings, declaration: Any) -> None:
    name = unit.fresh(f"{declaration.name}2")
    for use in bindings.uses[id(declaration)]:
        use.name = name
    declaration.name = name
    declaration.type.declname = name


def _step_before_continue(node: Any, steps: list[Any]) -> None:
    """Put the loop's steps before each `continue` of the loop."""
    if isinstance(node, c_ast.Compound | c_ast.Case | c_ast.Default):
        slot = "block_items" if isinstance(node, c_ast.Compound) else "stmts"
        items: list[Any] = []
        for item in getattr(node, slot):
            if isinstance(item, c_ast.Continue):
                items += copy.deepcopy(steps)
            items.append(item)
        setattr(node, slot, items)
    for _, child in node.children():
        if not isinstance(child, c_ast.For | c_ast.While | c_ast.DoWhile):
            _step_before_continue(child, steps)


# ---- counters at the top -------------------------------------------------------------------------------


def declare_counters_first(unit: Unit) -> None:
    """Declare the counters of loops at the top of their function, each name once."""
    for function in unit.functions:
        loops = [n for n in walk(function) if isinstance(n, c_ast.For) and _has_own_counter(n)]
        everything = [n.name for n in walk(function) if isinstance(n, c_ast.Decl)]
        named: dict[str, list[Any]] = {}
        for loop in loops:
            named.setdefault(loop.init.decls[0].name, []).append(loop)
        first: list[Any] = []
        for name, own in named.items():
            kinds = {type_name(loop.init.decls[0].type) for loop in own}
            alone = everything.count(name) == len(own) and len(kinds) == 1
            if alone and not any(_is_inside(one, other) for one in own for other in own if one is not other):
                first.append(statement(f"{kinds.pop()} {name};"))
                for loop in own:
                    loop.init = c_ast.Assignment("=", c_ast.ID(name), loop.init.decls[0].init)
        function.body.block_items = [*first, *function.body.block_items]


def _is_inside(node: Any, outer: Any) -> bool:
    return any(n is node for n in walk(outer))


# ---- pointers ------------------------------------------------------------------------------------------


def walk_pointers(unit: Unit, *, share: float, most: int) -> None:
    """Read or write arrays by pointers that step with the loop, `*p++` where an access is the only one.

    A pointer is used only if an access of every iteration is unconditional, so that it stays in the array.
    """
    for function in unit.functions:
        for block in blocks_of(function.body):
            bindings = Bindings(unit)
            items: list[Any] = []
            for item in block.block_items:
                if isinstance(item, c_ast.For):
                    items += _pointers_of(unit, bindings, item, share, most)
                items.append(item)
            block.block_items = items


def _pointers_of(unit: Unit, bindings: Bindings, loop: Any, share: float, most: int) -> list[Any]:
    header = bindings.counted.get(id(loop))
    if header is None or header.step != 1 or not _runs(bindings, header):
        return []
    start = bindings.constant(header.start)
    if start is None or start < 0:
        return []
    first: list[Any] = []
    for accesses in _steady_accesses(bindings, loop, header).values():
        if len(first) == most or not unit.chance(share):
            continue
        if any(_under_step(loop, access) for access in accesses):
            continue
        always = any(_is_unconditional(loop, access) for access in accesses)
        if always:
            first.append(_walked(unit, bindings, header, accesses, start))
    return first


def _steady_accesses(bindings: Bindings, loop: Any, header: Counted) -> Mapping[str, list[Any]]:
    """Return accesses `x[..][v]` of a loop by their text, whose other subscripts do not change in it."""
    inside = list(walk(loop.stmt))
    changed = {id(d) for d in (bindings.of(n) for n in _written_names(inside)) if d is not None}
    declared = {id(n) for n in inside if isinstance(n, c_ast.Decl)}
    nested = {id(n.name) for n in inside if isinstance(n, c_ast.ArrayRef)}
    groups: dict[str, list[Any]] = {}
    for node in inside:
        if not isinstance(node, c_ast.ArrayRef) or id(node) in nested:
            continue
        base, others = _split_access(node)
        array = bindings.of(base) if isinstance(base, c_ast.ID) else None
        if array is None or _dimensions(array.type) != len(others) + 1:
            continue
        counter = isinstance(node.subscript, c_ast.ID) and bindings.of(node.subscript) is header.declaration
        names = [n for other in others for n in walk(other) if isinstance(n, c_ast.ID)]
        known = [bindings.of(n) for n in names]
        steady = not any(isinstance(n, c_ast.ArrayRef | c_ast.FuncCall) for o in others for n in walk(o))
        fixed = not any(
            d is header.declaration or id(d) in changed or id(d) in declared for d in known if d is not None
        )
        if counter and steady and fixed and all(is_pure(o) for o in others):
            groups.setdefault(text_of(node), []).append(node)
    return groups


def _written_names(nodes: list[Any]) -> list[Any]:
    targets = [n.lvalue for n in nodes if isinstance(n, c_ast.Assignment)]
    targets += [n.expr for n in nodes if isinstance(n, c_ast.UnaryOp) and n.op in STEPS]
    return [t for t in targets if isinstance(t, c_ast.ID)]


def _split_access(node: Any) -> tuple[Any, list[Any]]:
    others: list[Any] = []
    base = node.name
    while isinstance(base, c_ast.ArrayRef):
        others.append(base.subscript)
        base = base.name
    return base, others


def _dimensions(kind: Any) -> int:
    return 1 + _dimensions(kind.type) if isinstance(kind, c_ast.ArrayDecl) else 0


def _is_unconditional(loop: Any, access: Any) -> bool:
    """Tell whether every iteration that is not left evaluates an access, and once."""
    if has_jump(loop.stmt, c_ast.Continue):
        return False
    kinds = c_ast.Assignment | c_ast.Decl | c_ast.UnaryOp | c_ast.FuncCall
    plain = [s for s in loop.stmt.block_items if isinstance(s, kinds)]
    return any(_evaluates(s, access) for s in plain)


def _evaluates(node: Any, access: Any) -> bool:
    if node is access:
        return True
    if isinstance(node, c_ast.TernaryOp):
        return _evaluates(node.cond, access)
    if isinstance(node, c_ast.BinaryOp) and node.op in LOGIC:
        return _evaluates(node.left, access)
    if isinstance(node, c_ast.FuncCall) and node.name.name == "MIN":
        return False  # a macro may evaluate its arguments twice
    return any(_evaluates(child, access) for _, child in node.children())


def _under_step(loop: Any, access: Any) -> bool:
    return any(isinstance(n, c_ast.UnaryOp) and n.op in STEPS and n.expr is access for n in walk(loop.stmt))


def _walked(unit: Unit, bindings: Bindings, header: Counted, accesses: list[Any], start: int) -> Any:
    """Replace accesses to one element by those of a pointer; return the pointer's declaration."""
    loop, row = header.loop, accesses[0].name
    base, _ = _split_access(accesses[0])
    array = bindings.of(base)
    name = unit.fresh(f"p_{base.name}", f"{base.name}_ptr")
    written = [n.lvalue for n in walk(loop.stmt) if isinstance(n, c_ast.Assignment)]
    declaration = statement(f"int *{name} = x;")
    declaration.init = copy.deepcopy(row)
    if start:
        declaration.init = c_ast.UnaryOp("&", c_ast.ArrayRef(declaration.init, copy.deepcopy(header.start)))
    pointed = declaration.type.type
    set_type_name(pointed, type_name(array.type))
    if not any(a is left for a in accesses for left in written):
        pointed.quals = ["const"]
    once = len(accesses) == 1 and _is_unconditional(loop, accesses[0])
    if not once:
        loop.next = c_ast.ExprList([*_steps(loop.next), expression(f"{name}++")])
    value = f"*{name}++" if once else f"*{name}"
    chosen = {id(a) for a in accesses}
    loop.stmt = replace_nodes(loop.stmt, lambda n: expression(value) if id(n) in chosen else n)
    return declaration


def _steps(node: Any) -> list[Any]:
    return list(node.exprs) if isinstance(node, c_ast.ExprList) else [node]
