"""Pieces of bodies that several operators share."""

from __future__ import annotations

from pipelines.programs.dataflow.bench import Bench
from pipelines.programs.dataflow.tree import Branch, Extent, Node, loop, statement


def largest(bench: Bench, text: str, variable: str, extent: Extent) -> tuple[Node, ...]:
    """`best` as the maximum of a text whose @ is the variable."""
    value = text.replace("@", variable)
    pick = Branch(condition=f"{value} > best", body=(statement(f"best = {value}"),))
    return (
        statement(f"{bench.sum_type} best = {text.replace('@', '0')}"),
        loop(variable, extent, "reduction", pick),
    )


def exponential(bench: Bench, value: str, place: str) -> tuple[Node, ...]:
    """place = e^(value - best); in integers 64 halved every eight units, 0 from 56 on."""
    if bench.floating:
        return (statement(f"{place} = expf({value} - best)"),)
    gap = f"best - {value}"
    return (statement(f"{place} = {gap} > 55 ? 0 : 64 >> (({gap}) >> 3)"),)
