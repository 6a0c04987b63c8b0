"""The legal space that mappings are drawn from: directives that a program's loops and arrays admit.

Each entry is about one directive alone. When two directives conflict, the outcome of one says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipelines.c import ir
from pipelines.c.analysis.accesses import loads_of
from pipelines.c.analysis.counting import exact_trips
from pipelines.c.analysis.simplify import tidy
from pipelines.c.errors import NotApplicable
from pipelines.hls.plan import Loop, loops_of
from pipelines.hls.transforms.exits import exits_to_flags
from pipelines.hls.transforms.nests import flatten_nest
from pipelines.hls.transforms.parallel import loop_carries_dependence
from pipelines.hls.transforms.unroll import obstacle_to_jam, unroll_inner, unroll_loop

ACCESS_LIMIT = 40
"""Accesses per loop up to which its iterations are compared; a loop with more is not offered for `parallel`.
Each pair may take some tenths of a second."""

# Standard cells per operation, from measured operators in osu018: an upper bound for each copy.
CELLS_PER_BIT = 3
CELLS_PER_PRODUCT_BIT = 2  # and per bit of the other operand
CELLS_PER_QUOTIENT_BIT = 40
CELLS_PER_FLOAT_BIT = 50
CELLS_PER_ACCESS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSpace:
    """A loop and the directives it admits.

    Attributes:
        name: as in directives; parent: the enclosing loop, or None.
        trip_count: iterations, None when they are not constant.
        own_cells: estimated standard cells of its body without inner loops.
        unrollable: in groups of iterations; pipelined loops need `pipelinable`.
        independent: its iterations may run in parallel.
        pipelinable: it becomes one block when the loops inside are unrolled; False when one of them cannot.
        flattens: enclosing loops that can be flattened into it; none when it contains a loop.
    """

    name: str
    parent: str | None
    trip_count: int | None
    own_cells: int
    unrollable: bool
    independent: bool
    pipelinable: bool
    flattens: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArraySpace:
    """An array that can be partitioned: its name and its elements per dimension."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingSpace:
    """Loops in source order, outer before inner, and arrays in order of declaration."""

    loops: tuple[LoopSpace, ...]
    arrays: tuple[ArraySpace, ...]


def mapping_space(
    function: ir.Function,
    *,
    unsafe_math: bool = False,
    copy_limit: int = 16,
    register_threshold_elements: int = 32,
) -> MappingSpace:
    """Find the directives that the loops and arrays of a program admit.

    Args:
        function: as the front end returns it.
        unsafe_math: floating sums may be reordered, so that more loops are independent.
        copy_limit: total iterations of inner loops up to which an outer loop is offered for a pipeline.
        register_threshold_elements: local arrays of at most this many elements become registers and have no
            ports.
    """
    written = {s.name for s in ir.walk_statements(function.body) if isinstance(s, ir.For | ir.While)}
    plain = tidy(function)
    loops = [
        _loop_space(plain, loop, parent, unsafe_math=unsafe_math, copy_limit=copy_limit)
        for loop, parent in _with_parents(plain.body, None)
        if loop.name in written
    ]
    used = {load.array.name for load in _loads(plain)} | ir.stored_arrays(plain.body)
    arrays = [
        ArraySpace(name=a.name, shape=a.shape)
        for a in plain.arrays
        if a.name in used and (a.external or a.element_count > register_threshold_elements)
    ]
    return MappingSpace(loops=tuple(loops), arrays=tuple(arrays))


def _with_parents(body: tuple[ir.Statement, ...], parent: str | None) -> list[tuple[Loop, str | None]]:
    pairs: list[tuple[Loop, str | None]] = []
    for statement in body:
        inside = parent
        if isinstance(statement, ir.For | ir.While):
            pairs.append((statement, parent))
            inside = statement.name
        for inner in ir.child_bodies(statement):
            pairs += _with_parents(inner, inside)
    return pairs


def _loads(function: ir.Function) -> list[ir.Load]:
    return [e for e in ir.all_expressions(function.body) if isinstance(e, ir.Load)]


def _loop_space(
    function: ir.Function, loop: Loop, parent: str | None, *, unsafe_math: bool, copy_limit: int
) -> LoopSpace:
    trips = exact_trips(loop) if isinstance(loop, ir.For) else None
    return LoopSpace(
        name=loop.name,
        parent=parent,
        trip_count=trips,
        own_cells=_own_cells(loop),
        unrollable=trips is not None or _works(lambda: unroll_loop(function, loop.name, 2)),
        independent=_is_independent(function, loop, unsafe_math),
        pipelinable=_is_pipelinable(function, loop, copy_limit),
        flattens=_flattened(function, loop),
    )


def _works(transformation: Callable[[], object]) -> bool:
    try:
        transformation()
    except NotApplicable:
        return False
    return True


def _is_independent(function: ir.Function, loop: Loop, unsafe_math: bool) -> bool:
    if isinstance(loop, ir.While) or _access_count(loop) > ACCESS_LIMIT:
        return False
    return (
        obstacle_to_jam(function, loop.name, unsafe_math=unsafe_math) is None
        and loop_carries_dependence(function, loop.name) is None
    )


def _access_count(loop: Loop) -> int:
    stores = sum(isinstance(s, ir.Store) for s in ir.walk_statements(loop.body))
    return stores + sum(isinstance(e, ir.Load) for e in ir.all_expressions(loop.body))


def _is_pipelinable(function: ir.Function, loop: Loop, copy_limit: int) -> bool:
    if _copies_inside(loop.body) > copy_limit:
        return False
    return _works(lambda: exits_to_flags(unroll_inner(function, loop.name), loop.name))


def _copies_inside(body: tuple[ir.Statement, ...]) -> int:
    """Return total iterations of a body's loops, nested ones multiplied; 1 without, infinite if unknown."""
    most = 1
    for statement in body:
        if isinstance(statement, ir.While):
            return 1 << 30
        copies = max((_copies_inside(b) for b in ir.child_bodies(statement)), default=1)
        if isinstance(statement, ir.For):
            trips = exact_trips(statement)
            copies *= trips if trips is not None else 1 << 30
        most = max(most, copies)
    return most


def _flattened(function: ir.Function, loop: Loop) -> tuple[str, ...]:
    if next(loops_of(loop.body), None) is not None:
        return ()
    try:
        flat = flatten_nest(function, loop.name)
    except NotApplicable:
        return ()
    kept = {s.name for s in ir.walk_statements(flat.body) if isinstance(s, ir.For | ir.While)}
    return tuple(one.name for one, _ in _with_parents(function.body, None) if one.name not in kept)


# ---- cells ----------------------------------------------------------------------------------------------


def _own_cells(loop: Loop) -> int:
    own = _own_statements(loop.body)
    accesses = sum(isinstance(s, ir.Store) for s in own)
    parts = [part for s in own for e in ir.statement_expressions(s) for part in ir.walk_expressions(e)]
    accesses += sum(len(list(loads_of(e))) for s in own for e in ir.statement_expressions(s))
    return CELLS_PER_ACCESS * accesses + sum(_cells(part) for part in parts)


def _own_statements(body: tuple[ir.Statement, ...]) -> list[ir.Statement]:
    """Return the statements of a body outside its inner loops."""
    statements: list[ir.Statement] = []
    for statement in body:
        if isinstance(statement, ir.For | ir.While):
            continue
        statements.append(statement)
        for inner in ir.child_bodies(statement):
            statements += _own_statements(inner)
    return statements


def _cells(part: ir.Expression) -> int:
    """Return the estimated standard cells of one operation without its operands."""
    match part:
        case ir.Binary(operator=operator, left=left, right=right) if ir.type_of(left).floating:
            del operator, right
            return CELLS_PER_FLOAT_BIT * ir.type_of(left).width_bits
        case ir.Binary(operator="mul", left=left, right=right):
            if isinstance(left, ir.Constant) or isinstance(right, ir.Constant):
                return CELLS_PER_BIT * part.type.width_bits
            return CELLS_PER_PRODUCT_BIT * _width_bits(left) * _width_bits(right)
        case ir.Binary(operator="div" | "rem", right=right) if not isinstance(right, ir.Constant):
            return CELLS_PER_QUOTIENT_BIT * part.type.width_bits
        case ir.Unary(operator="sqrt"):
            return CELLS_PER_FLOAT_BIT * part.type.width_bits
        case ir.Binary() | ir.Unary() | ir.Select():
            return CELLS_PER_BIT * part.type.width_bits
        case _:
            return 0


def _width_bits(part: ir.Expression) -> int:
    """Return the bits of a value before it was converted to a wider type."""
    while isinstance(part, ir.Cast) and not part.bits:
        if ir.type_of(part.operand).width_bits > part.type.width_bits:
            break
        part = part.operand
    return ir.type_of(part).width_bits
