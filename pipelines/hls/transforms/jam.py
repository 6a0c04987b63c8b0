"""Jamming: loops in the copies of an unrolled loop's body become one loop with all copies inside.

Without it the inner loops of a loop that runs several iterations at once would follow each other, and
nothing would run at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipelines.hls import ir
from pipelines.hls.transforms.accumulation import accumulators, with_selected_extremes
from pipelines.hls.transforms.copying import Body, Copier, find_loop
from pipelines.hls.transforms.liveness import live_after, private_variables
from pipelines.hls.transforms.promote import promote_in_loop


def obstacle_to_jam(function: ir.Function, loop: str, *, unsafe_math: bool = False) -> str | None:
    """Why the statements of several independent iterations of a loop may not alternate, None when they may.

    Args:    unsafe_math: floating sums may be reassociated.
    Raises:  NotApplicable: no such loop.
    """
    found = find_loop(function, loop)
    if isinstance(found, ir.While):
        return f"loop {loop} runs while a condition holds"
    sums = accumulators(with_selected_extremes(found.body))
    private = private_variables(live_after(function), found) | {found.variable.name}
    for name in sorted(ir.assigned_variables(found.body) - private):
        if name not in sums:
            return f"{name} has the value of the last iteration after loop {loop}"
        if sums[name].variable.type.floating and not unsafe_math:
            return f"{name} is a sum of floating-point numbers, which has an order"
    _, registers = promote_in_loop(function, loop, "")
    floating = [r for r in registers if r.type.floating]
    if floating and not unsafe_math:
        return f"loop {loop} adds floating-point numbers to one element, which has an order"
    return None


def jam_copies(copies: Sequence[Body]) -> Body:
    """Copies of one body, statement by statement; loops of one header become one loop.

    Args: copies: of the same statements, private variables apart.
    """
    found: list[ir.Statement] = []
    for row in zip(*copies, strict=True):
        first, *others = row
        if isinstance(first, ir.For) and all(_has_header_of(first, o) for o in others):
            found += _one_loop(first, [o for o in others if isinstance(o, ir.For)])
        else:
            found += row
    return tuple(found)


def _has_header_of(loop: ir.For, other: ir.Statement) -> bool:
    return isinstance(other, ir.For) and (
        (loop.lower, loop.comparison, loop.upper, loop.step)
        == (other.lower, other.comparison, other.upper, other.step)
        and loop.variable.type == other.variable.type
        and loop.variable.name != other.variable.name
    )


def _one_loop(first: ir.For, others: Sequence[ir.For]) -> list[ir.Statement]:
    """The bodies of several loops in one, then the last values of their variables."""
    bodies = [first.body]
    last: list[ir.Statement] = []
    for other in others:
        copier = Copier()
        copier.rename(other.variable, first.variable)
        bodies.append(copier.body(other.body))
        value = ir.Read(variable=first.variable)
        last.append(ir.Assign(variable=other.variable, value=value, line=other.line))
    return [replace(first, body=jam_copies(bodies)), *last]
