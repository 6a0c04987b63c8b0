"""Versions of everything that a label depends on.

Belongs here: their names, and one hash of them. Does not: what a single step depends on, which is in its key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from pipelines import cyclemodel, hls, power, programs, rtlsim
from pipelines.identity import content_hash
from pipelines.labelling.backends import backend_of
from pipelines.native import native_version
from pipelines.synthesis import tool_version as synthesis_version


def present_versions(tools: Iterable[str] = (hls.TOOL,)) -> dict[str, str]:
    """Version of each engine that would label now, by name.

    Args:   tools: of `TOOLS`, that make designs.
    Raises: ToolMissing: one of them, or gcc or Verilator, is not installed.
    """
    return {
        hls.TOOL: hls.tool_version(),
        cyclemodel.ENGINE: cyclemodel.engine_version(),
        rtlsim.ENGINE: rtlsim.engine_version(),
        "native": native_version(),
        "pyosys": synthesis_version(),
        power.ENGINE: power.tool_version(),
        **_design_versions(tools),
    }


def _design_versions(tools: Iterable[str]) -> dict[str, str]:
    other = [tool for tool in tools if tool != hls.TOOL]
    versions = {tool: f"{backend_of(tool).version()} {backend_of(tool).engine_version()}" for tool in other}
    return {hls.TOOL: hls.tool_version(), **versions}


def designs_version(tools: Iterable[str]) -> str:
    """Hash of all that designs of a given program and configuration depend on.

    Args:   tools: of `TOOLS`, that make designs.
    Raises: ToolMissing: one of them is not installed.
    """
    return content_hash(_design_versions(tools), _code_hash())


def labels_version(tools: Iterable[str]) -> str:
    """Hash of all versions, of the order of the steps (this package), and of how data are drawn."""
    return content_hash(present_versions(tools), _code_hash(), np.__version__)


@cache
def _code_hash() -> str:
    drawing = Path(programs.__file__).parent
    paths = [*Path(__file__).parent.glob("*.py"), drawing / "data.py", drawing / "specification.py"]
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
