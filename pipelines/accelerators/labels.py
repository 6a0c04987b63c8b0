"""Labels of a network on an accelerator: gate-level power of the core, energy of memories by their accesses.

The core is synthesised once per configuration. Every product of a network is simulated at the RTL; the values
of the core's ports drive its netlist, which must write the same words. Memories are not synthesised, as the
library has no macro for them: `MemoryModel` says what an access costs. External memory is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log2
from pathlib import Path

import numpy as np

from pipelines.accelerators.systolic.execution import Bench, JobRun, LayerRun, run_network
from pipelines.accelerators.systolic.hardware import Hardware
from pipelines.accelerators.systolic.quantise import IntegerNetwork
from pipelines.accelerators.systolic.verilog import CORE, core_verilog
from pipelines.base.summation import ordered_sum
from pipelines.power import Activity, EncodedNetlist, TraceStimulus, encode_netlist, power_parts, run_engine
from pipelines.schemas.columns import INFEASIBLE, OK, TOOL_ERROR
from pipelines.silicon.synthesis import (
    Liberty,
    Netlist,
    SynthesisResult,
    Target,
    Timing,
    analyse_timing,
    load_liberty,
    synthesize_design,
)

VERSION = "2"
"""Raised by hand when the same hardware and network give other labels."""
_TIMEOUT_S = 1800.0
_ELEMENT, _FLAT_ELEMENTS = "element", 16
"""Meshes of more elements are mapped element by element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryModel:
    """What an access of an on-chip memory costs: capacitance that is charged, times the supply voltage
    squared.

    The values are assumptions for a 0.18 um process, not measurements: a bit line loaded by its cells moves
    by a tenth of the supply when it is read and by all of it when it is written.

    Attributes:
        cell_pf: of a bit line per row: a cell's drain and its wire. gate_pf: of a word line per bit.
        output_pf: of a sense amplifier, latch and driver per bit. decoder_pf: per bit of address.
        read_swing: part of the supply that a bit line moves. cell_um2: area per bit, periphery included.
    """

    cell_pf: float = 0.0018
    gate_pf: float = 0.0020
    output_pf: float = 0.03
    decoder_pf: float = 0.05
    read_swing: float = 0.1
    cell_um2: float = 7.0

    def energy_pj(self, *, rows: int, bits: int, voltage_v: float, writes: bool) -> float:
        """Return the energy of one access."""
        swing = 1.0 if writes else self.read_swing
        line = bits * (rows * self.cell_pf * swing + self.gate_pf + self.output_pf)
        return (line + self.decoder_pf * log2(max(2, rows))) * voltage_v**2


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerLabel:
    """Cycles and energy of one layer; the core's energy is shared by toggles times load."""

    name: str
    cycles: int
    core_energy_nj: float
    memory_energy_nj: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLabel:
    """Label of a network on an accelerator.

    Attributes:
        status, reason: see the table. outputs_equal: integer inference, RTL and netlist agree in all words.
        cycles: of all products, without the host. energies: in nJ. layers: of the accelerator, in order.
    """

    status: str
    reason: str | None
    outputs_equal: bool = False
    cycles: int = 0
    core_energy_nj: float = 0.0
    memory_energy_nj: float = 0.0
    power_mw: float = 0.0
    layers: tuple[LayerLabel, ...] = ()


@dataclass(slots=True, kw_only=True)
class Labeller:
    """A synthesised accelerator that labels networks.

    Attributes:
        folder: of working files and engines. glitches: whether gates have delays.
        memories: model of on-chip memories. by_element: whether each kind of element is mapped once; None
            does so in meshes of more than 16.
    """

    hardware: Hardware
    liberty_path: Path
    folder: Path
    glitches: bool = True
    memories: MemoryModel = field(default_factory=MemoryModel)
    by_element: bool | None = None
    synthesis: SynthesisResult = field(init=False)
    bench: Bench = field(init=False)
    _parts: tuple[Liberty, Netlist, Timing, EncodedNetlist] = field(init=False)
    _reset: Activity | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        target = Target(liberty=self.liberty_path, clock_period_ns=self.hardware.clock_period_ns)
        folder = self.folder / f"synthesis-{self.hardware.accelerator_id[:16]}"
        verilog = core_verilog(self.hardware)
        self.synthesis = synthesize_design(
            verilog,
            top=CORE,
            target=target,
            folder=folder,
            timeout_s=_TIMEOUT_S,
            repeated=_ELEMENT if self.is_hierarchical else None,
        )
        if self.synthesis.netlist is not None:
            liberty = load_liberty(self.liberty_path)
            timing = analyse_timing(self.synthesis.netlist, liberty)
            encoded = encode_netlist(self.synthesis.netlist, liberty, timing)
            self._parts = (liberty, self.synthesis.netlist, timing, encoded)
            self.bench = Bench(self.hardware, self.folder / "simulators")

    @property
    def is_hierarchical(self) -> bool:
        """Whether each kind of element is mapped once, for all its instances."""
        elements = self.hardware.rows * self.hardware.columns
        return elements > _FLAT_ELEMENTS if self.by_element is None else self.by_element

    @property
    def memory_area_um2(self) -> float:
        """Area of scratchpad and accumulator."""
        h = self.hardware
        scratchpad = h.scratchpad_rows * h.lanes * h.input_bits
        return (scratchpad + h.accumulator_rows * h.columns * h.accumulator_bits) * self.memories.cell_um2

    def label(self, integer: IntegerNetwork, *, flow: str) -> NetworkLabel:
        """Run a network and label it."""
        if self.synthesis.status != OK:
            return NetworkLabel(status=self.synthesis.status, reason=f"synthesis: {self.synthesis.reason}")
        runs = run_network(self.bench, integer, flow=flow)
        return self.label_runs(runs)

    def label_runs(self, runs: Sequence[LayerRun]) -> NetworkLabel:
        """Return the label of layers that have run at the RTL."""
        activities: list[Activity] = []
        for run in runs:
            if not run.is_equal:
                reason = f"RTL differs from integer inference: {run.layer.name}"
                return NetworkLabel(status=TOOL_ERROR, reason=reason)
            parts = [self._running_activity(job) for job in run.jobs]
            reasons = [part for part in parts if isinstance(part, str)]
            if reasons:
                return NetworkLabel(status=TOOL_ERROR, reason=f"{reasons[0]}: {run.layer.name}")
            activities.append(_summed([part for part in parts if isinstance(part, Activity)]))
        return self._network_label(runs, activities)

    def _network_label(self, runs: Sequence[LayerRun], activities: Sequence[Activity]) -> NetworkLabel:
        liberty, netlist, timing, _ = self._parts
        whole, period = _summed(activities), self.hardware.clock_period_ns
        power_mw = power_parts(netlist, liberty, timing, whole, clock_period_ns=period).total_mw
        if power_mw is None:
            return NetworkLabel(status=INFEASIBLE, reason="the library lacks energies or leakage")
        core = power_mw * whole.cycles * period * 1e-3
        weights = [float((timing.load_pf.mean(axis=1) * activity.toggles).sum()) for activity in activities]
        layers = tuple(
            LayerLabel(
                name=run.layer.name,
                cycles=run.cycles,
                core_energy_nj=core * weight / ordered_sum(weights),
                memory_energy_nj=ordered_sum(self._memory_energy(job) for job in run.jobs),
            )
            for run, weight in zip(runs, weights, strict=True)
        )
        memory = ordered_sum(layer.memory_energy_nj for layer in layers)
        return NetworkLabel(
            status=OK,
            reason=None,
            outputs_equal=True,
            cycles=whole.cycles,
            core_energy_nj=core,
            memory_energy_nj=memory,
            power_mw=(core + memory) / (whole.cycles * period) * 1e3,
            layers=layers,
        )

    def _running_activity(self, job: JobRun) -> Activity | str:
        """Return the activity behind the reset, or why there is none."""
        activity = self._activity(job)
        if isinstance(activity, str):
            return activity
        if self._reset is None:
            before = self._activity(_resetting(job))
            if isinstance(before, str):
                return before
            self._reset = before
        return _summed([activity, self._reset], signs=(1, -1))

    def _activity(self, job: JobRun) -> Activity | str:
        encoded = self._parts[3]
        watched = ("wr_request", "wr_data", "wr_address")
        stimulus = TraceStimulus(encoded=encoded, ports=job.ports, watched=watched)
        run = run_engine(
            encoded,
            lambda: stimulus.content(delays=self.glitches),
            folder=self.folder / "power",
            engine_folder=self.folder / "engines",
            timeout_s=_TIMEOUT_S,
        )
        if run.status != OK:
            return f"{run.status} of the netlist: {run.reason}"
        activity, outputs = stimulus.result(run.content)
        return activity if _writes_equal(job, outputs) else "netlist writes other words than the RTL"

    def _memory_energy(self, job: JobRun) -> float:
        """Return the energy of scratchpad and accumulator in nJ."""
        h, voltage = self.hardware, self._parts[0].nominal_voltage_v
        shapes = {
            "s": (h.scratchpad_rows // h.scratchpad_banks, h.lanes * h.input_bits),
            "a": (h.accumulator_rows // h.accumulator_banks, h.columns * h.accumulator_bits),
        }
        return 1e-3 * ordered_sum(
            job.accesses[f"{name}_{kind}"]
            * self.memories.energy_pj(rows=rows, bits=bits, voltage_v=voltage, writes=kind == "we")
            for name, (rows, bits) in shapes.items()
            for kind in ("re", "we")
        )


def _summed(parts: Sequence[Activity], signs: Sequence[int] = ()) -> Activity:
    signs = signs or [1] * len(parts)
    return Activity(
        cycles=sum(sign * part.cycles for sign, part in zip(signs, parts, strict=True)),
        toggles=np.sum([sign * part.toggles for sign, part in zip(signs, parts, strict=True)], axis=0),
        ones=np.sum([sign * part.ones for sign, part in zip(signs, parts, strict=True)], axis=0),
    )


def _resetting(job: JobRun) -> JobRun:
    """Return the cycles of a run before its first command."""
    ports = {name: values[: job.reset_cycles] for name, values in job.ports.items()}
    writes = {name: values[: job.reset_cycles] for name, values in job.writes.items()}
    return JobRun(
        results=job.results, cycles=0, ports=ports, reset_cycles=job.reset_cycles, accesses={}, writes=writes
    )


def _writes_equal(job: JobRun, outputs: dict[str, np.ndarray]) -> bool:
    """Tell whether netlist and RTL write the same in the same cycles; ports mean nothing during reset."""
    running = slice(job.reset_cycles, None)
    request = job.writes["wr_request"][running]
    if not (outputs["wr_request"][running] == request).all():
        return False
    at = request != 0
    meant = np.uint64(0xFFFFFFFFFFFFFFFF) >> (
        np.uint64(64) - np.uint64(8) * job.writes["wr_count"][running][at]
    )
    masks = {
        "wr_data": meant,
        "wr_address": np.full_like(meant, 0xFFFFFF),
    }  # bytes behind the count mean nothing
    return all(
        ((outputs[name][running][at] ^ job.writes[name][running][at]) & mask == 0).all()
        for name, mask in masks.items()
    )
