"""What the case files of transformations say: steps by name, and facts about the function that results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from pipelines.c import interface_of, ir
from pipelines.c.analysis.copying import find_loop, loops_inside
from pipelines.c.analysis.liveness import remove_dead_values
from pipelines.c.analysis.simplify import simplify
from pipelines.hls.transforms.cache import cache_array
from pipelines.hls.transforms.chains import accumulators, balance_chains
from pipelines.hls.transforms.exits import exits_to_flags
from pipelines.hls.transforms.forward import forward_stores
from pipelines.hls.transforms.ifconversion import convert_ifs
from pipelines.hls.transforms.nests import flatten_nest, tile_loop
from pipelines.hls.transforms.parallel import loop_carries_dependence, parallelise
from pipelines.hls.transforms.partition import partition_array
from pipelines.hls.transforms.promote import promote_accumulators, promote_in_loop
from pipelines.hls.transforms.reduction import reduce_tree
from pipelines.hls.transforms.registers import arrays_to_registers
from pipelines.hls.transforms.unroll import unroll_inner, unroll_loop
from tests.hls.ctext import c_function
from tests.hls.interleaving import interleave_reduction

Step = Callable[..., Any]


def convert(function: ir.Function, *loops: str) -> ir.Function:
    """Convert the conditions of the bodies of some loops."""
    return convert_ifs(function, frozenset(loops))


def cache_partitioned(function: ir.Function, array: str, loop: str) -> ir.Function:
    """Cache an array and partition its copy as the report says."""
    function, report = cache_array(function, array, loop)
    for directive in report.partitions:
        function = partition_array(
            function, directive.variable, directive.style, directive.value, directive.dimension or 1
        )
    return function


def mark_registers(function: ir.Function, array: str) -> ir.Function:
    """Mark an array as one that is kept in registers."""
    return replace(
        function, arrays=tuple(replace(a, registers=a.registers or a.name == array) for a in function.arrays)
    )


STEPS: dict[str, Step] = {
    "balance": balance_chains,
    "cache": cache_array,
    "cache_partitioned": cache_partitioned,
    "convert": convert,
    "dead": remove_dead_values,
    "exits": exits_to_flags,
    "flatten": flatten_nest,
    "forward": forward_stores,
    "interleave": interleave_reduction,
    "mark": mark_registers,
    "parallel": parallelise,
    "partition": partition_array,
    "promote": promote_accumulators,
    "promote_in": promote_in_loop,
    "read": lambda function: function,
    "reduce": reduce_tree,
    "registers": arrays_to_registers,
    "simplify": simplify,
    "tile": tile_loop,
    "unroll": unroll_loop,
    "unroll_inner": unroll_inner,
}


def apply_step(function: ir.Function, text: str) -> tuple[ir.Function, object]:
    """Apply a step such as `reduce L0 s 4 unsafe_math=True`.

    Returns: the function, and what the transformation reports beside it, or None.
    """
    name, *words = text.split()
    positional = [_value(word) for word in words if "=" not in word]
    named = {key: _value(value) for key, _, value in (word.partition("=") for word in words if "=" in word)}
    result = STEPS[name](function, *positional, **named)
    return result if isinstance(result, tuple) else (result, None)


def _value(word: str) -> object:
    named = {"all": None, "None": None, "True": True, "none": ""}
    if word in named:
        return named[word]
    return int(word) if word.lstrip("-").isdigit() else word


# ---- facts ------------------------------------------------------------------------------------------


def _statements(function: ir.Function, loop: str = "") -> list[ir.Statement]:
    return list(ir.walk_statements(find_loop(function, loop).body if loop else function.body))


def _loads(function: ir.Function, array: str = "") -> list[ir.Load]:
    expressions = ir.all_expressions(function.body)
    return [e for e in expressions if isinstance(e, ir.Load) and array in ("", e.array.name)]


def _stores(function: ir.Function, array: str = "") -> list[ir.Store]:
    return [s for s in _statements(function) if isinstance(s, ir.Store) and array in ("", s.array.name)]


def _listed(names: Iterable[object]) -> str:
    return " ".join(str(name) for name in names)


def _accesses(function: ir.Function, array: str = "") -> str:
    """Loads and stores of an array, `loads + stores`; of every array, all accesses: `A 1 B 2`."""
    if array:
        return f"{len(_loads(function, array))} + {len(_stores(function, array))}"
    counts = Counter(access.array.name for access in (*_loads(function), *_stores(function)))
    return _listed(f"{name} {count}" for name, count in sorted(counts.items()))


def _guarded(function: ir.Function) -> str:
    """Arrays of loads, each with `if` when it has a predicate."""
    return _listed(
        sorted({e.array.name + (" if" if e.predicate is not None else "") for e in _loads(function)})
    )


def _bank(function: ir.Function, port: str) -> str:
    """A bank: shape of its argument, uses, and its dimensions as `style factor number size`."""
    bank = next(b for b in function.banks if b.port == port)
    uses = [name for name, used in (("read", bank.read), ("written", bank.written)) if used]
    dimensions = (_listed((d.style, d.factor, d.number, d.size)) for d in bank.dimensions)
    return "; ".join((_listed((bank.shape, *uses)), *dimensions))


def _values(function: ir.Function, variable: str) -> list[ir.Expression]:
    """Values that the loops of a function assign to a variable."""
    bodies = (loop.body for loop in loops_inside(function.body))
    statements = (s for body in bodies for s in body if isinstance(s, ir.Assign))
    return [s.value for s in statements if s.variable.name == variable]


def _depth(function: ir.Function, variable: str, operator: str) -> int:
    """Longest chain of an operator in the values of a variable."""

    def depth(expression: ir.Expression) -> int:
        inner = max((depth(e) for e in ir.child_expressions(expression)), default=0)
        return inner + (isinstance(expression, ir.Binary) and expression.operator == operator)

    return max(depth(value) for value in _values(function, variable))


def _index(index: ir.Expression) -> str:
    """An index `factor*variable+constant`."""
    match index:
        case ir.Binary(
            operator="add",
            left=ir.Binary(operator="mul", left=ir.Read(variable=variable), right=ir.Constant(value=factor)),
            right=ir.Constant(value=constant),
        ):
            return f"{factor}*{variable.name}+{constant}"
    return repr(index)


def _trips(function: ir.Function) -> str:
    loops = loops_inside(function.body)
    counts = (loop.trip_count if isinstance(loop, ir.For) else "while" for loop in loops)
    return _listed(f"{loop.name} {'?' if n is None else n}" for loop, n in zip(loops, counts, strict=True))


def _nest(function: ir.Function, loop: str) -> str:
    """Variables of a flattened loop: `name lower step trips`, with commas between."""
    nest = find_loop(function, loop).nest
    return ", ".join(_listed((v.variable.name, v.lower, v.step, v.trip_count)) for v in nest)


def _storing(function: ir.Function, array: str) -> str:
    """Loops that store to an array, in loops inside too."""
    loops = (s for s in _statements(function) if isinstance(s, ir.For | ir.While))
    return _listed(loop.name for loop in loops if array in ir.stored_arrays(loop.body))


def _touched(function: ir.Function, loop: str) -> str:
    """Arrays that a loop accesses."""
    body = find_loop(function, loop).body
    loaded = {e.array.name for e in ir.all_expressions(body) if isinstance(e, ir.Load)}
    return _listed(sorted(loaded | set(ir.stored_arrays(body))))


def _operators(function: ir.Function) -> str:
    return _listed(
        sorted({e.operator for e in ir.all_expressions(function.body) if isinstance(e, ir.Binary)})
    )


def _moves(function: ir.Function, loop: str) -> str:
    """Copies of variables in a loop: `to<-from`."""
    return _listed(
        f"{s.variable.name}<-{s.value.variable.name}"
        for s in _statements(function, loop)
        if isinstance(s, ir.Assign) and isinstance(s.value, ir.Read)
    )


def _counted(function: ir.Function, loop: str) -> ir.For:
    found = find_loop(function, loop)
    assert isinstance(found, ir.For)
    return found


def _directives_of(function: ir.Function, loop: str) -> str:
    """Directives of a loop: `kind value style variable` without what is absent, with commas between."""
    shown = ((d.kind, d.value, d.style, d.variable) for d in find_loop(function, loop).directives)
    return ", ".join(sorted(_listed(part for part in parts if part not in (None, "")) for parts in shown))


def _index_variables(function: ir.Function, array: str) -> str:
    """Variables in the indices of an array's loads."""
    expressions = (e for load in _loads(function, array) for e in ir.walk_expressions(load.indices[0]))
    return _listed(sorted({e.variable.name for e in expressions if isinstance(e, ir.Read)}))


def _interface(function: ir.Function) -> str:
    """Arguments: `name: type shape uses`, with commas between."""
    return ", ".join(
        f"{a.name}: {a.type.c_name} {a.shape}{' read' * a.read}{' written' * a.written}"
        for a in interface_of(function).arguments
    )


def _left_blocks(function: ir.Function) -> str:
    """Labels of blocks that are left, `own` for the first block of the function."""
    first = function.body[0]
    labels = {s.label for s in _statements(function) if isinstance(s, ir.Leave)}
    return _listed("own" if isinstance(first, ir.Block) and first.label == n else n for n in sorted(labels))


def _loop_types(function: ir.Function, loop: str) -> str:
    """Types of a counted loop's variable and bounds."""
    counted = _counted(function, loop)
    kinds = {counted.variable.type, ir.type_of(counted.lower), ir.type_of(counted.upper)}
    return _listed(sorted(kind.c_name for kind in kinds))


def _upper_variable(function: ir.Function, loop: str) -> str:
    """`first` when the bound of a loop is the variable that the first statement assigns."""
    first, upper = function.body[0], _counted(function, loop).upper
    same = isinstance(first, ir.Assign) and upper == ir.Read(variable=first.variable)
    return "first" if same else "another"


FACTS: dict[str, Callable[..., object]] = {
    "upper_variable": _upper_variable,
    "tables": lambda f: ", ".join(f"{a.name} {_listed(a.initial) if a.initial else None}" for a in f.arrays),
    "loop_types": _loop_types,
    "left_blocks": _left_blocks,
    "interface": _interface,
    "index_variables": _index_variables,
    "ignored_pragmas": lambda f: ", ".join(_listed(pragma) for pragma in f.ignored_pragmas),
    "directives_of": _directives_of,
    "array_names": lambda f: _listed(a.name for a in f.arrays),
    "array_directives": lambda f: ", ".join(
        sorted(_listed((d.kind, d.variable, d.style, d.value)) for d in f.directives)
    ),
    "accesses": _accesses,
    "accumulators": lambda f, loop: _listed(sorted(accumulators(find_loop(f, loop).body))),
    "arrays": lambda f: _listed(a.name for a in f.arrays if not a.external),
    "assigned": lambda f, loop="": _listed(
        s.variable.name for s in _statements(f, loop) if isinstance(s, ir.Assign)
    ),
    "banks": lambda f, array: _listed(a.name for a in f.arrays if a.argument == array),
    "bank": _bank,
    "binaries": lambda f: sum(isinstance(e, ir.Binary) for e in ir.all_expressions(f.body)),
    "conditions": lambda f: sum(isinstance(s, ir.If) for s in _statements(f)),
    "dependence": lambda f, loop: loop_carries_dependence(f, loop),
    "depth": _depth,
    "directive_loops": lambda f: _listed(
        sorted({d.loop for loop in loops_inside(f.body) for d in loop.directives})
    ),
    "directives": lambda f: _listed(
        f"{loop.name} {d.kind}" for loop in loops_inside(f.body) for d in loop.directives
    ),
    "guarded": _guarded,
    "guarded_stores": lambda f: _listed(
        sorted({s.array.name + (" if" if s.predicate is not None else "") for s in _stores(f)})
    ),
    "indices": lambda f, array: _listed(sorted({_index(e.indices[0]) for e in _loads(f, array)})),
    "initial": lambda f: ", ".join(_listed(a.initial) for a in f.arrays if a.initial is not None),
    "inner_loops": lambda f, loop: len(loops_inside(find_loop(f, loop).body)),
    "kinds": lambda f, loop="": _listed(type(s).__name__ for s in _statements(f, loop)),
    "kinds_set": lambda f, loop="": _listed(sorted({type(s).__name__ for s in _statements(f, loop)})),
    "lines": lambda f: _listed(s.line for s in _statements(f) if isinstance(s, ir.Assign)),
    "loads": lambda f, array="": len(_loads(f, array)),
    "loop_step": lambda f, loop: _counted(f, loop).step,
    "loops": lambda f, loop="": _listed(
        s.name for s in loops_inside(find_loop(f, loop).body if loop else f.body)
    ),
    "moves": _moves,
    "nest": _nest,
    "operators": _operators,
    "plain_text": lambda f: re.sub(r"\(u?int32_t\)", "", c_function(f, name="f")),
    "predicates": lambda f, array: _listed(type(e.predicate).__name__ for e in _loads(f, array)),
    "registers": lambda f: _listed(a.name for a in f.arrays if a.registers),
    "selections": lambda f: sum(isinstance(e, ir.Select) for e in ir.all_expressions(f.body)),
    "step": lambda f, name: _listed(type(v).__name__ for v in _values(f, name)),
    "step_operators": lambda f, *names: _listed(
        e.operator
        for name in names
        for value in _values(f, name)
        for e in ir.walk_expressions(value)
        if isinstance(e, ir.Binary)
    ),
    "stored": lambda f, loop: _listed(
        sorted(s.array.name for s in _statements(f, loop) if isinstance(s, ir.Store))
    ),
    "stored_registers": lambda f: all(s.array.registers for s in _stores(f)),
    "stores": lambda f, array="": len(_stores(f, array)),
    "storing": _storing,
    "test_first": lambda f, loop: getattr(find_loop(f, loop), "test_first", None),
    "text": lambda f: c_function(f, name="f"),
    "touched": _touched,
    "trips": _trips,
    "upper": lambda f, loop: type(_counted(f, loop).upper).__name__,
}
"""Facts of a function, by name; arguments are words after the name."""
