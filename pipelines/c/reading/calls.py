"""Calls: inlined functions of the file, operators that C spells as functions, and `memcpy`, `memmove`,
`memset`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_bit_cast, make_cast, make_unary
from pipelines.c.errors import HlsError
from pipelines.c.reading.addressing import as_index
from pipelines.c.reading.bodies import FunctionFacts, all_nodes, block_items, facts_of, make_block
from pipelines.c.reading.ctypes import (
    SIZE,
    VOID,
    ArrayOf,
    CType,
    Function,
    Pointer,
    Scalar,
    Struct,
    layout_of,
    member_offset,
    spelled,
)
from pipelines.c.reading.effects import MAXIMUM_COPIED_STATEMENTS, Effects
from pipelines.c.reading.expressions import Expressions
from pipelines.c.reading.initialisers import Filler
from pipelines.c.reading.objects import Objects
from pipelines.c.reading.session import (
    Address,
    Allocation,
    Cell,
    Chosen,
    Frame,
    FunctionObject,
    Place,
    Session,
    Value,
    cases_of,
    merged,
    with_parts,
)
from pipelines.c.reading.values import UPDATES, Result
from pipelines.c.signature import DOUBLE, FLOAT, INT32, UINT32, UINT64, ScalarType
from pipelines.c.text.preprocess import is_own_header, library_definitions

MEMORY_CALLS = ("memcpy", "memmove", "memset")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCalls:
    """Reads calls that copy or set memory."""

    session: Session
    expressions: Expressions
    effects: Effects
    filler: Filler

    def call(self, name: str, arguments: list[c_ast.Node], node: c_ast.FuncCall) -> Result:
        """Read a call; its value is its first argument."""
        if len(arguments) != 3:
            raise self.session.refuse(node, f"{name} must have 3 arguments", str(len(arguments)))
        readers = [lambda a=a: self.expressions.read(a) for a in arguments]
        first, second, third = self.expressions.sequence(*readers)
        target = self.expressions.pointers.address(first, node)
        size_bytes = make_cast(self.expressions.as_number(third, node), SIZE)
        if name == "memset":
            self._set(target, self.expressions.as_number(second, node), size_bytes, node)
        else:
            source = self.expressions.pointers.address(second, node)
            self._copy(name, target, source, size_bytes, node)
        return target

    def _set(
        self, target: Address, value: ir.Expression, size_bytes: ir.Expression, node: c_ast.Node
    ) -> None:
        byte = value.value & 0xFF if isinstance(value, ir.Constant) and not value.type.floating else None
        if byte != 0 and not (isinstance(target.kind, Scalar) and target.kind.type.width_bits == 8):
            bits = target.kind.type.width_bits if isinstance(target.kind, Scalar) else 0
            words = self.expressions.places.in_bytes(target, unsigned(bits)) if bits else None
            if words is None:
                rule = "memset must set to 0 or have elements of numbers (write a loop)"
                raise self.session.refuse(node, rule, f"elements of type {spelled(target.kind)}")
            kind = unsigned(bits).type
            ones = ir.Constant(value=sum(1 << n for n in range(0, bits, 8)), type=kind)
            value = make_binary("mul", make_cast(make_cast(value, unsigned(8).type), kind), ones)
            target = words
        target, count = self._elements(target, target.kind, size_bytes, node)

        def each(index: ir.Expression) -> None:
            place = self._at(target, index, node)
            if isinstance(place.kind, Scalar):
                self.effects.assign(place, value, node)
            else:
                self.filler.fill(place, [], node)

        self._repeat("memset", count, each, node)

    def _copy(
        self, name: str, target: Address, source: Address, size_bytes: ir.Expression, node: c_ast.Node
    ) -> None:
        is_chosen = isinstance(target.storage, Chosen) or isinstance(source.storage, Chosen)
        if name == "memmove" and (target.storage is source.storage or is_chosen):
            rule = "memmove must copy between different arrays (write a loop)"
            raise self.session.refuse(node, rule, "one array")
        if not _same_layout(target.kind, source.kind):
            both = self._as_words(target, source)
            if both is not None:
                target, source = both
        if not _same_layout(target.kind, source.kind):
            rule = f"{name} must copy elements of one layout (write a loop with casts)"
            got = f"{spelled(source.kind)} to {spelled(target.kind)}"
            refusal = self.session.refuse(node, rule, got)
            structure = target.kind if isinstance(target.kind, Struct) else source.kind
            raise self.expressions.pointers.bytes_needed(structure, refusal)
        into, count = self._elements(target, target.kind, size_bytes, node)
        from_, _ = self._elements(source, source.kind, size_bytes, node)

        def each(index: ir.Expression) -> None:
            self._copy_part(self._at(into, index, node), self._at(from_, index, node), node)

        self._repeat(name, count, each, node)

    def _as_words(self, target: Address, source: Address) -> tuple[Address, Address] | None:
        """Return the pointers to numbers of two widths as pointers to words of the wider, of bytes when one
        was cast.

        Returns: None for other elements.
        """
        widths = [_width_bits(pointer.kind) for pointer in (target, source)]
        if None in widths:
            return None
        cast = any(p.bytewise or isinstance(p.kind, Struct) for p in (target, source))
        kind = unsigned(8 if cast else max(bits for bits in widths if bits is not None))
        places = self.expressions.places
        into, from_ = places.in_bytes(target, kind), places.in_bytes(source, kind)
        return None if into is None or from_ is None else (into, from_)

    def _copy_part(self, target: Place, source: Place, node: c_ast.Node) -> None:
        if isinstance(target.kind, Scalar) and isinstance(source.kind, Scalar):
            value = self.expressions.places.load(source, node, None)
            kinds = target.kind.type, source.kind.type
            if kinds[0].floating != kinds[1].floating:
                value = make_bit_cast(value, kinds[0])
            self.expressions.places.store(target, make_cast(value, kinds[0]), node)
        else:
            self.effects.copy(target, source, node)

    def _elements(
        self, address: Address, kind: CType, size_bytes: ir.Expression, node: c_ast.Node
    ) -> tuple[Address, ir.Expression]:
        """Return address of the first element and the number of elements that a number of bytes covers."""
        layout = layout_of(kind)
        element_bytes = 1 if layout is None else layout.size or 1
        if isinstance(size_bytes, ir.Constant) and size_bytes.value % element_bytes:
            if isinstance(kind, ArrayOf):
                inner = self.expressions.places.decayed(self.expressions.places.target(address, node))
                return self._elements(inner, kind.element, size_bytes, node)
            rule = f"a size must be a multiple of {element_bytes} bytes"
            raise self.session.refuse(node, rule, str(size_bytes.value))
        count = make_binary("div", size_bytes, ir.Constant(value=element_bytes, type=SIZE))
        return address, as_index(count)

    def _at(self, address: Address, index: ir.Expression, node: c_ast.Node) -> Place:
        places = self.expressions.places
        return places.target(places.moved(address, index, node), node)

    def _repeat(
        self, name: str, count: ir.Expression, each: Callable[[ir.Expression], None], node: c_ast.Node
    ) -> None:
        if isinstance(count, ir.Constant) and count.value <= MAXIMUM_COPIED_STATEMENTS:
            for number in range(count.value):
                each(ir.Constant(value=number))
            return
        line = self.session.line_of(node)
        if not isinstance(count, ir.Constant):
            count = self.session.saved(count, f"{name}_end", line)
        variable = ir.Variable(name=self.session.unique(f"{name}_at"), type=INT32)
        loop_name = self.session.unique_loop(name)
        with self.session.collect() as body:
            each(ir.Read(variable=variable))
        loop = ir.For(
            name=loop_name,
            variable=variable,
            lower=ir.Constant(value=0),
            comparison="lt",
            upper=count,
            step=1,
            body=tuple(body),
            line=line,
        )
        self.session.emit(loop, node)


def unsigned(width_bits: int) -> Scalar:
    """Return the unsigned type of a width."""
    return Scalar(type=ScalarType(width_bits=width_bits, signed=False))


def _width_bits(kind: CType) -> int | None:
    """Return the width of a number, or of an array's numbers."""
    while isinstance(kind, ArrayOf):
        kind = kind.element
    if isinstance(kind, Struct) and kind.as_bytes:
        return 8
    return kind.type.width_bits if isinstance(kind, Scalar) else None


def _same_layout(first: CType, second: CType) -> bool:
    """Tell whether elements of two types can be copied one by one: equal types or numbers of equal width."""
    match first, second:
        case (Scalar(), Scalar()):
            return first.type.width_bits == second.type.width_bits
        case (ArrayOf(), ArrayOf()):
            return first.size == second.size and _same_layout(first.element, second.element)
        case (Struct(), Struct()):
            return first is second
        case _:
            return False


MAXIMUM_CALL_DEPTH = 64

_UNARY: dict[str, tuple[str, ScalarType]] = {
    f"{prefix}{name}": meaning
    for prefix in ("", "__builtin_", "simfoundry_")
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

_BUILTIN = "__builtin_"
_NEVER_REACHED = ("abort", "exit", "_Exit", "__builtin_abort", "__builtin_trap", "__builtin_unreachable")
"""Calls that no run reaches: native C that does fails the design."""
_LATER_MATHEMATICS = ("rint", "lrint", "lround", "ldexp", "log1p", "expm1")
_LATER_FUNCTIONS = (
    *("strncpy", "strcat", "strchr"),
    *(f"{name}{suffix}" for name in _LATER_MATHEMATICS for suffix in ("", "f")),
)
"""Functions of the headers that an earlier engine had no body of."""
_OUTPUT = frozenset(
    ("printf", "fprintf", "vfprintf", "puts", "fputs", "putchar", "fputc", "putc", "perror", "fflush")
)
"""Calls that only print; hardware leaves them out."""

_OPERATORS = frozenset((*_UNARY, *_BIT_CASTS, "__builtin_expect"))
"""Functions that are operators of the hardware."""

_REFUSED = (
    (("malloc", "calloc", "realloc", "free"), "dynamic allocation (write an array of constant size)"),
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
    _pure: dict[str, bool] = field(default_factory=dict[str, bool])

    def is_operator(self, name: str) -> bool:
        """Tell whether a call of that name is an operator, or a one-formula function without side effects."""
        definition = self._definition(name)
        if definition is None:
            return name in _OPERATORS
        if name not in self._formulas:
            self._formulas[name] = False
            items = block_items(definition.body)
            if len(items) == 1 and isinstance(items[0], c_ast.Return) and items[0].expr is not None:
                self._formulas[name] = not self.expressions.has_effects(items[0].expr)
        return self._formulas[name]

    def _definition(self, name: str) -> c_ast.FuncDef | None:
        """Return the function of a name: the file's own, else the library's; None for an operator."""
        own = self.expressions.types.file_scope.functions.get(name)
        if own is not None or name in _OPERATORS or name.removeprefix(_BUILTIN) in MEMORY_CALLS:
            return own
        if name in _NEVER_REACHED or name in _OUTPUT or any(name in names for names, _ in _REFUSED):
            return None
        library = library_definitions()
        return library.get(name) or library.get(name.removeprefix(_BUILTIN))

    def _undefined(self, name: str, node: c_ast.Node) -> HlsError:
        rule = "a called function must be defined in the file"
        for names, got in _REFUSED:
            if name in names:
                return self.session.refuse(node, rule, got)
        public = (n for n in library_definitions() if not n.startswith(("simfoundry_", "__")))
        known = ", ".join(sorted({*public, *MEMORY_CALLS, *(n for n in _UNARY if n.isalpha())}))
        return self.session.refuse(node, f"{rule}, or be one of {known}", f"a call of {name}")

    def _offset(self, arguments: list[c_ast.Node], node: c_ast.Node) -> ir.Expression:
        """Return `offsetof`: bytes from the start of a structure to a member."""
        offset, _ = self._member(self.expressions.types.read(arguments[0], node), arguments[1], node)
        return ir.Constant(value=offset, type=SIZE)

    def _member(self, kind: CType, member: c_ast.Node, node: c_ast.Node) -> tuple[int, CType]:
        """Return the offset in bytes and type of a member of a type, or of an element of one."""
        offset, name = 0, member
        if isinstance(member, c_ast.ArrayRef):
            self.session.later_constants = True
            offset, kind = self._member(kind, member.name, node)
            index = self.expressions.constant(member.subscript)
            element = layout_of(kind.element) if isinstance(kind, ArrayOf) else None
            if not isinstance(kind, ArrayOf) or index is None or element is None:
                raise self.session.refuse(node, "offsetof must name a member", "another element")
            return offset + index.value * element.size, kind.element
        if isinstance(member, c_ast.StructRef):
            offset, kind = self._member(kind, member.name, node)
            name = member.field
        if not isinstance(name, c_ast.ID):
            raise self.session.refuse(node, "offsetof must name a member", "another expression")
        if not isinstance(kind, Struct) or name.name not in kind.members:
            raise self.session.refuse(node, "offsetof must name a member", repr(name.name))
        return offset + member_offset(kind, name.name), kind.members[name.name]

    def facts(self, definition: c_ast.FuncDef) -> FunctionFacts:
        """Return the facts of a function, cached."""
        if id(definition) not in self._facts:
            self._facts[id(definition)] = facts_of(definition)
        return self._facts[id(definition)]

    def call(self, node: c_ast.FuncCall, used: bool) -> Result:
        """Read a call; return its value, None for a void function."""
        del used
        name = node.name.name if isinstance(node.name, c_ast.ID) else None
        arguments: list[c_ast.Node] = list(node.args.exprs) if node.args is not None else []
        if name is None or self._is_object(name):
            return self._call_through(node, arguments)
        definition = self._definition(name)
        if definition is None and self.is_operator(name):
            return self._operator(name, arguments, node)
        if definition is None and name.removeprefix(_BUILTIN) in MEMORY_CALLS:
            return self.memory.call(name.removeprefix(_BUILTIN), arguments, node)
        if definition is None and name == "offsetof":
            return self._offset(arguments, node)
        if definition is None and name in _NEVER_REACHED:
            return None
        if definition is None and name.removeprefix(_BUILTIN) in _OUTPUT:
            return self._output(name, arguments, node)
        if definition is None and name.removeprefix(_BUILTIN) in ("malloc", "calloc", "free"):
            return self._allocation(name.removeprefix(_BUILTIN), arguments, node)
        if definition is None:
            raise self._undefined(name, node)
        self._check_depth(name, node)
        readers = [lambda a=a: self.expressions.read(a) for a in arguments]
        return self._inline(definition, readers, node)

    def _check_depth(self, name: str, node: c_ast.FuncCall) -> None:
        """Refuse a call of a function inside itself, and calls that nest too deep."""
        if any(frame.name == name for frame in self.session.frames):
            rule = (
                "a function must call itself only as its last step (write a loop and an array as its stack)"
            )
            raise self.session.refuse(node, rule, f"recursion in {name} ({self._chain()} calls {name})")
        if len(self.session.frames) > MAXIMUM_CALL_DEPTH:
            raise self.session.refuse(node, f"calls must nest at most {MAXIMUM_CALL_DEPTH} deep", "more")

    def _chain(self) -> str:
        """Return the functions being read, from the top one on."""
        return " calls ".join(frame.name for frame in self.session.frames if frame.name)

    # ---- calls through pointers -------------------------------------------------------------------

    def _is_object(self, name: str) -> bool:
        """Tell whether a name is that of a variable."""
        scope = self.expressions.types.file_scope
        return self.session.find(name) is not None or (name in scope.objects and name not in scope.functions)

    def _call_through(self, node: c_ast.FuncCall, arguments: list[c_ast.Node]) -> Result:
        """Return a call through a pointer: of its function, or of the present one of several."""
        readers = [lambda a=a: self.expressions.read(a) for a in (node.name, *arguments)]
        called, *values = self.expressions.sequence(*readers)
        cases = cases_of(called) if isinstance(called, Address) else ()
        functions = [(own, one) for own, one in cases if isinstance(one.storage, FunctionObject)]
        if not functions and any(one.storage is None for _, one in cases):
            raise self.session.unset(node)
        if not functions:
            rule = "a call must be of a function of the file, or through a pointer to one"
            raise self.session.refuse(node, rule, f"a call of another value (in {self._chain()})")
        if len(functions) == 1:
            return self._call_value(functions[0][1], values, node)
        return self._call_one_of(functions, values, node)

    def _call_value(self, called: Address, values: list[Result], node: c_ast.FuncCall) -> Result:
        """Return a call of a function that a pointer points to, with values as its arguments."""
        assert isinstance(called.storage, FunctionObject)
        name = called.storage.name
        definition = self._definition(name)
        if definition is None and name in _UNARY and len(values) == 1:
            return self._applied(name, self.expressions.as_number(values[0], node))
        if definition is None:
            raise self._undefined(name, node)
        self._check_depth(name, node)
        return self._inline(definition, [lambda v=v: v for v in values], node)

    def _call_one_of(
        self, functions: list[tuple[ir.Expression, Address]], values: list[Result], node: c_ast.FuncCall
    ) -> Result:
        """Return a call of the present one of several functions: a condition over calls of each."""
        session, line = self.session, self.session.line_of(node)
        values = [self._hold_value(value, line) for value in values]
        conditions = [session.saved(own, "called", line) for own, _ in functions[:-1]]
        outcomes: list[Result] = []
        bodies: list[list[ir.Statement]] = []
        variable: ir.Variable | None = None
        place: Place | None = None
        for _, one in functions:
            with session.collect() as body:
                outcome = self._call_value(one, values, node)
                if isinstance(outcome, Place):
                    place = place or self.objects.new_object(outcome.kind, "returned", node)
                    self.objects.effects.copy(place, outcome, node)
                elif isinstance(outcome, Address):
                    outcome = self._hold_value(outcome, line)
                elif outcome is not None:
                    kind = ir.type_of(outcome)
                    variable = variable or ir.Variable(name=session.unique("returned"), type=kind)
                    value = make_cast(outcome, variable.type)
                    session.emit(ir.Assign(variable=variable, value=value, line=line), node)
            outcomes.append(outcome)
            bodies.append(body)
        rest = tuple(bodies[-1])
        for condition, body in reversed(list(zip(conditions, bodies[:-1], strict=True))):
            rest = (ir.If(condition=condition, then=tuple(body), otherwise=rest, line=line),)
        for statement in rest:
            session.emit(statement, node)
        pointers = [outcome for outcome in outcomes if isinstance(outcome, Address)]
        if pointers:
            last = ir.Constant(value=1)
            return merged(list(zip((*conditions, last), pointers, strict=True)))
        return place if variable is None else ir.Read(variable=variable)

    def _hold_value(self, value: Result, line: int) -> Result:
        """Return a value that no statement changes."""
        match value:
            case None | Place() | ir.Constant():
                return value
            case Address():
                return with_parts(
                    value,
                    lambda i: i if isinstance(i, ir.Constant) else self.session.saved(i, "index", line),
                )
            case _:
                return self.session.saved(value, "argument", line)

    def _output(self, name: str, arguments: list[c_ast.Node], node: c_ast.FuncCall) -> None:
        """Read a call that prints: keep only what its arguments change. It has no value."""
        self.session.later_forms = True
        self.session.left_out.append((name, int(node.coord.line) if node.coord else 0))
        for argument in arguments:
            if self.changes_something(argument):
                self.expressions.discard(argument)

    def changes_something(self, node: c_ast.Node) -> bool:
        """Tell whether evaluating an expression may change an object, in a called function too."""
        if isinstance(node, c_ast.Assignment) or (isinstance(node, c_ast.UnaryOp) and node.op in UPDATES):
            return True
        if isinstance(node, c_ast.FuncCall):
            name = str(node.name.name) if isinstance(node.name, c_ast.ID) else ""
            if not self.is_operator(name) and not self._is_pure(name):
                return True
        return any(self.changes_something(child) for _, child in node.children())

    def _is_pure(self, name: str) -> bool:
        """Tell whether a function of the program changes only variables of its own."""
        definition = self._definition(name)
        if definition is None:
            return name in _OUTPUT
        if name not in self._pure:
            self._pure[name] = False  # of itself, while it is looked at
            own = {
                str(n.name)
                for n in all_nodes(definition)
                if isinstance(n, c_ast.Decl) and "static" not in n.storage
            }.difference(self.expressions.types.file_scope.objects)
            self._pure[name] = all(self._changes_only(n, own) for n in all_nodes(definition.body))
        return self._pure[name]

    def _changes_only(self, node: c_ast.Node, own: Collection[str]) -> bool:
        """Tell whether a node by itself changes nothing but some variables."""
        match node:
            case c_ast.Assignment():
                return isinstance(node.lvalue, c_ast.ID) and node.lvalue.name in own
            case c_ast.UnaryOp() if node.op in UPDATES:
                return isinstance(node.expr, c_ast.ID) and node.expr.name in own
            case c_ast.FuncCall():
                name = str(node.name.name) if isinstance(node.name, c_ast.ID) else ""
                return self.is_operator(name) or self._is_pure(name)
            case _:
                return True

    def _allocation(self, name: str, arguments: list[c_ast.Node], node: c_ast.FuncCall) -> Address | None:
        """Return memory of a constant size, which is never taken back: each call has memory of its own."""
        if len(arguments) != (2 if name == "calloc" else 1):
            raise self.session.refuse(node, f"{name} must have its arguments", str(len(arguments)))
        if name == "free":
            self.expressions.read(arguments[0])
            return None
        size_bytes = 1
        for argument in arguments:
            size = self.expressions.number(argument)
            if not isinstance(size, ir.Constant) or size.type.floating:
                rule = "allocated memory must have a constant size (write an array of constant size)"
                raise self.session.refuse(node, rule, f"{name} of another size")
            size_bytes *= size.value
        memory = Allocation(size_bytes=size_bytes, zero=name == "calloc", loops=self.session.loops)
        return Address(kind=VOID, storage=memory)

    def _operator(self, name: str, arguments: list[c_ast.Node], node: c_ast.Node) -> ir.Expression:
        expected = 2 if name == "__builtin_expect" else 1
        if len(arguments) != expected:
            raise self.session.refuse(node, f"{name} must have {expected} arguments", str(len(arguments)))
        return self._applied(name, self.expressions.number(arguments[0]))

    def _applied(self, name: str, value: ir.Expression) -> ir.Expression:
        """Return an operator that C spells as a function, of a value."""
        if name in _UNARY:
            operator, kind = _UNARY[name]
            return make_unary(operator, make_cast(value, kind))
        if name in _BIT_CASTS:
            source, target = _BIT_CASTS[name]
            return make_bit_cast(make_cast(value, source), target)
        return value

    # ---- inlining ---------------------------------------------------------------------------------

    def _inline(
        self, definition: c_ast.FuncDef, readers: Sequence[Callable[[], Result]], node: c_ast.FuncCall
    ) -> Result:
        """Return the value of a call, with the statements of the function. readers: of its arguments."""
        name = str(definition.decl.name)
        self.session.called.add(name)
        if name in _LATER_FUNCTIONS and is_own_header(str(definition.coord.file) if definition.coord else ""):
            self.session.later_forms = True
        parameters = parameters_of(self.session, definition)
        if len(parameters) != len(readers):
            rule = f"{name} must have {len(parameters)} arguments"
            raise self.session.refuse(node, rule, str(len(readers)))
        values = self.expressions.sequence(*readers)
        self.session.count(node)
        line = self.session.line_of(node)
        frame = self._frame(definition, node)
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

    def _frame(self, definition: c_ast.FuncDef, node: c_ast.FuncCall) -> Frame:
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
            call_line=self.session.line_of(node),
            call=node,
            targets=facts.targets,
        )

    def _result_object(self, definition: c_ast.FuncDef, name: str) -> Place | None:
        kind = self.objects.result_type(definition)
        if kind is None:
            return None
        return self.objects.new_object(kind, f"{name}_result", definition.decl)

    def _bind(self, parameter: c_ast.Decl, value: Result, node: c_ast.Node) -> None:
        """Bind a parameter: to the argument itself when neither changes, else to a copy."""
        kind = parameter_type(self.expressions, parameter)
        name = str(parameter.name)
        frame = self.session.frame
        converted = self.expressions.converted(value, kind, node)
        copied = name in frame.changed or name in frame.exposed
        if isinstance(converted, Address):
            self._bind_pointer(parameter, converted, kind, copied, node)
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

    def _bind_pointer(
        self, parameter: c_ast.Decl, address: Address, kind: CType, copied: bool, node: c_ast.Node
    ) -> None:
        name = str(parameter.name)
        if copied:
            place = Place(kind=kind, storage=self.session.new_pointer(name, parameter))
            self.objects.effects.assign(place, address, node)
            self.session.declare(name, place, node)
            return
        line = self.session.line_of(node)
        bound = with_parts(
            address, lambda i: i if self.session.is_stable(i) else self.session.saved(i, f"{name}_at", line)
        )
        self.session.declare(name, bound, node)


def parameters_of(session: Session, definition: c_ast.FuncDef) -> list[c_ast.Decl]:
    """Return a function's declared parameters; in the old style their types follow the list.

    Raises: HlsError: a variable number of parameters, or one without a name.
    """
    listed = definition.decl.type.args
    typed = {d.name: d for d in definition.param_decls or ()}
    parameters: list[c_ast.Decl] = []
    for node in listed.params if listed is not None else ():
        if isinstance(node, c_ast.Typename) and getattr(node.type.type, "names", None) == ["void"]:
            continue
        if isinstance(node, c_ast.EllipsisParam):
            raise session.refuse(definition.decl, "a function must have fixed parameters", "...")
        if isinstance(node, c_ast.ID):
            parameters.append(typed.get(node.name) or _integer_parameter(node))
            continue
        if not isinstance(node, c_ast.Decl) or node.name is None:
            raise session.refuse(definition.decl, "a parameter must have a name and a type", "one without")
        parameters.append(node)
    return parameters


def _integer_parameter(node: c_ast.ID) -> c_ast.Decl:
    """Return a parameter of the old style without a declaration: an int."""
    kind = c_ast.TypeDecl(node.name, [], None, c_ast.IdentifierType(["int"], node.coord), node.coord)
    return c_ast.Decl(node.name, [], [], [], [], kind, None, None, node.coord)


def parameter_type(expressions: Expressions, parameter: c_ast.Decl) -> CType:
    """Return the type of a parameter: an array is a pointer to its first element."""
    node = parameter.type
    if isinstance(node, c_ast.ArrayDecl):
        return Pointer(target=expressions.types.read(node.type, parameter))
    kind = expressions.types.read(node, parameter)
    if isinstance(kind, Function):
        return Pointer(target=kind)
    return Pointer(target=kind.element) if isinstance(kind, ArrayOf) else kind


def _last_value(body: list[ir.Statement], result: Place | None) -> ir.Expression | None:
    """Remove the final assignment of a body to its result, when it is the only one, and return its value."""
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
