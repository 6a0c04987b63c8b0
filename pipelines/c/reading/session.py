"""State while a program is read: names, the storage behind them, scopes, emitted statements, and refusals.

A structure has no storage of its own: each member is a variable, or an array over the dimensions around the
structure. An external array of structures whose members all have one type stays one array in memory order:
its last dimension runs over the scalars of a structure.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum

from pycparser import c_ast, c_generator

from pipelines.c import ir
from pipelines.c.arithmetic import make_binary, make_select, negated
from pipelines.c.errors import HlsError, PointerUnset, UnsizedArgument
from pipelines.c.reading.ctypes import CType
from pipelines.c.signature import INT32, UINT8, ScalarType, StaticObject
from pipelines.c.text.layouts import Attributes, Position
from pipelines.c.text.preprocess import is_own_header, shown_file

MAXIMUM_STATEMENTS = 200_000
MAXIMUM_VALUES = 1 << 24
MAXIMUM_STEPS = 1 << 18
"""Expressions, statements and types that may be read, counted per inlined copy; the largest program of the
suites needs some 3000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeName:
    """A typedef; `alignment` in bytes is that of its attributes, 0 without them."""

    kind: CType
    alignment: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Value:
    """A name of a value that never changes: an enumerator, a constant, a parameter bound to one."""

    expression: ir.Expression


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """A scalar."""

    variable: ir.Variable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Memory:
    """An array, or a member of the structures of an external one.

    Attributes:
        packed: (dimensions before the last, first index in the last dimension, and for each array around
            the member inside the structure, scalars from one element to the next) of a member of packed
            structures; None for an array of its own.
        single: a pointer argument without a size; only its first element may be used.
    """

    array: ir.Array
    packed: tuple[int, int, tuple[int, ...]] | None = None
    single: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """A structure, or an array of them: storage of each member."""

    members: dict[str, Storage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An object that a pointer may point into, in any reading of a program.

    Attributes:
        storage: key of its storage, see `storage_key`; None for the null pointer.
        depth: number of indices. moving, flat, bytewise: as of `Address`.
    """

    storage: str | None
    depth: int = 0
    moving: bool = False
    flat: bool = False
    bytewise: bool = False


class PointerChoice(HlsError):
    """A pointer gets another object than it has, or none, so it must hold which one it points into.

    Attributes:
        key: of the pointer; objects: what it may point into, see `Target`.
    """

    def __init__(self, key: str, objects: tuple[Target, ...], refusal: HlsError) -> None:
        super().__init__(refusal.rule, refusal.got, file=refusal.file, line=refusal.line)
        self.key = key
        self.objects = objects


@dataclass(slots=True, kw_only=True, eq=False)
class PointerSlot:
    """A pointer variable; its first value determines the one object that it points into.

    Attributes:
        name: for messages and for the variables that hold its indices.
        base: the object with its number of indices; None until a value is assigned.
        indices: the pointer's present indices: variables of its own, or constants that never change.
        fixed: the pointer keeps its first value.
        loops: loops around its declaration.
        key: of the pointer in any reading. exposed: called functions may change it.
        targets: the objects of a pointer that points into one of several, or may be null; empty for others,
            which have no `which`, the number of the present one.
    """

    name: str
    base: Address | None = None
    indices: tuple[ir.Expression, ...] = ()
    fixed: bool = False
    loops: int = 0
    key: str = ""
    exposed: bool = False
    targets: tuple[Target, ...] = ()
    which: ir.Variable | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chosen:
    """One of several objects.

    Attributes:
        cases: conditions, the first that holds decides, and the places; the last condition is not used.
    """

    cases: tuple[tuple[ir.Expression, Address], ...]

    def guards(self) -> Iterator[ir.Expression]:
        """Yield the condition of each case under which it is the present one."""
        others: ir.Expression = ir.Constant(value=1)
        for number, (condition, _) in enumerate(self.cases):
            last = number == len(self.cases) - 1
            yield others if last else condition if number == 0 else make_binary("and", others, condition)
            rest = negated(condition)
            others = rest if number == 0 else make_binary("and", others, rest)


@dataclass(slots=True, kw_only=True, eq=False)
class Allocation:
    """Memory of `malloc` or `calloc`; the first pointer type that it gets determines the object.

    Attributes:
        loops: loops around the call. zero: it starts as zero. place: the object, None before.
    """

    size_bytes: int
    zero: bool
    loops: int
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FunctionObject:
    """A function that a pointer may point to; one object per name, see `Session.function`."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointerTable:
    """The pointers of an array, or of a member of the structures of an array.

    Attributes:
        name: for messages. key, loops, targets: as of `PointerSlot`.
        which: for each pointer the number of its object; None with fewer than two objects.
        indices: for each pointer its indices, one array per index.
    """

    name: str
    key: str
    loops: int
    targets: tuple[Target, ...]
    which: ir.Array | None
    indices: tuple[ir.Array, ...]

    @property
    def arrays(self) -> tuple[ir.Array, ...]:
        """All arrays of the table."""
        return self.indices if self.which is None else (self.which, *self.indices)


Storage = Cell | Memory | Record | PointerSlot | PointerTable | FunctionObject | Allocation | Chosen


def parts_of(storage: Storage) -> Iterator[Storage]:
    """Yield a storage and its members' storages."""
    yield storage
    if isinstance(storage, Record):
        for member in storage.members.values():
            yield from parts_of(member)


def storage_key(storage: Storage) -> str | None:
    """Return the identity of a storage in any reading of its program, None for memory without a type."""
    parts = list(parts_of(storage))
    match next((part for part in parts if not isinstance(part, Record)), None):
        case Cell(variable=variable):
            leaf = variable.name
        case Memory() as memory:
            leaf = f"{memory.array.name} {memory.packed}"
        case PointerSlot() | PointerTable() as slot:
            leaf = slot.key
        case FunctionObject(name=name):
            leaf = name
        case _:
            return None
    return f"{type(storage).__name__} {len(parts)} {leaf}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """An object or a part of one; `indices` has one index per dimension passed.

    Attributes:
        element: the last step was an index, so a pointer to it can move.
        flat: a cast changed the array's shape: the last index counts numbers over all remaining dimensions.
        bytewise: a cast or a union changed the width of the numbers: the last index counts bytes over all
            remaining dimensions, or in the variable.
    """

    kind: CType
    storage: Storage
    indices: tuple[ir.Expression, ...] = ()
    element: bool = False
    flat: bool = False
    bytewise: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Address:
    """The value of a pointer: the place that it points to.

    Attributes:
        kind: type of what it points to.
        storage: None for a null pointer.
        moving: the last index may move: the pointer is into an array.
        flat, bytewise: as for a place.
    """

    kind: CType
    storage: Storage | None
    indices: tuple[ir.Expression, ...] = ()
    moving: bool = False
    flat: bool = False
    bytewise: bool = False


Symbol = TypeName | Value | Place | Address


def cases_of(address: Address) -> tuple[tuple[ir.Expression, Address], ...]:
    """Return the cases of a pointer, one for a pointer into one object."""
    if isinstance(address.storage, Chosen):
        return address.storage.cases
    return ((ir.Constant(value=1), address),)


def either(condition: ir.Expression, first: Address, second: Address) -> Address:
    """Return one of two pointers."""
    *some, (_, last) = cases_of(first)
    cases = [(make_binary("and", condition, own), one) for own, one in some]
    cases += [(condition, last), *cases_of(second)]
    return chosen(cases)


def selected(cases: Sequence[tuple[ir.Expression, ir.Expression]]) -> ir.Expression:
    """Return the value of the first case that holds; the last condition is not used."""
    value = cases[-1][1]
    for condition, other in reversed(cases[:-1]):
        value = make_select(condition, other, value)
    return value


def target_of(address: Address) -> Target | None:
    """Return the object that a pointer points into, in any reading; None for memory without a type."""
    if address.storage is None:
        return Target(storage=None)
    key = storage_key(address.storage)
    if key is None:
        return None
    return Target(
        storage=key,
        depth=len(address.indices),
        moving=address.moving,
        flat=address.flat,
        bytewise=address.bytewise,
    )


def chosen(cases: Sequence[tuple[ir.Expression, Address]]) -> Address:
    """Return a pointer to one of several objects."""
    if len(cases) == 1:
        return cases[0][1]
    kind = next((one.kind for _, one in cases if one.storage is not None), cases[0][1].kind)
    return Address(kind=kind, storage=Chosen(cases=tuple(cases)), moving=True)


def merged(cases: Sequence[tuple[ir.Expression, Address]]) -> Address:
    """Return the pointer of the first case that holds, where pointers may have cases of their own."""
    *some, (_, value) = cases
    for condition, one in reversed(some):
        value = either(condition, one, value)
    return value


def with_parts(address: Address, change: Callable[[ir.Expression], ir.Expression]) -> Address:
    """Return a pointer whose indices, and the conditions that choose its object, are changed."""
    storage = address.storage
    if isinstance(storage, Chosen):
        *some, (condition, last) = storage.cases
        cases = [(change(own), with_parts(one, change)) for own, one in some]
        storage = Chosen(cases=(*cases, (condition, with_parts(last, change))))
    return replace(address, storage=storage, indices=tuple(change(index) for index in address.indices))


class Port(Enum):
    """How an object of static storage reaches the design."""

    NUMBER = "a scalar that the design only reads: a number at its start"
    MEMORY = "an array of its own"


@dataclass(slots=True, kw_only=True)
class Frame:
    """A function that is being read, or an inlined copy of it.

    Attributes:
        changed: names that the function's text assigns; exposed: names whose address it takes; uses: number
            of uses per name.
        exit_label: of the block around its body; left: whether a return left it.
        result: place that `return` assigns; None for void.
        loop_names: name of each loop by the identity of its node.
        break_labels, continue_labels: of the statements around, innermost last.
        call_line: line of the call in the top function's text; None for the top function itself. call: its
            node.
        returns_value: whether a `return` with a value was read.
        targets: labels that a `goto` of the function names; jumps: of those that may be reached from here,
            the block that a jump leaves.
    """

    name: str
    changed: frozenset[str]
    exposed: frozenset[str]
    uses: Mapping[str, int]
    exit_label: str
    result: Place | None
    loop_names: dict[int, str]
    call_line: int | None
    scopes: list[dict[str, Symbol]] = field(default_factory=lambda: [{}])
    tags: list[dict[str, CType]] = field(default_factory=lambda: [{}])
    break_labels: list[str] = field(default_factory=list[str])
    continue_labels: list[str] = field(default_factory=list[str])
    returns_value: bool = False
    call: c_ast.Node | None = None
    targets: frozenset[str] = frozenset()
    jumps: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True, kw_only=True)
class Session:
    """One program that is being read.

    Attributes:
        file: name for messages; main_file: where the syntax tree has the top function.
        frames: functions being read, the innermost call last.
        buffer: statements of the body being read.
        prologue: statements before the function's own: values of file-scope variables.
        exposed: variables that a called function may change.
        fills: values and statements that only set an array to its initialiser, by array name.
        sizes: elements of the top function's pointer arguments.
        holders: of such an object, the pointer from outside its loop. Another one could still point to the
            memory of an earlier iteration, which is the same object here.
        bytewise: keys of structures that are used as bytes.
        loops: loops around what is being read. allocated: loops around the call that allocated an object.
        called: functions that were inlined, by name.
        source: the program's text.
        outside: objects of static storage that become ports, see `statics.outside_objects`.
        ports: what these became, in order; objects: the object behind each port, by its name.
        later_constants, later_forms: whether constants or forms were read that an earlier engine refused.
        later_starts: whether a loop starts at a value that an earlier engine computed twice.
        left_out: name and line of each output call.
        pointers: what each pointer that points into one of several objects may point into, by its key.
        storages: by their key. homes: name of the object or function of the file by the key of its
            storage, in any reading. void_kinds: type of an object that a `void *` points into, by the
            pointer's key and the object's number.
        refused: the first use of a pointer that has no object yet; a later statement may give it one.
        unevaluated: expressions around whose type alone is asked for. stand_in: makes an object of a type for
            a null pointer there; set after construction.
        file_pointers_move: a pointer of the file changes, or has no initialiser.
        pointer_arrays: names of the arrays of pointer tables.
        layouts: attributes of types and declarations by position; natural: attributes count for nothing.
    """

    file: str
    main_file: str = "<stdin>"
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    frames: list[Frame] = field(default_factory=list[Frame])
    buffer: list[ir.Statement] = field(default_factory=list[ir.Statement])
    prologue: list[ir.Statement] = field(default_factory=list[ir.Statement])
    arrays: list[ir.Array] = field(default_factory=list[ir.Array])
    directives: list[ir.Directive] = field(default_factory=list[ir.Directive])
    ignored: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    exposed: set[str] = field(default_factory=set[str])
    fills: dict[str, tuple[tuple[int, ...], list[ir.Statement]]] = field(
        default_factory=dict[str, tuple[tuple[int, ...], list[ir.Statement]]]
    )
    bytewise: frozenset[int] = frozenset()
    loops: int = 0
    allocated: dict[Storage, int] = field(default_factory=dict["Storage", int])
    holders: dict[Storage, PointerSlot] = field(default_factory=dict["Storage", PointerSlot])
    called: set[str] = field(default_factory=set[str])
    source: str = ""
    outside: Mapping[str, Port] = field(default_factory=dict[str, "Port"])
    ports: list[ir.Variable | ir.Array] = field(default_factory=list[ir.Variable | ir.Array])
    objects: dict[str, StaticObject] = field(default_factory=dict[str, StaticObject])
    later_constants: bool = False
    later_forms: bool = False
    later_starts: bool = False
    left_out: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    pointers: Mapping[str, tuple[Target, ...]] = field(default_factory=dict[str, tuple[Target, ...]])
    storages: dict[str, Storage] = field(default_factory=dict[str, "Storage"])
    homes: dict[str, str] = field(default_factory=dict[str, str])
    void_kinds: dict[tuple[str, int], CType] = field(default_factory=dict[tuple[str, int], CType])
    refused: HlsError | None = None
    file_pointers_move: bool = False
    unevaluated: int = 0
    stand_in: Callable[[CType, c_ast.Node], Place] = field(init=False)
    pointer_arrays: set[str] = field(default_factory=set[str])
    layouts: Mapping[Position, Attributes] = field(default_factory=dict[Position, Attributes])
    natural: bool = False
    _functions: dict[str, FunctionObject] = field(default_factory=dict[str, FunctionObject])
    _taken: dict[str, int] = field(default_factory=dict[str, int])
    _loops: dict[str, int] = field(default_factory=dict[str, int])
    _statements: int = 0
    _steps: int = 0
    _values: int = 0

    @property
    def frame(self) -> Frame:
        """The function being read."""
        return self.frames[-1]

    # ---- pointers ---------------------------------------------------------------------------------

    def new_pointer(self, name: str, node: c_ast.Node) -> PointerSlot:
        """Return a pointer variable."""
        key = self._pointer_key(name, node)
        slot = PointerSlot(name=name, loops=self.loops, key=key, targets=self.pointers.get(key, ()))
        if slot.targets:
            self.later_forms = True
            slot.which = ir.Variable(name=self.unique(f"{name}_which"))
            depth = max(target.depth for target in slot.targets)
            variables = [ir.Variable(name=self.unique(f"{name}_at")) for _ in range(depth)]
            slot.indices = tuple(ir.Read(variable=variable) for variable in variables)
        return slot

    def new_pointer_table(self, name: str, node: c_ast.Node, shape: tuple[int, ...]) -> PointerTable:
        """Return the pointers of an array."""
        self.later_forms = True
        key = self._pointer_key(name, node)
        targets = self.pointers.get(key, ())
        which = self.new_array(f"{name}_which", UINT8, shape) if len(targets) > 1 else None
        depth = max((target.depth for target in targets), default=0)
        indices = tuple(self.new_array(f"{name}_at", INT32, shape) for _ in range(depth))
        table = PointerTable(
            name=name, key=key, loops=self.loops, targets=targets, which=which, indices=indices
        )
        self.pointer_arrays.update(array.name for array in table.arrays)
        return table

    def _pointer_key(self, name: str, node: c_ast.Node) -> str:
        calls = (frame.call.coord for frame in self.frames if frame.call is not None)
        return f"{name} {node.coord} {' '.join(map(str, calls))}"

    def function(self, name: str) -> FunctionObject:
        """Return the function of a name, as an object that pointers may point to."""
        self.later_forms = True
        known = self._functions.setdefault(name, FunctionObject(name=name))
        self.register(known)
        self.homes.update((key, name) for key in [storage_key(known)] if key is not None)
        return known

    def expose(self, slot: PointerSlot) -> None:
        """Note that called functions may change a pointer."""
        slot.exposed = True
        own = [slot.which] if slot.which is not None else []
        own += [index.variable for index in slot.indices if isinstance(index, ir.Read)]
        self.exposed.update(variable.name for variable in own)

    def register(self, storage: Storage) -> None:
        """Make an object known to pointers of this reading."""
        for part in parts_of(storage):
            key = storage_key(part)
            if key is not None:
                self.storages[key] = part

    # ---- refusals and lines -----------------------------------------------------------------------

    def refuse(self, node: c_ast.Node | None, rule: str, got: str) -> HlsError:
        """Return error for a construct, at its node's place, or at that of the call of a library function."""
        if node is None or node.coord is None:
            return HlsError(rule, got, file=self.file)
        at: c_ast.Node = node
        if is_own_header(str(node.coord.file or "")):
            calls = (frame.call for frame in reversed(self.frames))
            at = next((call for call in calls if call is not None and self._is_users(call)), node)
        return HlsError(rule, got, file=self.file_of(at), line=at.coord.line if at.coord else None)

    def unset(self, node: c_ast.Node, name: str | None = None) -> PointerUnset:
        """Return the error for a pointer without an object where it is used. name: of it; None for null."""
        at = self.refuse(node, "", "")
        got = name or f"a null pointer in {' '.join(c_generator.CGenerator().visit(node).split())[:60]}"
        rule = "a pointer must point to an object before it is used"
        return PointerUnset(rule, got, file=at.file, line=at.line)

    def unsized(self, node: c_ast.Node, argument: str) -> UnsizedArgument:
        """Return the error for a pointer argument that is used as an array."""
        at = self.refuse(node, "", "")
        return UnsizedArgument(argument, file=at.file, line=at.line)

    def _is_users(self, call: c_ast.Node) -> bool:
        return call.coord is not None and not is_own_header(str(call.coord.file or ""))

    def file_of(self, node: c_ast.Node) -> str:
        """Return the name of a node's file in messages."""
        return shown_file(str(node.coord.file or "") if node.coord else "", self.file)

    def line_of(self, node: c_ast.Node) -> int:
        """Return line of a statement in the top function's file; the call's line for code of other files."""
        if node.coord is None or str(node.coord.file or "") != self.main_file:
            return (self.frames[-1].call_line or 0) if self.frames else 0
        return int(node.coord.line)

    def count(self, node: c_ast.Node | None, steps: int = 1) -> None:
        """Count the steps of reading a node.

        Raises: HlsError: the program needs too many steps: a few lines can call a function a million times.
        """
        self._steps += steps
        if self._steps > MAXIMUM_STEPS:
            rule = f"a program must have at most {MAXIMUM_STEPS} expressions and statements after inlining"
            raise self.refuse(node, rule, "more")

    def count_values(self, node: c_ast.Node, values: int) -> None:
        """Count the initial values of an array.

        Raises: HlsError: all arrays together have too many.
        """
        self._values += values
        if self._values > MAXIMUM_VALUES:
            rule = f"the arrays of a program must have at most {MAXIMUM_VALUES} initial values"
            raise self.refuse(node, rule, str(self._values))

    # ---- names ------------------------------------------------------------------------------------

    def unique(self, name: str) -> str:
        """Return a unique name: the name itself the first time, then with a number."""
        count = self._taken.get(name, 0)
        self._taken[name] = count + 1
        return name if count == 0 else self.unique(f"{name}_{count}")

    def unique_loop(self, name: str) -> str:
        """Return a unique loop name; loops have a name space of their own."""
        count = self._loops.get(name, 0)
        self._loops[name] = count + 1
        return name if count == 0 else self.unique_loop(f"{name}_{count}")

    # ---- scopes -----------------------------------------------------------------------------------

    @contextmanager
    def scope(self) -> Generator[None]:
        """Open a block of C; names declared inside end with it."""
        self.frame.scopes.append({})
        self.frame.tags.append({})
        try:
            yield
        finally:
            self.frame.scopes.pop()
            self.frame.tags.pop()

    def find(self, name: str) -> Symbol | None:
        """Find a name declared in the function being read."""
        for scope in reversed(self.frame.scopes):
            if name in scope:
                return scope[name]
        return None

    def declare(self, name: str, symbol: Symbol, node: c_ast.Node) -> None:
        """Declare a name in the innermost scope."""
        if name in self.frame.scopes[-1]:
            raise self.refuse(node, "a name must be declared once in a scope", repr(name))
        self.frame.scopes[-1][name] = symbol

    # ---- statements -------------------------------------------------------------------------------

    def emit(self, statement: ir.Statement, node: c_ast.Node | None = None) -> None:
        """Add a statement to the current body, unless control has left it."""
        if self.ended:
            return
        self._statements += 1
        if self._statements > MAXIMUM_STATEMENTS:
            rule = f"a program must have at most {MAXIMUM_STATEMENTS} statements after inlining"
            raise self.refuse(node, rule, "more")
        self.buffer.append(statement)

    @property
    def ended(self) -> bool:
        """Whether the current body ends by leaving a block."""
        return bool(self.buffer) and isinstance(self.buffer[-1], ir.Leave)

    @contextmanager
    def collect(self) -> Generator[list[ir.Statement]]:
        """Collect the statements emitted inside into a new body."""
        outer, self.buffer = self.buffer, []
        try:
            yield self.buffer
        finally:
            self.buffer = outer

    def saved(self, value: ir.Expression, name: str, line: int, at: int | None = None) -> ir.Read:
        """Save the value in a new variable, assigned at a position of the body (its end by default)."""
        variable = ir.Variable(name=self.unique(name), type=ir.type_of(value))
        assign = ir.Assign(variable=variable, value=value, line=line)
        if at is None:
            self.emit(assign)
        else:
            self.buffer.insert(at, assign)
        return ir.Read(variable=variable)

    def new_array(
        self,
        name: str,
        kind: ScalarType,
        shape: tuple[int, ...],
        *,
        external: bool = False,
        initial: tuple[int, ...] | None = None,
    ) -> ir.Array:
        """Return a new array of the function."""
        unique = self.unique(name)
        array = ir.Array(name=unique, type=kind, shape=shape, external=external, initial=initial)
        self.arrays.append(array)
        return array

    def is_stable(self, expression: ir.Expression, limit: int = 9) -> bool:
        """Tell whether no called function can change the value, so that it can replace a parameter.

        Args: limit: largest number of its parts, since each use repeats them.
        """
        for count, part in enumerate(ir.walk_expressions(expression)):
            if count >= limit or isinstance(part, ir.Load):
                return False
            if isinstance(part, ir.Read) and part.variable.name in self.exposed:
                return False
        return True


def affected(value: ir.Expression, statements: list[ir.Statement]) -> bool:
    """Tell whether statements may change what an expression reads."""
    body = tuple(statements)
    assigned, stored = ir.assigned_variables(body), ir.stored_arrays(body)
    for part in ir.walk_expressions(value):
        if isinstance(part, ir.Read) and part.variable.name in assigned:
            return True
        if isinstance(part, ir.Load) and part.array.name in stored:
            return True
    return False
