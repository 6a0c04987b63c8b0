"""Running code that nobody trusts: generated, foreign or hostile, and its compiler.

Belongs here: confinement by bubblewrap, limits, and reading what such a program leaves. Does not: what
is run, or what its results mean.
"""

from pipelines.sandbox.errors import MachineFault, SandboxError
from pipelines.sandbox.limits import FILES, MEMORY, OUTPUT, TIME, ConfinedRun, Limits
from pipelines.sandbox.outputs import read_output
from pipelines.sandbox.runner import run_confined
from pipelines.sandbox.watch import processor_s

__all__ = [
    "FILES",
    "MEMORY",
    "OUTPUT",
    "TIME",
    "ConfinedRun",
    "Limits",
    "MachineFault",
    "SandboxError",
    "processor_s",
    "read_output",
    "run_confined",
]
