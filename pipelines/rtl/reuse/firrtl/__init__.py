"""FIRRTL as Chisel emits it, to Verilog with the same modules, or to their cells.

Belongs here: the high form: bundles, vectors, when and last connect, memories, signed numbers, inference of
widths and resets. Does not: what simulates the Verilog.
"""

from pipelines.rtl.reuse.firrtl.emission import firrtl_to_verilog
from pipelines.rtl.reuse.firrtl.netlists import firrtl_to_modules, wrapper

__all__ = ["firrtl_to_modules", "firrtl_to_verilog", "wrapper"]
