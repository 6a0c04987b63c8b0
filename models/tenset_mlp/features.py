"""Coarse features of a program and a configuration: loop bounds, dimensions, operator counts.

The model must answer for a design that does not exist yet; with counts of the generated RTL among its
features it would describe a result instead of predicting it.

Magnitudes enter as log2(1 + x): iterations and sizes multiply, so their logarithms add up.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from models.base import PredictorError
from models.query import Query
from pipelines.base.identity import content_hash
from pipelines.base.summation import ordered_sum
from pipelines.c import interface_of, ir, read_function
from pipelines.c.signature import Interface
from pipelines.dataset.features import extract_loops
from pipelines.schemas import OK, LoopRow, ProgramRow

FEATURE_SET = 2
"""Number of this definition. It grows when a feature changes its meaning under the same name, so
that an older model refuses to answer with features it was not trained on."""

COMPACT = (
    "log2_read_delay",
    "log2_write_delay",
    "clock_period_ns",
    "pipelined_share",
    "log2_estimated_cycles",
    "log2_multiply_at_once",
    "log2_divide_at_once",
    "log2_local_bits",
    "log2_variables",
    "array_count",
    "log2_array_elements",
)
"""The features for a handful of programs. With all of them, eight kernels are eight points in fifty
dimensions; chosen by leaving out one kernel at a time, never by the test part."""

COUNTED_KINDS: tuple[str, ...] = ("flatten", "tile", "reduction", "cache")
"""Directives that are counted; the others have features of their own."""

DIMENSION_COUNT = 4
LOOP_BOUND_COUNT = 4
DEFAULT_TRIP_COUNT = 16  # for a loop about which nothing at all is known
OPERATOR_KINDS: Mapping[str, tuple[str, ...]] = {
    "multiply": ("mul",),
    "divide": ("div", "rem"),
    "add": ("add", "sub"),
    "compare": ir.COMPARISONS,
    "bitwise": ir.BITWISE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFacts:
    """A program as coarse counts.

    Attributes:
        loops: loop nest in source order.
        interface: arguments of the top function.
        operators: operators as written, by kind of OPERATOR_KINDS.
        widest: the same, at most in one body (nested loops apart): what could be wanted at once.
        local_bits: bits of arrays inside the function, which become hardware.
        variable_count: scalar variables the function assigns.
    """

    loops: tuple[LoopRow, ...]
    interface: Interface
    operators: Mapping[str, int]
    widest: Mapping[str, int]
    local_bits: int
    variable_count: int


def facts_of(source: str, top: str, loops: Sequence[LoopRow] | None = None) -> ProgramFacts:
    """Read a program; its loops are extracted unless they are already known.

    Raises: HlsError (a ValueError): the C front end does not accept the program.
    """
    function = read_function(source, top=top)
    if loops is None:
        loops = extract_loops(_program_row(source, top))
    bodies = [_operators(body) for body in _bodies(function.body)]
    local = [a for a in function.arrays if not a.external]
    return ProgramFacts(
        loops=tuple(loops),
        interface=interface_of(function),
        operators={kind: sum(b[kind] for b in bodies) for kind in OPERATOR_KINDS},
        widest={kind: max(b[kind] for b in bodies) for kind in OPERATOR_KINDS},
        local_bits=sum(a.element_count * a.type.width_bits for a in local),
        variable_count=len(ir.assigned_variables(function.body)),
    )


def _bodies(body: tuple[ir.Statement, ...]) -> Iterator[list[ir.Statement]]:
    """Yield the statements of a body and of the conditions in it, then of each loop in it."""
    own = list(_own_statements(body))
    yield own
    for statement in own:
        if isinstance(statement, ir.For | ir.While):
            yield from _bodies(statement.body)


def _own_statements(body: tuple[ir.Statement, ...]) -> Iterator[ir.Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, ir.If):
            for inner in ir.child_bodies(statement):
                yield from _own_statements(inner)


def _operators(statements: Sequence[ir.Statement]) -> Counter[str]:
    """Return the operators by kind that the statements evaluate themselves."""
    kinds = {name: kind for kind, names in OPERATOR_KINDS.items() for name in names}
    return Counter(
        kinds[part.operator]
        for statement in statements
        for expression in ir.statement_expressions(statement)
        for part in ir.walk_expressions(expression)
        if isinstance(part, ir.Binary)
    )


def _program_row(source: str, top: str) -> ProgramRow:
    """Return a program as the features engine reads it, outside any suite."""
    return ProgramRow(
        program_id=content_hash(source, top),
        name=top,
        suite="query",
        stage="evaluation",
        size="custom",
        parameters="{}",
        source=source,
        source_bytes=len(source.encode()),
        top=top,
        inputs="{}",
        graph=None,
        operators=(),
        parent=None,
        root=None,
        ast_hash=None,
        prompt=None,
        prompt_sha256=None,
        model=None,
        reply_sha256=None,
        prompt_tokens=None,
        completion_tokens=None,
        reply_cost=None,
        status=OK,
        reason=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPlan:
    """What directives ask for.

    Attributes:
        intervals: of pipelined loops; unroll_factors, parallel_factors: copies of the body of loops.
        banks: of partitioned arrays, all dimensions together.
        counts: directives of the other kinds.
    """

    intervals: Mapping[str, int]
    unroll_factors: Mapping[str, int]
    parallel_factors: Mapping[str, int]
    banks: Mapping[str, int]
    counts: Mapping[str, int]


def plan_of(directives: str, facts: ProgramFacts) -> LoopPlan:
    """Return the plan that a JSON list of directives describes.

    Raises: PredictorError: not a JSON list of objects, an unknown kind, or no such loop or array.
    """
    rows = {row.loop: row for row in facts.loops}
    factors: dict[str, dict[str, int]] = {"pipeline": {}, "unroll": {}, "parallel": {}}
    counts = dict.fromkeys(COUNTED_KINDS, 0)
    banks: dict[str, int] = {}
    for directive in _parsed(directives):
        kind, loop, value = (directive.get(k) for k in ("kind", "loop", "value"))
        if value is not None and (type(value) is not int or value < 1):
            raise PredictorError(f"value of a directive must be a positive integer, got {value!r}")
        if kind == "partition":
            name = str(directive.get("variable"))
            banks[name] = banks.get(name, 1) * _banks(directive, facts.interface)
            continue
        if kind not in factors and kind not in counts:
            known = ", ".join((*factors, *counts, "partition"))
            raise PredictorError(f"unknown kind of directive: {kind!r}; accepted: {known}")
        if loop not in rows:
            raise PredictorError(
                f"unknown loop of a directive: {loop!r}; accepted: {', '.join(rows) or 'none'}"
            )
        if kind in counts:
            counts[str(kind)] += 1
            continue
        whole = 1 if kind == "pipeline" else rows[str(loop)].trip_count or 1
        factors[str(kind)][str(loop)] = value if isinstance(value, int) else whole
    return LoopPlan(
        intervals=factors["pipeline"],
        unroll_factors=factors["unroll"],
        parallel_factors=factors["parallel"],
        banks=banks,
        counts=counts,
    )


def _banks(directive: Mapping[str, object], interface: Interface) -> int:
    """Return banks of a partitioned array: as many as asked for, or of a complete partition one an element.

    An array inside a function is no argument; a complete partition of it counts once.
    """
    value, dimension = directive.get("value"), directive.get("dimension") or 0
    if isinstance(value, int):
        return value
    shapes = {a.name: a.shape for a in interface.arrays}
    shape = shapes.get(str(directive.get("variable")))
    most = math.inf if shape is None else len(shape)
    if not isinstance(dimension, int) or not 0 <= dimension <= most:
        raise PredictorError(f"dimension of a partition must be one of the array's, got {dimension!r}")
    if shape is None:
        return 1
    return math.prod(shape) if dimension == 0 else shape[dimension - 1]


def features_of(facts: ProgramFacts, query: Query) -> dict[str, float]:
    """Return the named features of a program under a configuration, in a fixed order.

    Args:    facts: of query.source. query: its configuration is used.
    Returns: feature name to finite value; the same names in the same order for every program.
    Raises:  PredictorError: the configuration cannot be read.
    Source:  LLMulator section 7.1 names loop bounds and tensor dimensions after Tenset (Zheng et
             al. 2021); which of them, the work sums and the cycle estimate are our choice.
    """
    plan = plan_of(query.directives, facts)
    return {
        "log2_read_delay": _log2(query.memory_read_delay_cycles),
        "log2_write_delay": _log2(query.memory_write_delay_cycles),
        "clock_period_ns": float(query.clock_period_ns),
        **_loop_features(facts, plan),
        **_work_features(facts, query, plan),
        **_argument_features(facts.interface),
        "log2_local_bits": _log2(facts.local_bits),
        "log2_variables": _log2(facts.variable_count),
        **{f"log2_{kind}_operators": _log2(n) for kind, n in facts.operators.items()},
        **{f"log2_{kind}_at_once": _log2(n) for kind, n in facts.widest.items()},
    }


def _parsed(directives: str) -> list[dict[str, object]]:
    try:
        parsed = json.loads(directives)
    except ValueError as error:
        raise PredictorError(f"directives must be a JSON list, got {directives!r}") from error
    if not isinstance(parsed, list) or not all(isinstance(d, dict) for d in parsed):
        raise PredictorError(f"directives must be a JSON list of objects, got {directives!r}")
    return parsed


def _log2(value: float) -> float:
    return math.log2(1.0 + max(0.0, float(value)))


def _largest(values: Iterable[float], count: int) -> list[float]:
    """Return the largest values in falling order, zero where there are fewer."""
    return (sorted(values, reverse=True) + [0.0] * count)[:count]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """A loop with what its own body holds, nested loops apart, and how often that body runs."""

    row: LoopRow
    iterations: float
    entries: float
    loads: int
    stores: int
    arithmetic: int
    branches: int


def _expanded(facts: ProgramFacts) -> list[_Loop]:
    """Return the loops with iterations over the whole run, in source order."""
    by_index = {row.loop_index: row for row in facts.loops}
    trips: dict[int, float] = {}
    iterations: dict[int, float] = {}
    expanded: list[_Loop] = []
    for row in facts.loops:
        index = row.loop_index
        above = row.parent_index if row.parent_index in by_index else None
        trips[index] = _trips_of(row, trips.get(above) if above is not None else None, facts)
        entries = 1.0 if above is None else iterations[above]
        iterations[index] = entries * trips[index]
        inner = [r for r in facts.loops if r.parent_index == index]
        expanded.append(
            _Loop(
                row=row,
                iterations=iterations[index],
                entries=entries,
                loads=row.load_count - sum(r.load_count for r in inner),
                stores=row.store_count - sum(r.store_count for r in inner),
                arithmetic=row.arithmetic_count - sum(r.arithmetic_count for r in inner),
                branches=row.branch_count - sum(r.branch_count for r in inner),
            )
        )
    return expanded


def _trips_of(row: LoopRow, trips_above: float | None, facts: ProgramFacts) -> float:
    """Return the trip count, or a guess where it is not known before running.

    Half the enclosing loop's count is right on average for a triangular nest; an outermost loop is
    taken to walk the largest dimension.
    """
    if row.trip_count is not None:
        return float(row.trip_count)
    if trips_above is not None:
        return max(1.0, trips_above / 2)
    dimensions = [d for a in facts.interface.arrays for d in a.shape]
    return float(max(dimensions, default=DEFAULT_TRIP_COUNT))


def _loop_features(facts: ProgramFacts, plan: LoopPlan) -> dict[str, float]:
    rows = facts.loops
    inner = [r for r in rows if r.is_innermost]
    bounds = _largest((r.trip_count or 0 for r in rows), LOOP_BOUND_COUNT)
    return {
        "loop_count": float(len(rows)),
        "innermost_loop_count": float(len(inner)),
        "while_loop_count": float(sum(r.kind == "while" for r in rows)),
        "unknown_bound_count": float(sum(r.trip_count is None for r in rows)),
        "loop_depth": float(max((r.depth for r in rows), default=0)),
        **{f"log2_loop_bound_{i}": _log2(bound) for i, bound in enumerate(bounds)},
        "pipelined_loop_count": float(len(plan.intervals)),
        "pipelined_share": len(plan.intervals) / len(inner) if inner else 0.0,
        "log2_unroll_product": math.log2(math.prod(plan.unroll_factors.values())),
        "log2_parallel_product": math.log2(math.prod(plan.parallel_factors.values())),
        "log2_bank_product": math.log2(math.prod(plan.banks.values())),
        **{f"{kind}_count": float(n) for kind, n in plan.counts.items()},
    }


def _work_features(facts: ProgramFacts, query: Query, plan: LoopPlan) -> dict[str, float]:
    """Return the operations over the whole run and a coarse estimate of cycles."""
    loops = _expanded(facts)
    return {
        "log2_iterations": _log2(ordered_sum(b.iterations for b in loops)),
        "log2_innermost_iterations": _log2(ordered_sum(b.iterations for b in loops if b.row.is_innermost)),
        "log2_pipelined_iterations": _log2(
            ordered_sum(b.iterations for b in loops if b.row.loop in plan.intervals)
        ),
        "log2_load_work": _log2(ordered_sum(b.iterations * b.loads for b in loops)),
        "log2_store_work": _log2(ordered_sum(b.iterations * b.stores for b in loops)),
        "log2_arithmetic_work": _log2(ordered_sum(b.iterations * b.arithmetic for b in loops)),
        "log2_branch_work": _log2(ordered_sum(b.iterations * b.branches for b in loops)),
        "log2_estimated_cycles": _log2(
            ordered_sum(_estimated_cycles(b, query, plan.intervals.get(b.row.loop)) for b in loops)
        ),
        "log2_written_loads": _log2(sum(b.loads for b in loops)),
        "log2_written_stores": _log2(sum(b.stores for b in loops)),
        "log2_written_arithmetic": _log2(sum(b.arithmetic for b in loops)),
        "log2_written_branches": _log2(sum(b.branches for b in loops)),
        "log2_pipelined_operations": _log2(
            sum(b.loads + b.stores + b.arithmetic for b in loops if b.row.loop in plan.intervals)
        ),
    }


def _estimated_cycles(loop: _Loop, query: Query, requested: int | None) -> float:
    """Return the cycles if loads wait for each other and arithmetic chains, or if a pipeline hides that.

    In a pipeline an iteration starts every interval cycles: the requested one, or as many as the
    accesses that share an array's port.
    """
    load, store = query.memory_read_delay_cycles, query.memory_write_delay_cycles
    arrays = max(1, loop.row.array_count)
    body = 1 + (load if loop.loads else 0) + loop.arithmetic + (store if loop.stores else 0)
    body += max(0, math.ceil((loop.loads + loop.stores) / arrays) - 1)
    if requested is None:
        return loop.iterations * body
    interval = max(requested, math.ceil((loop.loads + loop.stores) / arrays))
    return loop.entries * body + loop.iterations * interval


def _argument_features(interface: Interface) -> dict[str, float]:
    arrays = interface.arrays
    dimensions = _largest((d for a in arrays for d in a.shape), DIMENSION_COUNT)
    sizes = [a.element_count for a in arrays]
    return {
        "array_count": float(len(arrays)),
        "written_array_count": float(sum(a.written for a in arrays)),
        "scalar_count": float(len(interface.scalars)),
        "array_rank": float(max((len(a.shape) for a in arrays), default=0)),
        **{f"log2_dimension_{i}": _log2(d) for i, d in enumerate(dimensions)},
        "log2_array_elements": _log2(sum(sizes)),
        "log2_largest_array": _log2(max(sizes, default=0)),
        "element_bits": float(max((a.type.width_bits for a in interface.arguments), default=0)),
    }
