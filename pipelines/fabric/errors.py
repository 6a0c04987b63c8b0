"""What can be wrong with a fabric, a graph or a placement."""

from __future__ import annotations


class FabricError(ValueError):
    """A fabric, graph, placement or route that is not accepted; the message names rule and value."""
