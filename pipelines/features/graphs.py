"""The control/data-flow graph of a design as a node table and an edge table."""

from __future__ import annotations

from pipelines.hls import CompiledDesign, ir
from pipelines.schemas import CdfgEdgeRow, CdfgNodeRow, DesignRow


def graph_rows(design: DesignRow, compiled: CompiledDesign) -> tuple[list[CdfgNodeRow], list[CdfgEdgeRow]]:
    """Nodes and edges of a design.

    Returns: one node an operation, and one a block for the decision at its end (`branch`, `jump` or
             `finish`). Data and memory edges stay inside a block or lead to the next iteration (distance);
             control edges lead from a block's decision to the decision of each block that may follow, and
             a data edge from the value a branch tests to the branch.
    """
    scheduled = compiled.scheduled
    first: list[int] = []
    total = 0
    for block in scheduled.graph.blocks:
        first.append(total)
        total += len(block.operations) + 1
    nodes: list[CdfgNodeRow] = []
    edges: list[tuple[int, int, str, int]] = []
    for block, schedule in zip(scheduled.graph.blocks, scheduled.schedules, strict=True):
        base = first[block.index]
        for operation in block.operations:
            nodes.append(
                CdfgNodeRow(
                    design_id=design.design_id,
                    node_index=base + operation.index,
                    suite=design.suite,
                    block=block.name,
                    opcode=operation.opcode,
                    width_bits=operation.type.width_bits if operation.type else 0,
                    array=operation.name if isinstance(operation.symbol, ir.Array) else None,
                    line=operation.line,
                    start_cycle=schedule.starts[operation.index],
                    latency_cycles=schedule.graph.timings[operation.index].latency_cycles,
                    loop=block.loop,
                )
            )
        last = base + len(block.operations)
        kinds = ("finish", "jump", "branch")
        nodes.append(
            CdfgNodeRow(
                design_id=design.design_id,
                node_index=last,
                suite=design.suite,
                block=block.name,
                opcode=kinds[len(block.successors)],
                width_bits=0,
                array=None,
                line=block.line,
                start_cycle=schedule.length_cycles - 1,
                latency_cycles=0,
                loop=block.loop,
            )
        )
        edges += [(base + e.source, base + e.target, e.kind, e.distance) for e in schedule.graph.edges]
        condition = getattr(block.terminator, "condition", None)
        if condition is not None:
            edges.append((base + condition, last, "data", 0))
        for successor in block.successors:
            target = first[successor] + len(scheduled.graph.blocks[successor].operations)
            edges.append((last, target, "control", int(successor == block.index)))
    rows = [
        CdfgEdgeRow(
            design_id=design.design_id,
            edge_index=index,
            suite=design.suite,
            source_index=source,
            target_index=target,
            kind=kind,
            distance=distance,
        )
        for index, (source, target, kind, distance) in enumerate(sorted(set(edges)))
    ]
    return nodes, rows
