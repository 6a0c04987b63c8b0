"""Versions of everything that a label depends on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pipelines import cyclemodel, hls, power, rtlsim
from pipelines.identity import content_hash
from pipelines.labelling.backends import backend_of
from pipelines.native import native_version
from pipelines.synthesis import tool_version as synthesis_version

_VERSION = "214c5db0780d57e2"
"""Raise it when the steps of this package, or data drawn by `programs.data`, give other rows."""
_SAME_LABELS = ("8be3097d9c795f7b",)
"""Versions with the very same labels, which release network-long-v1 names."""


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
    return content_hash(_design_versions(tools), _VERSION)


def labels_version(tools: Iterable[str]) -> str:
    """Hash of all versions, of the order of the steps (this package), and of how data are drawn."""
    return _labels_version(tools, _VERSION)


def has_present_labels(version: str, tools: Iterable[str]) -> bool:
    """Whether a version of before gives the labels of now; see `labels_version`."""
    chosen = tuple(tools)
    return version in {_labels_version(chosen, one) for one in (_VERSION, *_SAME_LABELS)}


def _labels_version(tools: Iterable[str], own: str) -> str:
    return content_hash(present_versions(tools), own, np.__version__)
