"""Networks as unrolled fixed-point pipelines, one result per cycle, by da4ml's distributed arithmetic.

Belongs here: layers to da4ml's operations, Verilog, labels of it. Does not: the systolic accelerator.
da4ml is an optional package, extra `fixed`.
"""

_KINDS = ("input", "add", "relu", "quantize", "constant_add", "constant", "select", "other")
FIXED_CATEGORIES = (*_KINDS, *(f"{kind}_bits" for kind in _KINDS), "register_bits", "levels")
"""Counts of a stage: operations and result bits by kind, register bits, adders on its longest path."""
ACTIVITIES = ("adder_hazards", "unread_changes", "register_changes")
"""Bits of a stage that change: of adders by hazards, of adders that reach no output, of registers."""
