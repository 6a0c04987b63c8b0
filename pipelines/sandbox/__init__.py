"""Running code that nobody trusts: generated, foreign or hostile, and its compiler.

Belongs here: confinement by bubblewrap, limits, and reading what such a program leaves. Does not: what
is run, or what its results mean.
"""

from pipelines.sandbox.answers import answers_in_time
from pipelines.sandbox.confinement import run_confined
from pipelines.sandbox.limits import (
    FILES,
    MEMORY,
    OUTPUT,
    TIME,
    ConfinedRun,
    Limits,
    MachineFault,
    SandboxError,
    read_output,
)

__all__ = [
    "FILES",
    "MEMORY",
    "OUTPUT",
    "TIME",
    "ConfinedRun",
    "Limits",
    "MachineFault",
    "SandboxError",
    "answers_in_time",
    "read_output",
    "run_confined",
]
