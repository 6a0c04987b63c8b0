"""Order of the modules of a design by their instances."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pipelines.rtl.reuse.errors import RtlError


def children_first(children: Callable[[str], Iterable[str]], top: str) -> list[str]:
    """Return the modules that a module reaches, each after those that it instantiates.

    Args:   children: modules that a module instantiates; asked once per module.
    Raises: RtlError: a module contains itself; the message names the chain of modules.
    """
    order: list[str] = []
    finished: set[str] = set()
    open_modules: dict[str, None] = {}  # from the top to the module at hand
    stack = [(top, False)]
    while stack:
        name, is_done = stack.pop()
        if is_done:
            order.append(name)
            finished.add(name)
            del open_modules[name]
        elif name in open_modules:
            chain = [*open_modules]
            raise RtlError(f"module contains itself: {' -> '.join([*chain[chain.index(name) :], name])}")
        elif name not in finished:
            open_modules[name] = None
            stack.append((name, True))
            stack += [(child, False) for child in children(name)]
    return order
