"""Accelerators of neural networks: generators of their RTL, and the compilers of networks for them.

Belongs here: hardware configurations, Verilog, networks, quantisation, tiling, instruction streams, and
labels of a network on an accelerator. Does not: synthesis and power themselves (`pipelines.synthesis`,
`pipelines.power`), learned models of power (`models.compile_power`).
"""

from pipelines.accelerators.errors import AcceleratorError

__all__ = ["AcceleratorError"]
