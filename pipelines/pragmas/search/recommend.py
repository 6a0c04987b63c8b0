"""The best directives of one program: the least bound, measured designs, annotated C and directives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.cache import ContentCache
from pipelines.hls import HlsOptions, TransformOptions, directives_json
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Bound, Target, bound, read_target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.nlp import INFEASIBLE, SearchOptions, Solution, solve
from pipelines.pragmas.search.directives import MERLIN, STYLES, annotate, hls_directives, strips_design
from pipelines.pragmas.search.evaluation import Exploration
from pipelines.pragmas.search.evaluators import OwnHls, RecordedReports
from pipelines.pragmas.search.ladder import explore
from pipelines.pragmas.search.state import LadderOptions
from pipelines.pragmas.search.suite import OWN_TARGET
from pipelines.pragmas.summary import Summary
from pipelines.schemas import ProgramRow
from pipelines.tools import stopwatch


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveRequest:
    """A program and how its directives are searched.

    Attributes:
        text: of the program's own file, without what it includes; file: its name.
        target: of the package by name, or the path of a file; ordered_sums: floating sums keep their order.
        most_area_um2: of a design of OWN_TARGET; most_partitions: of an array; None = unlimited.
        fine_only: no copies of loops above pipelined ones; style: of pragmas.
        evaluations: designs that are measured at most, `together` at a time, 0 for the bound alone.
        reports: folder of synthesis reports, for targets other than OWN_TARGET.
        solver_timeout_s: of each sub-problem; hls_timeout_s: processor time of each design.
    """

    program: ProgramRow
    text: str
    file: Path
    target: str = "u200"
    ordered_sums: bool = False
    most_area_um2: float | None = None
    most_partitions: int | None = None
    fine_only: bool = False
    style: str = MERLIN
    evaluations: int = 0
    reports: Path | None = None
    solver_timeout_s: float = 30.0
    hls_timeout_s: float = 120.0
    together: int = 2

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise PragmaError(f"unknown style: {self.style}; accepted: {', '.join(STYLES)}")
        if self.most_area_um2 is not None and self.target != OWN_TARGET:
            raise PragmaError(f"a limit on area is for target {OWN_TARGET}, not for {self.target}")
        if self.evaluations and self.reports is None and self.target != OWN_TARGET:
            raise PragmaError(
                f"only target {OWN_TARGET} can be measured; for {self.target} give a folder of synthesis "
                "reports, one folder per configuration"
            )
        if self.evaluations and self.reports is not None and not self.reports.is_dir():
            raise PragmaError(f"no such folder of reports: {self.reports}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The best directives of a program.

    Attributes:
        solution: with the least bound; solver_s: time of the solver.
        exploration: the log of measured designs, None when none was asked for.
        configuration: the best measured one, else that of the solution; bound: of it.
        source: the text with its pragmas, or with its strips; directives: JSON for our own synthesis, None
            for other targets; strips: the directives are those of a text with strips.
    """

    summary: Summary
    target: Target
    solution: Solution
    solver_s: float
    exploration: Exploration | None
    configuration: Configuration
    bound: Bound
    source: str
    directives: str | None
    strips: bool


def recommend(request: DirectiveRequest, *, cache: ContentCache) -> Recommendation:
    """The directives with the least bound, or the best ones among measured designs.

    Raises: PragmaError, HlsError: the program is outside the supported class, or no design is feasible.
    """
    summary = summarise(request.program.source, request.program.top, file=request.file.name)
    target = read_target(request.target)
    if request.ordered_sums:
        target = target.ordered()
    target = target.within_area(request.most_area_um2)
    options = SearchOptions(
        most_partitions=request.most_partitions,
        fine_only=request.fine_only,
        time_limit_s=request.solver_timeout_s,
    )
    start = stopwatch()
    solution = solve(summary, target, options)
    solver_s = stopwatch() - start
    if solution.configuration is None:
        raise PragmaError(_no_design(solution, request))
    exploration = _explored(request, summary, target, cache) if request.evaluations else None
    best = None if exploration is None else exploration.best
    chosen = solution.configuration
    if best is not None and best.configuration is not None:
        chosen = best.configuration
    source, directives = annotate(request.text, summary, chosen, style=request.style), None
    if request.target == OWN_TARGET:
        directives = directives_json(hls_directives(summary, chosen))
    strips = best is not None and best.evaluation is not None and best.evaluation.strips
    design = strips_design(request.text, summary, chosen) if strips else None
    if design is not None:
        source, directives = design[0], directives_json(design[1])
    return Recommendation(
        summary=summary,
        target=target,
        solution=solution,
        solver_s=solver_s,
        exploration=exploration,
        configuration=chosen,
        bound=bound(summary, chosen, target),
        source=source,
        directives=directives,
        strips=design is not None,
    )


def _explored(
    request: DirectiveRequest, summary: Summary, target: Target, cache: ContentCache
) -> Exploration:
    options = LadderOptions(
        together=request.together,
        solver_timeout_s=request.solver_timeout_s,
        most_evaluations=request.evaluations,
        proof_evaluations=request.evaluations,
    )
    if request.reports is not None:
        reports = RecordedReports(folder=request.reports, summary=summary, target=target)
        return explore(summary, target, reports, options)
    own = OwnHls(
        program=request.program,
        summary=summary,
        cache=cache,
        base=HlsOptions(transforms=TransformOptions(unsafe_math=not request.ordered_sums)),
        timeout_s=request.hls_timeout_s,
        most_area_um2=request.most_area_um2,
    )
    timed = replace(options, most_copies=own.most_copies, design_s=own.timeout_s, size=own.size)
    return explore(summary, target, own, timed)


def _no_design(solution: Solution, request: DirectiveRequest) -> str:
    if solution.status == INFEASIBLE:
        clash = " and ".join(solution.clashing) or "the constraints"
        return f"no feasible design: {clash} clash ({request.file})"
    return f"the solver found no design within {request.solver_timeout_s:g} s ({request.file})"
