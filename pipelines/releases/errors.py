"""The one exception of the package."""

from __future__ import annotations


class ReleaseError(ValueError):
    """A release cannot be written, or is not what its manifest says; the message says what and where."""
