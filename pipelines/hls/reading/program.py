"""The readers of one program, put together."""

from __future__ import annotations

from dataclasses import dataclass

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.reading.calls import Calls
from pipelines.hls.reading.choices import Choices
from pipelines.hls.reading.declarators import Declarators, FileScope
from pipelines.hls.reading.effects import Effects
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.filling import Filler
from pipelines.hls.reading.initialisers import Initialisers
from pipelines.hls.reading.loops import Loops
from pipelines.hls.reading.memory_calls import MemoryCalls
from pipelines.hls.reading.objects import Objects
from pipelines.hls.reading.places import Places
from pipelines.hls.reading.pointers import Pointers
from pipelines.hls.reading.session import Session
from pipelines.hls.reading.statements import Statements
from pipelines.hls.reading.switches import Switches
from pipelines.hls.reading.values import Hooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Readers that share one session."""

    session: Session
    expressions: Expressions
    objects: Objects
    statements: Statements
    calls: Calls


def make_program(session: Session, scope: FileScope) -> Program:
    """Readers of a program, each with those it needs."""
    hooks = Hooks()
    places = Places(session=session)

    def constant(node: c_ast.Node) -> ir.Constant | None:
        return expressions.constant(node)

    def position(node: c_ast.Node) -> int:
        value = expressions.constant(node)
        if value is None or value.type.floating or value.value < 0:
            raise session.refuse(node, "a designator must be an integer constant", "an expression")
        return value.value

    types = Declarators(session=session, file_scope=scope, constant=constant)
    pointers = Pointers(session=session, places=places)
    expressions = Expressions(session=session, places=places, pointers=pointers, types=types, hooks=hooks)
    choices = Choices(session=session, expressions=expressions)
    effects = Effects(expressions=expressions)
    filler = Filler(expressions=expressions, effects=effects)
    objects = Objects(
        session=session,
        expressions=expressions,
        effects=effects,
        initialisers=Initialisers(session=session, constant=position, kind_of=expressions.kind_of),
        filler=filler,
    )
    statements = Statements(session=session, expressions=expressions, effects=effects, objects=objects)
    loops = Loops(session=session, expressions=expressions, statements=statements)
    switches = Switches(session=session, expressions=expressions, statements=statements)
    memory = MemoryCalls(session=session, expressions=expressions, effects=effects, filler=filler)
    calls = Calls(
        session=session, expressions=expressions, objects=objects, memory=memory, body=statements.block
    )
    statements.read_loop, statements.read_switch = loops.read, switches.read
    hooks.connect, hooks.choose = choices.connect, choices.choose
    hooks.call, hooks.is_operator = calls.call, calls.is_operator
    hooks.assignment, hooks.copy = effects.assignment, effects.copy
    hooks.global_symbol, hooks.new_object = objects.global_symbol, objects.new_object
    hooks.literal_object, hooks.string_table = objects.literal_object, objects.string_table
    return Program(
        session=session, expressions=expressions, objects=objects, statements=statements, calls=calls
    )
