"""Widths and kinds of reset that a circuit leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.firrtl.graph import INVALID, SIGNAL
from pipelines.rtl.reuse.firrtl.lowering import LoweredModule
from pipelines.rtl.reuse.firrtl.syntax import ASYNC, RESET


def infer_widths(modules: Mapping[str, LoweredModule], top: str) -> None:
    """Give every signal the smallest width that its values need, through instances in both directions.

    Raises: RtlError: an input of the top module without a width, or widths that grow without end.
    """
    for name in modules[top].inputs:
        if modules[top].signals[name].width is None:
            raise RtlError(f"FIRRTL module {top}: input without a width: {name}")
    open_modules = [_OpenWidths(module) for module in modules.values()]
    by_name = {each.module.name: each for each in open_modules}
    for _ in range(2 + sum(len(each.unknown) for each in open_modules)):
        changes = [each.update(by_name) for each in open_modules]
        if not any(changes):
            break
    else:
        raise RtlError("FIRRTL: widths grow without end through instances")
    for each in open_modules:
        for name in each.unknown:
            each.module.signals[name].width = each.widths[name]


class _OpenWidths:
    """Widths of a module's signals so far; they only grow."""

    def __init__(self, module: LoweredModule) -> None:
        self.module = module
        self.widths = {s.name: s.width or 0 for s in module.signals.values()}
        self.unknown = {s.name for s in module.signals.values() if s.width is None}
        self.sources = {name: [*_sources(module, name)] for name in self.unknown}
        for register in module.registers:
            if register.signal.name in self.unknown and register.initial is not None:
                self.sources[register.signal.name].append(register.initial)
        self.cone = module.graph.cone([n for nodes in self.sources.values() for n in nodes])

    def update(self, modules: Mapping[str, _OpenWidths]) -> bool:
        """Take widths from instances, follow them, and give widths to instances; whether one changed."""
        changed = False
        for child, pins in self.module.instances.values():
            for port, pin in pins.items():
                if pin in self.unknown:
                    changed |= self._raise(pin, modules[child].widths[port])
        if self.unknown:
            changed |= self._follow()
        for child, pins in self.module.instances.values():
            inner = modules[child]
            for port, pin in pins.items():
                if port in inner.unknown:
                    changed |= inner._raise(port, self.widths[pin])
        return changed

    def _follow(self) -> bool:
        """Follow widths within the module; a path of signals has as many steps as signals, or fewer."""
        changed, steps = False, list[str]()
        for _ in range(len(self.unknown) + 1):
            nodes = self.module.graph.widths(self.cone, self.widths)
            steps = [
                name
                for name, sources in self.sources.items()
                if self._raise(name, max((nodes[n] for n in sources), default=0))
            ]
            if not steps:
                return changed
            changed = True
        raise RtlError(f"FIRRTL module {self.module.name}: width grows without end: {', '.join(steps)}")

    def _raise(self, name: str, width: int) -> bool:
        grows = width > self.widths[name]
        self.widths[name] = max(width, self.widths[name])
        return grows


def _sources(module: LoweredModule, name: str) -> Iterator[int]:
    value = module.signals[name].value
    if value is not None and value != INVALID:
        yield value


def asynchronous_resets(modules: Mapping[str, LoweredModule]) -> set[tuple[str, str]]:
    """Return the signals (module, name) of an abstract reset that some asynchronous reset reaches."""
    groups: dict[tuple[str, str], tuple[str, str]] = {}

    def group(signal: tuple[str, str]) -> tuple[str, str]:
        while groups.get(signal, signal) != signal:
            signal = groups[signal]
        return signal

    asynchronous = ("", "")
    for name, module in modules.items():
        edges = [((name, a), (name, b) if b else asynchronous) for a, b in module.reset_edges]
        for child, pins in module.instances.values():
            edges += [
                ((name, pin), (child, port))
                for port, pin in pins.items()
                if modules[child].signals[port].kind == RESET or module.signals[pin].kind == RESET
            ]
        edges += [((name, s.name), asynchronous) for s in module.signals.values() if s.kind == ASYNC]
        for a, b in edges:
            groups[group(a)] = group(b)
    return {signal for signal in {*groups, *groups.values()} if group(signal) == group(asynchronous)}


def is_asynchronous(module: LoweredModule, reset: int, kind: str, asynchronous: set[tuple[str, str]]) -> bool:
    """Tell whether a register's reset acts at once."""
    if kind != RESET:
        return kind == ASYNC
    return any(
        (module.name, module.graph.nodes[n].name) in asynchronous
        for n in module.graph.cone([reset])
        if module.graph.nodes[n].op == SIGNAL
    )
