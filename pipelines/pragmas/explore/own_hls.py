"""Measuring with the project's own high-level synthesis: compiled, counted cycle by cycle, equal to native C.

Belongs here: one killable process a design, its limits, and what its rows mean to a search. Does not: the
engines, or the search.

A process is forked from a server that has imported the engines, and is ended at the time limit: a design
whose loops are unrolled too far takes minutes, as with any tool.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection

from pipelines.cache import ContentCache
from pipelines.hls import HlsError, HlsOptions, design_id, tool_version
from pipelines.identity import content_hash
from pipelines.labelling import CountedDesign, LabelOptions, count_design
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.explore.directives import hls_directives
from pipelines.pragmas.explore.evaluation import Evaluation
from pipelines.pragmas.summary import Summary
from pipelines.programs import ProgramError
from pipelines.schemas import INFEASIBLE, OK, TIMEOUT, TOOL_ERROR, ProgramRow
from pipelines.tools import ToolMissing, stopwatch

COPIES_A_SECOND = 50
"""Operations and accesses of an unrolled program that are synthesised and counted in a second, surely: plain
loops do 400 to 800, arrays in many banks 100 to 200. Searches begin with it and double what was done."""

PRELOADED = ("pipelines.pragmas.explore.own_hls",)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnHls:
    """An `Evaluator` by this project's engines.

    Attributes:
        program: as a row; summary: of the same text.
        base: clock, delays and transformations of every design; its directives are replaced.
        options: of counting; timeout_s: of high-level synthesis and counting together, wall-clock.
        most_area_um2: estimated area above which a design does not fit; None for no limit.
    """

    program: ProgramRow
    summary: Summary
    cache: ContentCache
    base: HlsOptions = field(default_factory=HlsOptions)
    options: LabelOptions = field(default_factory=lambda: LabelOptions(power=False, audit_fraction=0.0))
    timeout_s: float = 120.0
    most_area_um2: float | None = None

    @property
    def name(self) -> str:
        """Tool and version."""
        return f"simfoundry-hls-{tool_version()}"

    @property
    def most_copies(self) -> int:
        """Of operations and accesses in a design that is likely done in time; see `unrolled_size`."""
        return max(1, int(COPIES_A_SECOND * self.timeout_s))

    def options_for(self, configuration: Configuration) -> HlsOptions:
        """The options of a configuration's design."""
        return replace(self.base, directives=hls_directives(self.summary, configuration))

    def evaluate(self, configuration: Configuration) -> Evaluation:
        """Measure one configuration in a process of its own; one that timed out before is not tried again."""
        asked = self.options_for(configuration)
        key = content_hash(design_id(self.program, asked), self.timeout_s)
        if self.cache.get("pragma_timeout", key) is not None:
            return self._late()
        start = stopwatch()
        answered, found = self._ask(asked)
        if not answered:
            self.cache.put("pragma_timeout", key, {"timeout_s": self.timeout_s})
            return self._late()
        return self._judged(found, stopwatch() - start)

    def _ask(self, asked: HlsOptions) -> tuple[bool, CountedDesign | str | None]:
        """Whether the process answered in time, and its answer; None when it ended without one."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(PRELOADED))
        receiving, sending = context.Pipe(duplex=False)
        arguments = (sending, self.program, asked, self.cache, self.options)
        process = context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        sending.close()
        try:
            answered = receiving.poll(self.timeout_s)
            return answered, _received(receiving) if answered else None
        finally:
            process.kill()
            process.join()
            receiving.close()

    def _late(self) -> Evaluation:
        reason = f"high-level synthesis ran past {self.timeout_s:g} s"
        return Evaluation(status=TIMEOUT, reason=reason, wall_s=self.timeout_s)

    def _judged(self, found: CountedDesign | str | None, wall_s: float) -> Evaluation:
        if found is None:
            return Evaluation(status=TOOL_ERROR, reason="the process ended without an answer", wall_s=wall_s)
        if isinstance(found, str):
            return Evaluation(status=TOOL_ERROR, reason=found, wall_s=wall_s)
        design, run = found.design, found.run
        failed = design if run is None else run
        area = design.estimated_area_um2
        status, reason = failed.status, failed.reason
        if status == OK and area is not None and self.most_area_um2 is not None and area > self.most_area_um2:
            status = INFEASIBLE
            reason = f"the estimated area must be at most {self.most_area_um2:g} um2, got {area:g}"
        return Evaluation(
            status=status,
            reason=reason,
            latency_cycles=None if run is None else run.latency_cycles,
            not_applied=tuple(f"{o.directive}: {o.reason}" for o in found.outcomes if not o.applied),
            area_um2=area,
            used_share=None if area is None or self.most_area_um2 is None else area / self.most_area_um2,
            wall_s=_engines_s(found) or wall_s,
        )


def _engines_s(found: CountedDesign) -> float:
    """What the engines took when they ran, also where the answer came from the cache, in seconds."""
    run = found.run
    runs = () if run is None else (run.build_wall_s, run.simulate_wall_s)
    return sum(s or 0.0 for s in (found.design.hls_wall_s, *runs))


def _received(connection: Connection) -> CountedDesign | str | None:
    try:
        return connection.recv()
    except EOFError:
        return None


def _work(
    connection: Connection,
    program: ProgramRow,
    asked: HlsOptions,
    cache: ContentCache,
    options: LabelOptions,
) -> None:
    """What the process does: one design, and its answer through the pipe."""
    answer: CountedDesign | str
    try:
        answer = count_design(program, asked, cache=cache, options=options)
    except (HlsError, ProgramError, ToolMissing, OSError, MemoryError) as error:
        answer = f"{type(error).__name__}: {error}"
    connection.send(answer)
    connection.close()
