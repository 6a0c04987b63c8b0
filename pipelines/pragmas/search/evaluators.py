"""Evaluators: the project's own high-level synthesis, and a folder of reports.

Our own synthesis compiles a design, counts its cycles and compares its results with native C. It runs in a
process that is forked from a server which has imported the engines. The process ends, with the tool that it
waits for, at a limit of processor time (its own and its tools'). A limit of ten times as much by the clock
means that the machine is at fault.

Factors are directives, or strips in the text (`source_text.py`) where a pipeline would likely wait for a
value that it stored in an array. Where one does wait, the design is also built in the other form within the
same limit, and the faster one of those that fit counts. A text with strips counts only if it gives natively,
bit by bit, the results of the program.
"""

from __future__ import annotations

import hashlib
import math
import re
import tempfile
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.sandbox import MachineFault
from pipelines.base.summation import ordered_sum
from pipelines.base.tools import ToolMissing, stopwatch
from pipelines.base.workers import ChildProcess, begin_worker
from pipelines.c import Directive, HlsError, read_interface
from pipelines.dataset.labelling import (
    DEFAULT_OPTIONS,
    CountedDesign,
    LabelOptions,
    ToolContext,
    count_design,
)
from pipelines.dataset.vendor import VendorError, read_csynth
from pipelines.hls import HlsOptions, design_id, tool_version
from pipelines.native import native_version, run_native
from pipelines.pragmas.bound import Target, impossible
from pipelines.pragmas.configuration import Configuration, configuration_key
from pipelines.pragmas.search.directives import banked_size, hls_directives, likely_waits, strips_design
from pipelines.pragmas.search.evaluation import Evaluation
from pipelines.pragmas.summary import Summary
from pipelines.programs import ProgramError, draw_data
from pipelines.schemas import INFEASIBLE, OK, REJECTED, TIMEOUT, TOOL_ERROR, ProgramRow, VendorDesignRow

COPIES_PER_SECOND = 250
"""Operations and accesses of an unrolled program that are synthesised and counted per second: 400 to 800 of
plain loops, 100 to 200 of arrays in many banks. Searches begin with it and double the size of what ended."""

ENDING_S = 2.0
"""Seconds in which a process ends on request; in one long step of the engine it cannot."""

COUNTING = replace(DEFAULT_OPTIONS, power=False, audit_fraction=0.0, cycle_limit=1 << 40)
"""Cycles alone. The time limit ends long runs; 70 million cycles of a plain loop are within it."""


_WAITS = re.compile(r"II (\d+): ResMII (\d+) \([^)]*\), RecMII (\d+) \(array")
"""A pipeline's outcome whose recurrence goes through an array."""


def own_evaluator() -> str:
    """Return the name of `OwnHls` in rows: tool and version."""
    return f"simfoundry-hls-{tool_version()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnHls:
    """An `Evaluator` by this project's engines.

    Attributes:
        summary: of the text of `program`.
        base: clock, delays and transformations of every design; its directives are replaced.
        options: of counting; timeout_s: processor time of high-level synthesis and counting together, for
            directives and for strips each.
        most_operations: operations and accesses (`size`) of a design; larger ones are timeouts without being
            begun, so that no measured time decides; None = unlimited.
        most_area_um2: estimated area above which a design does not fit; None = unlimited.
    """

    program: ProgramRow
    summary: Summary
    cache: ContentCache
    base: HlsOptions = field(default_factory=HlsOptions)
    options: LabelOptions = field(default_factory=lambda: COUNTING)
    timeout_s: float = 120.0
    most_operations: int | None = None
    most_area_um2: float | None = None

    @property
    def name(self) -> str:
        """Tool and version."""
        return own_evaluator()

    @property
    def most_copies(self) -> int:
        """Operations and accesses of a design that likely ends in time; see `unrolled_size`."""
        return self.most_operations or max(1, int(COPIES_PER_SECOND * self.timeout_s))

    def size(self, configuration: Configuration) -> int:
        """Return the operations and accesses that the engine schedules; see `banked_size`."""
        return banked_size(self.summary, configuration)

    def options_for(self, configuration: Configuration) -> HlsOptions:
        """Return the options of a configuration's design."""
        return replace(self.base, directives=hls_directives(self.summary, configuration))

    def with_strips(self, configuration: Configuration) -> tuple[ProgramRow, HlsOptions] | None:
        """Return the program with the configuration's factors as strips, and the options of its design."""
        design = strips_design(self.program.source, self.summary, configuration)
        if design is None:
            return None
        text, directives = design
        program = replace(
            self.program,
            program_id=content_hash(text, self.program.top, self.program.inputs),
            source=text,
            source_bytes=len(text.encode("utf-8")),
        )
        return program, replace(self.base, directives=directives)

    def evaluate(self, configuration: Configuration) -> Evaluation:
        """Measure one configuration in a process of its own; one that timed out before is not built again."""
        size, start = self.size(configuration), stopwatch()
        if self.most_operations is not None and size > self.most_operations:
            reason = f"{size} operations and accesses; at most {self.most_operations} are synthesised"
            return Evaluation(status=TIMEOUT, reason=reason)
        try:
            return self._faster_form(configuration)
        except MachineFault as fault:
            return Evaluation(status=TOOL_ERROR, reason=str(fault), wall_s=stopwatch() - start)

    def measure(self, directives: tuple[Directive, ...]) -> Evaluation:
        """Measure the design of directives."""
        start = stopwatch()
        try:
            return self._measure(self.program, replace(self.base, directives=directives))[0]
        except MachineFault as fault:
            return Evaluation(status=TOOL_ERROR, reason=str(fault), wall_s=stopwatch() - start)

    def _faster_form(self, configuration: Configuration) -> Evaluation:
        """Return the design by directives or by strips."""
        forms = [(self.program, self.options_for(configuration), False)]
        if (written := self.with_strips(configuration)) is not None:
            forms.append((*written, True))
            if likely_waits(self.summary, configuration):
                forms.reverse()
        program, asked, strips = forms[0]
        first, waits = self._measure(program, asked)
        first = replace(first, strips=strips)
        good = first.status in (OK, INFEASIBLE) and not waits
        if good or len(forms) == 1 or first.status == TIMEOUT:
            return first
        program, asked, strips = forms[1]
        second, _ = self._measure(program, asked)
        both_s = first.wall_s + second.wall_s
        return replace(min(first, replace(second, strips=strips), key=_worth), wall_s=both_s)

    def _measure(self, program: ProgramRow, requested: HlsOptions) -> tuple[Evaluation, bool]:
        """Build and count a design; and whether a pipeline of it waits for an array.

        Raises: MachineFault.
        """
        key = content_hash(design_id(program, requested), self.timeout_s)
        if self.cache.get("pragma_timeout", key) is not None:
            return self._timeout(), False
        start = stopwatch()
        answer = self._ask(program, requested)
        if answer is None:
            self.cache.keep("pragma_timeout", key, {"timeout_s": self.timeout_s}, TIMEOUT)
            return self._timeout(), False
        waits = isinstance(answer, CountedDesign) and _waits_for_arrays(answer)
        return self._judged(answer, stopwatch() - start), waits

    def _ask(self, program: ProgramRow, requested: HlsOptions) -> CountedDesign | str | None:
        """Return the answer of a process; None when its processor time ended first.

        Raises: MachineFault.
        """
        original = None if program is self.program else self.program
        child = ChildProcess(_work, program, original, requested, self.cache, self.options)
        try:
            answer = child.receive(self.timeout_s)
        except TimeoutError:
            return None
        finally:
            child.end(ENDING_S)
        if isinstance(answer, MachineFault):
            raise answer
        return answer

    def _timeout(self) -> Evaluation:
        reason = f"high-level synthesis took more than {self.timeout_s:g} s of processor time"
        return Evaluation(status=TIMEOUT, reason=reason, wall_s=self.timeout_s)

    def _judged(self, counted: CountedDesign | str, wall_s: float) -> Evaluation:
        if isinstance(counted, str):
            return Evaluation(status=TOOL_ERROR, reason=counted, wall_s=wall_s)
        design, run = counted.design, counted.run
        failed = design if run is None else run
        area = design.estimated_area_um2
        status, reason = failed.status, failed.reason
        if status == TOOL_ERROR and (run is None or run.outputs_equal is None):
            raise MachineFault(reason)
        if status == OK and area is not None and self.most_area_um2 is not None and area > self.most_area_um2:
            status = INFEASIBLE
            reason = f"the estimated area must be at most {self.most_area_um2:g} um2, got {area:g}"
        return Evaluation(
            status=status,
            reason=reason,
            latency_cycles=None if run is None else run.latency_cycles,
            not_applied=tuple(f"{o.directive}: {o.reason}" for o in counted.outcomes if not o.applied),
            area_um2=area,
            used_share=None if area is None or self.most_area_um2 is None else area / self.most_area_um2,
            wall_s=_engines_s(counted) or wall_s,
        )


def _engines_s(counted: CountedDesign) -> float:
    """Return the seconds that the engines took when they ran, also where the answer comes from the cache."""
    run = counted.run
    runs = () if run is None else (run.build_wall_s, run.simulate_wall_s)
    return ordered_sum(s or 0.0 for s in (counted.design.hls_wall_s, *runs))


def _waits_for_arrays(counted: CountedDesign) -> bool:
    """Tell whether an array makes the interval of a pipeline longer than its memories do."""
    return any(waits_for_array(outcome.reason or "") for outcome in counted.outcomes)


def waits_for_array(reason: str) -> bool:
    """Tell whether the outcome of a pipeline says so."""
    return any(int(m[1]) > int(m[2]) and int(m[3]) > 1 for m in _WAITS.finditer(reason))


def _worth(evaluation: Evaluation) -> tuple[bool, float]:
    """Return the order of designs of one configuration: valid ones first, then the faster ones."""
    return not evaluation.valid, math.inf if evaluation.latency_cycles is None else evaluation.latency_cycles


def _work(
    connection: Connection,
    program: ProgramRow,
    original: ProgramRow | None,
    requested: HlsOptions,
    cache: ContentCache,
    options: LabelOptions,
) -> None:
    """Build one design in the child process and send the answer through the pipe.

    Args: original: the program whose native results `program` must equal; None for the program itself.
    """
    begin_worker()
    answer: CountedDesign | str | MachineFault
    try:
        answer = count_design(program, requested, ToolContext(cache=cache, options=options))
        if original is not None and not same_results(original, program, cache, options):
            answer = "the text with strips must give what the program gives natively, got other results"
    except (HlsError, ProgramError) as error:
        answer = f"{type(error).__name__}: {error}"
    except (ToolMissing, OSError, MemoryError) as error:
        answer = MachineFault(f"{type(error).__name__}: {error}")
    except MachineFault as fault:
        answer = fault
    connection.send(answer)
    connection.close()


def same_results(first: ProgramRow, second: ProgramRow, cache: ContentCache, options: LabelOptions) -> bool:
    """Tell whether two programs of one interface run natively and give the same results, bit by bit.

    Raises: MachineFault.
    """
    digests = [_native_digest(program, cache, options) for program in (first, second)]
    return digests[0] is not None and digests[0] == digests[1]


def _native_digest(program: ProgramRow, cache: ContentCache, options: LabelOptions) -> str | None:
    """Return the hash of a program's native results, cached; None when it fails."""
    seed = options.data_seeds[0]
    key = content_hash(program.program_id, seed, native_version())
    stored = cache.get("pragma_native", key)
    if stored is not None:
        return stored["digest"]
    interface = read_interface(program.source, program.top)
    data = draw_data(interface, program.inputs, seed=seed)
    with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
        run = run_native(
            program.source, interface, data, folder=Path(folder), timeout_s=options.native_timeout_s
        )
    if run.status == TOOL_ERROR:
        raise MachineFault(f"native C: {run.reason}")
    if run.status != OK:
        return None
    digest = hashlib.sha256(repr(run.returned).encode())
    for name, values in sorted(run.outputs.items()):
        digest.update(name.encode() + b"\0" + values.tobytes())
    cache.put("pragma_native", key, {"digest": digest.hexdigest()})
    return digest.hexdigest()


REPORT = "csynth.xml"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReports:
    """An `Evaluator` over the user's reports of Vitis HLS.

    Attributes:
        folder: has one folder per configuration, named by `report_folder`, with `csynth.xml` in it.
        summary, target: of the program; reports of latencies that no design can have are rejected.
    """

    folder: Path
    summary: Summary
    target: Target
    name: str = "vitis-reports"

    def evaluate(self, configuration: Configuration) -> Evaluation:
        """Return the figures of the configuration's report; rejected when there is none."""
        path = self.folder / report_folder(configuration) / REPORT
        if not path.is_file():
            return Evaluation(status=REJECTED, reason=f"a report must be at {path}, got no file")
        try:
            row = read_csynth(path).designs[0]
        except VendorError as error:
            return Evaluation(status=REJECTED, reason=str(error))
        return vendor_evaluation(row, self.summary, self.target)


def report_folder(configuration: Configuration) -> str:
    """Return the name of the folder of a configuration's report."""
    return content_hash(configuration_key(configuration))[:16]


def vendor_evaluation(row: VendorDesignRow, summary: Summary, target: Target) -> Evaluation:
    """Return a vendor's result as an evaluation; one that does not fit its part is infeasible, one whose
    latency no design can have is rejected.
    """
    status, reason = row.status, row.reason
    if row.latency_cycles is not None and (why := impossible(summary, target, row.latency_cycles)):
        return Evaluation(status=REJECTED, reason=why)
    if status == OK and row.fits is False:
        status, reason = INFEASIBLE, "the design does not fit its part"
    return Evaluation(
        status=status,
        reason=reason,
        latency_cycles=row.latency_cycles,
        dsp_count=row.dsp_count,
    )
