"""Programs of the dataflow stage as rows.

Belongs here: the entry points and the sweep of run-time scalars. Does not: drawing graphs (graph.py).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from pipelines.identity import canonical_json, content_hash
from pipelines.programs.dataflow.emission import TOP, Emission
from pipelines.programs.dataflow.graph import Graph, random_graph
from pipelines.programs.dataflow.operators import BY_NAME, OPERATORS, Operator
from pipelines.programs.dataflow.options import DataflowOptions
from pipelines.programs.errors import ProgramError
from pipelines.programs.rows import program_row
from pipelines.schemas import REJECTED, ProgramRow

SUITE = "dataflow"
SWEEP = (-0.5, -0.25, 0.0, 0.25, 0.5)
TRIES = 8


def dataflow_programs(*, count: int, seed: int, options: DataflowOptions) -> list[ProgramRow]:
    """Programs 0 .. count - 1 of a seed.

    Program k depends on seed, k and options only. A graph that could not be filled is a row with its reason.

    Args:    count: of rows. seed: any integer.
    Returns: rows of suite and stage dataflow, in order.
    Raises:  ProgramError: a negative count.
    Source:  LLMulator, section 6.1: graphs of operators whose loop trees are mutated in order and step.
    """
    if count < 0:
        raise ProgramError(f"a count of programs must not be negative, got {count}")
    return [dataflow_program(number, seed=seed, options=options) for number in range(count)]


def dataflow_program(number: int, *, seed: int, options: DataflowOptions) -> ProgramRow:
    """One program of a seed; see `dataflow_programs`."""
    return _program(f"dataflow-{seed}-{number}", (SUITE, seed, number), options, OPERATORS)


def operator_program(name: str, *, seed: int, options: DataflowOptions) -> ProgramRow:
    """A program of one operator.

    Args:    name: of OPERATORS.
    Raises:  ProgramError: no such operator.
    """
    if name not in BY_NAME:
        valid = ", ".join(BY_NAME)
        raise ProgramError(f"an operator must be one of the stage, got {name}; valid: {valid}")
    single = replace(options, minimum_operators=1, maximum_operators=1)
    return _program(f"{name}-{seed}", (SUITE, name, seed), single, (BY_NAME[name],))


def _program(
    name: str, seed: Sequence[Any], options: DataflowOptions, operators: Sequence[Operator]
) -> ProgramRow:
    graph = None
    for attempt in range(TRIES):
        random = Random(int(content_hash(*seed, attempt), 16))  # noqa: S311 - programs, no secrets
        graph = random_graph(random, options, operators=operators)
        if len(graph.nodes) >= options.minimum_operators:
            return _row(name, graph)
    found = len(graph.nodes) if graph else 0
    reason = f"a graph must have at least {options.minimum_operators} operators, got {found}"
    return _refused(name, reason)


def _row(name: str, graph: Graph) -> ProgramRow:
    emission = Emission(graph)
    return program_row(
        name=name,
        suite=SUITE,
        stage="dataflow",
        size="custom",
        parameters=_sizes(graph),
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


def _sizes(graph: Graph) -> dict[str, int]:
    """Sizes, tiles and steps by macro name."""
    return {k: v for node in graph.nodes for k, v in sorted(node.bench.constants.items())}


def swept_inputs(program: ProgramRow, *, fractions: Sequence[float] = SWEEP) -> tuple[str, ...]:
    """Input specifications with the run-time scalars at fractions around their base values.

    All scalars move together. What its graph says of a scalar bounds it: within low .. high every subscript
    is in range. A program without scalars has one specification.

    Args:    fractions: of the base value, -0.5 .. 0.5.
    Returns: JSON specifications without repetition, in the order of the fractions.
    Raises:  ProgramError: a fraction out of range, or a program without a graph.
    """
    for fraction in fractions:
        if not -0.5 <= fraction <= 0.5:
            raise ProgramError(f"a sweep must stay within -0.5 .. 0.5, got {fraction}")
    if program.graph is None:
        raise ProgramError(f"a sweep needs a program with a graph, got {program.name}")
    scalars: dict[str, dict[str, int]] = json.loads(program.graph)["scalars"]
    inputs: dict[str, Any] = json.loads(program.inputs)
    found: dict[str, None] = {}
    for fraction in fractions if scalars else (0.0,):
        changed = {name: _moved(scalar, fraction) for name, scalar in scalars.items()}
        found[canonical_json(inputs | changed)] = None
    return tuple(found)


def _moved(scalar: dict[str, int], fraction: float) -> dict[str, Any]:
    value = round(scalar["base"] * (1 + fraction))
    return {"kind": "constant", "value": min(max(value, scalar["low"]), scalar["high"])}
