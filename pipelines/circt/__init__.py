"""CIRCT: a second backend that shares only the C front end and the structured IR with the engine.

Belongs here: the structured IR as MLIR text, the passes of the `circt` wheel, and a module around their
result with the ports of the engine's own designs. Outside this package only the names below are used.
"""

from pipelines.circt.compilation import (
    FLOWS,
    NEEDED,
    CirctError,
    CirctResult,
    compile_with_circt,
    is_installed,
    simulate_circt_design,
    tool_version,
)

__all__ = [
    "FLOWS",
    "NEEDED",
    "CirctError",
    "CirctResult",
    "compile_with_circt",
    "is_installed",
    "simulate_circt_design",
    "tool_version",
]
