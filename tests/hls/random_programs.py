"""Programs of the AST stage for differential tests of engines, and the shrinking of one that fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from pipelines.programs.ast import (
    FORMS,
    AstOptions,
    GeneratedProgram,
    ast_program,
    generate_program,
    tree,
    written_row,
)
from pipelines.programs.ast.writing import write_program
from pipelines.schemas import ProgramRow

SMALL = AstOptions(
    data_types=("int32_t",),
    statements=(6, 14),
    loop_depth_weights=(0.0, 0.3, 0.5, 0.2),
    control_share=0.9,
    control_weights=(4, 2, 2, 16, 2, 1),
    array_extent=(3, 8),
    max_cycles=20_000,
    source_bytes=(500, 3000),
)
TYPED = AstOptions(
    statements=(5, 14),
    loop_depth_weights=(0.05, 0.35, 0.4, 0.2),
    control_share=0.8,
    control_weights=(4, 2, 2, 4, 6, 1),
    helper_probability=0.1,
    array_dimensions=2,
    array_extent=(3, 8),
    max_cycles=20_000,
    source_bytes=(300, 4000),
    dialect_weights=(2, 1, 1, 1),
)

NESTS = AstOptions(
    statements=(6, 14),
    loop_depth_weights=(0.0, 0.1, 0.5, 0.4),
    control_share=0.5,
    helper_probability=0.0,
    array_dimensions=2,
    array_extent=(4, 8),
    max_cycles=20_000,
    source_bytes=(300, 3000),
)
NEST_FORMS = ("computed_stores", "dead_stores", "local_values", "wrapping")
_WITH_LEAVES, _WITHOUT_LEAVES = (4, 2, 2, 1, 1, 3), (4, 0, 0, 0, 1, 3)


def random_program(number: int) -> ProgramRow:
    """Return a small integer program, the same for the same number."""
    return ast_program(number, seed=0, options=SMALL)


def random_nest(number: int, *, kind: str, leaves: bool) -> ProgramRow:
    """Return loops over arrays of one type, the same for the same arguments; with `leaves` some end early."""
    weights = _WITH_LEAVES if leaves else _WITHOUT_LEAVES
    options = replace(NESTS, data_types=(kind,), control_weights=weights)
    generated = generate_program(seed=0, number=number, options=options, forms=NEST_FORMS)
    return written_row(generated, number, 0, options)


@dataclass(frozen=True)
class TypedProgram:
    """A program of every type and form.

    Attributes: number: of the draw, which decides the dialect, too.
    """

    number: int
    generated: GeneratedProgram

    @cached_property
    def row(self) -> ProgramRow:
        """The program in its dialect."""
        return written_row(self.generated, self.number, 0, TYPED)


def typed_program(number: int) -> TypedProgram:
    """Return a program of every type and form, the same for the same number."""
    return TypedProgram(number, generate_program(seed=0, number=number, options=TYPED, forms=FORMS))


def smaller(program: TypedProgram) -> Iterator[TypedProgram]:
    """Yield programs with one statement less, or with its body in its place, largest cuts first.

    Some are no valid C: declarations go, too.
    """
    whole = program.generated.program
    *helpers, top = whole.functions
    for body in _smaller_bodies(top.body):
        cut = replace(whole, functions=(*helpers, replace(top, body=body)))
        generated = replace(program.generated, program=cut, source=write_program(cut))
        yield replace(program, generated=generated)


def _smaller_bodies(body: tuple[tree.Statement, ...]) -> Iterator[tuple[tree.Statement, ...]]:
    for place, statement in enumerate(body):
        before, after = body[:place], body[place + 1 :]
        if not isinstance(statement, tree.Return):
            yield before + after
        for inner in tree.bodies_of(statement):
            if inner:
                yield before + inner + after
        for changed in _with_smaller_body(statement):
            yield (*before, changed, *after)


def _with_smaller_body(statement: tree.Statement) -> Iterator[tree.Statement]:
    match statement:
        case tree.For() | tree.While():
            yield from (replace(statement, body=body) for body in _smaller_bodies(statement.body))
        case tree.If():
            yield from (replace(statement, then=body) for body in _smaller_bodies(statement.then))
            yield from (replace(statement, otherwise=body) for body in _smaller_bodies(statement.otherwise))
        case tree.Switch():
            for place, (label, body) in enumerate(statement.cases):
                before, after = statement.cases[:place], statement.cases[place + 1 :]
                for inner in _smaller_bodies(body):
                    yield replace(statement, cases=(*before, (label, inner), *after))
        case _:
            pass
