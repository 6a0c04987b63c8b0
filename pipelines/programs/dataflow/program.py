"""Programs of the dataflow stage as rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from pipelines.base.identity import canonical_json, content_hash
from pipelines.programs.dataflow.emission import TOP, Emission
from pipelines.programs.dataflow.graph import Graph, graph_of, random_graph
from pipelines.programs.dataflow.operators import BY_NAME
from pipelines.programs.dataflow.options import DataflowOptions
from pipelines.programs.dialects import drawn_dialect
from pipelines.programs.errors import ProgramError
from pipelines.programs.mix import options_of
from pipelines.programs.rows import program_row
from pipelines.schemas import REJECTED, ProgramRow

SUITE = "dataflow"
SWEEP = (-0.5, -0.25, 0.0, 0.25, 0.5)


def dataflow_programs(*, count: int, seed: int, options: DataflowOptions, first: int = 0) -> list[ProgramRow]:
    """Return `count` programs of a seed, from number `first` on.

    Program k depends on seed, k and options only. A graph with too few operators is a rejected row.

    Args:    count: of rows. seed: any integer.
    Returns: rows of suite and stage dataflow, in order.
    Raises:  ProgramError: a negative count.
    Source:  LLMulator, section 6.1: graphs of operators whose loop trees are mutated in order and step.
    """
    if count < 0:
        raise ProgramError(f"a count of programs must not be negative, got {count}")
    numbers = range(first, first + count)
    return [dataflow_program(number, seed=seed, options=options) for number in numbers]


def dataflow_program(number: int, *, seed: int, options: DataflowOptions) -> ProgramRow:
    """Return one program of a seed; see `dataflow_programs`."""
    own = _own_options(number, seed, options)
    graph = draw_graph(number, seed=seed, options=own)
    name = f"dataflow-{seed}-{number}"
    shortage = _shortage(graph, own)
    if shortage:
        return _refused(name, shortage)
    row = row_of(name, graph)
    if number < options.dialect_first:
        return row
    return drawn_dialect(row, own.dialect_weights or options.dialect_weights, seed=seed, number=number)


def operators_program(names: Sequence[str], *, seed: int, options: DataflowOptions) -> ProgramRow:
    """Return a program of given operators in their order, on each other's results and new tensors.

    Args:    names: of OPERATORS; an operator that does not suit the element type is left out.
    Returns: a row, rejected when no operator is left.
    Raises:  ProgramError: no such operator.
    """
    for name in names:
        if name not in BY_NAME:
            valid = ", ".join(BY_NAME)
            raise ProgramError(f"unknown operator: {name}; accepted: {valid}")
    random = _random(SUITE, list(names), seed)
    graph = graph_of(random, options, [BY_NAME[name] for name in names])
    label = f"operators-{seed}"
    return row_of(label, graph) if graph.nodes else _refused(label, "no operator suits")


def draw_graph(number: int, *, seed: int, options: DataflowOptions) -> Graph:
    """Draw the graph of program `number` of a seed: the first try with enough operators and cycles."""
    options = _own_options(number, seed, options)
    graph = random_graph(_random(SUITE, seed, number, 0), options)
    for attempt in range(1, options.tries):
        if not _shortage(graph, options):
            break
        graph = random_graph(_random(SUITE, seed, number, attempt), options)
    return graph


def _own_options(number: int, seed: int, options: DataflowOptions) -> DataflowOptions:
    return options_of(options, options.mix, stage=SUITE, seed=seed, number=number)


def _random(*seed: Any) -> Random:
    return Random(int(content_hash(*seed), 16))  # noqa: S311 - programs, no secrets


def _shortage(graph: Graph, options: DataflowOptions) -> str | None:
    if len(graph.nodes) < options.minimum_operators:
        return f"a graph must have at least {options.minimum_operators} operators, got {len(graph.nodes)}"
    if graph.cycles < options.minimum_cycles:
        return f"a graph must take some {options.minimum_cycles} cycles, got {graph.cycles:.0f}"
    return None


def row_of(name: str, graph: Graph) -> ProgramRow:
    """Return the row of a graph that has operators."""
    emission = Emission(graph)
    return program_row(
        name=name,
        suite=SUITE,
        stage="dataflow",
        size="custom",
        parameters={k: v for node in graph.nodes for k, v in sorted(node.builder.constants.items())},
        source=emission.source(),
        top=TOP,
        inputs=emission.inputs(),
        operators=tuple(node.operator.name for node in graph.nodes),
        graph=emission.description(),
    )


def _refused(name: str, reason: str) -> ProgramRow:
    row = program_row(
        name=name,
        suite=SUITE,
        stage="dataflow",
        size="custom",
        parameters={},
        source=f"/* {name}: no program. */\n",
        top=TOP,
        inputs={},
    )
    return replace(row, status=REJECTED, reason=reason)


def swept_inputs(program: ProgramRow, *, fractions: Sequence[float] = SWEEP) -> tuple[str, ...]:
    """Return the input specifications with the run-time scalars at fractions around their base values.

    All scalars move together, within the bounds low .. high of the graph, where every subscript is in
    range. A program without scalars has one specification.

    Args:    fractions: of the base value, -0.5 .. 0.5.
    Returns: JSON specifications without repetition, in the order of the fractions.
    Raises:  ProgramError: a fraction out of range, or a program without a graph.
    """
    for fraction in fractions:
        if not -0.5 <= fraction <= 0.5:
            raise ProgramError(f"a sweep must stay within -0.5 .. 0.5, got {fraction}")
    if program.graph is None:
        raise ProgramError(f"only a program with a graph can be swept, got {program.name}")
    scalars: dict[str, dict[str, int]] = json.loads(program.graph)["scalars"]
    inputs: dict[str, Any] = json.loads(program.inputs)
    specifications: dict[str, None] = {}
    for fraction in fractions if scalars else (0.0,):
        changed = {name: _moved(scalar, fraction) for name, scalar in scalars.items()}
        specifications[canonical_json(inputs | changed)] = None
    return tuple(specifications)


def _moved(scalar: dict[str, int], fraction: float) -> dict[str, Any]:
    value = round(scalar["base"] * (1 + fraction))
    return {"kind": "constant", "value": min(max(value, scalar["low"]), scalar["high"])}
