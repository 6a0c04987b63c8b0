"""Networks as unrolled fixed-point pipelines, one result per cycle, by da4ml's distributed arithmetic.

Belongs here: layers to da4ml's operations, Verilog, labels of it. Does not: the systolic accelerator.
da4ml is an optional package, extra `fixed`.
"""
