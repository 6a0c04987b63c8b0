"""Every engine whose results are recorded, with its version constants and inputs."""

from __future__ import annotations

import shutil
from importlib.metadata import version
from importlib.util import find_spec

from accelerator_inputs import accelerator_outputs, fixed_outputs
from engine_outputs import Engine
from fabric_inputs import fabric_outputs
from hardware_inputs import (
    cycle_model_outputs,
    native_outputs,
    opensta_outputs,
    power_outputs,
    rtl_outputs,
    synthesis_outputs,
)
from hls_inputs import hls_outputs
from network_inputs import run_outputs, simulation_outputs, tcp_outputs, workload_outputs
from pragma_inputs import bound_outputs, search_outputs
from program_inputs import (
    feature_outputs,
    generator_outputs,
    knowledge_outputs,
    record_outputs,
    variant_outputs,
)
from rtl_inputs import simulation_outputs as rtlreuse_outputs
from tool_inputs import bambu_outputs, circt_outputs, siliconcompiler_outputs

from pipelines.circt import is_installed
from pipelines.network.simulation.ns3 import find_ns3

HLS = Engine(
    name="hls", package="pipelines/hls", constants=("pipelines/c/engine.py:_VERSION",), outputs=hls_outputs
)

ENGINES = (
    Engine(name="cyclemodel", package="pipelines/cyclemodel", outputs=cycle_model_outputs),
    # Native C has the version of gcc; how it is run is a step of labelling.
    Engine(
        name="native",
        package="pipelines/native",
        constants=("pipelines/dataset/labelling/cache.py:_VERSION",),
        outputs=native_outputs,
    ),
    Engine(name="rtlsim", package="pipelines/rtl/simulation", outputs=rtl_outputs),
    Engine(name="rtlreuse", package="pipelines/rtl/reuse", constants=("VERSION",), outputs=rtlreuse_outputs),
    Engine(
        name="synthesis",
        package="pipelines/silicon/synthesis",
        constants=(
            "pipelines/silicon/synthesis/yosys.py:_VERSION",
            "pipelines/silicon/synthesis/xilinx.py:_VERSION",
        ),
        outputs=synthesis_outputs,
    ),
    Engine(
        name="power", package="pipelines/power", constants=("_VERSION", "POWER_MODEL"), outputs=power_outputs
    ),
    Engine(
        name="opensta",
        package="pipelines/power",
        constants=("POWER_MODEL",),
        outputs=opensta_outputs,
        installed=lambda: shutil.which("sta") is not None,
    ),
    # The wheels of Python 3.11 and 3.13 give different Verilog; rows name the version.
    Engine(
        name="circt",
        package="pipelines/circt",
        outputs=circt_outputs,
        variant=lambda: f"-{version('circt')}",
        installed=is_installed,
    ),
    Engine(name="bambu", package="pipelines/bambu", outputs=bambu_outputs),
    Engine(
        name="siliconcompiler", package="pipelines/silicon/siliconcompiler", outputs=siliconcompiler_outputs
    ),
    Engine(
        name="network_simulation",
        package="pipelines/network/simulation",
        constants=("pipelines/network/simulation/engine.py:_VERSION",),
        outputs=simulation_outputs,
    ),
    Engine(
        name="network_workload",
        package="pipelines/network",
        constants=("_PACKETS_VERSION", "_RUNS_VERSION"),
        outputs=workload_outputs,
    ),
    Engine(
        name="network_runs",
        package="pipelines/network",
        constants=("_PACKETS_VERSION", "_RUNS_VERSION"),
        outputs=run_outputs,
    ),
    Engine(
        name="network_tcp",
        package="pipelines/network",
        constants=("_PACKETS_VERSION", "pipelines/network/simulation/ns3.py:_VERSION"),
        outputs=tcp_outputs,
        installed=lambda: find_ns3() is not None,
    ),
    Engine(name="pragma_bound", package="pipelines/pragmas", outputs=bound_outputs),
    Engine(name="pragma_search", package="pipelines/pragmas", outputs=search_outputs),
    Engine(name="programs", package="pipelines/programs", outputs=generator_outputs),
    Engine(name="program_variants", package="pipelines/dataset/variants.py", outputs=variant_outputs),
    Engine(
        name="features",
        package="pipelines/dataset/features",
        constants=("_VERSIONS", "_CLASS_VERSION"),
        outputs=feature_outputs,
    ),
    Engine(name="records", package="pipelines/dataset/records", outputs=record_outputs),
    Engine(
        name="knowledge",
        package="pipelines/dataset/features",
        constants=("pipelines/dataset/features/design_tables.py:_VERSION",),
        outputs=knowledge_outputs,
    ),
    Engine(
        name="accelerators",
        package="pipelines/accelerators",
        constants=(
            "pipelines/accelerators/dataset.py:VERSION",
            "pipelines/accelerators/labels.py:VERSION",
            "pipelines/accelerators/systolic/compilation.py:COMPILER_VERSION",
            "pipelines/accelerators/systolic/hardware.py:GENERATOR_VERSION",
        ),
        outputs=accelerator_outputs,
    ),
    Engine(
        name="fixed",
        package="pipelines/accelerators/fixed",
        constants=(
            "pipelines/accelerators/fixed/dataset.py:VERSION",
            "pipelines/accelerators/fixed/dataset.py:_COLUMNS_VERSION",
        ),
        outputs=fixed_outputs,
        installed=lambda: find_spec("da4ml") is not None,
    ),
    Engine(
        name="fabric",
        package="pipelines/fabric",
        constants=(
            "pipelines/fabric/dataset.py:VERSION",
            "pipelines/fabric/dataset.py:_ID_VERSION",
            "pipelines/fabric/simulation.py:VERSION",
        ),
        outputs=fabric_outputs,
    ),
)
