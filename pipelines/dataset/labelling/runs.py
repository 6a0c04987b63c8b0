"""Runs of a design: cycles by the cycle model, outputs checked against native C, a share audited in Verilog.

Each column of table `runs` comes from one of three records: `RunIdentity`, `RunResult` and `PowerFigures`.
The audited designs are drawn by their identity, so that the same designs are audited everywhere.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pipelines import cyclemodel
from pipelines.base.cache import ContentCache, json_value
from pipelines.base.identity import content_hash, text_sha256
from pipelines.c.signature import DataSet, Interface
from pipelines.cyclemodel import CycleResult, count_cycles_of
from pipelines.dataset.labelling.loops import LoopCount, loop_counts
from pipelines.dataset.labelling.options import LabelOptions, Synthesis, ToolContext
from pipelines.hls import CompiledDesign, options_of
from pipelines.native import NativeRun, native_version, run_native_sets
from pipelines.programs import GENERATED_SUITES, USER_SUITE, data_id
from pipelines.rtl import simulation
from pipelines.rtl.reuse import audit_version as other_audit_version
from pipelines.rtl.reuse import simulate_by
from pipelines.rtl.simulation import MemoryTiming, SimulationResult, simulate_design
from pipelines.schemas import DRAWN, OK, TOOL_ERROR, DesignRow, LoopRunRow, ProgramRow, RunRow

Value = TypeVar("Value")

CACHED_BYTES = 1 << 20
"""Most bytes of a program's native outputs that the cache keeps."""

REORDERED_SHARES = {4: 1e-4, 8: 1e-11}
"""How far outputs of reordered sums may be from native C, by bytes of the type, as a share of the array's
largest: a sum of a thousand terms of one size differs by some 1e-5 in float and 1e-13 in double."""


# ---- rows ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIdentity:
    """Columns of `runs` that say what ran: known before the run, and the same each time."""

    design_id: str
    data_id: str
    suite: str
    engine: str
    engine_version: str
    seed: int
    data_kind: str | None = None
    audited: bool = False
    audit_engine: str | None = None
    audit_engine_version: str | None = None
    power_engine: str | None = None
    power_engine_version: str | None = None
    glitches: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Columns of `runs` from native C, the engine that counts the cycles, and the audit."""

    status: str
    reason: str | None
    latency_cycles: int | None = None
    outputs_equal: bool | None = None
    bytes_read: int | None = None
    bytes_written: int | None = None
    audit_latency_cycles: int | None = None
    build_wall_s: float | None = None
    simulate_wall_s: float | None = None
    native_wall_s: float | None = None
    audit_build_wall_s: float | None = None
    audit_simulate_wall_s: float | None = None

    @property
    def lasting_status(self) -> str:
        """The status for the cache: that outputs differ follows from the inputs too."""
        return OK if self.outputs_equal is not None else self.status

    def failed(self, reason: str | None, *, status: str = TOOL_ERROR, equal: bool | None = None) -> RunResult:
        """Return the result of a run whose engines disagree: only times and the audit's cycles hold."""
        return replace(
            self,
            status=status,
            reason=reason,
            outputs_equal=equal,
            latency_cycles=None,
            bytes_read=None,
            bytes_written=None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerFigures:
    """Columns of `runs` that the mapped netlist gives on the same data.

    Attributes:
        status, reason: of the run, when its netlist differs from the scheduled design; else None.
    """

    status: str | None = None
    reason: str | None = None
    power_status: str | None = None
    power_reason: str | None = None
    power_mw: float | None = None
    energy_nj: float | None = None
    internal_power_mw: float | None = None
    switching_power_mw: float | None = None
    leakage_power_mw: float | None = None
    toggle_count: int | None = None
    timed_cycles: int | None = None
    power_wall_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A design on one data set.

    Attributes:
        loops: counts of its loops, empty unless the project's engine counted the cycles.
    """

    identity: RunIdentity
    result: RunResult
    loops: tuple[LoopCount, ...] = ()
    power: PowerFigures = field(default_factory=PowerFigures)

    def row(self) -> RunRow:
        """Return the row of table `runs`."""
        figures, result = asdict(self.power), self.result
        status, reason = figures.pop("status"), figures.pop("reason")
        if status is not None:
            result = result.failed(reason, status=status, equal=result.outputs_equal)
        return RunRow(**asdict(self.identity), **asdict(result), **figures)

    def loop_rows(self) -> list[LoopRunRow]:
        """Return the rows of table `loop_runs`."""
        identity = self.identity
        return [
            LoopRunRow(
                design_id=identity.design_id, data_id=identity.data_id, suite=identity.suite, **asdict(loop)
            )
            for loop in self.loops
        ]


def fails_label(run: RunRow) -> bool:
    """Tell whether a run that is not ok fails the label of its design.

    Data of other kinds than `drawn` may be outside what a program is made for: one that has undefined
    behaviour there, or takes too long, fails that run alone.
    """
    return run.status != OK and (run.data_kind in (None, DRAWN) or run.status == TOOL_ERROR)


# ---- native C ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputDigests:
    """What a program computes: the returned value, and the SHA-256 of each array by name, in order."""

    returned: int | None
    arrays: Mapping[str, str]

    @classmethod
    def of(cls, returned: int | None, outputs: DataSet) -> OutputDigests:
        """Return the digests of the outputs of a run."""
        arrays = {name: _digest(values) for name, values in sorted(outputs.items())}
        return cls(returned=returned, arrays=arrays)

    def difference(self, other: CycleResult | SimulationResult) -> str | None:
        """Return the first output of an engine that is not equal; None when all are."""
        for name, digest in self.arrays.items():
            if name not in other.outputs or _digest(other.outputs[name]) != digest:
                return f"array {name}"
        return (
            None if self.returned == other.returned else _returned_difference(self.returned, other.returned)
        )


def _digest(values: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def _returned_difference(native: int | None, hardware: int | None) -> str:
    return f"the result ({native} natively, {hardware} in hardware)"


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeResult:
    """What native C gives: a status, its time, and the digests of its outputs."""

    status: str
    reason: str | None
    wall_s: float
    returned: int | None
    outputs: Mapping[str, str]

    @property
    def digests(self) -> OutputDigests:
        """What it computed."""
        return OutputDigests(returned=self.returned, arrays=self.outputs)

    def failed_run(self, program: ProgramRow) -> RunResult:
        """Return the result of a run whose native C is not ok."""
        reason = str(self.reason).replace("kernel.c:", f"{program.name}.c:")
        return RunResult(status=self.status, reason=f"native C: {reason}", native_wall_s=self.wall_s)


def native_result(
    program: ProgramRow, interface: Interface, data: DataSet, context: ToolContext
) -> NativeResult:
    """Compile and run the program natively, sanitizers included."""
    return native_results(program, interface, [data], context)[0]


def native_results(
    program: ProgramRow, interface: Interface, data_sets: Sequence[DataSet], context: ToolContext
) -> list[NativeResult]:
    """Run the program natively on data sets, sanitizers included; it is compiled once for all."""
    timeout_s = context.options.native_timeout_s
    rules = ("gcc shifts",) if program.suite == USER_SUITE else ()
    keys = [
        content_hash(program.source, program.top, data_id(data), native_version(), timeout_s, *rules)
        for data in data_sets
    ]

    def make(missing: Sequence[int]) -> list[NativeResult]:
        runs = _run_natively(program, interface, [data_sets[k] for k in missing], context)
        return [_native_result(run) for run in runs]

    return _cached_each(
        context.cache,
        "native",
        keys,
        make,
        lambda stored: NativeResult(**stored),
        status=lambda result: result.status,
    )


def _native_result(run: NativeRun) -> NativeResult:
    return NativeResult(
        status=run.status,
        reason=run.reason,
        wall_s=run.wall_s,
        returned=run.returned,
        outputs=OutputDigests.of(run.returned, run.outputs).arrays,
    )


def _cached_each(
    cache: ContentCache,
    kind: str,
    keys: Sequence[str],
    make: Callable[[Sequence[int]], Sequence[Value]],
    read: Callable[[Any], Value],
    *,
    status: Callable[[Value], str],
) -> list[Value]:
    """Return value stored under each key; those that lack are made together and stored, see `ContentCache`.

    Args: make: from places in `keys` to values in the same order.
    """
    stored = [cache.get(kind, key) for key in keys]
    missing = [place for place, value in enumerate(stored) if value is None]
    new = dict(zip(missing, make(missing) if missing else (), strict=True))
    for place, value in new.items():
        cache.keep(kind, keys[place], json_value(value), status(value))
    return [new[place] if place in new else read(value) for place, value in enumerate(stored)]


def _run_natively(
    program: ProgramRow, interface: Interface, data_sets: Sequence[DataSet], context: ToolContext
) -> list[NativeRun]:
    with context.tool_folder("native") as folder:
        timeout_s = context.options.native_timeout_s
        return run_native_sets(
            program.source,
            interface,
            data_sets,
            folder=folder,
            timeout_s=timeout_s,
            gcc_shifts=program.suite == USER_SUITE,
        )


def rounding_difference(
    native: NativeRun, cycles: CycleResult | SimulationResult, interface: Interface
) -> str | None:
    """Name the output that differs by more than reordered sums may, relative to its array's largest value.

    Integers must be equal. Used for designs whose floating sums were reordered (`unsafe_math`).
    """
    for name, values in native.outputs.items():
        if name not in cycles.outputs or not _is_near(values, cycles.outputs[name]):
            return f"array {name}"
    kind = interface.returns
    if kind is None or native.returned is None or cycles.returned is None or not kind.floating:
        equal = native.returned == cycles.returned
    else:
        bits = np.array([native.returned, cycles.returned], f"u{kind.width_bits // 8}")
        first, second = bits.view(kind.dtype)
        equal = _is_near(first, second)
    return None if equal else _returned_difference(native.returned, cycles.returned)


def _is_near(values: Any, others: Any) -> bool:
    if not np.issubdtype(values.dtype, np.floating):
        return bool(np.array_equal(values, others))
    finite = np.abs(values[np.isfinite(values)])
    share = REORDERED_SHARES[values.dtype.itemsize]
    allowed = share * (float(finite.max()) if finite.size else 0.0)
    return bool(np.allclose(others, values, rtol=share, atol=allowed, equal_nan=True))


# ---- one run -------------------------------------------------------------------------------------------


def is_audited(design_id: str, fraction: float) -> bool:
    """Tell whether a design belongs to the sample whose Verilog is simulated.

    Args:    fraction: of all designs, 0 to 1; a larger sample contains a smaller one.
    """
    return int(text_sha256(f"audit {design_id}")[:8], 16) < fraction * 2**32


def is_synthesised(design: DesignRow, cycles: int, options: Synthesis) -> bool:
    """Tell whether a design is mapped to cells: those of programs that nobody generated up to a limit of
    area, and a sample of the others.

    Args:    cycles: most of its runs; options: shares, 0 to 1; a larger sample contains a smaller one.
    """
    area_um2, fraction = design.estimated_area_um2 or 0.0, options.fraction
    if (
        area_um2 >= options.demanding_um2_per_ns * design.clock_period_ns
        or area_um2 * cycles >= options.demanding_um2_cycles
    ):
        fraction = max(fraction, options.demanding_fraction)
    is_small = options.all_most_um2 is None or area_um2 <= options.all_most_um2
    return _is_drawn("synthesis", design, fraction) or (design.suite not in GENERATED_SUITES and is_small)


def _is_drawn(what: str, design: DesignRow, fraction: float) -> bool:
    return int(text_sha256(f"{what} {design.design_id}")[:8], 16) < fraction * 2**32


def most_cycles(runs: Iterable[RunRow]) -> dict[str, int]:
    """Return the cycles of the longest run of each design, by its id."""
    cycles: dict[str, int] = {}
    for run in runs:
        cycles[run.design_id] = max(cycles.get(run.design_id, 0), run.latency_cycles or 0)
    return cycles


def is_fully_powered(design: DesignRow, cycles: int, options: LabelOptions) -> bool:
    """Tell whether a mapped design has power on every data set: light designs, and a sample of the others.

    Designs that are mapped because they are demanding have it only if they are light: otherwise each of
    their runs takes long.

    Args:    cycles: most of its runs; options: the share, 0 to 1; a larger sample contains a smaller one.
    """
    if 0 < (design.estimated_area_um2 or math.inf) * cycles <= options.light_um2_cycles:
        return True
    drawn = _is_drawn("power", design, options.full_power_fraction)
    return drawn and is_synthesised(design, 0, replace(options.synthesis, demanding_fraction=0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One design and one data set.

    Attributes:
        compiled: gives the compiled design; called only when something must be done.
        builds: folder of compiled cycle models, for all data sets of the design.
        seed, kind: of the data.
    """

    program: ProgramRow
    design: DesignRow
    compiled: Callable[[], CompiledDesign]
    interface: Interface
    data: DataSet
    builds: Path
    seed: int
    kind: str | None = DRAWN


def run_key(design: DesignRow, run: RunIdentity | RunRow, options: LabelOptions) -> str:
    """Hash what a run depends on."""
    return content_hash(
        run.design_id,
        design.rtl_sha256,
        run.data_id,
        [run.engine_version, run.audit_engine_version, native_version()],
        [options.model_timeout_s, options.native_timeout_s, options.cycle_limit],
        options.verilator_timeout_s if run.audited else None,
    )


def audit_version(engine: str) -> str:
    """Return the version of an engine of audits."""
    return simulation.engine_version() if engine == simulation.ENGINE else other_audit_version(engine)


def is_audited_run(design_id: str, kind: str | None, fraction: float) -> bool:
    """Tell whether the Verilog is simulated on a data set too: on drawn data and the sample's other data."""
    return kind in (None, DRAWN) and is_audited(design_id, fraction)


def run_designs(requests: Sequence[RunRequest], context: ToolContext) -> list[Run]:
    """Count the cycles of a design on data sets, and compare it with native C and perhaps its Verilog.

    Native C and the cycle model are compiled once, and only for data sets without an entry in the cache.

    Args: requests: of one design.
    """
    identities = [_identity(request, context) for request in requests]
    keys = [
        run_key(request.design, identity, context.options)
        for request, identity in zip(requests, identities, strict=True)
    ]
    batch = _Batch(requests=requests, context=context)
    results = _cached_each(
        context.cache,
        "run",
        keys,
        lambda missing: batch.results(missing, [identities[place].audited for place in missing]),
        lambda stored: RunResult(**stored),
        status=lambda result: result.lasting_status,
    )
    counted = [place for place, result in enumerate(results) if result.status == OK]
    loops = _cached_each(
        context.cache,
        "loop_runs",
        [keys[place] for place in counted],
        lambda missing: batch.loops([counted[k] for k in missing]),
        lambda stored: tuple(LoopCount(**loop) for loop in stored),
        status=lambda _: OK,
    )
    by_place = dict(zip(counted, loops, strict=True))
    return [
        Run(identity=identity, result=result, loops=by_place.get(place, ()))
        for place, (identity, result) in enumerate(zip(identities, results, strict=True))
    ]


def _identity(request: RunRequest, context: ToolContext) -> RunIdentity:
    design = request.design
    audited = is_audited_run(design.design_id, request.kind, context.options.audited_fraction)
    return RunIdentity(
        design_id=design.design_id,
        data_id=data_id(request.data),
        suite=design.suite,
        engine=cyclemodel.ENGINE,
        engine_version=cyclemodel.engine_version(),
        seed=request.seed,
        data_kind=request.kind,
        audited=audited,
        audit_engine=context.options.audit_engine if audited else None,
        audit_engine_version=audit_version(context.options.audit_engine) if audited else None,
    )


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Runs of one design that are made together.

    Attributes:
        cycles: what the cycle model gave so far, by place in `requests`.
    """

    requests: Sequence[RunRequest]
    context: ToolContext
    cycles: dict[int, CycleResult] = field(default_factory=dict[int, CycleResult])

    def results(self, places: Sequence[int], audited: Sequence[bool]) -> list[RunResult]:
        """Return the results of some requests, each after its audit."""
        first, context = self.requests[0], self.context
        data_sets = [self.requests[place].data for place in places]
        natives = native_results(first.program, first.interface, data_sets, context)
        self.count([place for place, native in zip(places, natives, strict=True) if native.status == OK])
        return [
            self._result(place, native, is_audited)
            for place, native, is_audited in zip(places, natives, audited, strict=True)
        ]

    def _result(self, place: int, native: NativeResult, audited: bool) -> RunResult:
        request, context = self.requests[place], self.context
        if native.status != OK:
            return native.failed_run(request.program)
        cycles = self.cycles[place]
        result = _compared(request, native, cycles, context)
        return (
            _audited(request, native, result, cycles, context) if audited and result.status == OK else result
        )

    def count(self, places: Sequence[int]) -> None:
        """Run the cycle model on the requests that it did not run on."""
        missing = [place for place in places if place not in self.cycles]
        if missing:
            requests = [self.requests[place] for place in missing]
            self.cycles.update(zip(missing, _count_each(requests, self.context), strict=True))

    def loops(self, places: Sequence[int]) -> list[tuple[LoopCount, ...]]:
        """Return the counts of loops of some requests whose runs are ok.

        Raises: UnknownReference: the cycle model did not come to its end this time.
        """
        self.count(places)
        graph = self.requests[0].compiled().scheduled.graph
        for cycles in (self.cycles[place] for place in places):
            if cycles.status != OK:
                raise UnknownReference(f"the cycle model is not ok as it was before: {cycles.reason}")
        return [tuple(loop_counts(graph, self.cycles[place].block_visits)) for place in places]


def cached_run(key: str, run: Callable[[], RunResult], context: ToolContext) -> RunResult:
    """Return the stored result of a run, or that of running it now."""
    return context.cache.cached(
        "run",
        key,
        run,
        lambda stored: RunResult(**stored),
        statuses=lambda result: (result.lasting_status,),
    )


class UnknownReference(RuntimeError):
    """What a run has to compute is not known now, for the reference could not be run again."""


def expected_outputs(request: RunRequest, context: ToolContext) -> OutputDigests:
    """Compute the outputs of correct hardware for an ok run.

    That is what native C gives, or of reordered floating sums what the cycle model gives.

    Raises: UnknownReference: native C, or the cycle model, did not come to its end this time.
    """
    native = native_result(request.program, request.interface, request.data, context)
    if native.status != OK:
        raise UnknownReference(f"native C is not ok as it was before: {native.reason}")
    if not options_of(request.design).transforms.unsafe_math:
        return native.digests
    (cycles,) = _count_each([request], context)
    result = _compared(request, native, cycles, context)
    if result.status != OK:
        raise UnknownReference(f"the cycle model is not ok as it was before: {result.reason}")
    return OutputDigests.of(cycles.returned, cycles.outputs)


def _count_each(requests: Sequence[RunRequest], context: ToolContext) -> list[CycleResult]:
    """Count the cycles of one design on each data set, in one process unless that fails.

    A process that fails says nothing of single data sets, so each then has a process of its own.
    """
    options, first = context.options, requests[0]
    with context.tool_folder("cycle_model") as folder:
        counted = count_cycles_of(
            first.compiled(),
            [request.data for request in requests],
            folder=folder,
            build_folder=first.builds,
            timeout_s=options.model_timeout_s,
            cycle_limit=options.cycle_limit,
        )
    if len(requests) > 1 and all(cycles.status != OK for cycles in counted):
        return [cycles for request in requests for cycles in _count_each([request], context)]
    return [
        replace(
            cycles,
            build_wall_s=0.0 if place else cycles.build_wall_s,
            run_wall_s=cycles.run_wall_s / len(counted),
        )
        for place, cycles in enumerate(counted)
    ]


def _compared(
    request: RunRequest, native: NativeResult, cycles: CycleResult, context: ToolContext
) -> RunResult:
    """Return result of a run whose cycles are counted, after the comparison of its outputs with native C."""
    result = RunResult(
        status=cycles.status,
        reason=cycles.reason,
        build_wall_s=cycles.build_wall_s,
        simulate_wall_s=cycles.run_wall_s,
        native_wall_s=native.wall_s,
    )
    if cycles.status != OK:
        return result
    differs = _difference(request, native, cycles, context)
    if differs is not None:
        return result.failed(f"the scheduled design differs from native C in {differs}", equal=False)
    return replace(
        result,
        outputs_equal=True,
        latency_cycles=cycles.latency_cycles,
        bytes_read=sum(cycles.bytes_read.values()),
        bytes_written=sum(cycles.bytes_written.values()),
    )


def _difference(
    request: RunRequest, native: NativeResult, cycles: CycleResult, context: ToolContext
) -> str | None:
    """Name what differs from native C: any bit, or for reordered sums more than rounding explains."""
    differs = native.digests.difference(cycles)
    if differs is None or not options_of(request.design).transforms.unsafe_math:
        return differs
    run = _native_outputs(request, context)
    return rounding_difference(run, cycles, request.interface) if run.status == OK else differs


def _native_outputs(request: RunRequest, context: ToolContext) -> NativeRun:
    """Return native C with its output arrays, of which `native_result` has digests; small ones are cached."""
    program, data, cache = request.program, request.data, context.cache
    key = content_hash(program.source, program.top, data_id(data), native_version(), "outputs")
    stored = cache.get("native_outputs", key)
    if stored is not None:
        arrays = {name: _decoded(array) for name, array in stored["outputs"].items()}
        return NativeRun(status=OK, outputs=arrays, returned=stored["returned"], wall_s=0.0, tool_version="")
    (run,) = _run_natively(program, request.interface, [data], context)
    if run.status == OK and sum(values.nbytes for values in run.outputs.values()) <= CACHED_BYTES:
        encoded = {name: _encoded(values) for name, values in run.outputs.items()}
        cache.put("native_outputs", key, {"outputs": encoded, "returned": run.returned})
    return run


def _encoded(values: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"type": values.dtype.str, "shape": list(values.shape), "hex": values.tobytes().hex()}


def _decoded(stored: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(bytes.fromhex(stored["hex"]), dtype=stored["type"]).reshape(stored["shape"])


# ---- the audit -----------------------------------------------------------------------------------------


def _audited(
    request: RunRequest, native: NativeResult, counted: RunResult, cycles: CycleResult, context: ToolContext
) -> RunResult:
    """Return the result of a run after the simulation of its Verilog: all of it has to agree.

    Args: counted, cycles: what the cycle model gave, which was near enough to native C.
    """
    simulated = _simulate(request, context, engine=context.options.audit_engine)
    result = replace(
        counted,
        audit_build_wall_s=simulated.build_wall_s,
        audit_simulate_wall_s=simulated.simulate_wall_s,
        audit_latency_cycles=simulated.latency_cycles,
    )
    if simulated.status != OK:
        return result.failed(f"audit: {simulated.reason}", status=simulated.status)
    differs = native.digests.difference(simulated)
    if differs is not None and native.digests.difference(cycles) is not None:  # reordered sums
        differs = OutputDigests.of(cycles.returned, cycles.outputs).difference(simulated)
    if differs is not None and _depends_on_start(request, native, context):
        reason = (
            f"hardware differs from native C in {differs}, but not when its registers and memories start as "
            "zero: the C reads what it never wrote, or the hardware lacks a reset"
        )
        return result.failed(reason, equal=False)
    if differs is not None:
        return result.failed(f"hardware differs from native C in {differs}", equal=False)
    disagreement = _disagreement(request.interface, counted, simulated, context.options.audit_engine)
    return result if disagreement is None else result.failed(disagreement, equal=counted.outputs_equal)


def _depends_on_start(request: RunRequest, native: NativeResult, context: ToolContext) -> bool:
    """Tell whether hardware that differs from native C equals it when its registers and memories start as
    zero.

    Then the C reads what it never wrote, or the engine forgot a reset. Native C starts variables with zero
    and with one pattern, the simulated Verilog with random numbers, so only the last may differ.
    """
    start = _simulate(request, context, engine=simulation.ENGINE, starts_zero=True)
    return start.status == OK and native.digests.difference(start) is None


def _disagreement(
    interface: Interface, counted: RunResult, simulated: SimulationResult, engine: str
) -> str | None:
    """Return which number the model and the simulation disagree on, None when they agree."""
    pairs = {
        "cycles": (counted.latency_cycles, simulated.latency_cycles),
        "bytes read": (counted.bytes_read, moved_bytes(interface, simulated.loads)),
        "bytes written": (counted.bytes_written, moved_bytes(interface, simulated.stores)),
    }
    for what, (model, hardware) in pairs.items():
        if model != hardware:
            return f"the cycle model counts {model} {what}, {engine} {hardware}"
    return None


def moved_bytes(interface: Interface, accesses: Mapping[str, int]) -> int:
    """Return the bytes of a number of accesses to each array."""
    widths = {array.name: array.type.width_bits // 8 for array in interface.arrays}
    return sum(count * widths[array] for array, count in accesses.items())


def memory_timing(design: DesignRow) -> MemoryTiming:
    """Return the delays of the external memories of a design."""
    return MemoryTiming(
        read_delay_cycles=design.memory_read_delay_cycles, write_delay_cycles=design.memory_write_delay_cycles
    )


def _simulate(
    request: RunRequest, context: ToolContext, *, engine: str, starts_zero: bool = False
) -> SimulationResult:
    compiled = request.compiled()
    if engine == simulation.ENGINE:
        simulate = partial(simulate_design, runtime_folder=context.runtime_folder, starts_zero=starts_zero)
    else:
        simulate = partial(simulate_by, engine)
    with context.tool_folder("verilator") as folder:
        return simulate(
            compiled.verilog,
            module=compiled.module,
            interface=request.interface,
            data=request.data,
            timing=memory_timing(request.design),
            banks=compiled.banks,
            folder=folder,
            timeout_s=context.options.verilator_timeout_s,
            cycle_limit=context.options.cycle_limit,
        )
