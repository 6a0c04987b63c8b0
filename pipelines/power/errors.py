"""The one exception of power estimation. Nothing else belongs here."""

from __future__ import annotations


class PowerError(RuntimeError):
    """Misuse of the engine, or a netlist it cannot simulate; the message names the rule and the value."""
