"""The process that runs pyosys on one design: run by path, with the commands in a file.

It is a separate process because an error in a command ends it.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyosys import libyosys as yosys

DERIVE_INSTANCES = "derive_instances"
"""A command of this worker, not of yosys; its argument is the name of the top module."""
WIDER_PORT = "a port is wider than the expression that it is connected to"
"""Words of the error about such a design, as in `yosys.py`, which this file cannot import."""
REQUIRE_REGISTERS = "require_registers"
"""A command of this worker behind slang's; its argument is the name of the design's file."""
NORMALISE_MEMORIES = "normalise_memories"
"""A command of this worker before `write_cxxrtl`."""
DESCRIBE_MEMORIES = "describe_memories"
"""A command of this worker; its argument is the name of the JSON file that it writes."""
MEMORY_BITS = "bits of memories"
"""Words of the error about too large memories, as in `yosys.py`, which this file cannot import."""
MOST_MEMORY_BITS = 1 << 29
"""Bits of all memories of a design: yosys writes a character per bit, and the file has a limit of 1 GiB."""
SIGNAL_BITS = "bits of a signal"
"""Words of the error about too wide signals, as in `yosys.py`, which this file cannot import."""
MOST_SIGNAL_BITS = 1 << 20
"""Bits of a signal: a simulator of one with 2^21 takes more than five minutes to build."""
LIMIT_READING = "limit_reading"
"""A command of this worker; its argument is the address space in bytes until `DESCRIBE_MEMORIES` ends."""
WAS_READ = "was-read"
"""An empty file that this worker writes then."""
REQUIRE_DECLARED = "require_declared"
"""A command of this worker behind that of Yosys' reader of Verilog."""
LOST_RESET = "unsupported by slang: an asynchronous reset of a register that nothing else assigns"
_TWO_EDGES = re.compile(r"@\s*\(\s*(?:pos|neg)edge\b[^)]*\b(?:pos|neg)edge\b")
_ASSIGNED = r"(?:^|[;:)]|\bbegin|\bbegin\s*:\s*\w+|\belse)\s*%s\b(?:\s*\[[^\]]*\]|\.\w+)*\s*<="
_LOOP = re.compile(r"\bfor\s*\([^;]*;[^;]*;")
"""The beginning of a loop, in whose condition `<=` assigns nothing."""
_IMPLICIT = re.compile(r"(\S+:\d+): Warning: Identifier `(\S+)' is implicitly declared")
_AGAIN = "\\reprocess_after"
_ADDRESS_BITS = 32
"""Most bits of an address of CXXRTL, and bits of an address of initial words."""


def run_commands(commands: list[str], log: str) -> None:
    """Run yosys commands in order on a new design; their output goes to the log file."""
    library: Any = yosys
    design = library.Design()
    _, most_bytes = resource.getrlimit(resource.RLIMIT_AS)
    for command in commands:
        name, _, argument = command.partition(" ")
        if name == DERIVE_INSTANCES:
            derive_instances(design, library.IdString(f"\\{argument}"))
        elif name == REQUIRE_REGISTERS:
            require_registers(design, Path(argument).read_text("utf-8"))
        elif name == REQUIRE_DECLARED:
            require_declared(design, Path(log).read_text("utf-8"))
        elif name == DESCRIBE_MEMORIES:
            Path(argument).write_text(json.dumps(describe_memories(design)), "utf-8")
            resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
            Path(WAS_READ).touch()
        elif name == LIMIT_READING:
            resource.setrlimit(resource.RLIMIT_AS, (int(argument), most_bytes))
        elif name == NORMALISE_MEMORIES:
            normalise_memories(design)
        else:
            library.run_pass(f"tee -q -a {log} {command}", design)


def derive_instances(design: Any, top: Any) -> None:
    """Make the variants of modules with parameters before command `hierarchy` does.

    yosys elaborates a module again when its instances had no variant yet, because the width of a port may
    extend what is connected to it. That takes half of the time of reading a large array and changes nothing
    where each connection is as wide as its port. Such modules are not elaborated again.

    Raises: SystemExit: a port is wider than an expression: yosys computes that in its own width, not in the
            port's as an assignment would (IEEE 1364-2005, 12.3.11), so a carry or sign is lost.
    """
    variants: dict[tuple[Any, ...], Any] = {}
    reached = {top.str(): design.module(top)}
    waiting = [module for module in reached.values() if module is not None]
    while waiting:
        module = waiting.pop()
        instances = [cell for cell in module.cells_.values() if cell.type.str().startswith("\\")]
        children = [_variant(design, cell, variants) for cell in instances]
        for child in children:
            if child is not None and child.name.str() not in reached:
                reached[child.name.str()] = child
                waiting.append(child)
        for cell, child in zip(instances, children, strict=True):
            if child is not None and (port := _wider_port(cell, child)):
                sys.exit(f"{WIDER_PORT}: {port} of {cell.name.str()} in {module.name.str()}")
        if all(map(_is_as_wide, instances, children)):
            for cell in instances:
                cell.attributes = {
                    key: value for key, value in cell.attributes.items() if key.str() != _AGAIN
                }


def require_registers(design: Any, text: str) -> None:
    """Check that slang made no constant of a register that has an asynchronous reset.

    It does where the clocked part of the block assigns nothing, as under a condition that is never true; the
    register then lacks the value of the reset.

    Raises: SystemExit: a variable that the text assigns by `<=` is a constant, and there are such resets.
    """
    if not _TWO_EDGES.search(text):
        return
    text = _LOOP.sub(";", text)
    for module in design.modules_.values():
        for cell in module.cells_.values():
            ports = {port.str(): signal for port, signal in cell.connections_.items()}
            if cell.type.str() != "$buf" or not ports["\\A"].is_fully_const() or not ports["\\Y"].is_chunk():
                continue
            name = ports["\\Y"].as_chunk().wire.name.str().rpartition(".")[2].lstrip("\\")
            if re.search(_ASSIGNED % re.escape(name), text, re.MULTILINE):
                sys.exit(f"{LOST_RESET}: {name} in {module.name.str().lstrip(chr(92))}")


def require_declared(design: Any, log: str) -> None:
    """Check that names without a declaration are nets between instances, as in IEEE 1364-2005, 4.5.

    Yosys declares any other name, too, `$random` among them: a net without a driver, which reads as 0.

    Raises: SystemExit: nothing may drive such a net.
    """
    places = {name: place for place, name in _IMPLICIT.findall(log)}
    for module in design.modules_.values() if places else ():
        joined = {name for cell in module.cells_.values() for name in _wires_of_instance(cell)}
        joined |= {name for driven, _ in module.connections_ for name in _wires(driven)}
        for name in sorted(places.keys() - joined):
            if module.wire(yosys.IdString(name)) is not None:
                sys.exit(f"ERROR: undeclared name {name.lstrip(chr(92))} ({places[name]})")


def _wires_of_instance(cell: Any) -> Iterator[str]:
    if cell.type.str().startswith("\\"):
        for signal in cell.connections_.values():
            yield from _wires(signal)


def _wires(signal: Any) -> list[str]:
    return [chunk.wire.name.str() for chunk in signal.chunks() if chunk.wire is not None]


def describe_memories(design: Any) -> list[dict[str, Any]]:
    """Describe module, name, first address, size and bits of a word of every memory.

    Raises: SystemExit: they have more than `MOST_MEMORY_BITS` together, or a signal `MOST_SIGNAL_BITS`.
    """
    widths = {
        f"{name.str()} in {module.name.str()}".replace("\\", ""): wire.width
        for module in design.modules_.values()
        for name, wire in module.wires_.items()
        if wire.width > MOST_SIGNAL_BITS
    }
    if widths:
        widest = max(widths, key=lambda name: widths[name])
        said = f"{widths[widest]} {SIGNAL_BITS}; accepted: at most {MOST_SIGNAL_BITS}; the widest is {widest}"
        sys.exit(said)
    bits = {
        f"{name.str()} in {module.name.str()}".replace("\\", ""): memory.width * memory.size
        for module in design.modules_.values()
        for name, memory in module.memories.items()
    }
    if (total := sum(bits.values())) > MOST_MEMORY_BITS:
        largest = max(bits, key=lambda name: bits[name])
        sys.exit(f"{total} {MEMORY_BITS}; accepted: at most {MOST_MEMORY_BITS}; the largest is {largest}")
    return [
        {
            "module": module.name.str(),
            "name": name.str().lstrip("\\"),
            "first": memory.start_offset,
            "size": memory.size,
            "width": memory.width,
        }
        for module in design.modules_.values()
        for name, memory in module.memories.items()
    ]


def normalise_memories(design: Any) -> None:
    """Let memories begin at word 0 and have addresses of at most 32 bits.

    CXXRTL writes initial words at their address, also where the first word of the memory has another address
    than 0, and so beyond its end; addresses of more than 32 bits do not compile.
    """
    if any(len(module.memories) for module in design.modules_.values()):
        yosys.run_pass("proc", design)  # writes are cells from here on
    for module in design.modules_.values():
        memories = {name.str(): (m, m.start_offset, m.size) for name, m in module.memories.items()}
        for cell in list(module.cells_.values()):
            kind = cell.type.str()
            if kind.startswith(("$memrd", "$memwr", "$meminit")):
                _, first, size = memories[cell.getParam(yosys.IdString("\\MEMID")).decode_string()]
                _normalise_address(module, cell, first, size, is_constant=kind.startswith("$meminit"))
        for memory, _, _ in memories.values():
            memory.start_offset = 0


def _normalise_address(module: Any, cell: Any, first: int, size: int, *, is_constant: bool) -> None:
    """Subtract the first address of a memory; an address beyond 32 bits becomes the largest."""
    port = yosys.IdString("\\ADDR")
    address = cell.getPort(port)
    width = max(address.size(), (first + size).bit_length())
    if first == 0 and width <= _ADDRESS_BITS:
        return
    if is_constant:
        address = yosys.SigSpec(address.as_const().as_int() - first, _ADDRESS_BITS)
    else:
        address.extend_u0(width)
        if first:
            address = module.Sub(_new_name(module), address, yosys.SigSpec(first, width))
    if width > _ADDRESS_BITS and not is_constant:
        is_beyond = module.ReduceOr(
            _new_name(module), address.extract(_ADDRESS_BITS, width - _ADDRESS_BITS)
        ).repeat(_ADDRESS_BITS)
        address = module.Or(_new_name(module), address.extract(0, _ADDRESS_BITS), is_beyond)
    cell.setPort(port, address)
    cell.setParam(yosys.IdString("\\ABITS"), yosys.Const(address.size(), 32))


def _new_name(module: Any) -> Any:
    return module.uniquify(yosys.IdString("$normalise_memories"))


def _variant(design: Any, cell: Any, variants: dict[tuple[Any, ...], Any]) -> Any:
    """Return the module of an instance, or None where `hierarchy` rejects it."""
    parameters = sorted(
        (name.str(), str(value.flags), value.as_string()) for name, value in cell.parameters.items()
    )
    key = (cell.type.str(), *parameters)
    if key not in variants:
        module = design.module(cell.type)
        if module is not None and parameters:
            named = [name.str() for name in module.avail_parameters]
            known = {*named, *(f"${place + 1}" for place in range(len(named)))}
            is_known = all(name in known for name, *_ in parameters)
            module = design.module(module.derive(design, cell.parameters)) if is_known else None
        variants[key] = module
    return variants[key]


def _is_as_wide(cell: Any, module: Any) -> bool:
    """Tell whether each connection of an instance has the width of its port."""
    return module is not None and all(
        port is not None and port.width == signal.size() for port, signal in _connections(cell, module)
    )


def _wider_port(cell: Any, module: Any) -> str | None:
    """Return an input that is wider than the result of an operation, which has a name of yosys' own."""
    for port, signal in _connections(cell, module):
        if port is None or not port.port_input or signal.size() >= port.width:
            continue
        if signal.is_wire() and signal.as_wire().name.str().startswith("$"):
            return str(port.name.str())
    return None


def _connections(cell: Any, module: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a module's ports, None if it lacks one, and what an instance connects, by name or by place."""
    for name, signal in cell.connections_.items():
        place = name.str()[1:] if name.str().startswith("$") else ""
        if place.isdigit() and int(place) <= len(module.ports):
            name = module.ports[int(place) - 1]
        yield module.wire(name), signal


if __name__ == "__main__":
    run_commands(Path(sys.argv[1]).read_text("utf-8").splitlines(), sys.argv[2])
