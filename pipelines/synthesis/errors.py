"""The one exception of logic synthesis. Nothing else belongs here."""

from __future__ import annotations


class SynthesisError(RuntimeError):
    """Misuse of the engine, or a file that breaks a rule; the message names file, line and rule."""
