"""What is raised when a program cannot be confined, or the machine ended an attempt."""

from __future__ import annotations


class SandboxError(RuntimeError):
    """A request that makes no sense, a machine that forbids confinement, or an output that is no file."""


class MachineFault(RuntimeError):
    """The machine and not the input ended an attempt, or may have: the next one may succeed."""
