"""Labels of fixed-point pipelines: synthesis, and power of the netlist on drawn inputs, one per interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.accelerators.fixed.sharing import TOP, FixedDesign, format_bits, word_widths
from pipelines.accelerators.fixed.tracing import uniform_inputs
from pipelines.power import TraceStimulus, encode_netlist, power_parts, run_engine
from pipelines.schemas.columns import OK, TOOL_ERROR
from pipelines.silicon.synthesis import Target, analyse_timing, load_liberty, synthesize_design

_WORD = 64
_TIMEOUT_S = 1800.0
Bits = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedLabel:
    """Label of a pipeline.

    Attributes:
        outputs_equal: whether the netlist gave what da4ml's own model gives, for every sample.
        power_mw: with an input per interval. energy_nj: of one inference: power times the clock period times
            the cycles of the interval.
    """

    status: str
    reason: str | None
    outputs_equal: bool = False
    power_mw: float | None = None
    energy_nj: float | None = None
    area_um2: float | None = None
    cell_count: int | None = None
    delay_ns: float | None = None
    latency_cycles: int | None = None


def label_fixed(
    design: FixedDesign,
    *,
    liberty_path: Path,
    folder: Path,
    clock_period_ns: float,
    engines: Path | None = None,
    samples: int = 200,
    seed: int = 0,
) -> FixedLabel:
    """Synthesise a pipeline and drive its netlist with uniform inputs, with glitches.

    Args: folder: of working files. engines: folder of the netlist simulator, `folder` for none.
    """
    target = Target(liberty=liberty_path, clock_period_ns=clock_period_ns)
    synthesis = synthesize_design(
        design.verilog, top=TOP, target=target, folder=folder / "synthesis", timeout_s=_TIMEOUT_S
    )
    if synthesis.netlist is None:
        return FixedLabel(status=synthesis.status, reason=synthesis.reason)
    liberty = load_liberty(liberty_path)
    timing = analyse_timing(synthesis.netlist, liberty)
    encoded = encode_netlist(synthesis.netlist, liberty, timing)
    values = drawn_inputs(design, samples + (design.interval_cycles > 1) * design.latency_cycles, seed)
    ports = input_words(design, values)
    known = {name: words for name, words in ports.items() if name in encoded.netlist.inputs}
    watched = tuple(f"out_{i}" for i in range(len(word_widths(format_bits(design.output_formats)))))
    stimulus = TraceStimulus(encoded=encoded, ports=known, watched=watched)
    run = run_engine(
        encoded,
        lambda: stimulus.content(delays=True),
        folder=folder / "power",
        engine_folder=(engines or folder) / "engines",
        timeout_s=_TIMEOUT_S,
    )
    if run.status != OK:
        return FixedLabel(status=run.status, reason=run.reason)
    activity, outputs = stimulus.result(run.content)
    if not is_equal(design, values, outputs):
        return FixedLabel(status=TOOL_ERROR, reason="netlist differs from the fixed-point model")
    parts = power_parts(synthesis.netlist, liberty, timing, activity, clock_period_ns=clock_period_ns)
    power_mw = parts.total_mw
    return FixedLabel(
        status=OK,
        reason=None,
        outputs_equal=True,
        power_mw=power_mw,
        energy_nj=None if power_mw is None else power_mw * clock_period_ns * design.interval_cycles * 1e-3,
        area_um2=synthesis.area_um2,
        cell_count=synthesis.cell_count,
        delay_ns=synthesis.delay_ns,
        latency_cycles=design.latency_cycles,
    )


def drawn_inputs(design: FixedDesign, samples: int, seed: int) -> NDArray[np.float64]:
    """Return (samples, inputs) uniform over the format, on its steps."""
    return uniform_inputs(design.inputs, samples, seed)


def input_words(design: FixedDesign, values: NDArray[np.float64]) -> dict[str, NDArray[np.uint64]]:
    """Return the values of the input ports in every cycle."""
    interval = design.interval_cycles
    ports = _words(encode_values(np.repeat(values, interval, axis=0), design.input_formats), "in")
    if interval > 1:
        ports["start"] = (np.arange(len(values) * interval) % interval == 0).astype(np.uint64)
    return ports


def is_equal(
    design: FixedDesign, values: NDArray[np.float64], outputs: Mapping[str, NDArray[np.uint64]]
) -> bool:
    """Tell whether the output ports have, `latency_cycles` later, what the model gives, in every cycle.

    With an interval, inferences that start within the first `latency_cycles` are left out: registers have no
    reset, and the chain behind `start` holds anything until then.
    """
    interval, late = design.interval_cycles, design.latency_cycles
    results = np.repeat(design.expected(values), interval, axis=0)
    expected = _words(encode_values(results, design.output_formats), "out")
    first = 0 if interval == 1 else -(-late // interval) * interval
    return all(
        (outputs[name][late + first :] == words[first:-late]).all() for name, words in expected.items()
    )


def encode_values(values: NDArray[np.float64], known: Sequence[tuple[int, int]]) -> Bits:
    """Return (samples, bits) lowest bit of the first number first."""
    columns: list[Bits] = []
    for place, (bits, fraction) in enumerate(known):
        steps = np.floor(values[:, place] * 2.0**fraction).astype(np.int64)
        columns.append((steps[:, None] >> np.arange(bits) & 1).astype(np.uint8))
    return np.concatenate(columns, axis=1)


def _words(bits: Bits, name: str) -> dict[str, NDArray[np.uint64]]:
    starts = range(0, bits.shape[1], _WORD)
    weights = np.uint64(1) << np.arange(_WORD, dtype=np.uint64)
    return {
        f"{name}_{i}": (part.astype(np.uint64) * weights[: part.shape[1]]).sum(axis=1, dtype=np.uint64)
        for i, part in enumerate(bits[:, start : start + _WORD] for start in starts)
    }
