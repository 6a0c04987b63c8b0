"""Engines that are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping

from pipelines.rtlreuse.engines import ARC, ENGINES, VERILATOR
from pipelines.rtlreuse.verilator import find_verilator
from pipelines.tools import ToolMissing


def _find_arc() -> None:
    for module in ("pycde", "mlir", "llvm"):
        if importlib.util.find_spec(module) is None:
            raise ToolMissing(f"not installed: {module}")


_CHECKS: Mapping[str, Callable[[], object]] = {ARC: _find_arc, VERILATOR: find_verilator}


def installed_engines() -> list[str]:
    """Names of engines whose tools are there; those that need none of their own are always."""
    found: list[str] = []
    for name in ENGINES:
        try:
            _CHECKS.get(name, lambda: None)()
        except ToolMissing:
            continue
        found.append(name)
    return found
