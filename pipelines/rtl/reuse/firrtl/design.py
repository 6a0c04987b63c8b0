"""A lowered circuit, and what writers of its modules ask."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.firrtl.inference import asynchronous_resets, infer_widths
from pipelines.rtl.reuse.firrtl.loops import require_no_loops
from pipelines.rtl.reuse.firrtl.lowering import LoweredModule, Lowering
from pipelines.rtl.reuse.firrtl.parsing import Circuit
from pipelines.rtl.reuse.firrtl.syntax import Module
from pipelines.rtl.reuse.hierarchy import children_first

_PARAMETER = re.compile(r'"[^"\\]*"|-?\d+(?:\.\d+)?(?:[eE]-?\d+)?', re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweredDesign:
    """A module and all that it instantiates.

    Attributes:
        modules: instantiated ones first. outside: extmodules.
        asynchronous: resets, see `asynchronous_resets`.
    """

    modules: Mapping[str, LoweredModule]
    outside: Mapping[str, Module]
    asynchronous: set[tuple[str, str]]

    def own(self) -> Iterator[LoweredModule]:
        """Yield the modules that the circuit defines."""
        return (module for name, module in self.modules.items() if name not in self.outside)

    def verilog_type(self, module: str) -> str:
        """Return the name of the Verilog module, with the parameters of one that is defined elsewhere.

        Raises: RtlError: a parameter that is no number and no text.
        """
        outside = self.outside.get(module)
        if outside is None:
            return module
        for name, value in outside.parameters:
            if not _PARAMETER.fullmatch(value):
                raise RtlError(
                    f"parameter {name} of extmodule {module}: {value}; accepted: a number or a text"
                )
        pairs = ", ".join(f".{name}({value})" for name, value in outside.parameters)
        return f"{outside.external} #({pairs})" if pairs else outside.external


def lower(text: str, top: str, external: Container[str] = ()) -> LoweredDesign:
    """Parse and lower a module and all that it instantiates.

    Args:   external: Verilog modules that an extmodule may stand for.
    Raises: RtlError: not FIRRTL, not supported, a module without a definition, or a combinational loop.
    """
    circuit = Circuit(text)
    parsed: dict[str, Module] = {}

    def module(name: str) -> Module:
        if name not in parsed:
            parsed[name] = circuit.module(name)
        return parsed[name]

    lowered = _lower_all(top, module)
    outside = {name: parsed[name] for name in lowered if parsed[name].external}
    for each in outside.values():
        _require_definition(each, lowered[each.name], external)
    infer_widths(lowered, top)
    require_no_loops(lowered)
    return LoweredDesign(modules=lowered, outside=outside, asynchronous=asynchronous_resets(lowered))


def _lower_all(top: str, module: Callable[[str], Module]) -> dict[str, LoweredModule]:
    """Lower all modules, instantiated ones first."""
    lowered: dict[str, LoweredModule] = {}

    def children(name: str) -> Iterator[str]:
        lowered[name] = Lowering(module(name), module).lower()
        return (child for child, _ in lowered[name].instances.values())

    return {name: lowered[name] for name in children_first(children, top)}


def _require_definition(module: Module, lowered: LoweredModule, external: Container[str]) -> None:
    if module.external not in external:
        raise RtlError(
            f"no definition of {module.external}: extmodule {module.name}; accepted: its Verilog, "
            "by --library FILE.v"
        )
    unknown = [signal.name for signal in lowered.signals.values() if signal.width is None]
    if unknown:
        raise RtlError(f"port without a width: {unknown[0]} of extmodule {module.name}")


class ModuleView:
    """A module with the nodes that it needs and their widths."""

    def __init__(self, module: LoweredModule, design: LoweredDesign) -> None:
        self.module, self.design, self.graph = module, design, module.graph
        self.signal_widths = {s.name: s.width or 0 for s in module.signals.values()}
        self.nodes = self.graph.cone([*self._roots()])
        self.widths = self.graph.widths(self.nodes, self.signal_widths)
        self.registers = {r.signal.name for r in module.registers}

    def _roots(self) -> Iterator[int]:
        for signal in self.module.signals.values():
            if signal.value is not None:
                yield signal.value
        for register in self.module.registers:
            yield from (n for n in (register.clock, register.reset, register.initial) if n is not None)
        for memory in self.module.memories:
            yield from (p.clock for p in (*memory.reads, *memory.writes) if p.clock is not None)

    def width(self, name: str) -> int:
        """Return the bits of a signal."""
        return self.signal_widths[name]

    def driven_elsewhere(self) -> set[str]:
        """Return signals that no connection of the module drives: ports, registers, outputs of instances."""
        driven = {*self.module.inputs, *self.registers}
        for child, pins in self.module.instances.values():
            driven |= {pins[port] for port in self.design.modules[child].outputs}
        for memory in self.module.memories:
            driven |= {name for port in memory.reads for name in port.data}
        unused = {s.name for s in self.module.signals.values() if s.value is None}
        return driven | {name for name in unused if name in self.module.unread}
