"""The one exception of the package."""

from __future__ import annotations


class VendorError(ValueError):
    """A vendor's file is not what it should be; the message says what, where, and what is right."""
