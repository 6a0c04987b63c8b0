"""Calls: functions of the file inlined, operators that C spells as functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from pipelines.hls import ir
from pipelines.hls.arithmetic import make_bit_cast, make_cast, make_unary
from pipelines.hls.reading.ctypes import ArrayOf, CType, Pointer, Scalar, Struct
from pipelines.hls.reading.expressions import Expressions
from pipelines.hls.reading.facts import FunctionFacts, block_items, facts_of
from pipelines.hls.reading.leaves import make_block
from pipelines.hls.reading.memory_calls import MEMORY_CALLS, MemoryCalls
from pipelines.hls.reading.objects import Objects
from pipelines.hls.reading.session import Address, Cell, Frame, Place, PointerSlot, Session, Value
from pipelines.hls.reading.values import Result
from pipelines.interface import DOUBLE, FLOAT, UINT32, UINT64, ScalarType

MAXIMUM_CALL_DEPTH = 64

_UNARY: dict[str, tuple[str, ScalarType]] = {
    f"{prefix}{name}": meaning
    for prefix in ("", "__builtin_")
    for name, meaning in (
        ("sqrt", ("sqrt", DOUBLE)),
        ("sqrtf", ("sqrt", FLOAT)),
        ("fabs", ("abs", DOUBLE)),
        ("fabsf", ("abs", FLOAT)),
    )
}

_BIT_CASTS: dict[str, tuple[ScalarType, ScalarType]] = {
    "simfoundry_bits_of_float": (FLOAT, UINT32),
    "simfoundry_float_of_bits": (UINT32, FLOAT),
    "simfoundry_bits_of_double": (DOUBLE, UINT64),
    "simfoundry_double_of_bits": (UINT64, DOUBLE),
}

_REFUSED = (
    (("malloc", "calloc", "realloc", "free"), "dynamic allocation (write an array of constant size)"),
    (("printf", "fprintf", "puts", "putchar"), "output (write to an array argument)"),
    (("exit", "abort"), "the end of the program (write return)"),
    (("rand", "srand"), "random numbers (write an array argument)"),
    (("asm", "__asm__", "__asm"), "inline assembly (write C)"),
)


@dataclass(slots=True, kw_only=True)
class Calls:
    """Reads calls.

    Attributes:
        body: reads the statements of a function's body into the current buffer.
    """

    session: Session
    expressions: Expressions
    objects: Objects
    memory: MemoryCalls
    body: Callable[[c_ast.Node], None]
    _facts: dict[int, FunctionFacts] = field(default_factory=dict[int, FunctionFacts])
    _formulas: dict[str, bool] = field(default_factory=dict[str, bool])

    def is_operator(self, name: str) -> bool:
        """Whether a call of that name is an operator, or a function that is one formula without effects."""
        definition = self.expressions.types.file_scope.functions.get(name)
        if definition is None:
            return name in _UNARY or name in _BIT_CASTS or name == "__builtin_expect"
        if name not in self._formulas:
            self._formulas[name] = False
            items = block_items(definition.body)
            if len(items) == 1 and isinstance(items[0], c_ast.Return) and items[0].expr is not None:
                self._formulas[name] = not self.expressions.has_effects(items[0].expr)
        return self._formulas[name]

    def facts(self, definition: c_ast.FuncDef) -> FunctionFacts:
        """Facts of a function, found once."""
        if id(definition) not in self._facts:
            self._facts[id(definition)] = facts_of(definition)
        return self._facts[id(definition)]

    def call(self, node: c_ast.FuncCall, used: bool) -> Result:
        """A call; its value is None when the function gives none."""
        del used
        name = node.name.name if isinstance(node.name, c_ast.ID) else None
        arguments: list[c_ast.Node] = list(node.args.exprs) if node.args is not None else []
        if name is None or self.session.find(name) is not None:
            rule = "a function must be called by its name (write a switch over the functions)"
            raise self.session.refuse(node, rule, "a call through a pointer")
        definition = self.expressions.types.file_scope.functions.get(name)
        if definition is None and self.is_operator(name):
            return self._operator(name, arguments, node)
        if definition is None and name in MEMORY_CALLS:
            return self.memory.call(name, arguments, node)
        if definition is None:
            got = next((got for names, got in _REFUSED if name in names), f"a call of {name}")
            raise self.session.refuse(node, "a called function must be defined in the file", got)
        if any(frame.name == name for frame in self.session.frames):
            rule = "a function must not call itself (write a loop and an array as its stack)"
            raise self.session.refuse(node, rule, f"recursion in {name}")
        if len(self.session.frames) > MAXIMUM_CALL_DEPTH:
            raise self.session.refuse(node, f"calls must nest at most {MAXIMUM_CALL_DEPTH} deep", "more")
        return self._inline(definition, arguments, node)

    def _operator(self, name: str, arguments: list[c_ast.Node], node: c_ast.Node) -> ir.Expression:
        wanted = 2 if name == "__builtin_expect" else 1
        if len(arguments) != wanted:
            raise self.session.refuse(node, f"{name} must have {wanted} arguments", str(len(arguments)))
        value = self.expressions.number(arguments[0])
        if name in _UNARY:
            operator, kind = _UNARY[name]
            return make_unary(operator, make_cast(value, kind))
        if name in _BIT_CASTS:
            source, target = _BIT_CASTS[name]
            return make_bit_cast(make_cast(value, source), target)
        return value

    # ---- inlining ---------------------------------------------------------------------------------

    def _inline(self, definition: c_ast.FuncDef, arguments: list[c_ast.Node], node: c_ast.Node) -> Result:
        name = str(definition.decl.name)
        parameters = parameters_of(self.session, definition)
        if len(parameters) != len(arguments):
            rule = f"{name} must have {len(parameters)} arguments"
            raise self.session.refuse(node, rule, str(len(arguments)))
        readers = [lambda a=a: self.expressions.read(a) for a in arguments]
        values = self.expressions.sequence(*readers)
        self.session.count(node)
        line = self.session.line_of(node)
        frame = self._frame(definition, line)
        with self.session.collect() as body:
            self.session.frames.append(frame)
            try:
                frame.result = self._result_object(definition, name)
                for parameter, value in zip(parameters, values, strict=True):
                    self._bind(parameter, value, node)
                self.body(definition.body)
            finally:
                self.session.frames.pop()
        structured = list(make_block(frame.exit_label, body, line))
        result = _last_value(structured, frame.result)
        for statement in structured:
            self.session.emit(statement, node)
        if result is not None:
            return result
        return None if frame.result is None else self.expressions.value_at(frame.result, node)

    def _frame(self, definition: c_ast.FuncDef, line: int) -> Frame:
        name = str(definition.decl.name)
        facts = self.facts(definition)
        return Frame(
            name=name,
            changed=facts.changed,
            exposed=facts.exposed,
            uses=facts.uses,
            exit_label=self.session.unique(f"{name}_exit"),
            result=None,
            loop_names={
                id(loop): self.session.unique_loop(f"{name}_{label or f'L{number}'}")
                for number, (loop, label) in enumerate(facts.loops)
            },
            call_line=line,
        )

    def _result_object(self, definition: c_ast.FuncDef, name: str) -> Place | None:
        kind = self.objects.result_type(definition)
        if kind is None:
            return None
        return self.objects.new_object(kind, f"{name}_result", definition.decl)

    def _bind(self, parameter: c_ast.Decl, value: Result, node: c_ast.Node) -> None:
        """A parameter: a name for the argument where nothing changes either, else a copy of it."""
        kind = parameter_type(self.expressions, parameter)
        name = str(parameter.name)
        frame = self.session.frame
        converted = self.expressions.converted(value, kind, node)
        copied = name in frame.changed or name in frame.exposed
        if isinstance(converted, Address):
            self._bind_pointer(name, converted, kind, copied, node)
            return
        if isinstance(kind, Struct) or copied:
            place = self.objects.new_object(kind, name, parameter, exposed=name in frame.exposed)
            self.objects.effects.assign(place, converted, node)
            self.session.declare(name, place, parameter)
            return
        number = self.expressions.as_number(converted, node)
        once = frame.uses.get(name, 0) <= 1 and self.is_operator(frame.name)
        if not once and not self.session.is_stable(number):
            number = self.session.saved(number, name, self.session.line_of(node))
        self.session.declare(name, Value(expression=number), parameter)

    def _bind_pointer(self, name: str, address: Address, kind: CType, copied: bool, node: c_ast.Node) -> None:
        if copied:
            place = Place(kind=kind, storage=PointerSlot(name=name))
            self.objects.effects.assign(place, address, node)
            self.session.declare(name, place, node)
            return
        line = self.session.line_of(node)
        indices = tuple(
            i if self.session.is_stable(i) else self.session.saved(i, f"{name}_at", line)
            for i in address.indices
        )
        self.session.declare(name, replace(address, indices=indices), node)


def parameters_of(session: Session, definition: c_ast.FuncDef) -> list[c_ast.Decl]:
    """The declared parameters of a function.

    Raises: HlsError: a variable number of them, one without a name, or a declaration in the old style.
    """
    listed = definition.decl.type.args
    found: list[c_ast.Decl] = []
    for node in listed.params if listed is not None else ():
        if isinstance(node, c_ast.Typename) and getattr(node.type.type, "names", None) == ["void"]:
            continue
        if isinstance(node, c_ast.EllipsisParam):
            raise session.refuse(definition.decl, "a function must have fixed parameters", "...")
        if not isinstance(node, c_ast.Decl) or node.name is None:
            got = "one without" if not isinstance(node, c_ast.ID) else "a declaration in the old style"
            raise session.refuse(definition.decl, "a parameter must have a name and a type", got)
        found.append(node)
    return found


def parameter_type(expressions: Expressions, parameter: c_ast.Decl) -> CType:
    """The type of a parameter: an array is a pointer to its first element."""
    node = parameter.type
    if isinstance(node, c_ast.ArrayDecl):
        return Pointer(target=expressions.types.read(node.type, parameter))
    kind = expressions.types.read(node, parameter)
    return Pointer(target=kind.element) if isinstance(kind, ArrayOf) else kind


def _last_value(body: list[ir.Statement], result: Place | None) -> ir.Expression | None:
    """The value a body gives its result last, taken out of it, when it gives it only there."""
    if result is None or not isinstance(result.storage, Cell) or not isinstance(result.kind, Scalar):
        return None
    variable = result.storage.variable
    last = body[-1] if body else None
    if not isinstance(last, ir.Assign) or last.variable != variable:
        return None
    if variable.name in ir.assigned_variables(tuple(body[:-1])):
        return None
    body.pop()
    return last.value
