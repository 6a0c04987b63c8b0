"""The one exception of the package.

Belongs here: that class. Does not: the rules it is raised for.
"""

from __future__ import annotations


class ProgramError(ValueError):
    """A program, an input specification or a data file breaks a rule; the message says which."""
