"""What a network can have wrong with it."""

from __future__ import annotations


class NetworkError(ValueError):
    """A topology, traffic, trace or load that the engines do not accept; the message names rule and value."""
