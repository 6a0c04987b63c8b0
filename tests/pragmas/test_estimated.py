"""Search by estimates: what is looked at, what is measured, and the limit on area."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from pipelines.c import Directive
from pipelines.dataset.features import DesignEstimate
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.search.directives import given_size
from pipelines.pragmas.search.estimated import (
    HOPELESS,
    MOST_ESTIMATES,
    TOLERANCE,
    Candidate,
    Estimated,
    EstimatedSearch,
    candidate_of,
    preferred,
    reductions,
)
from pipelines.pragmas.search.evaluation import Evaluation
from pipelines.schemas import OK

SUMMARY = summarise(
    "void f(int A[8][16], int x[16]) { for (int i = 0; i < 8; i++) "
    "for (int j = 0; j < 16; j++) A[i][j] += x[j]; }"
)


@dataclass
class Model:
    """An engine whose designs gain from factors in banks and from pipelines, and cost area for both."""

    asked: list[tuple[Directive, ...]] = field(default_factory=list)
    measured: list[tuple[Directive, ...]] = field(default_factory=list)
    late: float = 1.0

    def figures(self, directives: tuple[Directive, ...]) -> tuple[int, float]:
        copies = banks = 1
        for directive in directives:
            if directive.kind in ("unroll", "parallel"):
                copies *= directive.value or 1
            if directive.kind == "partition":
                banks = max(banks, directive.value or 16)
        pipelined = any(directive.kind == "pipeline" for directive in directives)
        cycles = 1000 // min(copies, 2 * banks) // (4 if pipelined else 1)
        return cycles, 100.0 * copies + 20.0 * banks + 10.0 * pipelined

    def estimate(self, directives: tuple[Directive, ...]) -> DesignEstimate:
        self.asked.append(directives)
        cycles, area = self.figures(directives)
        return DesignEstimate(status=OK, cycles=cycles, area_um2=area)

    def measure(self, directives: tuple[Directive, ...]) -> Evaluation:
        self.measured.append(directives)
        cycles, area = self.figures(directives)
        return Evaluation(status=OK, latency_cycles=int(self.late * cycles), area_um2=area)


def searched(model: Model, limit: float | None) -> EstimatedSearch:
    return EstimatedSearch(
        summary=SUMMARY,
        estimate=model.estimate,
        measure=model.measure,
        bound_of=lambda _: 1.0,
        size_of=lambda c: given_size(SUMMARY, c.configuration, c.most_banks),
        accept=lambda _: True,
        most_area_um2=limit,
        together=1,
    )


def test_the_plain_program_and_single_directives_come_first() -> None:
    model = Model()
    estimates = searched(model, None).estimated()
    assert model.asked[0] == () == estimates[0].directives
    assert len(model.asked) == len(set(model.asked)) <= MOST_ESTIMATES + 20
    assert any([d.kind for d in directives] == ["pipeline"] for directives in model.asked[:8])


@pytest.mark.parametrize("limit", [130.0, 300.0, 900.0])
def test_nothing_over_the_limit_is_a_result(limit: float) -> None:
    model = Model()
    search = searched(model, limit)
    estimates = search.estimated()
    fitting = search.fitting(estimates)
    assert all((one.estimate.area_um2 or 0) <= limit for one in fitting)
    exploration, designs = search.measured(estimates, 12)
    assert model.measured[0] == ()
    assert model.measured == [one.directives for one in designs]
    assert exploration.best is not None
    assert exploration.steps[-1].best_cycles == fitting[0].estimate.cycles


def test_designs_beyond_one_that_is_hopeless_are_not_looked_at() -> None:
    model = Model()
    searched(model, 130.0).estimated()
    areas = [model.figures(directives)[1] for directives in model.asked]
    beyond = [area for area in areas if area > HOPELESS * 130.0]
    assert len(beyond) < len(areas) / 2
    assert max(areas) < 2600.0  # of all factors and banks


def test_measuring_ends_where_no_estimate_is_below_what_was_measured() -> None:
    quick, slow = Model(), Model(late=2.0)
    for model in (quick, slow):
        search = searched(model, 900.0)
        search.measured(search.estimated(), 5)
    assert len(quick.measured) == 2
    assert len(slow.measured) > 2


def test_a_larger_design_contains_a_smaller_one() -> None:
    plain = Candidate()
    assert plain.contains(Candidate())
    assert Candidate(most_banks=4).contains(plain)
    assert not plain.contains(Candidate(most_banks=4))


@dataclass(frozen=True)
class Costs:
    """A design by its cycles and area."""

    cost: tuple[float, float]


def test_the_smallest_design_within_one_percent_is_preferred() -> None:
    """A histogram of 512: unrolled by 128 in 32 banks, the plain pipeline, and the plain program."""
    large, pipeline, plain = Costs((515, 880_000)), Costs((517, 10_000)), Costs((1539, 8_000))
    assert preferred([large, pipeline, plain]) is pipeline
    assert preferred([Costs((500, 900)), pipeline]) == Costs((500, 900))  # 3.4 % faster


def test_designs_that_a_preferred_one_beats_by_the_tolerance_are_not_measured() -> None:
    class Flat(Model):
        """One more copy saves one cycle of 1,000."""

        def figures(self, directives: tuple[Directive, ...]) -> tuple[int, float]:
            _, area = super().figures(directives)
            return 1000 - (area > 130.0), area

    model = Flat()
    search = searched(model, None)
    exploration, designs = search.measured(search.estimated(), 5)
    assert len(designs) == 1
    assert exploration.best is not None


def test_designs_with_one_directive_less() -> None:
    one = (
        Directive(kind="pipeline", loop="L0", value=1),
        Directive(kind="unroll", loop="L1", value=16),
        Directive(kind="partition", variable="x", style="complete", dimension=1),
    )
    pipeline, unroll, partition = one
    assert list(reductions(SUMMARY, one)) == [
        (pipeline, partition),
        (pipeline, replace(unroll, value=8), partition),
        (pipeline, replace(unroll, kind="pipeline", value=1), partition),
        (pipeline, unroll),
        (pipeline, unroll, replace(partition, style="cyclic", value=8)),
    ]


def test_a_design_is_made_smaller_as_long_as_it_is_as_fast() -> None:
    """The model gains nothing from more than half as many banks as copies."""
    model = Model()
    search = searched(model, None)
    start = (
        Directive(kind="unroll", loop="L1", value=8),
        Directive(kind="partition", variable="x", style="complete", dimension=1),
        Directive(kind="partition", variable="A", style="cyclic", value=2, dimension=1),
    )
    first = Estimated(
        candidate=candidate_of(SUMMARY, start), directives=start, estimate=model.estimate(start)
    )
    reduced = search.reduced([first], (TOLERANCE,), most_size=10**6)
    best = preferred(reduced)
    assert best.estimate.cycles == 1000 // 8
    assert best.directives == (start[0], replace(start[1], style="cyclic", value=4), start[2])
    assert search.reduced([first], (TOLERANCE,), most_size=0) == [first]
