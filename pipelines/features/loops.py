"""The loop nest of a program as rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.hls import ir, read_program
from pipelines.schemas import LoopRow, ProgramRow


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    load_count: int
    store_count: int
    arithmetic_count: int
    branch_count: int
    array_count: int


def _expressions(body: tuple[ir.Statement, ...]) -> list[ir.Expression]:
    return [
        part
        for statement in ir.walk_statements(body)
        for expression in ir.statement_expressions(statement)
        for part in ir.walk_expressions(expression)
    ]


def _count(body: tuple[ir.Statement, ...]) -> _Counts:
    parts = _expressions(body)
    loads = [p for p in parts if isinstance(p, ir.Load)]
    stores = [s for s in ir.walk_statements(body) if isinstance(s, ir.Store)]
    return _Counts(
        load_count=len(loads),
        store_count=len(stores),
        arithmetic_count=sum(isinstance(p, ir.Binary | ir.Unary) for p in parts),
        branch_count=sum(isinstance(s, ir.If | ir.While) for s in ir.walk_statements(body))
        + sum(isinstance(p, ir.Select) for p in parts),
        array_count=len({p.array.name for p in (*loads, *stores)}),
    )


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
        counts = _count(loop.body)
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
            load_count=counts.load_count,
            store_count=counts.store_count,
            arithmetic_count=counts.arithmetic_count,
            branch_count=counts.branch_count,
            array_count=counts.array_count,
        )


def extract_loops(program: ProgramRow) -> list[LoopRow]:
    """Every loop of a program in source order; counts include nested loops, address arithmetic included.

    Raises: HlsError: the program is outside what the C front end accepts.
    """
    function = read_program(program.source, top=program.top, file=f"{program.name}.c")
    collector = _Collector(program=program)
    collector.visit(function.body, None, 0)
    return collector.rows
