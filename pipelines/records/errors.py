"""The one exception of the package."""

from __future__ import annotations


class RecordError(ValueError):
    """A text is no record, a number does not fit its format, or tables do not belong together."""
