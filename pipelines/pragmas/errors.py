"""Errors of the search for directives."""

from __future__ import annotations


class PragmaError(ValueError):
    """A program outside the class that is supported, a wrong configuration or a wrong option."""


class SubscriptError(PragmaError):
    """A subscript that is not affine, in a program that is supported otherwise."""
