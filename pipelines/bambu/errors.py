"""The one exception of the package."""

from __future__ import annotations


class BambuError(ValueError):
    """An option or an input that Bambu cannot be given, or a number that it cannot mean."""
