"""The best directives of one program: the least bound, estimated or measured designs, annotated C."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipelines.base.cache import ContentCache
from pipelines.base.tools import stopwatch
from pipelines.c import Directive
from pipelines.dataset.features import DesignEstimate, estimate_design
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Bound, Target, bound, read_target
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.errors import PragmaError, SubscriptError
from pipelines.pragmas.nlp import INFEASIBLE, SearchOptions, Solution, solve, solve_limited
from pipelines.pragmas.search.budgets import FIRST_PARTITIONS, is_fine
from pipelines.pragmas.search.directives import (
    MERLIN,
    OWN,
    STYLES,
    annotate,
    annotate_directives,
    banked_size,
    banks_of,
    given_size,
    hls_directives,
    merlin_pragmas,
    strips_design,
)
from pipelines.pragmas.search.estimated import (
    TOLERANCE,
    Candidate,
    Estimated,
    EstimatedSearch,
    candidate_of,
    preferred,
)
from pipelines.pragmas.search.evaluation import Exploration
from pipelines.pragmas.search.evaluators import COPIES_PER_SECOND, OwnHls, RecordedReports
from pipelines.pragmas.search.ladder import explore
from pipelines.pragmas.search.state import LadderOptions, SubProblem
from pipelines.pragmas.search.subproblems import GUESS_GAP, within_size
from pipelines.pragmas.search.suite import OWN_TARGET
from pipelines.pragmas.summary import Summary
from pipelines.schemas import OK, ProgramRow

REDUCTIONS_S = 48.0
"""Seconds in which the engine likely estimates the designs near the best ones."""
ESTIMATE_S = 8.0
"""Seconds in which high-level synthesis likely makes a design that is recommended without being measured."""
MOST_DESIGNS = 5
"""Measured designs in an answer."""
CLOSE, SMALLER = 0.1, 0.5
"""A design is close and much smaller if it takes at most this share of cycles more at this share of area."""
PLAIN, LEAST_BOUND, LEAST_CYCLES, MUCH_SMALLER = "plain", "least bound", "least cycles", "smaller"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectiveRequest:
    """A program and how its directives are searched.

    Attributes:
        text: of the program's own file, without what it includes; file: its name.
        target: of the package by name, or the path of a file; ordered_sums: floating sums keep their order.
        most_area_um2: of a design of OWN_TARGET; most_partitions: of an array; None = unlimited.
        fine_only: no copies of loops above pipelined ones.
        style: of pragmas; None for the one that the target's tool reads.
        evaluations: designs that are measured at most, `together` at a time; 0 for an estimate.
        reports: folder of synthesis reports, for targets other than OWN_TARGET.
        power: estimate the power of the designs of the answer.
        solver_timeout_s: of each sub-problem; hls_timeout_s: processor time of each design.
    """

    program: ProgramRow
    text: str
    file: Path
    target: str
    ordered_sums: bool
    most_area_um2: float | None
    most_partitions: int | None
    fine_only: bool
    style: str | None
    evaluations: int
    reports: Path | None
    power: bool
    solver_timeout_s: float
    hls_timeout_s: float
    together: int

    def __post_init__(self) -> None:
        if self.style is not None and self.style not in STYLES:
            raise PragmaError(f"unknown style: {self.style}; accepted: {', '.join(STYLES)}")
        if self.most_area_um2 is not None and not self.is_own:
            raise PragmaError(f"a limit on area is for target {OWN_TARGET}, not for {self.target}")
        if self.power and not self.is_own:
            raise PragmaError(f"power is estimated for target {OWN_TARGET}, not for {self.target}")
        if self.evaluations and self.reports is None and not self.is_own:
            raise PragmaError(
                f"only target {OWN_TARGET} can be measured; for {self.target} give a folder of synthesis "
                "reports, one folder per configuration"
            )
        if self.reports is not None and self.is_own:
            raise PragmaError(
                f"reports are for other targets (u200, a JSON file); {OWN_TARGET} is measured without them"
            )
        if self.evaluations and self.reports is not None and not self.reports.is_dir():
            raise PragmaError(f"no such folder of reports: {self.reports}")
        self._require_positive()

    def _require_positive(self) -> None:
        numbers = {
            "area": self.most_area_um2,
            "partitions": self.most_partitions,
            "solver timeout": self.solver_timeout_s,
            "HLS timeout": self.hls_timeout_s,
            "designs at a time": self.together,
        }
        for name, number in numbers.items():
            if number is not None and not 0 < number < math.inf:
                raise PragmaError(f"not a positive number: {name} {number:g}")
        if self.evaluations < 0:
            raise PragmaError(f"not a number of designs: {self.evaluations}; accepted: 0 or more")

    @property
    def is_own(self) -> bool:
        """Whether the project's own synthesis is the target."""
        return self.target == OWN_TARGET

    @property
    def limits_designs(self) -> bool:
        """Whether some designs are not accepted."""
        return self.fine_only or self.most_area_um2 is not None or self.most_partitions is not None

    @property
    def options(self) -> HlsOptions:
        """Options of designs of the project's own synthesis, without directives."""
        return HlsOptions(transforms=TransformOptions(unsafe_math=not self.ordered_sums))


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateDesign:
    """A design of an answer.

    Attributes:
        name: PLAIN, LEAST_BOUND, LEAST_CYCLES (by the estimates), or its rank among measured designs.
        configuration: None for the plain program; strips: its factors are strips in the text.
        directives: of our own synthesis; pragmas: for people, and for other tools.
        measured: the cycles come from a run or a report, not from an estimate.
        cycles: None where there is no estimate, for `reason`.
    """

    name: str
    configuration: Configuration | None = None
    strips: bool = False
    directives: tuple[Directive, ...] = ()
    pragmas: tuple[str, ...] = ()
    measured: bool = False
    cycles: int | None = None
    area_um2: float | None = None
    power_mw: float | None = None
    dsp_count: int | None = None
    reason: str | None = None

    @property
    def cost(self) -> tuple[float, float]:
        """Cycles, then area; infinite when unknown."""
        cycles = math.inf if self.cycles is None else float(self.cycles)
        return cycles, math.inf if self.area_um2 is None else self.area_um2

    def is_much_smaller(self, other: CandidateDesign) -> bool:
        """Tell whether it is close to another design in cycles at much less area."""
        (cycles, area), (least, most) = self.cost, other.cost
        return cycles <= (1 + CLOSE) * least and area <= SMALLER * most < math.inf

    def fits(self, most_area_um2: float | None) -> bool:
        """Tell whether it has cycles, and its area keeps to a limit."""
        return self.cycles is not None and (most_area_um2 is None or self.cost[1] <= most_area_um2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The best directives of a program.

    Attributes:
        solution: with the least bound, whose `lower_bound` holds for all designs within the limits.
        solver_s: time of the solver.
        exploration: the log of measured designs, None when none was asked for.
        plain: the program as it is, None for other targets; designs: the best measured ones, or the one with
            the least bound, best first.
        recommended: one of these, the smallest within `TOLERANCE` of the least cycles; why: what speaks
            against the others, where that is the plain program.
        smaller: the smallest design that is close to it and much smaller, None for none.
        configuration: of the recommended design, of the least bound for the plain program; bound: of it.
        source: the text with the recommended pragmas, or with its strips; None where a loop is not in it.
        unsafe_math: designs were made with reordered floating sums, and it may matter.
    """

    summary: Summary
    target: Target
    solution: Solution
    solver_s: float
    exploration: Exploration | None
    plain: CandidateDesign | None
    designs: tuple[CandidateDesign, ...]
    recommended: CandidateDesign
    why: str | None
    smaller: CandidateDesign | None
    configuration: Configuration
    bound: Bound
    source: str | None
    unsafe_math: bool


def recommend(request: DirectiveRequest, *, cache: ContentCache) -> Recommendation:
    """Return the best measured directives, or those with the least bound, unless the plain program is better.

    Raises: PragmaError, HlsError: the program is outside the supported class, or no design is feasible.
    """
    summary = _summary(request)
    target = read_target(request.target)
    if request.ordered_sums:
        target = target.ordered()
    options = SearchOptions(
        most_partitions=request.most_partitions,
        fine_only=request.fine_only,
        time_limit_s=request.solver_timeout_s,
    )
    start = stopwatch()
    solution = solve_limited(summary, target, options)
    solver_s = stopwatch() - start
    if solution.configuration is None:
        raise PragmaError(_no_design(solution, request))
    search = _Search(
        request=request, summary=summary, target=target, least=solution.configuration, cache=cache
    )
    plain = search.plain() if request.is_own else None
    if request.is_own and (request.limits_designs or summary.relaxed):
        exploration, designs = search.by_estimates()
    else:
        exploration = search.explored() if request.evaluations else None
        designs = () if exploration is None else search.measured(exploration)
        if plain is not None and exploration is None:
            designs = search.near_first(plain)
        elif exploration is None or (plain is None and not designs):
            designs = (search.first(),)
    recommended, why = _choose(plain, designs, request)
    chosen = recommended.configuration or solution.configuration
    return Recommendation(
        summary=summary,
        target=target,
        solution=solution,
        solver_s=solver_s,
        exploration=exploration,
        plain=plain,
        designs=designs,
        recommended=recommended,
        why=why,
        smaller=find_much_smaller(recommended, [*designs, *([] if plain is None else [plain])]),
        configuration=chosen,
        bound=bound(summary, chosen, target),
        source=search.text(recommended),
        unsafe_math=request.is_own and not request.ordered_sums and _has_floats(summary),
    )


def _summary(request: DirectiveRequest) -> Summary:
    """Return the program's facts. For our own synthesis subscripts need not be affine, for the engine itself
    keeps the order of what it cannot tell apart.

    Raises: PragmaError: the program is outside the supported class.
    """
    program, file = request.program, request.file.name
    try:
        return summarise(program.source, program.top, file=file)
    except SubscriptError:
        if not request.is_own:
            raise
        return summarise(program.source, program.top, file=file, relaxed=True)


def _choose(
    plain: CandidateDesign | None, designs: Sequence[CandidateDesign], request: DirectiveRequest
) -> tuple[CandidateDesign, str | None]:
    """Return the recommended design, and why it is the plain program.

    Raises: PragmaError: nothing fits.
    """
    if plain is None:
        return designs[0], None
    limit = request.most_area_um2
    fitting = [design for design in (*designs, plain) if design.fits(limit)]
    best = preferred(fitting) if fitting else None
    if best is not None and best is not plain:
        return best, None
    best = min((d for d in fitting if d is not plain), key=lambda design: design.cost, default=None)
    if not plain.fits(limit) and limit is not None:
        raise PragmaError(_nothing_fits(plain, designs, limit, request))
    if best is not None:
        return plain, f"the best other design takes {best.cycles:,} cycles"
    if designs and limit is not None:
        area = f"{(designs[0].area_um2 or 0.0) / 1e6:.3g}"
        return plain, f"no design with directives fits; the smallest takes {area} mm2 by its estimate"
    if not designs and request.evaluations:
        return plain, "none of the measured designs is valid"
    if not designs:
        return plain, "no directive can make the program faster"
    return plain, f"the configuration with the least bound has no estimate: {designs[0].reason}"


def find_much_smaller(chosen: CandidateDesign, designs: Sequence[CandidateDesign]) -> CandidateDesign | None:
    """Find the smallest design that is close to the chosen one in cycles and much smaller."""
    able = [design for design in designs if design.is_much_smaller(chosen)]
    return min(able, key=lambda design: design.cost[1], default=None)


def best_designs(designs: Sequence[CandidateDesign]) -> list[CandidateDesign]:
    """Return the preferred design, the one that is close and much smaller, and the fastest others."""
    if not designs:
        return []
    first = preferred(designs)
    smaller = find_much_smaller(first, designs)
    kept = [first] if smaller is None else [first, smaller]
    others = sorted((one for one in designs if one not in kept), key=lambda design: design.cost)
    return [first, *sorted([*kept[1:], *others[: MOST_DESIGNS - len(kept)]], key=lambda design: design.cost)]


def _first_and_smaller(designs: Sequence[CandidateDesign]) -> tuple[CandidateDesign, ...]:
    """Return the preferred design, and the one that is close and much smaller."""
    first, *others = best_designs(designs)
    smaller = find_much_smaller(first, others)
    return (first,) if smaller is None else (first, replace(smaller, name=MUCH_SMALLER))


def _nothing_fits(
    plain: CandidateDesign, designs: Sequence[CandidateDesign], limit: float, request: DirectiveRequest
) -> str:
    if plain.area_um2 is None:
        return f"no design fits --area {limit / 1e6:g}: the plain program has no estimate: {plain.reason}"
    least = min(design.area_um2 or math.inf for design in (plain, *designs))
    return (
        f"no design fits --area {limit / 1e6:g}: the smallest of those tried takes {least / 1e6:.3g} mm2 by "
        f"its estimate ({request.file})"
    )


def _has_floats(summary: Summary) -> bool:
    """Tell whether the program has sums or differences of floating numbers."""
    return any(
        operation.type in ("float", "double") and operation.kind in ("add", "sub")
        for statement in summary.statements
        for operation in statement.operations
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """The designs of a request.

    Attributes: least: the configuration with the least bound.
    """

    request: DirectiveRequest
    summary: Summary
    target: Target
    least: Configuration
    cache: ContentCache

    @property
    def own(self) -> OwnHls:
        request = self.request
        return OwnHls(
            program=request.program,
            summary=self.summary,
            cache=self.cache,
            base=request.options,
            timeout_s=request.hls_timeout_s,
            most_area_um2=request.most_area_um2,
        )

    def explored(self) -> Exploration:
        request = self.request
        options = LadderOptions(
            together=request.together,
            solver_timeout_s=request.solver_timeout_s,
            most_evaluations=request.evaluations,
            proof_evaluations=request.evaluations,
        )
        if request.reports is not None:
            reports = RecordedReports(folder=request.reports, summary=self.summary, target=self.target)
            return explore(self.summary, self.target, reports, options)
        own = self.own
        timed = replace(options, most_copies=own.most_copies, design_s=own.timeout_s, size=own.size)
        return explore(self.summary, self.target, own, timed)

    def by_estimates(self) -> tuple[Exploration | None, tuple[CandidateDesign, ...]]:
        """Return the best designs by the engine's estimates, measured where that is asked for, all within the
        limit; where none is, the smallest one.
        """
        search = self._by_estimates()
        estimates = search.estimated()
        if self.request.most_area_um2 is None:
            estimates = self._reduced(estimates)
        fitting = [one for one in search.fitting(estimates) if one.directives]
        if not fitting:
            others = [one for one in estimates if one.directives]
            smallest = min(others, key=lambda one: one.cost[1], default=None)
            return None, () if smallest is None else (self._of_estimate(smallest),)
        if not self.request.evaluations:
            return None, _first_and_smaller([self._of_estimate(one) for one in fitting])
        exploration, measured = search.measured(estimates, self.request.evaluations)
        designs = [
            replace(
                self._of_estimate(one),
                measured=True,
                cycles=step.evaluation.latency_cycles,
                area_um2=step.evaluation.area_um2,
            )
            for one, step in zip(measured, exploration.steps, strict=True)
            if one.directives and step.evaluation is not None and step.evaluation.valid
        ]
        if all(
            not one.directives for one in measured
        ):  # no other estimate is below the plain program's cycles
            return exploration, (self._of_estimate(preferred(fitting)),)
        best = best_designs(designs)
        ranked = [replace(design, name=str(rank)) for rank, design in enumerate(best, 1)]
        return exploration, tuple(map(self._with_power, ranked))

    def _by_estimates(self) -> EstimatedSearch:
        return EstimatedSearch(
            summary=self.summary,
            estimate=self._estimate,
            measure=self.own.measure,
            bound_of=lambda configuration: bound(self.summary, configuration, self.target).latency_cycles,
            size_of=self._size_of,
            accept=self._accepts,
            most_area_um2=self.request.most_area_um2,
            together=self.request.together,
        )

    def _reduced(self, estimates: Sequence[Estimated]) -> list[Estimated]:
        """Return the estimates, and estimates of designs with less of one directive than the best ones."""
        most_size = int(REDUCTIONS_S * COPIES_PER_SECOND)
        return self._by_estimates().reduced(estimates, (TOLERANCE, CLOSE, TOLERANCE), most_size)

    def near_first(self, plain: CandidateDesign) -> tuple[CandidateDesign, ...]:
        """Return the design with the least bound, or a smaller one nearly as fast; and a much smaller one."""
        first = self.first()
        if first.cycles is None or plain.cycles is None or first.cycles >= plain.cycles:
            return (first,) if first.directives else ()
        start = Estimated(
            candidate=candidate_of(self.summary, first.directives),
            directives=first.directives,
            estimate=self._estimate(first.directives),
        )
        reduced = [one for one in self._reduced([start]) if one is not start and one.directives]
        able = [self._of_estimate(one) for one in reduced if one.estimate.status == OK]
        return _first_and_smaller([first, *able])

    def _accepts(self, candidate: Candidate) -> bool:
        """Tell whether a design keeps to the request's limits, and the engine likely makes it in time."""
        most, configuration = self.request.most_partitions, candidate.configuration
        counts = banks_of(self.summary, configuration, candidate.most_banks).values()
        return (
            self._size_of(candidate) <= self._most_copies
            and not (self.request.fine_only and not is_fine(self.summary, configuration))
            and (most is None or all(math.prod(banks) <= most for banks in counts))
        )

    def _size_of(self, candidate: Candidate) -> int:
        return given_size(self.summary, candidate.configuration, candidate.most_banks)

    @property
    def _most_copies(self) -> int:
        """Operations and accesses that the engine likely makes in ESTIMATE_S."""
        return int(COPIES_PER_SECOND * min(ESTIMATE_S, self.request.hls_timeout_s))

    def _estimate(self, directives: tuple[Directive, ...]) -> DesignEstimate:
        options = replace(self.request.options, directives=directives)
        return estimate_design(
            self.request.program, options, cache=self.cache, timeout_s=self.request.hls_timeout_s
        )

    def _of_estimate(self, one: Estimated) -> CandidateDesign:
        return replace(
            self._estimated_as(CandidateDesign(name=LEAST_CYCLES), one.estimate),
            configuration=one.candidate.configuration,
            directives=one.directives,
            pragmas=tuple(map(_in_words, one.directives)),
        )

    def plain(self) -> CandidateDesign:
        return self._estimated(CandidateDesign(name=PLAIN))

    def first(self) -> CandidateDesign:
        """Return the design with the least bound; with our own synthesis, of those made in some seconds."""
        if not self.request.is_own:
            return self._design(LEAST_BOUND, self.least)
        design = self._design(LEAST_BOUND, self._least_within_size())
        return self._estimated(design) if design.directives else design

    def _least_within_size(self) -> Configuration:
        """Return the configuration with the least bound of those that are likely made within ESTIMATE_S."""
        request = self.request
        most = self._most_copies

        def margin_of(configuration: Configuration) -> float:
            return most / max(1, banked_size(self.summary, configuration))

        def solve_again(options: SearchOptions) -> SubProblem:
            solution = solve(self.summary, self.target, options)
            return SubProblem(
                most_partitions=options.most_partitions,
                fine_only=options.fine_only,
                solution=solution,
                solver_s=0.0,
            )

        if margin_of(self.least) >= 1.0:
            return self.least
        asked = SearchOptions(
            most_partitions=min(FIRST_PARTITIONS, request.most_partitions or FIRST_PARTITIONS),
            fine_only=request.fine_only,
            most_copies=most,
            plain_copies=True,
            gap=GUESS_GAP,
            time_limit_s=request.solver_timeout_s,
        )
        solution = within_size(self.summary, asked, solve_again, margin_of).solution
        return solution.configuration or self.least

    def _estimated(self, design: CandidateDesign, *, on_data: bool = False) -> CandidateDesign:
        program, options = self._inputs(design)
        estimate = estimate_design(
            program, options, cache=self.cache, timeout_s=self.request.hls_timeout_s, on_data=on_data
        )
        return self._estimated_as(design, estimate)

    def _estimated_as(self, design: CandidateDesign, estimate: DesignEstimate) -> CandidateDesign:
        if estimate.status != OK:
            return replace(design, reason=estimate.reason)
        power_mw = estimate.power_mw if self.request.power else None
        return replace(design, cycles=estimate.cycles, area_um2=estimate.area_um2, power_mw=power_mw)

    def _inputs(self, design: CandidateDesign) -> tuple[ProgramRow, HlsOptions]:
        if design.strips and design.configuration is not None:
            written = self.own.with_strips(design.configuration)
            if written is not None:
                return written
        return self.request.program, replace(self.request.options, directives=design.directives)

    def measured(self, exploration: Exploration) -> tuple[CandidateDesign, ...]:
        """Return the best measured designs, each once."""
        distinct: dict[tuple[object, ...], CandidateDesign] = {}
        for step in exploration.steps:
            measured = step.evaluation
            if measured is None or not measured.valid or step.configuration is None:
                continue
            design = replace(
                self._design("", step.configuration, strips=measured.strips),
                measured=True,
                cycles=measured.latency_cycles,
                area_um2=measured.area_um2,
                dsp_count=measured.dsp_count,
            )
            distinct.setdefault((design.directives, design.pragmas, design.strips), design)
        best = best_designs(list(distinct.values()))
        ranked = [replace(design, name=str(rank)) for rank, design in enumerate(best, 1)]
        return tuple(map(self._with_power, ranked))

    def _with_power(self, design: CandidateDesign) -> CandidateDesign:
        """Return a measured design, with the estimated power on its data if that is asked for."""
        if not self.request.power:
            return design
        return replace(design, power_mw=self._estimated(design, on_data=True).power_mw)

    def _design(self, name: str, configuration: Configuration, *, strips: bool = False) -> CandidateDesign:
        if not self.request.is_own:
            pragmas = tuple(
                f"{loop}: {pragma}"
                for loop in self.summary.loops
                for pragma in merlin_pragmas(self.summary, configuration, loop)
            )
            return CandidateDesign(name=name, configuration=configuration, pragmas=pragmas)
        directives = hls_directives(self.summary, configuration)
        written = self.own.with_strips(configuration) if strips else None
        if written is not None:
            directives = written[1].directives
        return CandidateDesign(
            name=name,
            configuration=configuration,
            strips=written is not None,
            directives=directives,
            pragmas=tuple(map(_in_words, directives)),
        )

    def text(self, design: CandidateDesign) -> str | None:
        """Return the program's own text as a design.

        Raises: PragmaError: a loop is not in the text, and the target's tool reads nothing but pragmas.
        """
        text, summary, style = self.request.text, self.summary, self.request.style
        if design.configuration is None:
            return text
        try:
            if design.strips:
                written = strips_design(text, summary, design.configuration)
                if written is None:
                    return None
                return annotate_directives(written[0], summary, written[1], style=style or OWN)
            if self.request.is_own:
                return annotate_directives(text, summary, design.directives, style=style or OWN)
            return annotate(text, summary, design.configuration, style=style or MERLIN)
        except PragmaError:
            if self.request.is_own:
                return None
            raise


def _in_words(directive: Directive) -> str:
    """Return a directive in few words."""
    if directive.kind == "partition":
        count = "" if directive.value is None else f" {directive.value}"
        return f"{directive.variable}[{directive.dimension}] {directive.style}{count}"
    return f"{directive.loop} {directive.kind}" + ("" if directive.value is None else f" {directive.value}")


def _no_design(solution: Solution, request: DirectiveRequest) -> str:
    if solution.status == INFEASIBLE:
        limits = " and ".join(solution.clashing) or "all constraints"
        return f"no feasible design within the limits of {limits} ({request.file})"
    return f"the solver found no design within {request.solver_timeout_s:g} s ({request.file})"
