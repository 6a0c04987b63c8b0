"""A module of FIRRTL without bundles, vectors and conditions: signals, registers and memories of bits."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.firrtl.graph import INVALID, SIGNAL, Graph, Operation
from pipelines.rtl.reuse.firrtl.keywords import KEYWORDS
from pipelines.rtl.reuse.firrtl.syntax import (
    ASYNC,
    CLOCK,
    RESET,
    SINT,
    UINT,
    Access,
    Bundle,
    Call,
    Connect,
    Expression,
    Field,
    FieldOf,
    Ground,
    Index,
    Instance,
    Invalidate,
    Literal,
    Memory,
    MemoryPort,
    Module,
    Node,
    Ref,
    Register,
    Statement,
    Type,
    Vector,
    When,
    Wire,
)


class Leaf(NamedTuple):
    """A value without parts. Attributes: sinks: what a connection assigns: condition (or INVALID), name."""

    node: int
    kind: str
    sinks: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """Values by field, and whether the field is flipped."""

    fields: Mapping[str, tuple[Value, bool]]


@dataclass(frozen=True, slots=True)
class Elements:
    """Values of a vector."""

    values: Sequence[Value]


Value = Leaf | Record | Elements


@dataclass(slots=True, kw_only=True)
class Signal:
    """A signal of the lowered module; the width is None until it is inferred."""

    name: str
    kind: str
    width: int | None
    value: int | None = None  # node; None for signals that something else drives


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredRegister:
    """A register: nodes of its clock, reset and initial value. Attributes: reset_kind: type of the reset."""

    signal: Signal
    clock: int
    reset: int | None
    reset_kind: str
    initial: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPort:
    """A read port: signals of address, enable and data; the clock of a port with latency."""

    address: str
    enable: str
    data: tuple[str, ...]
    clock: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePort:
    """A write port: signals of address, enable, and per word of the memory data and mask."""

    address: str
    enable: str
    data: tuple[str, ...]
    mask: tuple[str, ...]
    clock: int


@dataclass(slots=True, kw_only=True)
class LoweredMemory:
    """A memory as one array per ground element of its type."""

    name: str
    words: Sequence[tuple[str, int]]
    size: int
    read_latency: int
    reads: list[ReadPort] = field(default_factory=list[ReadPort])
    writes: list[WritePort] = field(default_factory=list[WritePort])


@dataclass(slots=True, kw_only=True)
class LoweredModule:
    """A module.

    Attributes:
        inputs, outputs: names of signals. instances: module and signals by port, by name.
        unread: signals of memory ports that turned out to be writes only.
        reset_edges: pairs of signals whose abstract reset has one kind; an edge to "" makes it asynchronous.
    """

    name: str
    graph: Graph = field(default_factory=Graph)
    signals: dict[str, Signal] = field(default_factory=dict[str, Signal])
    inputs: list[str] = field(default_factory=list[str])
    outputs: list[str] = field(default_factory=list[str])
    instances: dict[str, tuple[str, dict[str, str]]] = field(
        default_factory=dict[str, tuple[str, dict[str, str]]]
    )
    registers: list[LoweredRegister] = field(default_factory=list[LoweredRegister])
    memories: list[LoweredMemory] = field(default_factory=list[LoweredMemory])
    unread: set[str] = field(default_factory=set[str])
    reset_edges: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class _OpenPort(NamedTuple):
    """A memory port that is being lowered: what it was declared as, and what it turned out to be."""

    memory: LoweredMemory
    kind: str
    address: str
    enable: str
    clock: int
    data: Value  # as a source
    written: Value  # as a sink
    masks: Mapping[str, str]


def leaves(kind: Type, path: str = "", *, is_flipped: bool = False) -> Iterator[tuple[str, Ground, bool]]:
    """Yield the ground elements of a type: name behind the path, type, and whether it is flipped."""
    if isinstance(kind, Ground):
        yield path, kind, is_flipped
    elif isinstance(kind, Vector):
        for i in range(kind.size):
            yield from leaves(kind.element, f"{path}_{i}", is_flipped=is_flipped)
    else:
        for part in kind.fields:
            yield from leaves(part.type, f"{path}_{part.name}", is_flipped=is_flipped != part.is_flipped)


def port_names(module: Module) -> list[str]:
    """Return the names of the signals of all ports, in order."""
    names: dict[str, None] = {}
    for port in module.ports:
        for path, _, _ in leaves(port.type, port.name):
            names[_unused(path, names)] = None
    return list(names)


def _unused(name: str, names: Container[str]) -> str:
    if not (name[0].isalpha() or name[0] == "_"):
        name = f"_{name}"
    while name in names or name in KEYWORDS:
        name += "_"
    return name


class Lowering:
    """Lowers one module."""

    def __init__(self, module: Module, modules: Callable[[str], Module]) -> None:
        self.module, self.modules = module, modules
        self.result = LoweredModule(name=module.name)
        self.graph = self.result.graph
        self.values: dict[str, Value] = {}
        self.scopes: list[dict[str, int]] = [{}]
        self.ports: dict[str, _OpenPort] = {}
        self.used_ports: dict[str, set[str]] = {}
        self.addressed: dict[str, list[str]] = {}  # enables of read ports by the wire of their address
        self.memories: dict[str, tuple[LoweredMemory, Type]] = {}
        self.register_names: set[str] = set()
        self.port_of: dict[str, str] = {}  # port of a memory by the signals that it writes

    def lower(self) -> LoweredModule:
        """Return the lowered module.

        Raises: RtlError: what FIRRTL does not allow or this reader does not know.
        """
        for port in self.module.ports:
            self.values[port.name] = self._declare_port(port.name, port.type, port.is_input)
        try:
            self._find_addresses(self.module.body)
            self._block(self.module.body)
        except RecursionError as error:
            raise self._error("statements nested too deep") from error
        self._close_ports()
        assigned = self.scopes[0]
        for name, signal in self.result.signals.items():
            if name in assigned:
                signal.value = assigned[name]
        return self.result

    def _error(self, what: str) -> RtlError:
        return RtlError(f"FIRRTL module {self.module.name}: {what}")

    # ---- declarations ------------------------------------------------------------------------------------

    def _signal(self, name: str, kind: str, width: int | None) -> Signal:
        """Return a signal with a name that is not taken."""
        name = _unused(name, self.result.signals)
        signal = self.result.signals[name] = Signal(name=name, kind=kind, width=width)
        return signal

    def _leaf(self, signal: Signal, *, is_sink: bool) -> Leaf:
        sinks = ((INVALID, signal.name),) if is_sink else ()
        return Leaf(self.graph.signal(signal.name), signal.kind, sinks)

    def _declare(
        self, name: str, kind: Type, make: Callable[[str, Ground, bool], Leaf], *, is_flipped: bool = False
    ) -> Value:
        """Return the values of a declared name; `make` declares a ground element."""
        if isinstance(kind, Ground):
            return make(name, kind, is_flipped)
        if isinstance(kind, Vector):
            parts = [
                self._declare(f"{name}_{i}", kind.element, make, is_flipped=is_flipped)
                for i in range(kind.size)
            ]
            return Elements(parts)
        return Record(
            {
                part.name: (
                    self._declare(
                        f"{name}_{part.name}", part.type, make, is_flipped=is_flipped != part.is_flipped
                    ),
                    part.is_flipped,
                )
                for part in kind.fields
            }
        )

    def _declare_port(self, name: str, kind: Type, is_input: bool) -> Value:
        def make(path: str, ground: Ground, is_flipped: bool) -> Leaf:
            signal = self._signal(path, ground.kind, ground.width)
            is_source = is_input != is_flipped
            (self.result.inputs if is_source else self.result.outputs).append(signal.name)
            return self._leaf(signal, is_sink=not is_source)

        return self._declare(name, kind, make)

    def _make_wire(self, path: str, ground: Ground, is_flipped: bool) -> Leaf:  # noqa: ARG002
        return self._leaf(self._signal(path, ground.kind, ground.width), is_sink=True)

    def _wire(self, statement: Wire) -> None:
        self.values[statement.name] = self._declare(statement.name, statement.type, self._make_wire)

    def _register(self, statement: Register) -> None:
        value = self._declare(statement.name, statement.type, self._make_wire)
        self.values[statement.name] = value
        clock = self._ground(statement.clock).node
        reset = None if statement.reset is None else self._ground(statement.reset)
        is_reset = reset is not None and self.graph.nodes[reset.node] != Operation("const", numbers=(0, 1))
        initial = [*_leaves_of(self._value(statement.initial))] if is_reset and statement.initial else []
        for i, leaf in enumerate(_leaves_of(value)):
            [(_, name)] = leaf.sinks
            self.register_names.add(name)
            self.scopes[-1][name] = leaf.node
            self._assign_outer(name, leaf.node)
            self.result.registers.append(
                LoweredRegister(
                    signal=self.result.signals[name],
                    clock=clock,
                    reset=reset.node if is_reset and reset else None,
                    reset_kind=reset.kind if reset else UINT,
                    initial=initial[i].node if initial else None,
                )
            )

    def _assign_outer(self, name: str, node: int) -> None:
        """Assign a value that holds outside all conditions."""
        self.scopes[0].setdefault(name, node)

    def _node(self, statement: Node) -> None:
        value = self._value(statement.value)
        named: list[Leaf] = []
        for i, leaf in enumerate(_leaves_of(value)):
            named.append(leaf)
            if self.graph.nodes[leaf.node].op not in (SIGNAL, "const"):
                suffix = "" if isinstance(value, Leaf) else f"_{i}"
                self.graph.names.setdefault(leaf.node, statement.name + suffix)
        self.values[statement.name] = _as_source(value)

    def _instance(self, statement: Instance) -> None:
        module = self.modules(statement.module)
        pins: dict[str, str] = {}
        fields: dict[str, tuple[Value, bool]] = {}
        names = iter(port_names(module))
        for port in module.ports:

            def make(path: str, ground: Ground, is_flipped: bool, is_input: bool = port.is_input) -> Leaf:
                signal = self._signal(f"{statement.name}_{path}", ground.kind, ground.width)
                pins[next(names)] = signal.name
                return self._leaf(signal, is_sink=is_input != is_flipped)

            fields[port.name] = (self._declare(port.name, port.type, make), port.is_input)
        self.result.instances[statement.name] = (statement.module, pins)
        self.values[statement.name] = Record(fields)

    # ---- memories ----------------------------------------------------------------------------------------

    def _memory(self, statement: Memory) -> None:
        words = [(path, _known_width(ground)) for path, ground, _ in leaves(statement.type)]
        memory = LoweredMemory(
            name=self._signal(statement.name, "memory", 0).name,
            words=words,
            size=statement.size,
            read_latency=statement.read_latency,
        )
        self.result.memories.append(memory)
        self.memories[statement.name] = (memory, statement.type)
        fields: dict[str, tuple[Value, bool]] = {}
        for kind, name in statement.ports:
            fields[name] = (self._explicit_port(memory, statement, kind, name), True)
        self.values[statement.name] = Record(fields)

    def _explicit_port(self, memory: LoweredMemory, statement: Memory, kind: str, name: str) -> Value:
        """Return a port of a memory in the form with fields; all its signals are driven by connections."""
        address = max(1, (statement.size - 1).bit_length())
        path = f"{statement.name}_{name}"
        fields: dict[str, tuple[Value, bool]] = {}

        def add(part: str, type_: Type) -> Value:
            value = self._declare(f"{path}_{part}", type_, self._make_wire)
            fields[part] = (value, False)
            return value

        def names(value: Value) -> tuple[str, ...]:
            return tuple(leaf.sinks[0][1] for leaf in _leaves_of(value))

        [addr] = names(add("addr", Ground(UINT, address)))
        [enable] = names(add("en", Ground(UINT, 1)))
        clock = next(_leaves_of(add("clk", Ground(CLOCK, 1)))).node
        is_both = kind == "readwriter"
        if kind != "writer":
            data = names(add("rdata" if is_both else "data", statement.type))
            memory.reads.append(ReadPort(address=addr, enable=enable, data=data, clock=clock))
        if kind != "reader":
            data = names(add("wdata" if is_both else "data", statement.type))
            mask = names(add("wmask" if is_both else "mask", _masks(statement.type)))
            if is_both:
                [mode] = names(add("wmode", Ground(UINT, 1)))
                both = self._signal(f"{path}_wen", UINT, 1)
                nodes = (self.graph.signal(enable), self.graph.signal(mode))
                self.scopes[0][both.name] = self.graph.add(Operation("and", nodes))
                enable = both.name
            memory.writes.append(WritePort(address=addr, enable=enable, data=data, mask=mask, clock=clock))
        return Record(fields)

    def _memory_port(self, statement: MemoryPort) -> None:
        """Read a port whose use decides its direction; its enable is the condition around it."""
        if statement.memory not in self.memories:
            raise self._error(f"unknown memory: {statement.memory}")
        memory, kind = self.memories[statement.memory]
        bits = max(1, (memory.size - 1).bit_length())
        path = f"{memory.name}_{statement.name}"
        address, enable = self._signal(f"{path}_addr", UINT, bits), self._signal(f"{path}_en", UINT, 1)
        data = self._declare(f"{path}_data", kind, self._make_source)
        masks: dict[str, str] = {}

        def make_sink(name: str, ground: Ground, is_flipped: bool) -> Leaf:  # noqa: ARG001
            sink = self._signal(name, ground.kind, ground.width)
            masks[sink.name] = self._signal(f"{name}_mask", UINT, 1).name
            self._assign_outer(masks[sink.name], self.graph.const(0, 1))
            self._assign_outer(sink.name, INVALID)
            self.port_of[sink.name] = statement.name
            return self._leaf(sink, is_sink=True)

        written = self._declare(f"{path}_w", kind, make_sink)
        self._assign(address.name, self._ground(statement.selector).node, UINT)
        self._assign_outer(address.name, INVALID)
        self._assign_outer(enable.name, self.graph.const(0, 1))
        is_waiting = isinstance(statement.selector, Ref) and statement.name in self.addressed.get(
            statement.selector.name, ()
        )
        if is_waiting:
            self._assign_waiting(enable.name, statement)
        else:
            self._assign(enable.name, self.graph.const(1, 1), UINT)
        port = _OpenPort(
            memory=memory,
            kind=statement.kind,
            address=address.name,
            enable=enable.name,
            clock=self._ground(statement.clock).node,
            data=data,
            written=written,
            masks=masks,
        )
        self.ports[statement.name] = port
        self.used_ports[statement.name] = set()
        self.values[statement.name] = _merged(data, written)

    def _assign_waiting(self, enable: str, statement: MemoryPort) -> None:
        """Assign the enable of a read whose address is a wire: wherever the wire was connected."""
        assert isinstance(statement.selector, Ref)
        flag = self._lookup(_enable_flag(statement.selector.name))
        self._assign(enable, self.graph.const(0, 1) if flag is None else flag, UINT)

    def _find_addresses(self, body: Sequence[Statement]) -> None:
        """Find wires that are addresses of reads with latency: the read happens at the wire's connection."""
        clocked = {s.name for s in _all_statements(body) if isinstance(s, Memory) and s.read_latency}
        wires = {s.name for s in _all_statements(body) if isinstance(s, Wire)}
        for statement in _all_statements(body):
            if isinstance(statement, MemoryPort) and statement.memory in clocked:
                index = statement.selector
                if isinstance(index, Ref) and index.name in wires:
                    self.addressed.setdefault(index.name, []).append(statement.name)
                    self.scopes[0][_enable_flag(index.name)] = self.graph.const(0, 1)

    def _make_source(self, path: str, ground: Ground, is_flipped: bool) -> Leaf:  # noqa: ARG002
        return self._leaf(self._signal(path, ground.kind, ground.width), is_sink=False)

    def _close_ports(self) -> None:
        """Turn ports of memories into reads, writes or both, by their declaration and their use."""
        for name, port in self.ports.items():
            used = self.used_ports[name]
            is_written = port.kind in ("write", "rdwr") or (port.kind == "infer" and "write" in used)
            is_read = port.kind in ("read", "rdwr") or (port.kind == "infer" and "read" in used)
            data = tuple(self._name(leaf) for leaf in _leaves_of(port.data))
            if is_read:
                read = ReadPort(address=port.address, enable=port.enable, data=data, clock=port.clock)
                port.memory.reads.append(read)
            else:
                self.result.unread.update(data)
            if is_written:
                sinks = tuple(leaf.sinks[0][1] for leaf in _leaves_of(port.written))
                port.memory.writes.append(
                    WritePort(
                        address=port.address,
                        enable=port.enable,
                        data=sinks,
                        mask=tuple(port.masks[s] for s in sinks),
                        clock=port.clock,
                    )
                )

    def _name(self, leaf: Leaf) -> str:
        return self.graph.nodes[leaf.node].name

    # ---- statements --------------------------------------------------------------------------------------

    def _block(self, body: Sequence[Statement]) -> None:
        methods: dict[type, Callable[[Any], None]] = {
            Wire: self._wire,
            Register: self._register,
            Node: self._node,
            Instance: self._instance,
            Memory: self._memory,
            MemoryPort: self._memory_port,
            Connect: self._connect,
            Invalidate: self._invalidate,
            When: self._when,
        }
        for statement in body:
            methods[type(statement)](statement)

    def _when(self, statement: When) -> None:
        condition = self._ground(statement.condition).node
        branches: list[dict[str, int]] = []
        for body in (statement.then, statement.otherwise):
            self.scopes.append({})
            self._block(body)
            branches.append(self.scopes.pop())
        then, otherwise = branches
        for name in {**then, **otherwise}:
            outer = self._lookup(name)
            before = INVALID if outer is None else outer
            yes, no = then.get(name, before), otherwise.get(name, before)
            signal = self.result.signals.get(name)
            is_signed = signal is not None and signal.kind == SINT
            self.scopes[-1][name] = self.graph.mux(condition, yes, no, is_signed=is_signed)

    def _lookup(self, name: str) -> int | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def _assign(self, name: str, node: int, kind: str) -> None:
        self.scopes[-1][name] = node
        signal = self.result.signals.get(name)
        if signal is not None and signal.kind == RESET and node != INVALID:
            self._note_reset(name, node, kind)

    def _note_reset(self, name: str, node: int, kind: str) -> None:
        if kind == ASYNC:
            self.result.reset_edges.append((name, ""))
        for number in self.graph.cone([node]) if kind == RESET else ():
            other = self.graph.nodes[number]
            if other.op == SIGNAL and self.result.signals[other.name].kind in (RESET, ASYNC):
                self.result.reset_edges.append((name, other.name))

    def _connect(self, statement: Connect) -> None:
        sink, value = self._target(statement.sink), self._value(statement.value)
        self._join(sink, value, is_partial=statement.is_partial, place=str(statement.sink))
        if isinstance(statement.sink, Ref) and statement.sink.name in self.addressed:
            self.scopes[-1][_enable_flag(statement.sink.name)] = self.graph.const(1, 1)

    def _join(self, sink: Value, value: Value, *, is_partial: bool, place: str) -> None:
        if isinstance(sink, Leaf) and isinstance(value, Leaf):
            self._drive(sink, value, place)
        elif isinstance(sink, Elements) and isinstance(value, Elements):
            if len(sink.values) != len(value.values) and not is_partial:
                raise self._error(f"vectors of different sizes are connected: {place}")
            for a, b in zip(sink.values, value.values, strict=False):
                self._join(a, b, is_partial=is_partial, place=place)
        elif isinstance(sink, Record) and isinstance(value, Record):
            for name, (part, is_flipped) in sink.fields.items():
                if name in value.fields:
                    other = value.fields[name][0]
                    pair = (other, part) if is_flipped else (part, other)
                    self._join(*pair, is_partial=is_partial, place=place)
                elif not is_partial:
                    raise self._error(f"no field {name} in the value of {place}")
        else:
            raise self._error(f"different types are connected: {place}")

    def _drive(self, sink: Leaf, value: Leaf, place: str) -> None:
        if not sink.sinks:
            raise self._error(f"not a sink: {place}")
        for condition, name in sink.sinks:
            node = value.node
            if condition != INVALID:
                before = self._lookup(name)
                node = self.graph.mux(
                    condition, node, INVALID if before is None else before, is_signed=sink.kind == SINT
                )
            self._assign(name, node, value.kind)
            self._mark_written(name, condition)

    def _mark_written(self, name: str, condition: int) -> None:
        """Mark a connected memory port as a write, and set its mask."""
        if name not in self.port_of:
            return
        port = self.port_of[name]
        self.used_ports[port].add("write")
        mask, one = self.ports[port].masks[name], self.graph.const(1, 1)
        if condition != INVALID:
            before = self._lookup(mask)
            one = self.graph.mux(
                condition, one, self.graph.const(0, 1) if before is None else before, is_signed=False
            )
        self.scopes[-1][mask] = one

    def _invalidate(self, statement: Invalidate) -> None:
        self._invalidate_value(self._target(statement.sink), is_flipped=False)

    def _invalidate_value(self, value: Value, *, is_flipped: bool) -> None:
        if isinstance(value, Leaf):
            for condition, name in value.sinks:
                if condition == INVALID and name not in self.register_names:
                    self._assign(name, INVALID, value.kind)
        elif isinstance(value, Elements):
            for part in value.values:
                self._invalidate_value(part, is_flipped=is_flipped)
        else:
            for part, flips in value.fields.values():
                self._invalidate_value(part, is_flipped=is_flipped != flips)

    # ---- expressions -------------------------------------------------------------------------------------

    def _ground(self, expression: Expression) -> Leaf:
        value = self._value(expression)
        if not isinstance(value, Leaf):
            raise self._error(f"a value without parts is needed: {expression}")
        return value

    def _target(self, expression: Expression) -> Value:
        """Return a value that is connected: uses of memory ports as sinks are no reads."""
        return self._value(expression, is_target=True)

    def _value(self, expression: Expression, *, is_target: bool = False) -> Value:
        if isinstance(expression, Ref):
            if expression.name not in self.values:
                raise self._error(f"unknown name: {expression.name}")
            if expression.name in self.ports and not is_target:
                self.used_ports[expression.name].add("read")
            return self.values[expression.name]
        if isinstance(expression, Field):
            base = self._value(expression.base, is_target=is_target)
            if not isinstance(base, Record) or expression.name not in base.fields:
                raise self._error(f"no field {expression.name}: {expression}")
            return base.fields[expression.name][0]
        if isinstance(expression, Index):
            base = self._value(expression.base, is_target=is_target)
            if not isinstance(base, Elements) or expression.number >= len(base.values):
                raise self._error(f"no element {expression.number}: {expression}")
            return base.values[expression.number]
        if isinstance(expression, Access):
            return self._access(expression, is_target=is_target)
        if isinstance(expression, Literal):
            width = expression.width
            if width is None:
                width = max(1, expression.value.bit_length())
                if expression.kind == SINT:
                    width = (
                        expression.value if expression.value >= 0 else ~expression.value
                    ).bit_length() + 1
            return Leaf(self.graph.const(expression.value, width), expression.kind)
        return self._call(expression)

    def _access(self, expression: Access, *, is_target: bool) -> Value:
        """Return an element by a signal: a multiplexer over all; as a sink, a condition per element."""
        base, index = self._value(expression.base, is_target=is_target), self._ground(expression.selector)
        if not isinstance(base, Elements) or not base.values:
            raise self._error(f"not a vector: {expression}")
        bits = max(1, (len(base.values) - 1).bit_length())
        conditions = [
            self.graph.add(Operation("eq", (index.node, self.graph.const(i, bits))))
            for i in range(len(base.values))
        ]
        result = self._conditional(base.values[0], conditions[0])
        for condition, value in zip(conditions[1:], base.values[1:], strict=True):
            result = self._choose(condition, self._conditional(value, condition), result)
        return result

    def _conditional(self, value: Value, condition: int) -> Value:
        """Return a value whose sinks are assigned only if a condition holds."""

        def one(leaf: Leaf) -> Leaf:
            sinks = [
                (condition if c == INVALID else self.graph.add(Operation("and", (condition, c))), name)
                for c, name in leaf.sinks
            ]
            return leaf._replace(sinks=tuple(sinks))

        return _mapped(value, one)

    def _choose(self, condition: int, yes: Value, no: Value) -> Value:
        if isinstance(yes, Leaf) and isinstance(no, Leaf):
            node = self.graph.mux(condition, yes.node, no.node, is_signed=yes.kind == SINT)
            return Leaf(node, yes.kind, (*no.sinks, *yes.sinks))
        if isinstance(yes, Elements) and isinstance(no, Elements):
            return Elements(
                [self._choose(condition, a, b) for a, b in zip(yes.values, no.values, strict=True)]
            )
        if isinstance(yes, Record) and isinstance(no, Record):
            return Record(
                {
                    name: (self._choose(condition, part, no.fields[name][0]), is_flipped)
                    for name, (part, is_flipped) in yes.fields.items()
                }
            )
        raise self._error("a choice between different types")

    def _call(self, call: Call) -> Value:
        if call.operation in ("mux", "validif"):
            condition = self._ground(call.operands[0]).node
            values = [_as_source(self._value(o)) for o in call.operands[1:]]
            return values[0] if call.operation == "validif" else self._choose(condition, *values)
        operands = [self._ground(o) for o in call.operands]
        if call.operation in _CASTS:
            return Leaf(operands[0].node, _CASTS[call.operation])
        if call.operation == "cvt" and operands[0].kind == SINT:
            return operands[0]
        operation = Operation(
            call.operation,
            tuple(o.node for o in operands),
            call.numbers,
            is_signed=bool(operands) and operands[0].kind == SINT,
        )
        return Leaf(self.graph.add(operation), self._result_kind(call.operation, operands))

    def _result_kind(self, operation: str, operands: Sequence[Leaf]) -> str:
        if operation in ("cvt", "neg"):
            return SINT
        keeps_sign = operation in ("add", "sub", "mul", "div", "rem", "pad", "shl", "shr", "dshl", "dshr")
        return SINT if keeps_sign and operands[0].kind == SINT else UINT


_CASTS = {"asUInt": UINT, "asSInt": SINT, "asClock": CLOCK, "asAsyncReset": ASYNC, "asReset": RESET}


def _leaves_of(value: Value) -> Iterator[Leaf]:
    if isinstance(value, Leaf):
        yield value
    elif isinstance(value, Elements):
        for part in value.values:
            yield from _leaves_of(part)
    else:
        for part, _ in value.fields.values():
            yield from _leaves_of(part)


def _mapped(value: Value, change: Callable[[Leaf], Leaf]) -> Value:
    if isinstance(value, Leaf):
        return change(value)
    if isinstance(value, Elements):
        return Elements([_mapped(part, change) for part in value.values])
    return Record({name: (_mapped(part, change), flips) for name, (part, flips) in value.fields.items()})


def _as_source(value: Value) -> Value:
    return _mapped(value, lambda leaf: leaf._replace(sinks=()))


def _merged(source: Value, sink: Value) -> Value:
    """Return the nodes of one value with the sinks of another of the same type."""
    sinks = iter([*_leaves_of(sink)])
    return _mapped(source, lambda leaf: leaf._replace(sinks=next(sinks).sinks))


def _masks(kind: Type) -> Type:
    """Return the type of a mask: one bit per ground element."""
    if isinstance(kind, Ground):
        return Ground(UINT, 1)
    if isinstance(kind, Vector):
        return Vector(_masks(kind.element), kind.size)
    return Bundle(tuple(FieldOf(p.name, _masks(p.type), p.is_flipped) for p in kind.fields))


def _known_width(ground: Ground) -> int:
    if ground.width is None:
        raise RtlError("memory of words without a width")
    return ground.width


def _enable_flag(name: str) -> str:
    """Return the pseudo-signal: whether a wire was connected."""
    return f"{name} is connected"


def _all_statements(body: Sequence[Statement]) -> Iterator[Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, When):
            yield from _all_statements(statement.then)
            yield from _all_statements(statement.otherwise)
