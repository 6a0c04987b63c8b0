"""Runs of synthesised designs that benchmarks compare with native C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pipelines.c.signature import DataSet, same_values
from pipelines.cyclemodel import CycleResult
from pipelines.hls import CompiledDesign, HlsOptions
from pipelines.native import NativeRun
from pipelines.rtl.simulation import MemoryTiming, SimulationResult, simulate_design
from pipelines.schemas import OK


def timing_of(options: HlsOptions) -> MemoryTiming:
    """Return the delays of external memories that a design was synthesised for."""
    return MemoryTiming(
        read_delay_cycles=options.memory_read_delay_cycles,
        write_delay_cycles=options.memory_write_delay_cycles,
    )


def simulate_in_verilator(
    compiled: CompiledDesign,
    options: HlsOptions,
    data: DataSet,
    folder: Path,
    runtime_folder: Path,
    **limits: float,
) -> SimulationResult:
    """Simulate a design on one data set. Args: limits: `timeout_s` and `cycle_limit`."""
    folder.mkdir(parents=True, exist_ok=True)
    return simulate_design(
        compiled.verilog,
        module=compiled.module,
        interface=compiled.interface,
        data=data,
        timing=timing_of(options),
        folder=folder,
        runtime_folder=runtime_folder,
        banks=compiled.banks,
        **limits,  # type: ignore[arg-type]
    )


def difference(
    native: NativeRun, other: CycleResult | SimulationResult, *, every_bit: bool = False
) -> str | None:
    """Return what keeps a run from being equal to native C; None when nothing does.

    Args: every_bit: NaNs must have equal bits, too.
    """
    if other.status != OK:
        return f"{other.status}: {other.reason}"
    same = _same_bits if every_bit else same_values
    differing = [name for name, own in native.outputs.items() if not same(own, other.outputs[name])]
    if differing or other.returned != native.returned:
        return f"{', '.join(differing) or 'the result'} differs from native C"
    return None


def _same_bits(first: NDArray[Any], second: NDArray[Any]) -> bool:
    return first.tobytes() == second.tobytes()
