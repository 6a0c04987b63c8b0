"""Asynchronous resets of which engines would see different pulses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pipelines.rtl.reuse.cells import STORAGE
from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.netlist import Netlist
from pipelines.rtl.reuse.raw_modules import Bit, Cell, Driver, RawModule

_INVERTING = {"$not", "$logic_not"}
_Level = tuple[Bit, int]


@dataclass(frozen=True, slots=True)
class _Term:
    """A part of a reset; any part that is active resets.

    Attributes:
        level: the input net that it is, with its inactive level; None for any other logic.
        inputs: of the module, that other logic depends on. has_state: it depends on registers.
        guards: resets of these registers, during which it may become inactive.
    """

    level: _Level | None = None
    inputs: frozenset[Bit] = frozenset()
    has_state: bool = False
    guards: frozenset[_Level] = frozenset()


_Reset = frozenset[_Term]


def require_equal_pulses(netlist: Netlist) -> None:
    """Check that no reset is a pulse between a clock edge and the next inputs, which engines miss.

    Such a pulse needs logic of registers and inputs together. Parts of either alone are joined by OR, and a
    register that an input resets may ask for a reset if the same input resets, or if it asks while reset.

    Raises: RtlError: a reset may be such a pulse.
    """
    for reset, name in _Pulses(netlist).resets(netlist.top).items():
        levels = {term.level for term in reset}
        for term in reset:
            if term.has_state and (term.inputs or not term.guards <= levels):
                raise RtlError(
                    f"asynchronous reset by registers and inputs together: {name}; accepted: an OR of both"
                )


class _Pulses:
    def __init__(self, netlist: Netlist) -> None:
        self.netlist = netlist
        self.by_module: dict[str, dict[_Reset, str]] = {}
        self.by_net: dict[tuple[str, Bit, int | None], _Reset] = {}

    def resets(self, name: str) -> dict[_Reset, str]:
        """Return the resets in a module by its inputs, each with the name of a register."""
        if name not in self.by_module:
            module, registers = self.netlist.modules[name], dict[_Reset, str]()
            for cell in module.cells:
                if cell.kind == "$adff":
                    register = module.names.get(cell.pins["Q"][0], cell.name).split("[")[0]
                    registers.setdefault(self._parts(name, *_control(cell)), f"{register} in {name}")
                elif cell.kind in self.netlist.modules:
                    for reset, register in self.resets(cell.kind).items():
                        registers.setdefault(self._outside(name, cell, reset), register)
            self.by_module[name] = registers
        return self.by_module[name]

    def _parts(self, name: str, net: Bit, idle: int) -> _Reset:
        """Return the parts of a reset that is one net, inactive at a level."""
        key = (name, net, idle)
        if key not in self.by_net:
            self.by_net[key] = frozenset()  # of a combinational loop, which is rejected elsewhere
            self.by_net[key] = self._divided(name, net, idle)
        return self.by_net[key]

    def _divided(self, name: str, net: Bit, idle: int) -> _Reset:
        module = self.netlist.modules[name]
        driver = module.drivers.get(net)
        if driver is None:
            return frozenset()
        if driver.cell < 0:
            return frozenset({_Term((net, idle))})
        cell = module.cells[driver.cell]
        if cell.kind in self.netlist.modules:
            inner = self.netlist.modules[cell.kind].outputs[driver.port][driver.offset]
            return self._outside(name, cell, self._parts(cell.kind, inner, idle))
        if cell.kind in _INVERTING and len(cell.pins["A"]) == len(cell.pins["Y"]):
            return self._parts(name, cell.pins["A"][driver.offset], 1 - idle)
        joining = {"$pos", "$or", "$logic_or"} if idle == 0 else {"$pos", "$and", "$logic_and"}
        operands = [cell.pins[port] for port in ("A", "B") if port in cell.pins]
        if cell.kind in joining and all(driver.offset < len(bits) for bits in operands):
            whole = not cell.kind.startswith("$logic") or all(len(bits) == 1 for bits in operands)
            if whole:
                parts = [self._parts(name, bits[driver.offset], idle) for bits in operands]
                return frozenset[_Term]().union(*parts)
        if cell.kind == "$adff" and _reset_bit(cell, driver) == 1 - idle:
            return frozenset({_Term(has_state=True)})  # it asks for the reset while it is reset itself
        return self._support(name, net)

    def _support(self, name: str, net: Bit) -> _Reset:
        """Return one part that is any logic."""
        module, seen, waiting = self.netlist.modules[name], set[Bit](), [net]
        inputs, has_state, guards = set[Bit](), False, set[_Level]()
        while waiting:
            at = waiting.pop()
            driver = module.drivers.get(at)
            if driver is None or at in seen:
                continue
            seen.add(at)
            if driver.cell < 0:
                inputs.add(at)
                continue
            cell = module.cells[driver.cell]
            if cell.kind in self.netlist.modules:
                parts = self._of_output(name, cell, driver)
            elif cell.kind in STORAGE:
                has_state = True
                waiting += cell.pins["RD_ADDR"] if cell.kind == "$mem_v2" else ()
                parts = self._parts(name, *_control(cell)) if cell.kind == "$adff" else frozenset[_Term]()
                guards |= {part.level for part in parts if part.level is not None}
                parts = frozenset(part for part in parts if part.level is None)
            else:
                waiting += [
                    bit for port, bits in cell.pins.items() if port not in cell.outputs for bit in bits
                ]
                continue
            for part in parts:
                inputs |= part.inputs | ({part.level[0]} if part.level is not None else set())
                has_state = has_state or part.has_state
                guards |= part.guards
        return frozenset({_Term(None, frozenset(inputs), has_state, frozenset(guards))})

    def _of_output(self, name: str, cell: Cell, driver: Driver) -> _Reset:
        inner = self.netlist.modules[cell.kind].outputs[driver.port][driver.offset]
        key = (cell.kind, inner, None)
        if key not in self.by_net:
            self.by_net[key] = frozenset()
            self.by_net[key] = self._support(cell.kind, inner)
        return self._outside(name, cell, self.by_net[key])

    def _outside(self, name: str, cell: Cell, reset: _Reset) -> _Reset:
        """Return the parts by inputs of a module as parts by inputs of the module with its instance."""
        outer = dict(_connected(cell, self.netlist.modules[cell.kind]))
        parts = set[_Term]()
        for term in reset:
            if term.level is not None:
                net, idle = term.level
                parts |= self._parts(name, outer.get(net, "x"), idle)
                continue
            guards = {
                part for net, idle in term.guards for part in self._parts(name, outer.get(net, "x"), idle)
            }
            further = [self._support(name, outer.get(net, "x")) for net in term.inputs]
            logic = [part for own in further for part in own] + [
                part for part in guards if part.level is None
            ]
            parts.add(
                _Term(
                    None,
                    frozenset[Bit]().union(*(part.inputs for part in logic)),
                    term.has_state or any(part.has_state for part in logic),
                    frozenset(part.level for part in guards if part.level is not None).union(
                        *(part.guards for part in logic)
                    ),
                )
            )
        return frozenset(parts)


def _control(cell: Cell) -> _Level:
    """Return the reset of a flip-flop and its inactive level."""
    return cell.pins["ARST"][0], 1 - cell.is_set("ARST_POLARITY")


def _reset_bit(cell: Cell, driver: Driver) -> int:
    return cell.number("ARST_VALUE") >> driver.offset & 1


def _connected(cell: Cell, module: RawModule) -> Iterator[tuple[Bit, Bit]]:
    """Yield the input nets of a module and what an instance connects."""
    for port, bits in module.inputs.items():
        yield from zip(bits, cell.pins.get(port, ()), strict=False)
