"""Other forms of expressions: compound assignments, masks, functions, tables, named numbers, flags."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from pycparser import c_ast

from pipelines.c.signature import INT32, UINT32, UINT64, ScalarType, promoted
from pipelines.programs.dialects.bindings import COMPARISONS, LOGIC, Bindings, is_pure
from pipelines.programs.dialects.unit import (
    SPELLINGS,
    Unit,
    expression,
    integer_literal,
    parse_c,
    replace_nodes,
    set_child,
    set_type_name,
    statement,
    text_of,
    type_name,
    walk,
)

_COMPOUND = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")


# ---- assignments ---------------------------------------------------------------------------------------


def compound_assignments(unit: Unit, share: float) -> None:
    """Write `x = x op e` as `x op= e`, and steps by one in one of their forms."""
    bindings = Bindings(unit)
    for node in list(walk(unit.tree)):
        if isinstance(node, c_ast.Assignment) and node.op == "=" and unit.chance(share):
            value = _without_own_cast(bindings, node)
            same = isinstance(value, c_ast.BinaryOp) and value.op in _COMPOUND
            if same and is_pure(node.lvalue) and text_of(value.left) == text_of(node.lvalue):
                node.op, node.rvalue = f"{value.op}=", value.right


def _without_own_cast(bindings: Bindings, node: Any) -> Any:
    """Return the assigned value without a cast to the target's own type."""
    if isinstance(node.rvalue, c_ast.Cast):
        kind = bindings.named_type(type_name(node.rvalue.to_type))
        if kind == bindings.type_of(node.lvalue):
            return node.rvalue.expr
    return node.rvalue


def step_form(unit: Unit) -> None:
    """Write all steps by one of statements as `++v`, `v++` or `v += 1`."""
    form = unit.random.choice(("p++", "++", "+="))
    changed = {id(n.next) for n in walk(unit.tree) if isinstance(n, c_ast.For)}
    changed |= {
        id(item) for n in walk(unit.tree) if isinstance(n, c_ast.Compound) for item in n.block_items or ()
    }

    def change(node: Any) -> Any:
        if id(node) not in changed or not isinstance(node, c_ast.UnaryOp) or node.op not in ("p++", "++"):
            return node
        if form == "+=":
            return c_ast.Assignment("+=", node.expr, expression("1"))
        return c_ast.UnaryOp(form, node.expr)

    replace_nodes(unit.tree, change)


# ---- masks and shifts ----------------------------------------------------------------------------------


def use_bits(unit: Unit, share: float) -> None:
    """Write remainders, quotients and products of powers of two as masks and shifts.

    Only of unsigned numbers and of ints that are provably not negative.
    """
    bindings = Bindings(unit)

    def change(node: Any) -> Any:
        if not isinstance(node, c_ast.BinaryOp) or node.op not in ("%", "/", "*"):
            return node
        value = bindings.constant(node.right)
        if value is None or value < 2 or value & (value - 1) or not unit.chance(share):
            return node
        kind = bindings.type_of(node)
        unsigned = promoted(bindings.type_of(node.left)) in (UINT32, UINT64)
        if kind.floating or not (unsigned or bindings.interval(node.left)[0] >= 0):
            return node
        literal = integer_literal(node.right)
        if node.op == "%":
            mask = c_ast.BinaryOp("-", node.right, expression("1"))
            right = mask if literal is None else expression(f"{value - 1}{literal[1]}")
            return c_ast.BinaryOp("&", node.left, right)
        if literal is None or promoted(bindings.type_of(node.left)) != kind:
            return node
        shift = ">>" if node.op == "/" else "<<"
        return c_ast.BinaryOp(shift, node.left, expression(str(value.bit_length() - 1)))

    _change_bodies(unit, change)


def _change_bodies(unit: Unit, change: Callable[[Any], Any]) -> None:
    """Change expressions of statements, outer ones first, so that types are those of the bound tree."""

    def visit(node: Any) -> None:
        for slot, child in list(node.children()):
            new = change(child)
            if new is not child:
                set_child(node, slot, new)
            visit(new)

    for function in unit.functions:
        visit(function.body)


# ---- a function for an expression ----------------------------------------------------------------------

_FUNCTION_NAMES = ("combine", "weigh", "scale_value", "merge_terms", "update_term", "mix_values")
_MOST_PARAMETERS = 4


def extract_function(unit: Unit) -> None:
    """Move an expression, the most frequent or the largest one, into a function of its operands."""
    bindings = Bindings(unit)
    groups: dict[tuple[str, ...], list[tuple[Any, str, Any, list[Any]]]] = {}
    for function in unit.functions:
        for parent, slot, node in _values(function.body):
            operands = _operands(bindings, node)
            if operands is None:
                continue
            kinds = tuple(type_name(_declaration(bindings, o).type) for o in operands)
            key = (_shape(node, operands), *kinds)
            groups.setdefault(key, []).append((parent, slot, node, operands))
    if not groups:
        return
    key = max(groups, key=lambda k: (min(len(groups[k]), 3), len(k[0]), k))
    _call_function(unit, bindings, groups[key], key[1:])


def _values(body: Any) -> Iterator[tuple[Any, str, Any]]:
    """Yield the expressions of assigned values with their places, none inside another's subscript."""

    def inside(parent: Any) -> Iterator[tuple[Any, str, Any]]:
        for slot, child in parent.children():
            if isinstance(child, c_ast.BinaryOp | c_ast.TernaryOp):
                yield parent, slot, child
            if not isinstance(child, c_ast.ArrayRef):
                yield from inside(child)

    for node in walk(body):
        if isinstance(node, c_ast.Assignment):
            yield from (p for p in inside(node) if p[0] is not node or p[1] == "rvalue")


def _operands(bindings: Bindings, node: Any) -> list[Any] | None:
    """Return the distinct variables and elements that an expression reads; None if it is not suitable."""
    if not is_pure(node):
        return None
    always = {text_of(n) for n in _reads(node, always=True)}
    reads = {text_of(n): n for n in _reads(node, always=False)}
    operators = _operator_count(node)
    variables = [n for n in reads.values() if isinstance(n, c_ast.ArrayRef) or bindings.of(n) is not None]
    if any(text not in always for text in reads) or not 1 <= len(variables) <= _MOST_PARAMETERS:
        return None
    if operators < 2 or any(_declaration(bindings, v) is None for v in variables):
        return None
    return variables


def _operator_count(node: Any) -> int:
    """Return the operators of an expression outside subscripts."""
    if isinstance(node, c_ast.ArrayRef):
        return 0
    own = isinstance(node, c_ast.BinaryOp | c_ast.TernaryOp | c_ast.UnaryOp)
    return own + sum(_operator_count(child) for _, child in node.children())


def _reads(node: Any, *, always: bool) -> Iterator[Any]:
    """Yield the identifiers and elements of an expression; with `always` those that are surely evaluated."""
    if isinstance(node, c_ast.ID | c_ast.ArrayRef):
        yield node
    elif always and isinstance(node, c_ast.TernaryOp):
        yield from _reads(node.cond, always=True)
    elif always and isinstance(node, c_ast.BinaryOp) and node.op in LOGIC:
        yield from _reads(node.left, always=True)
    else:
        for _, child in node.children():
            yield from _reads(child, always=always)


def _declaration(bindings: Bindings, node: Any) -> Any:
    while isinstance(node, c_ast.ArrayRef):
        node = node.name
    return bindings.of(node)


def _shape(node: Any, operands: list[Any]) -> str:
    names = {text_of(o): f"${k}" for k, o in enumerate(operands)}

    def visit(part: Any) -> str:
        if isinstance(part, c_ast.ID | c_ast.ArrayRef):
            own = text_of(part)
            return names.get(own, own)
        if isinstance(part, c_ast.Constant):
            return str(part.value)
        if isinstance(part, c_ast.Cast):
            return f"({type_name(part.to_type)}){visit(part.expr)}"
        inner = " ".join(visit(child) for _, child in part.children())
        return f"({getattr(part, 'op', '?')} {inner})"

    return visit(node)


def _call_function(
    unit: Unit,
    bindings: Bindings,
    places: list[tuple[Any, str, Any, list[Any]]],
    kinds: tuple[str, ...],
) -> None:
    names = unit.random.sample(_FUNCTION_NAMES, len(_FUNCTION_NAMES))
    name = unit.fresh(*names)
    letters = ("a", "b", "c", "d")[: len(kinds)]
    node, operands = places[0][2:]
    returned = spelling_of(bindings.type_of(node))
    head = ", ".join(f"{kind} {letter}" for kind, letter in zip(kinds, letters, strict=True))
    function: Any = parse_c(f"static {returned} {name}({head}) {{ return 0; }}").ext[0]
    texts = {text_of(o): letter for o, letter in zip(operands, letters, strict=True)}
    function.body.block_items[0].expr = _substituted(node, texts)
    for parent, slot, _, own in places:
        call = expression(f"{name}(x)")
        call.args.exprs = list(own)
        set_child(parent, slot, call)
    first = next(k for k, n in enumerate(unit.tree.ext) if isinstance(n, c_ast.FuncDef))
    unit.tree.ext.insert(first, function)


def _substituted(node: Any, texts: dict[str, str]) -> Any:
    """Return a copy of an expression with names for its operands."""

    def visit(part: Any) -> Any:
        if isinstance(part, c_ast.ID | c_ast.ArrayRef):
            own = texts.get(text_of(part))
            return part if own is None else c_ast.ID(own)
        for slot, child in part.children():
            set_child(part, slot, visit(child))
        return part

    return visit(copy.deepcopy(node))


def spelling_of(kind: ScalarType) -> str:
    """Return the first spelling of a type."""
    return next(name for name, own in SPELLINGS.items() if own == kind)


# ---- tables and names for numbers ----------------------------------------------------------------------


def tabulate_numbers(unit: Unit) -> None:
    """Move factors and terms of one type from the statements into a constant table of the file."""
    places = [p for function in unit.functions for p in _number_places(function.body)]
    by_suffix: dict[str, list[tuple[Any, str, int]]] = {}
    for parent, slot, value, suffix in places:
        if suffix in ("", "u") and value < 2**31:
            by_suffix.setdefault(suffix, []).append((parent, slot, value))
    for suffix, own in by_suffix.items():
        values = sorted({value for _, _, value in own})[:6]
        if len(values) < 2:
            continue
        unit.random.shuffle(values)
        name = unit.fresh("coefficients", "gains", "constants", "tuning")
        kind = "uint32_t" if suffix else "int16_t" if max(values) < 2**15 else "int32_t"
        table = parse_c(f"static const {kind} {name}[{len(values)}] = {{{', '.join(map(str, values))}}};")
        first = next(k for k, n in enumerate(unit.tree.ext) if isinstance(n, c_ast.FuncDef))
        unit.tree.ext.insert(first, table.ext[0])
        for parent, slot, value in own:
            if value in values:
                set_child(parent, slot, expression(f"{name}[{values.index(value)}]"))
        return


def _number_places(body: Any) -> Iterator[tuple[Any, str, int, str]]:
    """Yield integer literals above 2 that are factors, terms or compared, with their places."""

    def visit(node: Any) -> Iterator[tuple[Any, str, int, str]]:
        for slot, child in node.children():
            if isinstance(child, c_ast.ArrayRef):
                continue
            literal = integer_literal(child)
            suitable = isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*", *COMPARISONS)
            if literal is not None and literal[0] > 2 and suitable:
                yield (node, slot, *literal)
            yield from visit(child)

    for node in walk(body):
        if isinstance(node, c_ast.Assignment):
            yield from visit(c_ast.Compound([node.rvalue]))


_NAMES = ("GAIN", "OFFSET", "LIMIT", "SCALE", "THRESHOLD", "STEP_SIZE")


def name_numbers(unit: Unit, most: int) -> None:
    """Name literals by macros, and masks and single bits by `MASK(n)` and `BIT(n)`.

    The last rewriting of a program: it gives a type to no name.
    """
    names: dict[str, str] = {}
    bits: set[str] = set()
    stems = unit.random.sample(_NAMES, len(_NAMES))

    def change(node: Any) -> Any:
        literal = integer_literal(node)
        if literal is None:
            return node
        value, suffix = literal
        if suffix == "u" and value in {2**k - 1 for k in range(2, 32)} and unit.chance(0.8):
            bits.add("#define MASK(bits) ((1u << (bits)) - 1u)")
            return expression(f"MASK({value.bit_length()})")
        if suffix == "u" and value > 2 and not value & (value - 1) and value < 2**31:
            bits.add("#define BIT(n) (1u << (n))")
            return expression(f"BIT({value.bit_length() - 1})")
        text = str(node.value)
        if value <= 2 or (text not in names and len(names) >= most):
            return node
        if text not in names:
            names[text] = unit.fresh(*(n for n in stems if n not in names.values()))
        return c_ast.ID(names[text])

    for function in unit.functions:
        for node in walk(function.body):
            if isinstance(node, c_ast.Assignment):
                _change_numbers(node, change)
    unit.directives += [f"#define {name} {text}" for text, name in names.items()]
    unit.directives += sorted(bits)


def _change_numbers(node: Any, change: Callable[[Any], Any]) -> None:
    for slot, child in list(node.children()):
        if isinstance(child, c_ast.Assignment):
            continue
        new = change(child)
        if new is not child:
            set_child(node, slot, new)
        else:
            _change_numbers(child, change)


# ---- flags ---------------------------------------------------------------------------------------------


def use_flags(unit: Unit) -> None:
    """Make ints that are only ever 0 or 1 of type bool."""
    bindings = Bindings(unit)
    for function in unit.functions:
        for node in walk(function.body):
            if isinstance(node, c_ast.Decl) and _is_flag(bindings, node):
                for write in bindings.writes(node):
                    write.rvalue = _truth(write.rvalue)
                node.init = _truth(node.init)
                set_type_name(node.type, "bool")


def _is_flag(bindings: Bindings, node: Any) -> bool:
    if not isinstance(node.type, c_ast.TypeDecl) or bindings.declared_type(node) != INT32:
        return False
    writes = bindings.writes(node)
    if not writes or not all(isinstance(w, c_ast.Assignment) and w.op == "=" for w in writes):
        return False
    values = [node.init, *(w.rvalue for w in writes)]
    return all(integer_literal(v) in ((0, ""), (1, "")) for v in values)


def _truth(node: Any) -> Any:
    return c_ast.ID("true" if integer_literal(node) == (1, "") else "false")


# ---- structures ----------------------------------------------------------------------------------------


def group_state(unit: Unit, most: int) -> None:
    """Put scalar locals of functions into structures, whose members have no types for later bindings."""
    bindings = Bindings(unit)
    for function in unit.functions:
        own = _groupable(bindings, function)[:most]
        if len(own) < 2:
            continue
        kind = unit.fresh(f"{function.decl.name}_state_t")
        name = unit.fresh("state", "s", "acc", "work")
        members = "".join(f"    {type_name(d.type)} {d.name};\n" for d in own)
        unit.typedefs.append(f"typedef struct {{\n{members}}} {kind};")
        _use_members(bindings, function, own, name)
        declaration = statement(f"int {name};")
        set_type_name(declaration.type, kind)
        function.body.block_items.insert(0, declaration)


def _groupable(bindings: Bindings, function: Any) -> list[Any]:
    names = [n.name for n in walk(function) if isinstance(n, c_ast.Decl)]
    direct = {id(i) for n in walk(function.body) if isinstance(n, c_ast.Compound) for i in n.block_items}
    return [
        n
        for n in walk(function.body)
        if isinstance(n, c_ast.Decl)
        and id(n) in direct
        and isinstance(n.type, c_ast.TypeDecl)
        and not n.quals
        and not n.storage
        and names.count(n.name) == 1
        and bindings.writes(n)
    ]


def _use_members(bindings: Bindings, function: Any, own: list[Any], name: str) -> None:
    ids = {id(use) for d in own for use in bindings.uses[id(d)]}

    def change(node: Any) -> Any:
        if id(node) in ids:
            return c_ast.StructRef(c_ast.ID(name), ".", node)
        return node

    function.body = replace_nodes(function.body, change)
    chosen = {id(d): c_ast.StructRef(c_ast.ID(name), ".", c_ast.ID(d.name)) for d in own}
    for block in [n for n in walk(function.body) if isinstance(n, c_ast.Compound)]:
        items: list[Any] = []
        for item in block.block_items:
            member = chosen.get(id(item))
            if member is None:
                items.append(item)
            elif item.init is not None:
                items.append(c_ast.Assignment("=", member, item.init))
        block.block_items = items
