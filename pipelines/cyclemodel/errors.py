"""Errors of this package."""

from __future__ import annotations


class CycleModelError(RuntimeError):
    """A scheduled design that no cycle model can be made of; a design's own failure is a status instead."""
