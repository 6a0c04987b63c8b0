"""Search by the engine's own estimates, for a limit on area and for subscripts that are not affine.

The bound counts units alone and supposes affine subscripts. Here the engine makes each design and estimates
its cycles and area; the best of those that fit are then measured. The search begins with the plain program
and with single directives. From the fastest design so far it changes one directive at a time: the pipeline,
the factor or the interval of a loop, or the most banks of an array dimension. From a design that is over the
limit it goes to smaller factors, fewer banks and longer intervals alone; one over `HOPELESS` times the limit
is left.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from pipelines.c import Directive
from pipelines.dataset.features import DesignEstimate
from pipelines.pragmas.configuration import FINE, OFF, Configuration, LoopChoice
from pipelines.pragmas.nlp import pipeline_factors
from pipelines.pragmas.search.directives import given_directives, own_target
from pipelines.pragmas.search.evaluation import EVALUATED, Evaluation, Exploration, Step
from pipelines.pragmas.summary import Summary
from pipelines.schemas import OK

ESTIMATED = "estimated"
"""Name of the method."""
HOPELESS = 1.5
"""Estimated area over the limit from which nothing is looked for near a design."""
MOST_ESTIMATES = 120
"""Designs that are estimated at most: 0.1 to 0.3 s each for small kernels."""
PATIENCE = 2
"""Designs slower than the fastest one with the same pipelines that are changed too."""
MOST_BANKS = 32
"""Most banks of an array dimension."""
INTERVALS = (1, 2, 4, 8, 16)
MOST_REDUCTIONS = 60
"""Designs near the best ones that are estimated at most after a search."""
TOLERANCE = 0.01
"""Share of the least cycles by which a smaller design may be slower and is still recommended."""


class Costed(Protocol):
    """A design with its cycles and area; infinite when unknown."""

    @property
    def cost(self) -> tuple[float, float]:
        """Cycles, then area."""
        ...


_Design = TypeVar("_Design", bound=Costed)


def preferred(designs: Sequence[_Design], tolerance: float = TOLERANCE) -> _Design:
    """Return the smallest of the designs whose cycles are the least ones, or within a share above them."""
    least = min(design.cost[0] for design in designs)
    near = [design for design in designs if design.cost[0] <= (1 + tolerance) * least]
    return min(near, key=lambda design: design.cost[::-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Choices of loops that hold as they are, without completion; and most banks of an array dimension."""

    configuration: Configuration = field(default_factory=Configuration)
    most_banks: int = 1

    def directives(self, summary: Summary) -> tuple[Directive, ...]:
        """Return the directives of the engine."""
        return given_directives(summary, self.configuration, self.most_banks)

    @property
    def pipelines(self) -> frozenset[str]:
        """Loops with a pipeline."""
        return frozenset(loop for loop, choice in self.configuration.loops.items() if choice.pipeline == FINE)

    def contains(self, other: Candidate) -> bool:
        """Tell whether it has the pipelines of another candidate, and no smaller factor, no fewer banks."""
        loops = {*self.configuration.loops, *other.configuration.loops}
        pairs = [(self.configuration.of(loop), other.configuration.of(loop)) for loop in loops]
        return self.most_banks >= other.most_banks and all(
            (own.pipeline, own.interval) == (one.pipeline, one.interval) and own.unroll >= one.unroll
            for own, one in pairs
        )

    def with_choice(self, loop: str, choice: LoopChoice) -> Candidate:
        """Return the candidate with another choice of one loop."""
        loops = {**self.configuration.loops, loop: choice}
        kept = {name: one for name, one in loops.items() if one != LoopChoice()}
        return replace(self, configuration=replace(self.configuration, loops=kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A candidate, its directives and its estimate."""

    candidate: Candidate
    directives: tuple[Directive, ...]
    estimate: DesignEstimate

    @property
    def cost(self) -> tuple[float, float]:
        """Cycles, then area; infinite when unknown."""
        cycles, area = self.estimate.cycles, self.estimate.area_um2
        return math.inf if cycles is None else cycles, math.inf if area is None else area


def configuration_of(directives: Sequence[Directive]) -> Configuration:
    """Return the choices of loops that directives make."""
    loops: dict[str, LoopChoice] = {}
    for directive in directives:
        choice = loops.get(directive.loop, LoopChoice())
        if directive.kind == "pipeline":
            loops[directive.loop] = replace(choice, pipeline=FINE, interval=directive.value or 1)
        elif directive.kind in ("unroll", "parallel"):
            loops[directive.loop] = replace(choice, unroll=directive.value or 1)
    return Configuration(loops=loops)


def candidate_of(summary: Summary, directives: Sequence[Directive]) -> Candidate:
    """Return the choices that directives make, with the most banks of a dimension."""
    banks = [
        d.value or summary.arrays[d.variable].shape[(d.dimension or 1) - 1]
        for d in directives
        if d.kind == "partition"
    ]
    return Candidate(configuration=configuration_of(directives), most_banks=max(banks, default=1))


def reductions(summary: Summary, directives: Sequence[Directive]) -> Iterator[tuple[Directive, ...]]:
    """Yield the directives with one partition or factor less: without it, with half of it, and, of an
    innermost loop without a pipeline, with a pipeline for its factor.
    """
    pipelined = {d.loop for d in directives if d.kind == "pipeline"}
    for index, one in enumerate(directives):
        before, after = tuple(directives[:index]), tuple(directives[index + 1 :])
        if one.kind == "pipeline":
            continue
        yield (*before, *after)
        if one.kind == "partition":
            count = one.value or summary.arrays[one.variable].shape[(one.dimension or 1) - 1]
            half = (count + 1) // 2
            if 1 < half < count:
                yield (*before, replace(one, style="cyclic", value=half), *after)
            continue
        half = ((one.value or 1) + 1) // 2
        if 1 < half < (one.value or 1):
            yield (*before, replace(one, value=half), *after)
        if one.loop not in pipelined and not summary.child_loops(one.loop):
            yield (*before, Directive(kind="pipeline", loop=one.loop, value=1), *after)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedSearch:
    """What is searched and by what.

    Attributes:
        estimate, measure: of a design by its directives; bound_of: least cycles of a configuration.
        size_of: operations and accesses of a design; accept: whether it is to be looked at.
        most_area_um2: None = unlimited; together: designs estimated or measured at a time.
    """

    summary: Summary
    estimate: Callable[[tuple[Directive, ...]], DesignEstimate]
    measure: Callable[[tuple[Directive, ...]], Evaluation]
    bound_of: Callable[[Configuration], float]
    size_of: Callable[[Candidate], int]
    accept: Callable[[Candidate], bool]
    most_area_um2: float | None
    together: int

    def fits(self, area_um2: float | None, times: float = 1.0) -> bool:
        """Tell whether an area is known and within a multiple of the limit."""
        if self.most_area_um2 is None:
            return True
        return area_um2 is not None and area_um2 <= times * self.most_area_um2

    def estimated(self) -> list[Estimated]:
        """Return the estimates of all designs that were looked at, the plain program first.

        Best first: the fastest design is changed next, each once. Of designs that pipeline the same loops
        those are changed that are the fastest of them that fit, and `PATIENCE` others.
        """
        known: dict[tuple[Directive, ...], Estimated] = {}
        changed: set[tuple[frozenset[str], tuple[float, float]]] = set()
        idle = Counter[frozenset[str]]()
        fresh = [Candidate(), *self._neighbours(Candidate())]
        with ThreadPoolExecutor(max_workers=self.together) as pool:
            while True:
                self._look_at(pool, fresh, known)
                left = [
                    one
                    for one in known.values()
                    if self._may_lead(one)
                    and idle[one.candidate.pipelines] < PATIENCE
                    and (one.candidate.pipelines, one.cost) not in changed
                ]
                if not left or len(known) >= MOST_ESTIMATES:
                    return list(known.values())
                following = min(left, key=self._turn)
                pipelines, is_valid = following.candidate.pipelines, self._is_valid(following)
                slower = self._reached(known.values(), pipelines) < following.cost[0]
                idle[pipelines] += is_valid and slower
                changed.add((pipelines, following.cost))
                fresh = list(self._neighbours(following.candidate, smaller_only=not is_valid))

    def _reached(self, known: Iterable[Estimated], pipelines: frozenset[str]) -> float:
        """Return the cycles of the fastest design that fits with these loops pipelined."""
        alike = (one for one in known if one.candidate.pipelines == pipelines and self._is_valid(one))
        return min((one.cost[0] for one in alike), default=math.inf)

    def _look_at(
        self,
        pool: ThreadPoolExecutor,
        candidates: Sequence[Candidate],
        known: dict[tuple[Directive, ...], Estimated],
    ) -> None:
        """Estimate designs that are not known yet, small ones first; none that surely has more area than one
        that is far over the limit."""
        asked: dict[tuple[Directive, ...], Candidate] = {}
        for candidate in candidates:
            directives = candidate.directives(self.summary)
            if directives not in known and (not directives or self.accept(candidate)):
                asked.setdefault(directives, candidate)
        ordered = sorted(asked.items(), key=lambda pair: self.size_of(pair[1]))
        for start in range(0, len(ordered), self.together):
            hopeless = [one.candidate for one in known.values() if not self._may_lead(one)]
            batch = [
                (directives, candidate)
                for directives, candidate in ordered[start : start + self.together]
                if not any(candidate.contains(one) for one in hopeless)
            ]
            estimates = pool.map(self.estimate, [directives for directives, _ in batch])
            for (directives, candidate), estimate in zip(batch, estimates, strict=True):
                known[directives] = Estimated(candidate=candidate, directives=directives, estimate=estimate)

    def reduced(
        self, estimates: Sequence[Estimated], tolerances: Sequence[float], most_size: int
    ) -> list[Estimated]:
        """Return estimates, and those near the smallest designs that are nearly as fast, until none is
        smaller: with one directive less, and of a design that is not the preferred one with one directive
        more.

        Args:
            tolerances: shares above the least cycles within which the smallest design is changed.
            most_size: sum of operations and accesses of the designs that are estimated.
        """
        known = {one.directives: one for one in estimates}
        left, size_left = MOST_REDUCTIONS, most_size
        done = set[tuple[Directive, ...]]()
        with ThreadPoolExecutor(max_workers=self.together) as pool:
            for tolerance in tolerances:
                while fitting := [one for one in self.fitting(list(known.values())) if one.directives]:
                    current = preferred(fitting, tolerance)
                    if current.directives in done:
                        break
                    done.add(current.directives)
                    asked: dict[tuple[Directive, ...], Candidate] = {}
                    for candidate, directives in sorted(
                        self._near(current, larger=tolerance > TOLERANCE),
                        key=lambda pair: self.size_of(pair[0]),
                    ):
                        size = self.size_of(candidate)
                        if directives in known or directives in asked or not self.accept(candidate):
                            continue
                        if len(asked) < left and size <= size_left:
                            asked[directives] = candidate
                            size_left -= size
                    left -= len(asked)
                    for (directives, candidate), estimate in zip(
                        asked.items(), pool.map(self.estimate, asked), strict=True
                    ):
                        known[directives] = Estimated(
                            candidate=candidate, directives=directives, estimate=estimate
                        )
        return list(known.values())

    def _near(self, one: Estimated, *, larger: bool) -> Iterator[tuple[Candidate, tuple[Directive, ...]]]:
        """Yield the designs with one directive less, and if asked for those the search would try next."""
        for fewer in reductions(self.summary, one.directives):
            yield candidate_of(self.summary, fewer), fewer
        for candidate in self._neighbours(one.candidate) if larger else ():
            yield candidate, candidate.directives(self.summary)

    def _is_valid(self, one: Estimated) -> bool:
        return one.estimate.status == OK and self.fits(one.estimate.area_um2)

    def _may_lead(self, one: Estimated) -> bool:
        return one.estimate.status == OK and self.fits(one.estimate.area_um2, HOPELESS)

    def _turn(self, one: Estimated) -> tuple[float, bool, float]:
        """Return order of expansion: fast ones first, those over the limit as if slower by their excess."""
        cycles, area = one.cost
        limit = self.most_area_um2
        over = 1.0 if limit is None else max(1.0, area / limit)
        return cycles * over, over > 1.0, area

    def fitting(self, estimates: Sequence[Estimated]) -> list[Estimated]:
        """Return the designs that fit by their estimates, the fastest first."""
        return sorted((one for one in estimates if self._is_valid(one)), key=lambda one: one.cost)

    def measured(self, estimates: Sequence[Estimated], most: int) -> tuple[Exploration, list[Estimated]]:
        """Measure the plain program, then the preferred design by the estimates, then the fastest ones, until
        no other may win by more than `TOLERANCE`.

        Returns: the log, and the designs of its steps.
        """
        fitting = self.fitting(estimates)
        plain = [one for one in fitting if not one.directives]
        steps: list[Step] = []
        others = [one for one in fitting if one.directives]
        first = [preferred(others)] if others else []
        designs = [*plain, *first, *(one for one in others if one not in first)][:most]
        best: int | None = None
        elapsed_s = 0.0
        for index, one in enumerate(designs):
            if best is not None and one.directives and (1 + TOLERANCE) * one.cost[0] >= best:
                break
            measured = self.measure(one.directives)
            elapsed_s += measured.wall_s
            if measured.valid and measured.latency_cycles is not None:
                best = min(best or measured.latency_cycles, measured.latency_cycles)
            steps.append(
                Step(
                    index=index,
                    method=ESTIMATED,
                    configuration=one.candidate.configuration,
                    decision=EVALUATED,
                    bound_cycles=self.bound_of(one.candidate.configuration),
                    evaluation=measured,
                    elapsed_s=elapsed_s,
                    best_cycles=best,
                )
            )
        return Exploration(method=ESTIMATED, steps=tuple(steps)), designs[: len(steps)]

    def _neighbours(self, candidate: Candidate, *, smaller_only: bool = False) -> Iterator[Candidate]:
        """Yield the candidates that differ in one directive; a larger factor also with as many banks."""
        for loop in self.summary.loops:
            yield from self._of_loop(candidate, loop, smaller_only=smaller_only)
        if candidate.most_banks > 1:
            yield replace(candidate, most_banks=candidate.most_banks // 2)
        if candidate.most_banks < MOST_BANKS and not smaller_only:
            yield replace(candidate, most_banks=2 * candidate.most_banks)

    def _factors(self, loop: str) -> list[int]:
        """Return divisors of a constant trip count, and powers of two, whose rest is a loop of its own."""
        facts = self.summary.loops[loop]
        powers = [1 << n for n in range(1, facts.trip_count_max.bit_length()) if facts.constant]
        of_loop = pipeline_factors(self.summary, own_target(), loop)
        return sorted({*of_loop, *(n for n in powers if n <= facts.trip_count_max)})

    def _of_loop(self, candidate: Candidate, loop: str, *, smaller_only: bool) -> Iterator[Candidate]:
        choice = candidate.configuration.of(loop)
        factors = self._factors(loop)
        larger = [factor for factor in factors if factor > choice.unroll]
        smaller = [factor for factor in factors if factor < choice.unroll]
        if smaller:
            yield candidate.with_choice(loop, replace(choice, unroll=smaller[-1]))
        longer = [interval for interval in INTERVALS if interval > choice.interval]
        if choice.pipeline == FINE:
            yield candidate.with_choice(loop, replace(choice, pipeline=OFF, interval=1))
            if longer:
                yield candidate.with_choice(loop, replace(choice, interval=longer[0]))
        if smaller_only:
            return
        if choice.interval > 1:
            shorter = [interval for interval in INTERVALS if interval < choice.interval]
            yield candidate.with_choice(loop, replace(choice, interval=shorter[-1]))
        if choice.pipeline == OFF:
            yield candidate.with_choice(loop, replace(choice, pipeline=FINE))
        for factor in dict.fromkeys((*larger[:1], *larger[-1:])):
            more = candidate.with_choice(loop, replace(choice, unroll=factor))
            banks = min(MOST_BANKS, 1 << (factor - 1).bit_length())
            yield more
            if banks > candidate.most_banks:
                yield replace(more, most_banks=banks)
