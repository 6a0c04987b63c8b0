"""Counting of toggles in a cycle model: Hamming distances of successive values, by net.

A net is named as in the Verilog where it is shared: `v_<variable>`, `<unit>_<port>`, `m_<array>_raddr`,
`_rdata`, `_waddr` and `_wdata`. The value of an operation is `<block>.<index>`; it is counted from one
execution of its block to the next, and the changes of its sign alone as `<block>.<index>#`: where the value
is extended, so many more bits change. A port with several sources is 0 between uses (AND-OR selection), so
its toggles after a pause are the ones of the old and of the new value. A unit behind such ports gives its
result of zeros, taken as 0, after a pause, unless it is started.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pipelines.c import cdfg, ir
from pipelines.c.signature import ScalarType
from pipelines.hls import BlockSchedule, BoundUnit, ScheduledDesign, units_by_operation

PRELUDE = """\
#define SF_VALUE(k, bits) \\
    { const uint64_t now = bits; toggled[k] += __builtin_popcountll(now ^ before[k]); before[k] = now; }
#define SF_PORT(k, bits, time) \\
    { const uint64_t now = bits; const int64_t at = time; \\
      toggled[k] += at - seen[k] <= 1 ? __builtin_popcountll(now ^ before[k]) \\
          : __builtin_popcountll(now) + __builtin_popcountll(before[k]); \\
      before[k] = now; seen[k] = at; }"""


def bits_text(text: str, kind: ScalarType, width_bits: int) -> str:
    """Return C expression of the bits of a value, extended or cut to a width, as an unsigned number."""
    if kind.floating:
        return f"sf_bits_of_{kind.c_name}({text})"
    return f"(uint64_t)({text}) & {(1 << width_bits) - 1:#x}ull"


@dataclass(slots=True)
class ToggleWriter:
    """Statements that count the toggles of a design.

    Attributes:
        operand: C expression of the value of an operation of a block.
        numbers: index of the counter of each net.
    """

    design: ScheduledDesign
    operand: Callable[[cdfg.Block, int], str]
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    sources: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        for bound in self.design.units:
            for port, _ in bound.unit.ports:
                self.sources[f"{bound.name}_{port}"] = len(bound.uses)
            self.sources[_output(bound)] = 1 if bound.unit.started else len(bound.uses)
        for block in self.design.graph.blocks:
            for operation in block.operations:
                if operation.opcode in cdfg.MEMORY_OPCODES:
                    for net in _memory_ports(operation):
                        self.sources[net] = self.sources.get(net, 0) + 1

    def number(self, net: str) -> int:
        """Return the index of a net's counter."""
        return self.numbers.setdefault(net, len(self.numbers))

    def value(self, net: str, text: str, kind: ScalarType) -> str:
        """Return the statement that counts a net which keeps its value."""
        return f"SF_VALUE({self.number(net)}, {bits_text(text, kind, kind.width_bits)})"

    def operation_value(self, name: str, text: str, kind: ScalarType) -> list[str]:
        """Return the statements that count the value of an operation, and the changes of its sign."""
        lines = [self.value(name, text, kind)]
        if kind.signed and not kind.floating:
            lines.append(f"SF_VALUE({self.number(f'{name}#')}, ({text}) < 0)")
        return lines

    def port(self, net: str, text: str, kind: ScalarType, width_bits: int, time: str) -> str:
        """Return the statement that counts a port which selects among its sources."""
        name = "VALUE" if self.sources[net] == 1 else "PORT"
        time = "" if self.sources[net] == 1 else f", {time}"
        return f"SF_{name}({self.number(net)}, {bits_text(text, kind, width_bits)}{time})"

    def block_lines(self, schedule: BlockSchedule, operations: Sequence[cdfg.Operation]) -> list[str]:
        """Return statements at the end of a block's execution, in order of the cycles of its operations."""
        block = schedule.graph.block
        advance = schedule.interval_cycles or schedule.length_cycles
        shared = units_by_operation(self.design)
        timed: list[tuple[int, str]] = []
        for operation in operations:
            start = schedule.starts[operation.index]
            time = f"(int64_t)cycles + {start - advance}"
            timed += [(start, line) for line in self._own_lines(block, operation)]
            bound = shared.get((block.index, operation.index))
            if bound is not None:
                widths = operand_widths(self.design, bound)
                for index, (port, _), width in zip(operation.operands, bound.unit.ports, widths, strict=True):
                    text, kind = self.operand(block, index), _kind(block, index)
                    timed.append((start, self.port(f"{bound.name}_{port}", text, kind, width, time)))
                ready, kind = schedule.ready(operation.index), _kind(block, operation.index)
                time = f"(int64_t)cycles + {ready - advance}"
                line = self.port(_output(bound), f"t{operation.index}", kind, kind.width_bits, time)
                timed.append((ready, line))
            if operation.opcode in cdfg.MEMORY_OPCODES:
                ports = zip(_memory_ports(operation), operation.operands, strict=True)
                for net, index in ports:
                    width = _port_width(operation, net)
                    line = self.port(net, self.operand(block, index), _kind(block, index), width, time)
                    timed.append((start, line))
        return [line for _, line in sorted(timed, key=lambda item: item[0])]

    def _own_lines(self, block: cdfg.Block, operation: cdfg.Operation) -> list[str]:
        """Return the statements of the value of an operation, and of what it loads or writes."""
        name = f"{block.name}.{operation.index}"
        match operation.opcode:
            case "const" | "store":
                return []
            case "write":
                assert isinstance(operation.symbol, ir.Variable)
                return [self.value(f"v_{operation.name}", f"v_{operation.name}", operation.symbol.type)]
            case "load":
                assert isinstance(operation.symbol, ir.Array)
                text, kind = f"t{operation.index}", operation.symbol.type
                lines = [self.value(f"m_{operation.name}_rdata", text, kind)]
                lines += self.operation_value(name, text, _kind(block, operation.index))
                if operation.predicate is None:
                    return lines
                return [f"if ({self.operand(block, operation.predicate)}) {{ {' '.join(lines)} }}"]
            case _:
                return self.operation_value(name, f"t{operation.index}", _kind(block, operation.index))


def _output(bound: BoundUnit) -> str:
    return f"{bound.name}_{bound.unit.output[0]}"


def operand_widths(design: ScheduledDesign, bound: BoundUnit) -> tuple[int, ...]:
    """Return the bits of a unit's widest operand per port, without the sign copies that synthesis knows."""
    widths = [0] * len(bound.unit.ports)
    for use in bound.uses:
        block = design.graph.blocks[use.block]
        for number, index in enumerate(block.operations[use.operation].operands):
            widths[number] = max(widths[number], _kind(block, index).width_bits)
    return tuple(widths)


def _memory_ports(operation: cdfg.Operation) -> tuple[str, ...]:
    """Return the ports that the operands of an access use: the address, and the value of a store."""
    name = f"m_{operation.name}"
    return (f"{name}_raddr",) if operation.opcode == "load" else (f"{name}_waddr", f"{name}_wdata")


def _port_width(operation: cdfg.Operation, net: str) -> int:
    assert isinstance(operation.symbol, ir.Array)
    if net.endswith("data"):
        return operation.symbol.type.width_bits
    return max(1, (operation.symbol.element_count - 1).bit_length())


def _kind(block: cdfg.Block, index: int) -> ScalarType:
    kind = block.operations[index].type
    assert kind is not None  # an operand has a value
    return kind
