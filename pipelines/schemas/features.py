"""Tables of features: the loop nest of a program and the control/data-flow graph of a design."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.schemas.columns import column, table


@table("loops", stage="features")
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRow:
    """A loop of a program, in source order."""

    program_id: str = column("Program.", key=True, references="programs")
    loop_index: int = column("Position of the loop in source order, from 0.", key=True)
    suite: str = column("Suite of the program.")
    loop: str = column("Name directives use for the loop.")
    parent_index: int | None = column("Index of the enclosing loop.")
    depth: int = column("Nesting depth, 1 for an outermost loop.")
    kind: str = column("Counted, or ended by a condition.", choices=("for", "while"))
    iterator: str | None = column("Name of the loop variable of a counted loop.")
    trip_count: int | None = column("Iterations when known before running.")
    step: int | None = column("Increment of the loop variable.")
    line: int = column("Line of the loop in the source.")
    is_innermost: bool = column("Whether the loop contains no other loop.")
    load_count: int = column("Array loads written in the loop body, nested loops included.")
    store_count: int = column("Array stores written in the loop body, nested loops included.")
    arithmetic_count: int = column("Arithmetic operations written in the body, nested included.")
    branch_count: int = column("Conditions written in the body, nested included.")
    array_count: int = column("Different arrays the body touches, nested included.")


@table("cdfg_nodes", stage="features")
@dataclass(frozen=True, slots=True, kw_only=True)
class CdfgNodeRow:
    """An operation of a design's control/data-flow graph."""

    design_id: str = column("Design.", key=True, references="designs")
    node_index: int = column("Index of the operation, from 0.", key=True)
    suite: str = column("Suite of the program.")
    block: str = column("Basic block the operation stands in.")
    opcode: str = column("Kind of operation.")
    width_bits: int = column("Width of the result, 0 for none.", unit="bits")
    array: str | None = column("Array of a memory access.")
    line: int | None = column("Line in the C source.")
    start_cycle: int = column("Cycle of the block in which the operation starts.", unit="cycles")
    latency_cycles: int = column("Cycles until the result is available, 0 when chained.", unit="cycles")
    loop: str | None = column("Innermost loop the operation stands in.")


@table("cdfg_edges", stage="features")
@dataclass(frozen=True, slots=True, kw_only=True)
class CdfgEdgeRow:
    """A dependence between two operations of a design."""

    design_id: str = column("Design.", key=True)
    edge_index: int = column("Index of the edge, from 0.", key=True)
    suite: str = column("Suite of the program.")
    source_index: int = column("Operation that comes first.", references="cdfg_nodes.node_index")
    target_index: int = column("Operation that depends on it.", references="cdfg_nodes.node_index")
    kind: str = column("What the edge carries.", choices=("data", "memory", "control"))
    distance: int = column("Loop iterations between the two, 0 within one iteration.")
