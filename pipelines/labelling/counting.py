"""The cycles of one design on one data set: counted by the cycle model, checked, audited by simulation.

The audited designs are drawn by their identity, so that the same designs are audited everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipelines import cyclemodel, rtlsim
from pipelines.cache import ContentCache
from pipelines.cyclemodel import CycleResult, count_cycles
from pipelines.hls import CompiledDesign, options_of
from pipelines.identity import content_hash, text_sha256
from pipelines.interface import DataSet, Interface
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.scratch import tool_folder
from pipelines.native import NativeRun, native_version, run_native
from pipelines.programs import data_id
from pipelines.rtlsim import MemoryTiming, SimulationResult, simulate_design
from pipelines.schemas import OK, TOOL_ERROR, DesignRow, ProgramRow, RunRow

REMEMBERED_BYTES = 1 << 20
"""Most bytes of a program's native outputs that the cache keeps."""

REORDERED_SHARES = {4: 1e-4, 8: 1e-11}
"""How far outputs of reordered sums may be from native C, by bytes of the type, as a share of the array's
largest: a sum of a thousand terms of one size differs by some 1e-5 in float and 1e-13 in double."""


def is_audited(design_id: str, fraction: float) -> bool:
    """Whether a design belongs to the sample whose Verilog is simulated.

    Args:    fraction: of all designs, 0 to 1; a larger sample contains a smaller one.
    """
    return int(text_sha256(f"audit {design_id}")[:8], 16) < fraction * 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One design and one data set.

    Attributes:
        compiled: gives the compiled design; called only when something must be done.
        builds: folder of compiled cycle models, for all data sets of the design.
        seed: of the data.
    """

    program: ProgramRow
    design: DesignRow
    compiled: Callable[[], CompiledDesign]
    interface: Interface
    data: DataSet
    builds: Path
    seed: int


# ---- native C --------------------------------------------------------------------------------------


def output_digest(values: np.ndarray[Any, Any]) -> str:
    """SHA-256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def attempt_native(
    program: ProgramRow,
    interface: Interface,
    data: DataSet,
    *,
    cache: ContentCache,
    options: LabelOptions,
) -> dict[str, Any]:
    """What native C gives: status, reason, wall_s, returned, and a digest of each output."""
    key = content_hash(program.source, program.top, data_id(data), native_version(), options.native_timeout_s)
    stored = cache.get("native", key)
    if stored is not None:
        return stored
    with tool_folder(cache, "native", options) as folder:
        run = run_native(program.source, interface, data, folder=folder, timeout_s=options.native_timeout_s)
    found = _native_record(run)
    cache.keep("native", key, found, run.status)
    return found


def native_failure(program: ProgramRow, native: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a run's row when native C is not ok."""
    reason = str(native["reason"]).replace("kernel.c:", f"{program.name}.c:")
    return {"status": native["status"], "reason": f"native C: {reason}"}


def _record(found: CycleResult) -> dict[str, Any]:
    """The outputs of the cycle model as `difference` compares them."""
    return {"returned": found.returned, "outputs": output_digests(found.outputs)}


def output_digests(outputs: DataSet) -> dict[str, str]:
    """A digest of each output, in order of name."""
    return {name: output_digest(values) for name, values in sorted(outputs.items())}


def _native_record(run: NativeRun) -> dict[str, Any]:
    return {
        "status": run.status,
        "reason": run.reason,
        "wall_s": run.wall_s,
        "returned": run.returned,
        "outputs": output_digests(run.outputs),
    }


def difference(native: Mapping[str, Any], found: CycleResult | SimulationResult) -> str | None:
    """What differs between native C and an engine's outputs; None when every output is equal."""
    for name, digest in native["outputs"].items():
        if name not in found.outputs or output_digest(found.outputs[name]) != digest:
            return f"array {name}"
    if native["returned"] != found.returned:
        return f"the result ({native['returned']} natively, {found.returned} in hardware)"
    return None


def rounding_difference(
    native: NativeRun, found: CycleResult | SimulationResult, interface: Interface
) -> str | None:
    """What differs by more than reordered sums may: floating outputs by a share of their array's largest.

    Integers must be equal. Used for designs whose floating sums were reordered (`unsafe_math`).
    """
    for name, values in native.outputs.items():
        if name not in found.outputs or not _is_near(values, found.outputs[name]):
            return f"array {name}"
    kind = interface.returns
    if kind is None or native.returned is None or found.returned is None or not kind.floating:
        equal = native.returned == found.returned
    else:
        bits = np.array([native.returned, found.returned], f"u{kind.width_bits // 8}")
        first, second = bits.view(kind.dtype)
        equal = _is_near(first, second)
    return None if equal else f"the result ({native.returned} natively, {found.returned} in hardware)"


def _is_near(values: Any, others: Any) -> bool:
    if not np.issubdtype(values.dtype, np.floating):
        return bool(np.array_equal(values, others))
    finite = np.abs(values[np.isfinite(values)])
    share = REORDERED_SHARES[values.dtype.itemsize]
    allowed = share * (float(finite.max()) if finite.size else 0.0)
    return bool(np.allclose(others, values, rtol=share, atol=allowed, equal_nan=True))


# ---- one run ---------------------------------------------------------------------------------------


def empty_run(
    design: DesignRow, data: DataSet, *, seed: int, engine: str, engine_version: str, audited: bool = False
) -> RunRow:
    """The row of a run that is ok and of which nothing is known yet.

    Args:    engine, engine_version: of what counts the cycles; audited: whether Verilator checks it.
    """
    return RunRow(
        design_id=design.design_id,
        data_id=data_id(data),
        suite=design.suite,
        engine=engine,
        engine_version=engine_version,
        seed=seed,
        status=OK,
        reason=None,
        latency_cycles=None,
        outputs_equal=None,
        bytes_read=None,
        bytes_written=None,
        audited=audited,
        audit_engine=rtlsim.ENGINE if audited else None,
        audit_engine_version=rtlsim.engine_version() if audited else None,
        audit_latency_cycles=None,
        power_status=None,
        power_reason=None,
        power_engine=None,
        power_engine_version=None,
        glitches=None,
        power_mw=None,
        energy_nj=None,
        internal_power_mw=None,
        switching_power_mw=None,
        leakage_power_mw=None,
        toggle_count=None,
        build_wall_s=None,
        simulate_wall_s=None,
        native_wall_s=None,
        audit_build_wall_s=None,
        audit_simulate_wall_s=None,
        power_wall_s=None,
    )


def run_key(design: DesignRow, empty: RunRow, options: LabelOptions) -> str:
    """What a run depends on.

    Args: empty: the row of the run; its outcome does not matter.
    """
    return content_hash(
        empty.design_id,
        design.rtl_sha256,
        empty.data_id,
        [empty.engine_version, empty.audit_engine_version, native_version()],
        [options.model_timeout_s, options.native_timeout_s, options.cycle_limit],
        options.verilator_timeout_s if empty.audited else None,
    )


def attempt_run(request: RunRequest, *, cache: ContentCache, options: LabelOptions) -> RunRow:
    """Count the cycles of a design on one data set, and compare it with native C and perhaps its Verilog."""
    empty = empty_run(
        request.design,
        request.data,
        seed=request.seed,
        engine=cyclemodel.ENGINE,
        engine_version=cyclemodel.engine_version(),
        audited=is_audited(request.design.design_id, options.audited_fraction),
    )
    key = run_key(request.design, empty, options)
    stored = cache.get("run", key)
    if stored is not None:
        return replace(empty, **stored)
    native = attempt_native(request.program, request.interface, request.data, cache=cache, options=options)
    fields: dict[str, Any] = {"native_wall_s": native["wall_s"]}
    if native["status"] != OK:
        fields |= native_failure(request.program, native)
    else:
        counted, found = _count(request, native, cache=cache, options=options)
        fields |= counted
        if empty.audited and fields["status"] == OK:
            fields |= _audit(request, native, fields, found, cache=cache, options=options)
    cache.keep("run", key, fields, compared_status(fields))
    return replace(empty, **fields)


def compared_status(fields: Mapping[str, Any]) -> str:
    """The status of a run for the cache: that outputs differ follows from the inputs too."""
    return OK if fields.get("outputs_equal") is not None else fields["status"]


class UnknownReference(RuntimeError):
    """What a run has to compute is not known now, for the reference could not be run again."""


def expected_outputs(request: RunRequest, *, cache: ContentCache, options: LabelOptions) -> Mapping[str, Any]:
    """What the hardware of a run that is ok computes: `returned`, and in `outputs` a digest of each array.

    That is what native C gives, or of reordered floating sums what the cycle model gives.

    Raises: UnknownReference: native C, or the cycle model, did not come to its end this time.
    """
    native = attempt_native(request.program, request.interface, request.data, cache=cache, options=options)
    if native["status"] != OK:
        raise UnknownReference(f"native C must run again as it did before, got {native['reason']}")
    if not options_of(request.design).transforms.unsafe_math:
        return native
    fields, found = _count(request, native, cache=cache, options=options)
    if fields["status"] != OK:
        raise UnknownReference(f"the cycle model must run again as it did before, got {fields['reason']}")
    return _record(found)


def _count(
    request: RunRequest, native: dict[str, Any], *, cache: ContentCache, options: LabelOptions
) -> tuple[dict[str, Any], CycleResult]:
    """Fields of a row that the cycle model gives, and its result."""
    with tool_folder(cache, "cycle_model", options) as folder:
        counted = count_cycles(
            request.compiled(),
            request.data,
            folder=folder,
            build_folder=request.builds,
            timeout_s=options.model_timeout_s,
            cycle_limit=options.cycle_limit,
        )
    fields: dict[str, Any] = {
        "status": counted.status,
        "reason": counted.reason,
        "build_wall_s": counted.build_wall_s,
        "simulate_wall_s": counted.run_wall_s,
    }
    if counted.status != OK:
        return fields, counted
    differs = _difference(request, native, counted, cache=cache, options=options)
    if differs is not None:
        reason = f"the scheduled design differs from native C in {differs}"
        return fields | {"outputs_equal": False, "status": TOOL_ERROR, "reason": reason}, counted
    return fields | {
        "outputs_equal": True,
        "latency_cycles": counted.latency_cycles,
        "bytes_read": sum(counted.bytes_read.values()),
        "bytes_written": sum(counted.bytes_written.values()),
    }, counted


def _difference(
    request: RunRequest,
    native: Mapping[str, Any],
    found: CycleResult,
    *,
    cache: ContentCache,
    options: LabelOptions,
) -> str | None:
    """What differs from native C: any bit, or of reordered floating sums what rounding does not explain."""
    differs = difference(native, found)
    if differs is None or not options_of(request.design).transforms.unsafe_math:
        return differs
    run = _native_outputs(request, cache=cache, options=options)
    return rounding_difference(run, found, request.interface) if run.status == OK else differs


def _native_outputs(request: RunRequest, *, cache: ContentCache, options: LabelOptions) -> NativeRun:
    """Native C with its output arrays, of which `attempt_native` keeps digests; small ones are remembered."""
    program, data = request.program, request.data
    key = content_hash(program.source, program.top, data_id(data), native_version(), "outputs")
    stored = cache.get("native_outputs", key)
    if stored is not None:
        arrays = {name: _decoded(array) for name, array in stored["outputs"].items()}
        return NativeRun(status=OK, outputs=arrays, returned=stored["returned"], wall_s=0.0, tool_version="")
    with tool_folder(cache, "native", options) as folder:
        run = run_native(
            program.source, request.interface, data, folder=folder, timeout_s=options.native_timeout_s
        )
    if run.status == OK and sum(values.nbytes for values in run.outputs.values()) <= REMEMBERED_BYTES:
        encoded = {name: _encoded(values) for name, values in run.outputs.items()}
        cache.put("native_outputs", key, {"outputs": encoded, "returned": run.returned})
    return run


def _encoded(values: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"type": values.dtype.str, "shape": list(values.shape), "hex": values.tobytes().hex()}


def _decoded(stored: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(bytes.fromhex(stored["hex"]), dtype=stored["type"]).reshape(stored["shape"])


def _audit(
    request: RunRequest,
    native: dict[str, Any],
    counted: dict[str, Any],
    found: CycleResult,
    *,
    cache: ContentCache,
    options: LabelOptions,
) -> dict[str, Any]:
    """Fields of a row that the simulation of the Verilog changes: all of it has to agree.

    Args: counted: fields that the cycle model gave; found: its result, which was near enough to native C.
    """
    simulated = _simulate(request, cache=cache, options=options)
    fields: dict[str, Any] = {
        "audit_build_wall_s": simulated.build_wall_s,
        "audit_simulate_wall_s": simulated.simulate_wall_s,
        "audit_latency_cycles": simulated.latency_cycles,
    }
    unknown = {"latency_cycles": None, "bytes_read": None, "bytes_written": None}
    if simulated.status != OK:
        reason = f"audit: {simulated.reason}"
        return fields | unknown | {"outputs_equal": None, "status": simulated.status, "reason": reason}
    differs = difference(native, simulated)
    if differs is not None and difference(native, found) is not None:  # reordered sums
        differs = difference(_record(found), simulated)
    if differs is not None:
        reason = f"hardware differs from native C in {differs}"
        return fields | unknown | {"outputs_equal": False, "status": TOOL_ERROR, "reason": reason}
    disagreement = _disagreement(request.interface, counted, simulated)
    if disagreement is not None:
        return fields | unknown | {"status": TOOL_ERROR, "reason": disagreement}
    return fields


def _disagreement(interface: Interface, counted: dict[str, Any], simulated: SimulationResult) -> str | None:
    """Which number the model and the simulation disagree on, None when they agree."""
    widths = {a.name: a.type.width_bits // 8 for a in interface.arrays}
    found = {
        "cycles": (counted["latency_cycles"], simulated.latency_cycles),
        "bytes read": (counted["bytes_read"], sum(n * widths[a] for a, n in simulated.loads.items())),
        "bytes written": (counted["bytes_written"], sum(n * widths[a] for a, n in simulated.stores.items())),
    }
    for what, (model, hardware) in found.items():
        if model != hardware:
            return f"the cycle model counts {model} {what}, {rtlsim.ENGINE} {hardware}"
    return None


def _simulate(request: RunRequest, *, cache: ContentCache, options: LabelOptions) -> SimulationResult:
    design, compiled = request.design, request.compiled()
    timing = MemoryTiming(
        read_delay_cycles=design.memory_read_delay_cycles,
        write_delay_cycles=design.memory_write_delay_cycles,
    )
    with tool_folder(cache, "verilator", options) as folder:
        return simulate_design(
            compiled.verilog,
            module=compiled.module,
            interface=request.interface,
            data=request.data,
            timing=timing,
            banks=compiled.banks,
            folder=folder,
            runtime_folder=cache.folder / "runtime",
            timeout_s=options.verilator_timeout_s,
            cycle_limit=options.cycle_limit,
        )
