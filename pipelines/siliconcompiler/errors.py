"""The error of this package."""

from __future__ import annotations


class SiliconCompilerError(ValueError):
    """A design or a manifest that the flow cannot take or give."""
