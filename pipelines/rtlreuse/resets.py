"""Levels of inputs at which no asynchronous reset acts, so that a simulator that waits for edges sees one."""

from __future__ import annotations

from collections.abc import Iterator

from pipelines.rtlreuse.netlist import Bit, Cell, Netlist

_INVERTING = {"$not", "$logic_not"}
_KEEPING = {"$and", "$or", "$logic_and", "$logic_or", "$reduce_and", "$reduce_or", "$reduce_bool", "$pos"}
_Level = tuple[Bit, int]


def idle_levels(netlist: Netlist) -> dict[str, int]:
    """Values of the top's inputs that asynchronous controls depend on through inversions, ANDs and ORs.

    An input at two levels for two controls has one of them.
    """
    return _Search(netlist).levels(netlist.top)


class _Search:
    def __init__(self, netlist: Netlist) -> None:
        self.netlist = netlist
        self.by_module: dict[str, frozenset[_Level]] = {}
        self.by_net: dict[tuple[str, Bit, int], frozenset[_Level]] = {}

    def levels(self, top: str) -> dict[str, int]:
        idle = dict(self._of_module(top))
        inputs = self.netlist.modules[top].inputs
        return {
            port: sum(idle[bit] << place for place, bit in enumerate(bits) if bit in idle)
            for port, bits in inputs.items()
            if any(bit in idle for bit in bits)
        }

    def _of_module(self, name: str) -> frozenset[_Level]:
        """Input nets of a module and their levels, for its own controls and those of modules in it."""
        if name not in self.by_module:
            module = self.netlist.modules[name]
            starts = {level for cell in module.cells for level in self._of_cell(cell)}
            self.by_module[name] = frozenset().union(*(self._trace(name, *start) for start in starts))
        return self.by_module[name]

    def _of_cell(self, cell: Cell) -> Iterator[_Level]:
        if cell.kind == "$adff":
            yield cell.pins["ARST"][0], 1 - cell.is_set("ARST_POLARITY")
        if cell.kind in self.netlist.modules:
            yield from self._outside(cell, self._of_module(cell.kind))

    def _outside(self, cell: Cell, levels: frozenset[_Level]) -> Iterator[_Level]:
        """Levels of a module's inputs as levels of what an instance connects."""
        idle = dict(levels)
        for port, bits in self.netlist.modules[cell.kind].inputs.items():
            for inner, outer in zip(bits, cell.pins.get(port, ()), strict=False):
                if inner in idle:
                    yield outer, idle[inner]

    def _trace(self, name: str, net: Bit, idle: int) -> frozenset[_Level]:
        """Input nets of a module that a net depends on, and their levels."""
        key = (name, net, idle)
        if key in self.by_net:
            return self.by_net[key]
        module, reached, seen, waiting = (
            self.netlist.modules[name],
            set[_Level](),
            set[_Level](),
            [(net, idle)],
        )
        while waiting:
            at = waiting.pop()
            driver = module.drivers.get(at[0])
            if at in seen or driver is None:
                continue
            seen.add(at)
            if driver.cell < 0:
                reached.add(at)
                continue
            waiting += self._before(module.cells[driver.cell], driver.port, driver.offset, at[1])
        self.by_net[key] = frozenset(reached)
        return self.by_net[key]

    def _before(self, cell: Cell, port: str, offset: int, idle: int) -> Iterator[_Level]:
        """What a bit of a cell's output depends on."""
        if cell.kind in self.netlist.modules:
            inner = self.netlist.modules[cell.kind].outputs[port][offset]
            yield from self._outside(cell, self._trace(cell.kind, inner, idle))
        elif cell.kind in _INVERTING | _KEEPING:
            level = 1 - idle if cell.kind in _INVERTING else idle
            is_bitwise = cell.kind in {"$not", "$and", "$or", "$pos"}
            for operand in ("A", "B"):
                bits = cell.pins.get(operand, ())
                yield from ((bit, level) for bit in (bits[offset : offset + 1] if is_bitwise else bits))
