"""Static facts about the control flow of a program: loops whose iterations follow data, and degeneracy."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.hls import ir, read_program, tidy
from pipelines.schemas import ProgramRow


def follows_data(program: ProgramRow) -> bool:
    """Whether the iterations of some loop depend on values that are loaded from an array.

    A loop bound, the condition of a `while`, and the condition of a `break` or early return count. Variables are followed through assignments, not through memory.

    Raises: HlsError: the C front end rejects the program.
    """
    function = tidy(read_program(program.source, top=program.top, file=f"{program.name}.c"))
    loaded = _loaded_variables(function.body)
    return any(_depends(e, loaded) for e in _loop_conditions(function.body, None))


def _depends(expression: ir.Expression, loaded: set[str]) -> bool:
    return any(
        isinstance(part, ir.Load) or (isinstance(part, ir.Read) and part.variable.name in loaded)
        for part in ir.walk_expressions(expression)
    )


def _loaded_variables(body: tuple[ir.Statement, ...]) -> set[str]:
    """Variables that a loaded value may reach by assignments, or whose assignment it may decide."""
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
    """Every expression that decides how often a loop runs.

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
