"""The one exception of the package."""

from __future__ import annotations


class ProgramError(ValueError):
    """A program, an input specification or a data file breaks a rule; the message says which."""
