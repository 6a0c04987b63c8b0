"""Version of this engine, for keys and rows."""

from __future__ import annotations

from pipelines.cyclemodel import engine_version
from pipelines.hls import tool_version
from pipelines.identity import content_hash

_VERSION = "2"
"""Raise it when a search, a bound or what measures gives other rows."""


def pragmas_version() -> str:
    """Version of this package and of the engines that it measures with."""
    return content_hash(_VERSION, tool_version(), engine_version())[:12]
