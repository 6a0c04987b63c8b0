"""Static facts about the control flow of a program: loops whose iterations follow data, and degeneracy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelines.c import HlsError, ir, read_function, tidy
from pipelines.schemas import OK, REJECTED, ProgramRow


def degeneracy(function: ir.Function) -> str | None:
    """Tell why a program says little about hardware; None when it does not.

    Args: function: as the front end reads it, before any transformation.
    """
    tidied = tidy(function)
    accessed = {e.array.name for e in ir.all_expressions(tidied.body) if isinstance(e, ir.Load)}
    read = {e.variable.name for e in ir.all_expressions(tidied.body) if isinstance(e, ir.Read)}
    if not accessed & {a.name for a in function.arrays if a.external} and not read & _scalars(function):
        return "a program must depend on its arguments, got outputs that are constant"
    accessed |= ir.stored_arrays(tidied.body)
    for parameter in function.parameters:
        if isinstance(parameter, ir.Array) and parameter.name not in accessed:
            return f"an array argument must be used, got {parameter.name} without an effect"
    present = {statement.line for statement in ir.walk_statements(tidied.body)}
    for body in _inner_bodies(function.body):
        lines = {statement.line for statement in ir.walk_statements(body)}
        if lines and not lines & present:
            return f"every body must be reachable and have an effect, got one in line {min(lines)}"
    return None


def reject_degenerate(programs: Sequence[ProgramRow]) -> list[ProgramRow]:
    """Return the programs, degenerate ok ones as rejected rows; one that the front end refuses stays."""
    return [_judged(program) if program.status == OK else program for program in programs]


def _judged(program: ProgramRow) -> ProgramRow:
    try:
        reason = degeneracy(read_function(program.source, top=program.top, file=f"{program.name}.c"))
    except HlsError:
        return program
    return program if reason is None else replace(program, status=REJECTED, reason=reason)


def _scalars(function: ir.Function) -> set[str]:
    return {p.name for p in function.parameters if isinstance(p, ir.Variable)}


def _inner_bodies(body: tuple[ir.Statement, ...]) -> Iterator[tuple[ir.Statement, ...]]:
    for statement in ir.walk_statements(body):
        if not isinstance(statement, ir.Block):
            yield from ir.child_bodies(statement)


def follows_data(program: ProgramRow) -> bool:
    """Tell whether the iterations of some loop depend on values that are loaded from an array.

    A loop bound, the condition of a `while`, and the condition of a `break` or early return count.
    Variables are followed through assignments, not through memory.

    Raises: HlsError: the C front end rejects the program.
    """
    function = tidy(read_function(program.source, top=program.top, file=f"{program.name}.c"))
    loaded = _loaded_variables(function.body)
    return any(_depends(e, loaded) for e in _loop_conditions(function.body, None))


def _depends(expression: ir.Expression, loaded: set[str]) -> bool:
    return any(
        isinstance(part, ir.Load) or (isinstance(part, ir.Read) and part.variable.name in loaded)
        for part in ir.walk_expressions(expression)
    )


def _loaded_variables(body: tuple[ir.Statement, ...]) -> set[str]:
    """Return variables that a loaded value may reach by assignments, or whose assignment it may decide."""
    assigned: list[tuple[str, tuple[ir.Expression, ...]]] = []

    def collect(inside: tuple[ir.Statement, ...], guards: tuple[ir.Expression, ...]) -> None:
        for statement in inside:
            if isinstance(statement, ir.Assign):
                assigned.append((statement.variable.name, (*guards, statement.value)))
            own = guards
            if isinstance(statement, ir.If | ir.While):
                own = (*guards, statement.condition)
            for child in ir.child_bodies(statement):
                collect(child, own)

    collect(body, ())
    names: set[str] = set()
    while True:
        more = {n for n, sources in assigned if n not in names and any(_depends(e, names) for e in sources)}
        if not more:
            return names
        names |= more


def _loop_conditions(
    body: tuple[ir.Statement, ...], inside: frozenset[str] | None
) -> Iterator[ir.Expression]:
    """Yield every expression that decides how often a loop runs.

    Args: inside: labels of the blocks in the present loop, whose `Leave` does not end it; None outside loops.
    """
    for statement in body:
        labels = inside
        match statement:
            case ir.For():
                yield from (statement.lower, statement.upper)
                labels = frozenset[str]()
            case ir.While():
                yield statement.condition
                labels = frozenset[str]()
            case ir.If() if inside is not None and _ends_loop(statement, inside):
                yield statement.condition
            case ir.Block() if inside is not None:
                labels = inside | {statement.label}
            case _:
                pass
        for child in ir.child_bodies(statement):
            yield from _loop_conditions(child, labels)


def _ends_loop(statement: ir.If, inside: frozenset[str]) -> bool:
    own = inside | {s.label for s in ir.walk_statements((statement,)) if isinstance(s, ir.Block)}
    return any(
        isinstance(s, ir.Return) or (isinstance(s, ir.Leave) and s.label not in own)
        for s in ir.walk_statements((statement,))
    )
