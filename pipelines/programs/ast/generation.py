"""Whole programs: outputs, functions, interface, and the rows of the AST stage."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from math import prod
from random import Random
from typing import Any

from pipelines.base.identity import content_hash
from pipelines.c.signature import DOUBLE, ScalarType
from pipelines.programs.ast import operations as op
from pipelines.programs.ast.estimate import estimated_cells, estimated_cycles
from pipelines.programs.ast.expressions import ExpressionWriter, call
from pipelines.programs.ast.options import AstOptions, require_forms
from pipelines.programs.ast.scope import Frame, NameSupply, Scope, draw_palette
from pipelines.programs.ast.statements import Body, StatementWriter
from pipelines.programs.ast.tree import (
    Array,
    Constant,
    DeclareArray,
    Expression,
    Extent,
    Function,
    If,
    Program,
    Return,
    Variable,
    expressions_of,
    operators_of,
    unread_names,
    walk_expression,
    walk_statements,
)
from pipelines.programs.ast.writing import write_program
from pipelines.programs.dialects import drawn_dialect
from pipelines.programs.mix import options_of
from pipelines.programs.rows import program_row
from pipelines.schemas import REJECTED, ProgramRow

SUITE = "ast"
STAGE = "ast"
SIZE = "custom"
LEAST_ITERATIONS = 64
"""Minimum limit of the innermost iterations in later attempts."""
DOUBLE_CELLS = 2
"""Limit of cells of programs with double, as a multiple of `max_cells`: one multiplier has 18,000."""
_DEAR_OPERATORS = ("*", "/", "%", "sqrt")
_FEW_DEAR_STEP = 6
_TOO_SHORT = "a program must take at least"
_ATTEMPT = "_attempt_"
"""In the name of a row of a discarded attempt."""
ATTEMPTS = 16
"""Maximum attempts per row; the last one is rejected when none is acceptable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedProgram:
    """A generated program with its properties.

    Attributes:
        refused: why it exceeds the options' bounds; None when it does not.
        discarded: earlier attempts at this number, each with why it was refused.
    """

    program: Program
    source: str
    inputs: dict[str, dict[str, Any]]
    refused: str | None
    discarded: tuple[GeneratedProgram, ...] = ()


def generate_program(
    *, seed: int, number: int, options: AstOptions, forms: Collection[str] = ()
) -> GeneratedProgram:
    """Generate the program `number` of a seed; the same for the same arguments.

    Its loop depth and types are drawn once, so that discarded attempts do not favour shallow programs of
    narrow integers; each further attempt uses smaller options.

    Args: forms: of FORMS, which programs have besides; without them programs have none of these.
    """
    require_forms(forms)
    options = options_of(options, options.mix, stage=STAGE, seed=seed, number=number)
    weights = options.loop_depth_weights
    first = Random(int(content_hash(STAGE, seed, number), 16))  # noqa: S311
    depth = first.choices(range(len(weights)), weights)[0]
    palette = draw_palette(first, options, forms)
    discarded: list[GeneratedProgram] = []
    while True:
        generator = Random(int(content_hash(STAGE, seed, number, len(discarded)), 16))  # noqa: S311
        step = sum(not _is_too_short(attempt.refused) for attempt in discarded)
        program = _attempt(generator, _smaller(generator, options, step), options, depth, palette, forms)
        if program.refused is None or len(discarded) + 1 == ATTEMPTS:
            return replace(program, discarded=tuple(discarded))
        discarded.append(program)


def ast_programs(*, count: int, seed: int, options: AstOptions, first: int = 0) -> list[ProgramRow]:
    """Return the rows of the AST stage: `count` programs of a seed, from number `first` on.

    Program k depends on the seed, k and the options only.

    Returns: one row per program, in order; a program that exceeds the options' bounds after ATTEMPTS tries is
             rejected with its reason. With `keep_discarded` the rejected rows of its earlier attempts precede
             each program.
    """
    rows: dict[str, ProgramRow] = {}
    for number in range(first, first + count):
        generated = generate_program(seed=seed, number=number, options=options)
        attempts = generated.discarded if options.keep_discarded else ()
        discarded = [_row(a, f"{_name(number)}{_ATTEMPT}{place}") for place, a in enumerate(attempts)]
        for row in (*discarded, written_row(generated, number, seed, options)):
            rows.setdefault(row.program_id, row)
    return list(rows.values())


def lacks_discarded(
    rows: Iterable[ProgramRow], *, count: int, seed: int, options: AstOptions, first: int = 0
) -> bool:
    """Tell whether rows of `ast_programs` lack the discarded attempts that the options keep."""
    if not options.keep_discarded or any(_ATTEMPT in row.name for row in rows):
        return False
    numbers = range(first, first + count)
    return any(generate_program(seed=seed, number=n, options=options).discarded for n in numbers)


def ast_program(number: int, *, seed: int, options: AstOptions) -> ProgramRow:
    """Return one program of a seed; see `ast_programs`."""
    return written_row(generate_program(seed=seed, number=number, options=options), number, seed, options)


def written_row(generated: GeneratedProgram, number: int, seed: int, options: AstOptions) -> ProgramRow:
    """Return the row of a generated program in its dialect; parts of a mix may have none of their own."""
    row = _row(generated, _name(number))
    if number < options.dialect_first:
        return row
    own = options_of(options, options.mix, stage=STAGE, seed=seed, number=number)
    return drawn_dialect(row, own.dialect_weights or options.dialect_weights, seed=seed, number=number)


def _name(number: int) -> str:
    return f"ast_{number:05d}"


def _row(generated: GeneratedProgram, name: str) -> ProgramRow:
    program = generated.program
    row = program_row(
        name=name,
        suite=SUITE,
        stage=STAGE,
        size=SIZE,
        parameters={e.text: e.value for e in program.extents},
        source=generated.source,
        top=program.top.name,
        inputs=generated.inputs,
        operators=operators_of(program),
    )
    if generated.refused is None:
        return row
    return replace(row, status=REJECTED, reason=generated.refused)


def refusal(program: Program, source: str, options: AstOptions) -> str | None:
    """Tell why a program exceeds the bounds of its options; None when it does not."""
    length = len(source.encode("utf-8"))
    if not options.source_bytes[0] <= length <= options.source_bytes[1]:
        return (
            f"a source must have {options.source_bytes[0]} .. {options.source_bytes[1]} bytes, got {length}"
        )
    calls: dict[str, int] = {}
    for function in program.functions:
        calls[function.name] = estimated_cycles(function.body, calls)
    cycles = calls[program.top.name]
    if cycles > options.max_cycles:
        return f"a program must take at most {options.max_cycles} cycles, got an estimate of {cycles}"
    if cycles < options.min_cycles:
        return f"{_TOO_SHORT} {options.min_cycles} cycles, got an estimate of {cycles}"
    declared = [
        s.array for f in program.functions for s in walk_statements(f.body) if isinstance(s, DeclareArray)
    ]
    bits = sum(a.type.width_bits * prod(e.value for e in a.shape) for a in declared)
    if bits > options.max_local_bits:
        return f"local arrays must have at most {options.max_local_bits} bits, got {bits}"
    cells = estimated_cells(program)
    doubles = any(p.type == DOUBLE for p in program.top.parameters)
    limit = options.max_cells * (DOUBLE_CELLS if doubles else 1)
    if cells > limit:
        return f"a netlist must have at most {limit} cells, got an estimate of {cells}"
    unread = unread_names(program)
    if unread:
        return f"everything declared must be read, got {', '.join(unread)} unread"
    return None


# ---- one attempt -----------------------------------------------------------------------------------


def _attempt(
    generator: Random,
    smaller: AstOptions,
    options: AstOptions,
    depth: int,
    palette: tuple[ScalarType, ...],
    forms: Collection[str],
) -> GeneratedProgram:
    top = _TopFunction(generator, smaller, depth, palette, forms)
    program = top.program()
    source = write_program(program)
    return GeneratedProgram(
        program=program,
        source=source,
        inputs={p.name: _drawn(p) for p in program.top.parameters},
        refused=refusal(program, source, options),
    )


def _is_too_short(reason: str | None) -> bool:
    return reason is not None and reason.startswith(_TOO_SHORT)


def _smaller(generator: Random, options: AstOptions, step: int) -> AstOptions:
    """Return options of an attempt after `step` others: shorter loops, fewer statements, cheap operators."""
    least, most = options.statements
    dropped = [o for o in _DEAR_OPERATORS if generator.random() < step / _FEW_DEAR_STEP]
    return replace(
        options,
        max_iterations=max(LEAST_ITERATIONS, options.max_iterations >> (step // 2)),
        statements=(max(1, least - step), max(1, least, most - step)),
        operators=tuple(o for o in options.operators if o not in dropped),
    )


class _TopFunction:
    """The top function, and its helpers and arrays."""

    def __init__(
        self,
        generator: Random,
        options: AstOptions,
        depth: int,
        palette: tuple[ScalarType, ...],
        forms: Collection[str],
    ) -> None:
        self.random = generator
        self.options = options
        names = NameSupply(generator)
        self.name = names.new("top")
        self.scope = Scope(
            random=generator,
            options=options,
            names=names,
            palette=palette,
            extents=_extents(generator, options, names, depth),
            depth=depth,
            budget=generator.randint(*options.statements),
            forms=forms,
        )
        self.statements = StatementWriter(self.scope, ExpressionWriter(self.scope, self.call_helper))

    def program(self) -> Program:
        """Return the program, with those helpers, tables and extents that its text has."""
        body = self.statements.block(Frame(), self.outputs)
        scope = self.scope
        arrays = [*scope.inputs, *scope.outputs]
        top = Function(
            name=self.name,
            returns=None if scope.returned is None else scope.returned.type,
            parameters=(*scope.arguments, *arrays),
            body=body,
            read_only=frozenset(a.name for a in scope.inputs),
        )
        return Program(
            extents=_used_extents(scope.extents, top, scope.tables),
            tables=tuple(scope.tables),
            functions=(*scope.helpers, top),
        )

    def outputs(self) -> Body:
        """Return the function's outputs: arrays, a result, or both; the deepest nest computes one of them."""
        scope = self.scope
        count = 1 if scope.depth == 0 else self.random.choice((1, 1, 1, 2, 2, 3))
        returns = scope.depth == 0 or self.random.random() < 0.25
        goals = [scope.depth, *(self.random.randint(1, max(1, scope.depth)) for _ in range(count - 1))]
        body: Body = ()
        if returns:
            body = self.result(goals.pop(0))
        for goal in goals:
            body = (*self.array_output(goal), *body)
        return body

    def result(self, goal: int) -> Body:
        """Return `return` of a sum over `goal` loops, or of a value."""
        scope = self.scope
        kind = scope.data_type()
        if goal == 0:
            low, high = scope.value_range(kind)
            returned = Variable(name=scope.names.new("temporary"), type=kind, low=low, high=high)
            scope.frame.pending.append(returned)
        else:
            returned = scope.new_sum(kind, goal)
        scope.returned = returned
        return (Return(value=op.read(returned)),)

    def array_output(self, goal: int) -> Body:
        """Return a nest of `goal` loops that writes an output, new or existing."""
        scope = self.scope
        rank = self.random.choice(
            [1, 2, 2, 3][: max(1, min(goal, self.options.array_dimensions) + (goal > 1))]
        )
        rank = min(rank, goal, self.options.array_dimensions)
        shape = tuple(scope.random.choice(scope.extents) for _ in range(rank))
        if scope.random.random() < 0.6:
            return (self.statements.cover(scope.new_array("output", shape), goal - rank),)
        role = self.random.choice(("sum", "sum", "output"))
        array = scope.new_array(role, shape)
        nest = self.statements.accumulation(array, goal)
        if scope.budget > 0 and scope.chance(0.4):
            scope.budget -= 1
            return self.statements.cover(array, 0), nest
        return (nest,)

    # ---- helpers ------------------------------------------------------------------------------------

    def call_helper(self, domain: ScalarType) -> Expression | None:
        """Return a call of a function that returns a value of a domain, of a new one while there is room."""
        scope = self.scope
        helpers = [f for f in scope.helpers if f.returns == domain]
        if len(scope.helpers) < self.options.max_helpers and (not helpers or scope.chance(0.4)):
            helpers = [self.new_helper(domain)]
        if not helpers:
            return None
        function = self.random.choice(helpers)
        writer = self.statements.expressions
        arguments: list[Expression] = []
        for parameter in function.parameters:
            value = writer.into(domain, writer.places.element_leaf() or writer.leaf(domain))
            value = writer.stored(value, parameter.type, parameter.low, parameter.high)
            if value in arguments:  # Of equal arguments, terms of the function would cancel.
                value = writer.other_than(value)
            arguments.append(value)
        return call(function.name, domain, *scope.helper_ranges[function.name], *arguments)

    def new_helper(self, domain: ScalarType) -> Function:
        """Return a function of one to three numbers."""
        outer = self.scope
        scope = Scope(
            random=self.random,
            options=self.options,
            names=outer.names,
            palette=(domain,),
            extents=outer.extents,
            depth=0,
            budget=self.random.randint(0, 3),
            fixed_arguments=True,
            forms=outer.forms,
        )
        for _ in range(self.random.randint(1, 3)):
            low, high = scope.value_range(domain)
            scope.arguments.append(
                Variable(name=outer.names.new("argument"), type=domain, low=low, high=high)
            )
        writer = StatementWriter(scope, ExpressionWriter(scope, lambda _domain: None))
        parameters = tuple(scope.arguments)
        limits = (-(2.0**40), 2.0**40) if domain.floating else outer.sum_range(domain)
        name = outer.names.new("helper")

        def root() -> Body:
            value = writer.expressions.value(domain, [op.read(p) for p in parameters])
            value = writer.expressions.stored(value, domain, *limits)
            outer.helper_ranges[name] = (value.low, value.high)
            if not outer.draws("early_returns", 0.5):
                return (Return(value=value),)
            early = op.read(self.random.choice(parameters))
            outer.helper_ranges[name] = (min(value.low, early.low), max(value.high, early.high))
            condition = writer.expressions.conditions.condition()
            return If(condition=condition, then=(Return(value=early),)), Return(value=value)

        body = writer.block(Frame(), root)
        function = Function(name=name, returns=domain, parameters=parameters, body=body)
        outer.helpers.append(function)
        return function


# ---- around the function ---------------------------------------------------------------------------


def _extents(generator: Random, options: AstOptions, names: NameSupply, depth: int) -> tuple[Extent, ...]:
    """Return two or three lengths, short enough for `depth` loops around each other."""
    least, most = options.array_extent
    longest = int(options.max_iterations ** (1 / max(1, depth)))
    most = max(least, min(most, longest))
    least = max(least, min(most, most // 2)) if depth < 3 else least
    count = generator.choice((2, 2, 3))
    return tuple(Extent(text=names.new("extent"), value=generator.randint(least, most)) for _ in range(count))


def _used_extents(extents: tuple[Extent, ...], top: Function, tables: list[Array]) -> tuple[Extent, ...]:
    texts = [e.text for place in (*top.parameters, *tables) if isinstance(place, Array) for e in place.shape]
    for statement in walk_statements(top.body):
        if isinstance(statement, DeclareArray):
            texts += [e.text for e in statement.array.shape]
        for outer in expressions_of(statement):
            texts += [e.text for e in walk_expression(outer) if isinstance(e, Constant)]
    words = {word for text in texts for word in text.split()}
    return tuple(e for e in extents if e.text in words)


def _drawn(place: Variable | Array) -> dict[str, Any]:
    low, high = place.drawn if isinstance(place, Array) else (place.low, place.high)
    if place.type.floating:
        return {"kind": "uniform", "low": float(low), "high": float(high)}
    return {"kind": "uniform", "low": int(low), "high": int(high) + 1}
