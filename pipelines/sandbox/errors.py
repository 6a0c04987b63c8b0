"""What is raised when a program cannot be confined.

Belongs here: the exception of this package. Does not: what a confined program did, which is a status.
"""

from __future__ import annotations


class SandboxError(RuntimeError):
    """A request that makes no sense, a machine that forbids confinement, or an output that is no file."""
