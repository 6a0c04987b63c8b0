"""Arrays in the top module: ports of external ones, storage of local ones.

An external array that is loaded has `m_<name>_re`, `_raddr` and `_rdata`, one that is stored `m_<name>_we`,
`_waddr` and `_wdata`. A local array has the same signals inside the module; its data comes one cycle after
the address. An array of constants that nothing stores to is a `case` over the address.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.hls.cdfg import Operation
from pipelines.hls.design import Places
from pipelines.hls.ir import Array
from pipelines.hls.verilog_text import Section, any_of, literal, range_text, steer
from pipelines.hls.verilog_values import BlockWriter


def address_bits(array: Array) -> int:
    """Width of an array's address port."""
    return max(1, (array.element_count - 1).bit_length())


def memory_ports(array: Array, places: Places) -> list[str]:
    """Port declarations of an external array."""
    name, data = f"m_{array.name}", range_text(array.type.width_bits)
    address = range_text(address_bits(array))
    ports: list[str] = []
    if ("load", array.name) in places:
        ports += [f"output {name}_re", f"output {address}{name}_raddr", f"input {data}{name}_rdata"]
    if ("store", array.name) in places:
        ports += [f"output {name}_we", f"output {address}{name}_waddr", f"output {data}{name}_wdata"]
    return ports


def memory_section(array: Array, places: Places, writers: Sequence[BlockWriter]) -> Section:
    """Port signals of an array; for a local one its storage too."""
    section = Section()
    loads, stores = places.get(("load", array.name), []), places.get(("store", array.name), [])
    for users, letter in ((loads, "r"), (stores, "w")):
        if users:
            _port(section, array, letter, users, writers)
    if array.external or not loads:
        return section
    name, width = f"m_{array.name}", array.type.width_bits
    section.register(f"{name}_rdata", width)
    if stores:
        _storage(section, array)
    else:
        _table(section, array)
    return section


def _storage(section: Section, array: Array) -> None:
    name, width = f"m_{array.name}", array.type.width_bits
    last = array.element_count - 1
    section.declarations.append(f"  reg {range_text(width)}{name}_cells [0:{last}];")
    section.on_clock(f"if ({name}_re) {name}_rdata <= {name}_cells[{name}_raddr];")
    section.on_clock(f"if ({name}_we) {name}_cells[{name}_waddr] <= {name}_wdata;")


def _table(section: Section, array: Array) -> None:
    """An array nothing stores to; elements without a value are zero."""
    name, width, bits = f"m_{array.name}", array.type.width_bits, address_bits(array)
    values = array.initial or ()
    section.on_clock(f"if ({name}_re) case ({name}_raddr)")
    for address, value in enumerate(values):
        if value:
            section.on_clock(f"  {literal(address, bits)}: {name}_rdata <= {literal(value, width)};")
    section.on_clock(f"  default: {name}_rdata <= {literal(0, width)};")
    section.on_clock("endcase")


def address_sources(
    array: Array, users: list[tuple[int, Operation]], writers: Sequence[BlockWriter]
) -> list[tuple[str, str]]:
    """(condition, address) of each access of one kind to an array."""
    return _operands(0, address_bits(array), users, writers)


def data_sources(
    array: Array, users: list[tuple[int, Operation]], writers: Sequence[BlockWriter]
) -> list[tuple[str, str]]:
    """(condition, value) of each store to an array."""
    return _operands(1, array.type.width_bits, users, writers)


def _operands(
    number: int, width_bits: int, users: list[tuple[int, Operation]], writers: Sequence[BlockWriter]
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for block, operation in users:
        writer = writers[block]
        start = writer.schedule.starts[operation.index]
        found.append((writer.active(start), writer.resized(operation.operands[number], start, width_bits)))
    return found


def _port(
    section: Section,
    array: Array,
    letter: str,
    users: list[tuple[int, Operation]],
    writers: Sequence[BlockWriter],
) -> None:
    """Enable, address and data to store, each selected among the operations that use the port."""
    name, width, bits = f"m_{array.name}_{letter}", array.type.width_bits, address_bits(array)
    enables = [writers[block].guarded(operation) for block, operation in users]
    addresses = steer(address_sources(array, users, writers), bits)
    signals = [("e", 1, any_of(enables)), ("addr", bits, addresses)]
    if letter == "w":
        signals.append(("data", width, steer(data_sources(array, users, writers), width)))
    for suffix, size, expression in signals:
        if array.external:
            section.assignments.append(f"  assign {name}{suffix} = {expression};")
        else:
            section.value(f"{name}{suffix}", size, expression)
