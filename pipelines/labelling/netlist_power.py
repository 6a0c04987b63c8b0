"""Power of a design's run: its mapped netlist simulated on the same data, which also checks the netlist.

A netlist that computes something else than the scheduled design, or takes other cycles, makes the run and
the label a tool_error: its area and its delay are of other hardware. Power that cannot be had leaves them
alone and says why in `power_status` and `power_reason`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipelines import power
from pipelines.cache import ContentCache
from pipelines.identity import content_hash
from pipelines.labelling.counting import RunRequest, UnknownReference, expected_outputs, output_digests
from pipelines.labelling.netlists import mapped_netlist, netlist_key
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.scratch import tool_folder
from pipelines.power import DesignRun, PowerError, PowerResult, estimate_power
from pipelines.rtlsim import MemoryTiming
from pipelines.schemas import TOOL_ERROR, DesignRow, RunRow
from pipelines.synthesis import Target, load_liberty
from pipelines.tools import ToolMissing

_FIELDS = "fields-1"  # raise when a run's row gets other fields from here
_SLACK_CYCLES = 16  # past the cycle model's last one: a netlist that goes on is another design


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRun:
    """A run that is ok so far, and what its netlist is mapped to.

    Attributes:
        request: design and data; row: of the run, with its cycles.
    """

    request: RunRequest
    row: RunRow
    target: Target


def power_key(design: DesignRow, row: RunRow, target: Target, options: LabelOptions) -> str:
    """What the power of a run depends on, and the verdict on its netlist that is kept with it.

    Args: row: of the run, with its data and what the cycle model counted.
    """
    return content_hash(
        netlist_key(design, target),
        [design.program_id, row.data_id, row.latency_cycles, row.bytes_read, row.bytes_written],
        [design.memory_read_delay_cycles, design.memory_write_delay_cycles],
        [design.clock_period_ns, power.tool_version(), options.glitches, options.power_timeout_s],
        _FIELDS,
    )


def attempt_power(counted: CountedRun, *, cache: ContentCache, options: LabelOptions) -> RunRow:
    """The row of a run with its power, or as a tool_error when the netlist disagrees.

    Raises: SynthesisError, HlsError: the netlist cannot be made again. OSError: the disk is full.
    """
    row = replace(
        counted.row,
        power_engine=power.ENGINE,
        power_engine_version=power.tool_version(),
        glitches=options.glitches,
    )
    key = power_key(counted.request.design, row, counted.target, options)
    stored = cache.get("power", key)
    if stored is not None:
        return replace(row, **stored)
    try:
        result = simulate_netlist(counted, cache=cache, options=options)
    except (ToolMissing, PowerError) as error:
        return replace(row, power_status=TOOL_ERROR, power_reason=str(error))
    fields = _fields(result)
    try:
        differs = _difference(counted, result, cache=cache, options=options)
    except UnknownReference as error:
        return replace(row, power_status=TOOL_ERROR, power_reason=str(error))
    if differs is not None:
        reason = f"the mapped netlist differs from the scheduled design in {differs}"
        unknown = dict.fromkeys((*_POWERS, "latency_cycles", "bytes_read", "bytes_written"))
        fields |= {"status": TOOL_ERROR, "reason": reason, **unknown}
        fields |= {"power_status": TOOL_ERROR, "power_reason": reason}
    cache.keep("power", key, fields, result.status)
    return replace(row, **fields)


_POWERS = (
    "power_mw",
    "energy_nj",
    "internal_power_mw",
    "switching_power_mw",
    "leakage_power_mw",
    "toggle_count",
)


def simulate_netlist(counted: CountedRun, *, cache: ContentCache, options: LabelOptions) -> PowerResult:
    """What the mapped netlist of a run does, and its power.

    Raises: ToolMissing, PowerError, SynthesisError, HlsError, OSError: it cannot be simulated.
    """
    request, target = counted.request, counted.target
    design = request.design
    run = DesignRun(
        interface=request.interface,
        data=request.data,
        timing=MemoryTiming(
            read_delay_cycles=design.memory_read_delay_cycles,
            write_delay_cycles=design.memory_write_delay_cycles,
        ),
        banks=request.compiled().banks,
        cycle_limit=(counted.row.latency_cycles or 0) + _SLACK_CYCLES,
    )
    netlist = mapped_netlist(design, request.compiled, target=target, cache=cache, options=options)
    with tool_folder(cache, "power", options) as folder:
        return estimate_power(
            netlist,
            liberty=load_liberty(target.liberty),
            clock_period_ns=design.clock_period_ns,
            run=run,
            folder=folder,
            engine_folder=cache.folder / "engines",
            glitches=options.glitches,
            timeout_s=options.power_timeout_s,
        )


def _fields(result: PowerResult) -> dict[str, Any]:
    parts = result.parts
    return {
        "power_status": result.status,
        "power_reason": result.reason,
        "power_mw": result.power_mw,
        "energy_nj": result.energy_nj,
        "internal_power_mw": parts and parts.internal_mw,
        "switching_power_mw": parts and parts.switching_mw,
        "leakage_power_mw": parts and parts.leakage_mw,
        "toggle_count": result.toggles,
        "power_wall_s": result.wall_s,
    }


def _difference(
    counted: CountedRun, result: PowerResult, *, cache: ContentCache, options: LabelOptions
) -> str | None:
    """What the netlist computed that the cycle model did not, None when all is equal or nothing is known."""
    row = counted.row
    if result.is_endless:
        return f"cycles (more than {row.latency_cycles})"
    if result.latency_cycles is None:
        return None
    expected = expected_outputs(counted.request, cache=cache, options=options)
    for what, (model, netlist) in compare_outputs(counted, result, expected).items():
        if model != netlist:
            return what if what.startswith("array ") else f"{what} ({model} and {netlist})"
    return None


def compare_outputs(
    counted: CountedRun, result: PowerResult, expected: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Figures of the scheduled design and of its netlist, by what they are.

    Args: expected: as of `expected_outputs`.
    """
    row, arrays = counted.row, counted.request.interface.arrays
    widths = {a.name: a.type.width_bits // 8 for a in arrays}
    outputs = output_digests(result.outputs)
    return {
        "cycles": (row.latency_cycles, result.latency_cycles),
        "bytes read": (row.bytes_read, sum(n * widths[a] for a, n in result.loads.items())),
        "bytes written": (row.bytes_written, sum(n * widths[a] for a, n in result.stores.items())),
        "the result": (expected["returned"], result.returned),
        **{f"array {a.name}": (expected["outputs"].get(a.name), outputs.get(a.name)) for a in arrays},
    }
