"""Counted loops: trip counts, values of the variable, and bounds."""

from __future__ import annotations

from dataclasses import replace

from pipelines.c import ir
from pipelines.c.analysis.copying import FreshNames, leaves_outward
from pipelines.c.analysis.folding import plus_constant
from pipelines.c.arithmetic import make_binary, make_select, value_range, wrap
from pipelines.c.errors import NotApplicable


def exact_trips(loop: ir.For) -> int | None:
    """Return the iterations of a loop with constant bounds whose variable never wraps; None for others."""
    trips = loop.trip_count
    if trips is None or not isinstance(loop.lower, ir.Constant):
        return None
    low, high = value_range(loop.variable.type)
    return trips if low <= loop.lower.value + trips * loop.step <= high else None


def value_at(loop: ir.For, iteration: int) -> ir.Constant:
    """Return value of the variable in an iteration of a loop with a constant lower bound, 0 for the first.

    With `exact_trips` as the iteration, it is the value after the loop.
    """
    assert isinstance(loop.lower, ir.Constant)
    return ir.Constant(value=loop.lower.value + iteration * loop.step, type=loop.variable.type)


def constant_like(loop: ir.For, value: int) -> ir.Constant:
    """Return a constant of the type of the loop's variable, wrapped to it."""
    return ir.Constant(value=wrap(value, loop.variable.type), type=loop.variable.type)


def full_groups_bound(loop: ir.For, group: int) -> tuple[str, ir.Expression]:
    """Return the comparison and bound under which a whole group of iterations remains, this one included.

    Args:    loop: ends on lt, le, gt or ge; group: iterations in a group, at least 2.
    Returns: `lt` or `gt` and a bound for the variable. When the exact bound is outside the type no group is
             started: the bound is then the type's limit.
    """
    ahead = (group - 1) * loop.step
    if loop.comparison in ("le", "ge"):
        ahead += -1 if loop.comparison == "le" else 1
    low, high = value_range(loop.variable.type)
    comparison, limit = ("lt", low) if loop.step > 0 else ("gt", high)
    if not low <= limit + ahead <= high:
        return comparison, constant_like(loop, limit)
    fits = make_binary("ge" if loop.step > 0 else "le", loop.upper, constant_like(loop, limit + ahead))
    bound = plus_constant(loop.upper, -ahead)
    return comparison, make_select(fits, bound, constant_like(loop, limit))


def ordered(loop: ir.For) -> ir.For:
    """Return a loop that ends on inequality as an equivalent one that ends on an order, unless it overflows.

    Raises: NotApplicable: it may wrap around, or be left before it overflows.
    """
    if loop.comparison != "ne":
        return loop
    if not loop.variable.type.signed or abs(loop.step) != 1 or leaves_outward(loop.body):
        raise NotApplicable(f"loop {loop.name} ends on != at a bound that is not constant")
    return replace(loop, comparison="lt" if loop.step > 0 else "gt")


def held(
    value: ir.Expression, stem: str, names: FreshNames, before: list[ir.Statement], line: int
) -> ir.Expression:
    """Return a value that is computed once: a constant or variable itself, another value in a new variable.

    Args: before: gets the assignment of the new variable.
    """
    if isinstance(value, ir.Constant | ir.Read):
        return value
    variable = names.variable(stem, ir.type_of(value))
    before.append(ir.Assign(variable=variable, value=value, line=line))
    return ir.Read(variable=variable)


def held_bound(loop: ir.For, names: FreshNames, before: list[ir.Statement]) -> ir.For:
    """Return the loop with its upper bound computed once, before it."""
    upper = held(loop.upper, f"{loop.variable.name}_end", names, before, loop.line)
    return replace(loop, upper=upper)
