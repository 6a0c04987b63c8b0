"""Combinational loops of a circuit, signal by signal as the specification of FIRRTL counts them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipelines.rtl.reuse.errors import CombinationalLoop
from pipelines.rtl.reuse.firrtl.graph import INVALID, SIGNAL
from pipelines.rtl.reuse.firrtl.lowering import LoweredModule

_Vertex = int | str
"""A node of the graph, or a signal by its name."""
_Summary = Mapping[str, frozenset[str]]
"""Inputs of a module that each of its outputs depends on within a cycle."""


def require_no_loops(modules: Mapping[str, LoweredModule]) -> None:
    """Check that no signal depends on itself within a cycle, through wires, memories and instances.

    Args:   modules: instantiated ones first.
    Raises: CombinationalLoop: the first loop that is met.
    """
    summaries: dict[str, _Summary] = {}
    for module in modules.values():
        summaries[module.name] = _Dependences(module, summaries).summary()


class _Dependences:
    """What signals of a module depend on within a cycle."""

    def __init__(self, module: LoweredModule, summaries: Mapping[str, _Summary]) -> None:
        self.module, self.nodes = module, module.graph.nodes
        self.registers = {register.signal.name for register in module.registers}
        self.elsewhere: dict[str, tuple[str, ...]] = {}
        """Signals that an instance or a memory drives, and the signals that they depend on."""
        for child, pins in module.instances.values():
            for port, inputs in summaries[child].items():
                self.elsewhere[pins[port]] = tuple(pins[name] for name in inputs)
        for memory in module.memories:
            for port in memory.reads if memory.read_latency == 0 else ():
                self.elsewhere.update(dict.fromkeys(port.data, (port.address,)))

    def summary(self) -> _Summary:
        """Return the inputs behind every output. Raises: CombinationalLoop."""
        inputs = {name: 1 << i for i, name in enumerate(self.module.inputs)}
        reached: dict[_Vertex, int] = {}  # inputs as bits
        for output in self.module.outputs:
            self._visit(output, inputs, reached)
        for signal in self.module.signals:
            self._visit(signal, inputs, reached)
        return {
            output: frozenset(name for name, bit in inputs.items() if reached[output] & bit)
            for output in self.module.outputs
        }

    def _visit(self, start: _Vertex, inputs: Mapping[str, int], reached: dict[_Vertex, int]) -> None:
        """Search depth first without recursion."""
        if start in reached:
            return
        path: dict[_Vertex, Iterator[_Vertex]] = {start: self._sources(start)}
        while path:
            current, following = next(reversed(path.items()))
            source = next((s for s in following if s not in reached), None)
            if source is None:
                bits = inputs.get(current, 0) if isinstance(current, str) else 0
                for each in self._sources(current):
                    bits |= reached[each]
                reached[current] = bits
                del path[current]
            elif source in path:
                chain = [*path]
                names = [v for v in chain[chain.index(source) :] if isinstance(v, str)]
                raise CombinationalLoop([f"{self.module.name}.{name}" for name in reversed(names)])
            else:
                path[source] = self._sources(source)

    def _sources(self, vertex: _Vertex) -> Iterator[_Vertex]:
        if isinstance(vertex, int):
            node = self.nodes[vertex]
            yield from (node.name,) if node.op == SIGNAL else (arg for arg in node.args if arg != INVALID)
        elif vertex not in self.registers:
            value = self.module.signals[vertex].value
            if vertex in self.elsewhere:
                yield from self.elsewhere[vertex]
            elif value is not None and value != INVALID:
                yield value
