"""The one exception of the package."""

from __future__ import annotations


class VendorError(ValueError):
    """A vendor's file is not acceptable; the message has the problem, its place and what is accepted."""
