"""Accelerators of neural networks: generators of their RTL, and the compilers of networks for them.

Belongs here: hardware configurations, Verilog, networks, quantisation, tiling, instruction streams, and
labels of a network on an accelerator. Does not: synthesis and power themselves
(`pipelines.silicon.synthesis`, `pipelines.power`), learned models of power (`models.compile_power`).
"""

from pipelines.accelerators.errors import AcceleratorError
from pipelines.accelerators.fixed import ACTIVITIES, FIXED_CATEGORIES
from pipelines.accelerators.graph import Network, network_of, read_network
from pipelines.accelerators.systolic.compilation import Compiled, compile_network
from pipelines.accelerators.systolic.hardware import Hardware, Module, hierarchy, read_hardware
from pipelines.accelerators.systolic.instructions import CATEGORIES

__all__ = [
    "ACTIVITIES",
    "CATEGORIES",
    "FIXED_CATEGORIES",
    "AcceleratorError",
    "Compiled",
    "Hardware",
    "Module",
    "Network",
    "compile_network",
    "hierarchy",
    "network_of",
    "read_hardware",
    "read_network",
]
