"""The one exception of the package."""

from __future__ import annotations


class ReportError(ValueError):
    """There is nothing to report on; the message says what was looked for, and where."""
