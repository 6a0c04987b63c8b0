"""What is read from a program's source before any tool has run: loops, arrays, operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipelines.features import extract_loops
from pipelines.hls import Function, interface_of, ir, read_program
from pipelines.identity import content_hash
from pipelines.interface import Interface
from pipelines.schemas import OK, LoopRow, ProgramRow

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
    function = read_program(source, top=top)
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
        variable_count=_variable_count(function),
    )


def _bodies(body: tuple[ir.Statement, ...]) -> Iterator[list[ir.Statement]]:
    """The statements of a body and of the conditions in it, then those of each loop in it."""
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
    """Operators by kind that the statements evaluate themselves."""
    kinds = {name: kind for kind, names in OPERATOR_KINDS.items() for name in names}
    return Counter(
        kinds[part.operator]
        for statement in statements
        for expression in ir.statement_expressions(statement)
        for part in ir.walk_expressions(expression)
        if isinstance(part, ir.Binary)
    )


def _variable_count(function: Function) -> int:
    return len(ir.assigned_variables(function.body))


def _program_row(source: str, top: str) -> ProgramRow:
    """A program as the features engine wants it, outside any suite."""
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
