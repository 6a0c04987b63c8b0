"""The dialects: which rewritings a program gets, and names, types and comments in their manner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from pycparser import c_ast

from pipelines.programs.dialects.counters import CounterTypes, retype_counters
from pipelines.programs.dialects.expressions import (
    compound_assignments,
    extract_function,
    group_state,
    name_numbers,
    step_form,
    tabulate_numbers,
    use_bits,
    use_flags,
)
from pipelines.programs.dialects.loops import (
    continue_early,
    declare_counters_first,
    loop_otherwise,
    walk_pointers,
)
from pipelines.programs.dialects.unit import (
    Comment,
    Unit,
    drop_braces,
    expression,
    integer_literal,
    replace_nodes,
    set_type_name,
    type_name,
    walk,
)

_FIXED = {
    "signed char": "int8_t",
    "short": "int16_t",
    "int": "int32_t",
    "long": "int64_t",
    "unsigned char": "uint8_t",
    "unsigned short": "uint16_t",
    "unsigned": "uint32_t",
    "unsigned int": "uint32_t",
    "unsigned long": "uint64_t",
}
_BASIC = {
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint64_t": "unsigned long",
}


# ---- plain ---------------------------------------------------------------------------------------------


_PLAIN_COUNTERS = CounterTypes(
    loops=(("int", 3), ("unsigned", 4), ("long", 1.5), ("size_t", 3)),
    rising=(("int", 2), ("unsigned", 2), ("size_t", 2), ("long", 1)),
    sums=(("long", 1),),
    most_casts=2,
)


def write_plain(unit: Unit) -> None:
    """Rewrite a program as plain C: basic types, while loops, early continue, functions, comments."""
    unsigned = unit.random.choice(("unsigned", "unsigned int"))
    retype_counters(unit, _PLAIN_COUNTERS)
    _respell(unit, {"unsigned": unsigned})
    compound_assignments(unit, 0.8)
    continue_early(unit, 0.5)
    if unit.chance(0.5):
        extract_function(unit)
    loop_otherwise(unit, while_share=unit.random.choice((0.15, 0.35, 0.6)), do_share=0.04)
    step_form(unit)
    if unit.chance(0.75):
        _respell(unit, {**_BASIC, "uint32_t": unsigned})
    if unit.chance(0.5):
        drop_braces(unit)
    _comment(unit, 0.5)


# ---- embedded ------------------------------------------------------------------------------------------


_EMBEDDED_COUNTERS = CounterTypes(
    loops=(("uint8_t", 3), ("uint16_t", 3), ("uint32_t", 2), ("int32_t", 2), ("size_t", 1)),
    rising=(("uint32_t", 3), ("int32_t", 1), ("size_t", 1)),
    sums=(("int64_t", 1),),
)


def write_embedded(unit: Unit) -> None:
    """Rewrite a program as firmware: fixed widths, masks, pointers, tables, structures, do loops."""
    retype_counters(unit, _EMBEDDED_COUNTERS)
    use_bits(unit, 0.9)
    use_flags(unit)
    compound_assignments(unit, 0.8)
    if unit.chance(0.4):
        tabulate_numbers(unit)
    walk_pointers(unit, share=0.7, most=3)
    loop_otherwise(unit, while_share=0.15, do_share=0.3)
    step_form(unit)
    _respell(unit, _FIXED)
    _alias_elements(unit)
    if unit.chance(0.6):
        group_state(unit, 5)
    if unit.chance(0.7):
        name_numbers(unit, 4)
    if unit.chance(0.3):
        drop_braces(unit)
    _comment(unit, 0.25)


def _alias_elements(unit: Unit) -> None:
    """Give the most frequent type of the arrays a name of its own."""
    kind = _element_type(unit)
    if kind is None or not unit.chance(0.6):
        return
    alias = unit.fresh(*unit.random.sample(_ALIASES, len(_ALIASES)))
    unit.typedefs.append(f"typedef {kind} {alias};")
    for node in _arrays(unit):
        if type_name(node.type) == kind:
            set_type_name(node.type, alias)


_ALIASES = ("sample_t", "value_t", "data_t", "word_t", "elem_t")


def _arrays(unit: Unit) -> list[Any]:
    arrays = c_ast.ArrayDecl | c_ast.PtrDecl
    return [n for n in walk(unit.tree) if isinstance(n, c_ast.Decl) and isinstance(n.type, arrays)]


def _element_type(unit: Unit) -> str | None:
    counts = Counter(type_name(n.type) for n in _arrays(unit))
    return max(counts, key=lambda k: (counts[k], k)) if counts else None


# ---- polybench -----------------------------------------------------------------------------------------


_SIZES = ("N", "M", "NI", "NJ", "NK", "NL", "NM", "NP", "NQ", "NR", "W", "H", "TMAX", "LX", "LY")


def write_polybench(unit: Unit) -> None:
    """Rewrite a program in the manner of PolyBench: size macros, DATA_TYPE, kernel_ between scop pragmas."""
    compound_assignments(unit, 0.7)
    _name_sizes(unit)
    _bound_loops(unit)
    _respell(unit, {"int32_t": "int", **({} if unit.chance(0.3) else _BASIC)})
    _name_data_type(unit)
    step_form(unit)
    declare_counters_first(unit)
    _mark_kernels(unit)
    if unit.chance(0.6):
        drop_braces(unit)


def _name_sizes(unit: Unit) -> None:
    """Name sizes as PolyBench does; literal extents get macros where the program has none."""
    if not unit.macros:
        _add_sizes(unit)
    names = {old: unit.fresh(*_SIZES) for old in unit.macros}
    unit.macros = {names[old]: value for old, value in unit.macros.items()}
    for node in walk(unit.tree):
        if isinstance(node, c_ast.ID) and node.name in names:
            node.name = names[node.name]


def _add_sizes(unit: Unit) -> None:
    names: dict[int, str] = {}

    def named(node: Any) -> Any:
        literal = integer_literal(node)
        if literal is None or literal[1] or literal[0] < 2 or (literal[0] not in names and len(names) == 8):
            return node
        if literal[0] not in names:
            names[literal[0]] = unit.fresh("SIZE_0", *(f"SIZE_{k}" for k in range(1, 9)))
        return c_ast.ID(names[literal[0]])

    for node in walk(unit.tree):
        if isinstance(node, c_ast.ArrayDecl) and node.dim is not None:
            node.dim = named(node.dim)
        elif isinstance(node, c_ast.For) and isinstance(node.cond, c_ast.BinaryOp):
            node.cond.right = named(node.cond.right)
    unit.macros = {name: value for value, name in names.items()}


def _bound_loops(unit: Unit) -> None:
    """Bound loops by `_PB_N`."""
    used: dict[str, str] = {}

    def bound(node: Any) -> Any:
        if isinstance(node, c_ast.ID) and node.name in unit.macros:
            used[node.name] = f"_PB_{node.name}"
            return c_ast.ID(used[node.name])
        return node

    for node in walk(unit.tree):
        if isinstance(node, c_ast.For) and isinstance(node.cond, c_ast.BinaryOp):
            node.cond.right = replace_nodes(node.cond.right, bound)
    unit.directives += [f"#define {name} {size}" for size, name in used.items()]


def _name_data_type(unit: Unit) -> None:
    """Call the most frequent type of the arrays DATA_TYPE, and its literals SCALAR_VAL(x)."""
    kind = _element_type(unit)
    if kind is None:
        return
    name = unit.fresh("DATA_TYPE", "DATA_T", "ELEMENT")
    unit.directives.append(f"#define {name} {kind}")
    for node in walk(unit.tree):
        if isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl | c_ast.Struct):
            if type_name(node.type) == kind and (kind != "int" or isinstance(node.type, c_ast.ArrayDecl)):
                set_type_name(node.type, name)
        elif isinstance(node, c_ast.Typename) and type_name(node.type) == kind != "int":
            set_type_name(node.type, name)
    if kind == "float" and unit.chance(0.7):
        unit.directives.append("#define SCALAR_VAL(x) x##f")
        for function in unit.functions:
            replace_nodes(function.body, _scalar)


def _scalar(node: Any) -> Any:
    if isinstance(node, c_ast.Constant) and re.fullmatch(r"[\d.]+(e[+-]?\d+)?f", str(node.value)):
        call = expression("SCALAR_VAL(x)")
        call.args.exprs = [c_ast.Constant("double", str(node.value)[:-1])]
        return call
    return node


def _mark_kernels(unit: Unit) -> None:
    """Make the top function a static kernel, and put loops between `#pragma scop` and `endscop`."""
    name = unit.fresh(f"kernel_{unit.top}")
    for function in unit.functions:
        if function.decl.name == unit.top:
            function.decl.name = name
            function.decl.type.type.declname = name
            function.decl.storage = ["static"]
        items = function.body.block_items
        loops = [k for k, item in enumerate(items) if isinstance(item, c_ast.For | c_ast.While)]
        if loops:
            items.insert(loops[-1] + 1, c_ast.Pragma("endscop"))
            items.insert(loops[0], c_ast.Pragma("scop"))
    unit.top = name


# ---- spelling and comments -----------------------------------------------------------------------------


def _respell(unit: Unit, names: Mapping[str, str]) -> None:
    for node in walk(unit.tree):
        if isinstance(node, c_ast.IdentifierType):
            old = " ".join(node.names)
            node.names = names.get(old, old).split()


_NOTES: Mapping[str, tuple[str, ...]] = {
    "For": (
        "walk over all entries",
        "one pass per element",
        "next row",
        "inner loop",
        "process the block",
    ),
    "While": ("until done", "go on as long as needed", "scan"),
    "If": ("special case", "only where it applies", "check the limit"),
    "Assignment": ("update", "keep the result", "store"),
    "Decl": ("start value", "running value", "temporary"),
}


def _comment(unit: Unit, share: float) -> None:
    """Put comments before statements, one style per program."""
    form: Callable[[str], str] = unit.random.choice((lambda t: f"// {t}", lambda t: f"/* {t} */"))
    for block in [n for n in walk(unit.tree) if isinstance(n, c_ast.Compound)]:
        items: list[Any] = []
        for item in block.block_items:
            notes = _NOTES.get(type(item).__name__)
            if notes and unit.chance(share * (0.5 if isinstance(item, c_ast.For) else 0.2)):
                items.append(Comment(form(unit.random.choice(notes))))
            items.append(item)
        block.block_items = items


_HEADERS = {
    "stdint.h": r"\bu?int\d+_t\b",
    "stdbool.h": r"\bbool\b",
    "stddef.h": r"\bsize_t\b",
}


def set_includes(unit: Unit, text: str) -> None:
    """Set the headers that a program's text needs."""
    own = [name for name in unit.includes if name not in _HEADERS]
    unit.includes = [name for name, pattern in _HEADERS.items() if re.search(pattern, text)] + own


STYLES: Mapping[str, Callable[[Unit], None]] = {
    "polybench": write_polybench,
    "plain": write_plain,
    "embedded": write_embedded,
}
