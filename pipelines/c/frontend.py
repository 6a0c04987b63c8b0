"""The C front end: a program to the structured intermediate representation, and its interface."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.errors import BytesNeeded, HlsError, StaticObjectError
from pipelines.c.reading.addressing import Places
from pipelines.c.reading.bodies import facts_of, finish, make_block
from pipelines.c.reading.calls import Calls, MemoryCalls, parameters_of
from pipelines.c.reading.ctypes import Scalar, spelled
from pipelines.c.reading.declarators import Declarators, FileScope, file_scope_of
from pipelines.c.reading.effects import Choices, Effects
from pipelines.c.reading.expressions import Expressions
from pipelines.c.reading.initialisers import Filler, Initialisers
from pipelines.c.reading.loops import Loops
from pipelines.c.reading.objects import Objects, declare_parameters
from pipelines.c.reading.session import Cell, Frame, Place, PointerChoice, Port, Session, Target
from pipelines.c.reading.statements import Statements, Switches
from pipelines.c.reading.statics import object_key, outside_objects
from pipelines.c.reading.values import Hooks, Pointers
from pipelines.c.signature import Argument, Interface
from pipelines.c.text.preprocess import is_own_header, layouts_of, parse, too_deep

MAXIMUM_TARGETS = 64
"""Objects that one pointer may point into, the null pointer included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Readers that share one session."""

    session: Session
    expressions: Expressions
    objects: Objects
    statements: Statements
    calls: Calls


def make_program(session: Session, scope: FileScope) -> Program:
    """Connect the readers of a program."""
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
    pointers = Pointers(session=session, places=places, hooks=hooks)
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
    hooks.block_value = statements.block_value
    hooks.call, hooks.is_operator = calls.call, calls.is_operator
    hooks.assignment, hooks.copy = effects.assignment, effects.copy
    hooks.global_symbol, hooks.new_object = objects.global_symbol, objects.new_object
    session.stand_in = lambda kind, node: objects.new_object(kind, "unused", node)
    hooks.zero = lambda place, node: filler.fill(place, [], node)
    hooks.literal_object, hooks.string_table = objects.literal_object, objects.string_table
    return Program(
        session=session, expressions=expressions, objects=objects, statements=statements, calls=calls
    )


def read_function(
    source: str,
    *,
    top: str,
    file: str = "program.c",
    sizes: Mapping[str, int] | None = None,
    natural: bool = False,
) -> ir.Function:
    """Read a C program as the structured intermediate representation.

    Args:    source: C text; top: name of the function to read; file: name for messages; sizes: elements of
             its pointer arguments, beside those that `#pragma simfoundry size` gives; natural: types have the
             layout that they have without attributes, as in an earlier engine.
    Returns: the function with everything it calls inlined; its loops named by label or L0, L1, … in source
             order, those of called functions `<function>_L0`, ….
    Raises:  HlsError: outside the accepted subset; the message has the line and what to write instead.
    """
    return _read_function(source, top, file, tuple((sizes or {}).items()), natural)


@lru_cache(maxsize=4)
def _read_function(
    source: str, top: str, file: str, sizes: tuple[tuple[str, int], ...], natural: bool
) -> ir.Function:
    """Read a function as `read_function`; the features of a program read it several times in a row."""
    try:
        tree = parse(source, file=file)
        bytewise: frozenset[int] = frozenset()
        outside: dict[str, Port] = {}
        pointers: dict[str, tuple[Target, ...]] = {}
        homes: dict[str, str] = {}
        while True:
            session = Session(
                file=file,
                sizes=dict(sizes),
                bytewise=bytewise,
                source=source,
                outside=outside,
                pointers=pointers,
                homes=homes,
                layouts={} if natural else layouts_of(source),
                natural=natural,
            )
            try:
                function, ports = _read_once(tree, top, session)
            except BytesNeeded as error:
                if error.key in bytewise:
                    raise
                bytewise |= {error.key}
                pointers.clear()  # their objects have other storage now
                continue
            except PointerChoice as error:
                known = pointers.get(error.key, ())
                more = tuple(one for one in dict.fromkeys(error.objects) if one not in known)
                if not more or len(known) + len(more) > MAXIMUM_TARGETS:
                    raise
                pointers[error.key] = (*known, *more)
                continue
            new = {key: port for key, port in ports.items() if outside.get(key) not in (port, Port.MEMORY)}
            if not new:
                return function
            outside |= new
            pointers.clear()
    except RecursionError:
        raise too_deep(source, file) from None


def _read_once(tree: c_ast.FileAST, top: str, session: Session) -> tuple[ir.Function, Mapping[str, Port]]:
    """Run `_read`; the first use of a pointer without an object is the reason of other errors."""
    try:
        answer = _read(tree, top, session)
    except (BytesNeeded, PointerChoice):
        raise
    except HlsError as error:
        raise _first_refusal(session) or error from None
    refusal = _first_refusal(session)
    if refusal is not None:
        raise refusal
    return answer


def _first_refusal(session: Session) -> HlsError | None:
    """Return the error for the first use of a pointer without an object."""
    first = session.refused
    if first is None or not session.file_pointers_move:
        return first
    return StaticObjectError(first.rule, first.got, file=first.file, line=first.line)


def _read(tree: c_ast.FileAST, top: str, session: Session) -> tuple[ir.Function, Mapping[str, Port]]:
    """Read the function, and the objects of static storage that must be ports of it."""
    scope = file_scope_of(tree)
    definition = _find_top(scope, top, session.file)
    session.main_file = str(definition.coord.file) if definition.coord else "<stdin>"
    session.sizes = {**_sizes(scope, session), **session.sizes}
    program = make_program(session, scope)
    session.frames.append(_top_frame(session, definition, top))
    with session.collect() as body:
        parameters = declare_parameters(program.objects, parameters_of(session, definition))
        for name, declaration in scope.objects.items():
            if object_key(declaration) in session.outside:
                program.objects.global_symbol(c_ast.ID(name, declaration.coord))
        result = _result(program, definition)
        if result is not None:
            cell = Place(kind=Scalar(type=result.type), storage=Cell(variable=result))
            session.frame.result = cell
        program.statements.items(list(definition.body.block_items or []))
    if result is not None and not session.frame.returns_value:
        raise session.refuse(definition.decl, f"{top} must end by returning a value", "no final return")
    line = session.line_of(definition.decl)
    function = ir.Function(
        name=top,
        parameters=(*parameters, *session.ports),
        arrays=tuple(session.arrays),
        returns=None if result is None else result.type,
        body=(*session.prologue, *make_block(session.frame.exit_label, body, line)),
        directives=tuple(dict.fromkeys(session.directives)),
        ignored_pragmas=tuple(dict.fromkeys(session.ignored)),
        objects=tuple(session.objects.items()),
        later_constants=session.later_constants,
        later_forms=session.later_forms,
        later_starts=session.later_starts,
        left_out=tuple(dict.fromkeys(session.left_out)),
    )
    ports = outside_objects(program.objects.uses, tuple(body), scope, {top, *session.called})
    return finish(function, session, result, line), ports


_SIZES = re.compile(r"simfoundry\s+size((?:\s+[A-Za-z_]\w*=[1-9]\d{0,7})*)\s*$")


def _sizes(scope: FileScope, session: Session) -> dict[str, int]:
    """Return the elements of pointer arguments that `#pragma simfoundry size NAME=N` gives, several in one
    line or more.

    Raises: HlsError: a size is no positive number.
    """
    sizes: dict[str, int] = {}
    for pragma in scope.pragmas:
        text = str(pragma.string).strip()
        if re.match(r"simfoundry\s+size\b", text) is None:
            continue
        match = _SIZES.match(text)
        if match is None:
            raise session.refuse(pragma, "a size must be NAME=N with a positive number N", repr(text))
        sizes.update((name, int(size)) for name, size in (item.split("=") for item in match[1].split()))
    return sizes


def _find_top(scope: FileScope, top: str, file: str) -> c_ast.FuncDef:
    if top not in scope.functions:
        own = [n for n, d in scope.functions.items() if not is_own_header(str(d.coord.file))]
        known = ", ".join(sorted(own)) or "none"
        raise HlsError(f"top must be a function of the file (there: {known})", repr(top), file=file)
    return scope.functions[top]


def _top_frame(session: Session, definition: c_ast.FuncDef, top: str) -> Frame:
    facts = facts_of(definition)
    labels = [label for _, label in facts.loops if label is not None]
    for loop, label in facts.loops:
        if label is not None and labels.count(label) > 1:
            raise session.refuse(loop, "a loop label must be unique", repr(label))
    names = {
        id(loop): session.unique_loop(label or f"L{number}")
        for number, (loop, label) in enumerate(facts.loops)
    }
    return Frame(
        name=top,
        changed=facts.changed,
        exposed=facts.exposed,
        uses=facts.uses,
        exit_label=f"{top}_exit",
        result=None,
        loop_names=names,
        call_line=None,
        targets=facts.targets,
    )


def _result(program: Program, definition: c_ast.FuncDef) -> ir.Variable | None:
    """Return the variable that holds the function's result, None for void."""
    kind = program.objects.result_type(definition)
    if kind is None:
        return None
    if not isinstance(kind, Scalar):
        rule = "the top function must return a number or nothing (write the result to an array argument)"
        raise program.session.refuse(definition.decl, rule, spelled(kind))
    return ir.Variable(name=program.session.unique("result"), type=kind.type)


def interface_of(function: ir.Function) -> Interface:
    """Return arguments, then objects of static storage, with their directions, and the type of the result."""
    read = {e.array.name for e in ir.all_expressions(function.body) if isinstance(e, ir.Load)}
    written = ir.stored_arrays(function.body)
    objects = dict(function.objects)
    arguments = tuple(
        Argument(
            name=p.name,
            type=p.type,
            shape=p.shape if isinstance(p, ir.Array) else (),
            read=isinstance(p, ir.Variable) or p.name in read,
            written=p.name in written,
            structure=p.structure if isinstance(p, ir.Array) else None,
            static=objects.get(p.name),
        )
        for p in function.parameters
    )
    return Interface(top=function.name, arguments=arguments, returns=function.returns)


_MAIN_RULE = "a main must return what it computes, or write it to an object of the file (or write a function)"


def require_outputs(interface: Interface, file: str) -> None:
    """Refuse a program whose hardware would do nothing.

    Raises: HlsError: no array, object or returned value leaves it.
    """
    if not interface.has_outputs and interface.top == "main":
        raise HlsError(_MAIN_RULE, "no outputs", file=file)
    if not interface.has_outputs:
        rule = (
            "a design must have outputs (return a value, or write to an array, a pointer or a static object)"
        )
        raise HlsError(rule, "no outputs", file=file)


def require_result(source: str, *, file: str) -> None:
    """Refuse a program that is only a `main` whose result is always the same.

    Raises: HlsError: its hardware would do nothing.
    """
    try:
        function = read_function(source, top="main", file=file)
    except HlsError:
        return  # labelling says why
    last = function.body[-1] if function.body else None
    if isinstance(last, ir.Return) and isinstance(last.value, ir.Constant) and not function.objects:
        raise HlsError(_MAIN_RULE, f"a main that always returns {last.value.number}", file=file)


def read_interface(source: str, top: str, *, file: str = "program.c") -> Interface:
    """Read the interface of a C function; raises what `read_function` raises."""
    return interface_of(read_function(source, top=top, file=file))
