"""Confined execution of untrusted code: generated or foreign programs, and their compiler.

Belongs here: confinement by bubblewrap, limits, and reading output files. Does not: which programs run,
or what their results mean.
"""

from pipelines.base.sandbox.confinement import run_confined
from pipelines.base.sandbox.limits import (
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
    "read_output",
    "run_confined",
]
