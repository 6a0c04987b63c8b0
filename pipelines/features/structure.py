"""Structure of a program and of a design as rows: loop nest, control/data-flow graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.hls import CompiledDesign, ir, read_program
from pipelines.schemas import CdfgEdgeRow, CdfgNodeRow, DesignRow, LoopRow, ProgramRow

# ---- loops -----------------------------------------------------------------------------------------


def _expressions(body: tuple[ir.Statement, ...]) -> list[ir.Expression]:
    return [
        part
        for statement in ir.walk_statements(body)
        for expression in ir.statement_expressions(statement)
        for part in ir.walk_expressions(expression)
    ]


def _count(body: tuple[ir.Statement, ...]) -> dict[str, int]:
    """The count columns of a loop."""
    parts = _expressions(body)
    loads = [p for p in parts if isinstance(p, ir.Load)]
    stores = [s for s in ir.walk_statements(body) if isinstance(s, ir.Store)]
    branches = sum(isinstance(s, ir.If | ir.While) for s in ir.walk_statements(body))
    return {
        "load_count": len(loads),
        "store_count": len(stores),
        "arithmetic_count": sum(isinstance(p, ir.Binary | ir.Unary) for p in parts),
        "branch_count": branches + sum(isinstance(p, ir.Select) for p in parts),
        "array_count": len({p.array.name for p in (*loads, *stores)}),
    }


@dataclass(slots=True)
class _Collector:
    program: ProgramRow
    rows: list[LoopRow] = field(default_factory=list[LoopRow])

    def visit(self, body: tuple[ir.Statement, ...], parent: int | None, depth: int) -> None:
        for statement in body:
            if isinstance(statement, ir.For | ir.While):
                index = len(self.rows)
                self.rows.append(self.row(statement, index, parent, depth + 1))
                self.visit(statement.body, index, depth + 1)
            else:
                for inner in ir.child_bodies(statement):
                    self.visit(inner, parent, depth)

    def row(self, loop: ir.For | ir.While, index: int, parent: int | None, depth: int) -> LoopRow:
        inner = any(isinstance(s, ir.For | ir.While) for s in ir.walk_statements(loop.body))
        counted = loop if isinstance(loop, ir.For) else None
        return LoopRow(
            program_id=self.program.program_id,
            loop_index=index,
            suite=self.program.suite,
            loop=loop.name,
            parent_index=parent,
            depth=depth,
            kind="for" if counted else "while",
            iterator=counted.variable.name if counted else None,
            trip_count=counted.trip_count if counted else None,
            step=counted.step if counted else None,
            line=loop.line,
            is_innermost=not inner,
            **_count(loop.body),
        )


def extract_loops(program: ProgramRow) -> list[LoopRow]:
    """Every loop of a program in source order; counts include nested loops, address arithmetic included.

    Raises: HlsError: the program is outside what the C front end accepts.
    """
    function = read_program(program.source, top=program.top, file=f"{program.name}.c")
    collector = _Collector(program=program)
    collector.visit(function.body, None, 0)
    return collector.rows


# ---- graphs ----------------------------------------------------------------------------------------


def graph_rows(design: DesignRow, compiled: CompiledDesign) -> tuple[list[CdfgNodeRow], list[CdfgEdgeRow]]:
    """Nodes and edges of a design.

    Returns: one node per operation, and one per block for the decision at its end (`branch`, `jump` or
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
