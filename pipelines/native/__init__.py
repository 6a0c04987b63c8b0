"""Native C: results of a program, the reference for hardware.

Belongs here: compiling with gcc, sanitizers, and the verdict on undefined behaviour. Does not:
reading C, drawing data, or simulating hardware.
"""

from pipelines.native.runner import NativeRun, native_version, repair_of, run_native, run_native_sets

__all__ = ["NativeRun", "native_version", "repair_of", "run_native", "run_native_sets"]
