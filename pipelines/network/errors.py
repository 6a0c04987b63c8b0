"""What a network can have wrong with it.

Belongs here: the package's exception. Does not: rules, which stand where they are checked.
"""

from __future__ import annotations


class NetworkError(ValueError):
    """A topology, traffic, trace or load that the engines do not accept; the message names rule and value."""
