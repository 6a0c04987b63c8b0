"""Mappings by Latin hypercube: the property itself, legality, bounds, and what a draw depends on."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.base.cache import ContentCache
from pipelines.c import Directive, Function, directives_json, read_function
from pipelines.dataset.labelling import (
    ConfigurationSpace,
    LabelContext,
    plan_designs,
    sampled_configurations,
)
from pipelines.dataset.labelling.configurations import (
    PLAIN,
    Dimension,
    EngineFault,
    latin_hypercube,
    program_configurations,
    program_dimensions,
    sampled_mappings,
)
from pipelines.hls import HlsOptions, LoopSpace, MappingSpace, compile_program, mapping_space
from pipelines.programs import SUITES, kernel_programs
from pipelines.schemas import ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty
from tests.support.labelling import configuration_space, label_options

PROGRAMS = {p.name: p for p in kernel_programs(suites=SUITES, sizes=("small",))}
SAMPLING = configuration_space(sampling="latin_hypercube", samples=8)

NESTS = """
int nests(int a[16][4], int b[16], int n) {
    int sum = 0;
    rows: for (int i = 0; i < 16; i++) {
        b[i] = a[i][0];
        columns: for (int j = 1; j < 4; j++)
            b[i] += a[i][j] * n;
    }
    chain: for (int i = 1; i < 16; i++)
        b[i] = b[i - 1] / 2 + b[i];
    search: while (sum < n)
        sum += b[sum & 15] | 1;
    return sum;
}
"""


def _function(program: ProgramRow) -> Function:
    return read_function(program.source, top=program.top)


def _sampled(program: ProgramRow, space: ConfigurationSpace) -> list[HlsOptions]:
    return sampled_configurations(_function(program), space, program.program_id, liberty="osu018")


def test_a_clock_period_that_is_listed_twice_is_drawn_twice_as_often() -> None:
    sampling = replace(SAMPLING, samples=3, clock_periods_ns=(5.0, 10.0, 10.0, 20.0))
    hardware = MappingSpace(loops=(), arrays=())
    drawn = [m.clock_period_ns for n in range(400) for m in sampled_mappings(hardware, sampling, f"{n:x}")]
    shares = {period: drawn.count(period) / len(drawn) for period in (5.0, 10.0, 20.0)}
    assert shares == pytest.approx({5.0: 0.25, 10.0: 0.5, 20.0: 0.25}, abs=0.04)


def test_a_varied_program_has_one_more_configuration_under_engine_options_of_its_own() -> None:
    varied = replace(SAMPLING, samples=3, varied_share=1.0)
    for program in PROGRAMS.values():
        plain, more = _sampled(program, replace(varied, varied_share=0.0)), _sampled(program, varied)
        assert more[: len(plain)] == plain
        assert len(more) == len(plain) + 1
        assert more[-1].directives == plain[-1].directives
        assert more[-1].transforms != plain[-1].transforms
        assert compile_program(program.source, top=program.top, options=more[-1]).verilog
    limited = [dict(_sampled(p, varied)[-1].unit_limits) for p in PROGRAMS.values()]
    assert sum(bool(limits) for limits in limited) > len(limited) / 2
    assert {count for limits in limited for count in limits.values()} == {1, 2, 3}


def test_varied_configurations_are_the_same_from_the_cache(tmp_path: Path) -> None:
    program = PROGRAMS["gemm"]
    space = replace(SAMPLING, samples=2, varied_share=1.0)
    drawn, cached = (
        program_configurations(program, space, liberty="osu018", cache=ContentCache(folder=tmp_path))
        for _ in range(2)
    )
    assert isinstance(drawn, list)
    assert drawn == cached == _sampled(program, space)


# ---- the hypercube --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimensions", "count"), [(1, 1), (3, 7), (40, 16)])
def test_every_stratum_of_every_axis_has_one_point(dimensions: int, count: int) -> None:
    points = latin_hypercube(dimensions, count, np.random.default_rng(1))
    strata = np.floor(points * count).astype(int)
    for axis in range(dimensions):
        assert sorted(strata[:, axis]) == list(range(count))


def test_levels_share_the_axis() -> None:
    even = Dimension(subject="", what="delay", levels=(2, 5, 10, 15))
    assert [even.level(u) for u in (0.0, 0.26, 0.5, 0.999)] == [2, 5, 10, 15]
    mostly = Dimension(subject="L0", what="mapping", levels=(PLAIN, "a", "b"), first_share=0.5)
    assert [mostly.level(u) for u in (0.0, 0.49, 0.5, 0.74, 0.76, 0.999)] == [
        PLAIN,
        PLAIN,
        "a",
        "a",
        "b",
        "b",
    ]


def test_every_delay_is_met_equally_often_and_reads_are_not_tied_to_writes() -> None:
    space = mapping_space(_function(PROGRAMS["gemm"]))
    drawn = sampled_mappings(space, SAMPLING, PROGRAMS["gemm"].program_id)
    assert Counter(m.read_delay_cycles for m in drawn) == dict.fromkeys((2, 5, 10, 15), 2)
    assert Counter(m.write_delay_cycles for m in drawn) == dict.fromkeys((2, 5, 10, 15), 2)
    assert any(m.read_delay_cycles != m.write_delay_cycles for m in drawn)


def test_every_way_to_map_a_loop_and_an_array_is_met() -> None:
    sampling = replace(SAMPLING, samples=200, plain_share=0.2)
    program = PROGRAMS["gemm"]
    dimensions = {
        (d.subject, d.what): d for d in program_dimensions(mapping_space(_function(program)), sampling)
    }
    innermost = dimensions["L2", "mapping"].levels
    assert set(innermost) == {
        PLAIN,
        *("unroll", "parallel", "pipeline", "flatten"),
        *("unroll+pipeline", "parallel+pipeline", "flatten+pipeline"),
    }
    found: set[str] = set()
    for options in _sampled(program, sampling):
        kinds = sorted(d.kind for d in options.directives if d.loop == "L2")
        found.add("+".join(reversed(kinds)) if "unroll" in kinds else "+".join(kinds))
        found |= {d.style for d in options.directives if d.kind == "partition"}
    assert {"unroll", "unroll+pipeline", "parallel+pipeline", "flatten+pipeline"} <= found
    assert {"cyclic", "block", "complete"} <= found


# ---- legality and bounds --------------------------------------------------------------------------------


def test_the_space_of_a_program_is_what_its_dependences_allow() -> None:
    space = mapping_space(read_function(NESTS, top="nests"))
    loops = {loop.name: loop for loop in space.loops}
    assert loops["rows"].independent
    assert loops["columns"].parent == "rows"
    assert loops["columns"].flattens == ("rows",)
    assert loops["rows"].pipelinable
    assert not loops["chain"].independent
    assert not loops["search"].independent
    assert (loops["search"].trip_count, loops["search"].pipelinable) == (None, True)
    assert [(a.name, a.shape) for a in space.arrays] == [("a", (16, 4)), ("b", (16,))]


def test_an_outer_loop_is_offered_for_a_pipeline_up_to_the_limit_of_copies() -> None:
    function = read_function(NESTS, top="nests")
    by_limit = {
        limit: next(
            s for s in mapping_space(function, copy_limit=limit).loops if s.name == "rows"
        ).pipelinable
        for limit in (2, 3)
    }
    assert by_limit == {2: False, 3: True}


@pytest.mark.parametrize("name", ["gemm", "2mm", "jacobi-2d", "histogram", "insertion-sort", "collatz"])
def test_what_is_sampled_is_applied(name: str) -> None:
    program = PROGRAMS[name]
    for options in _sampled(program, replace(SAMPLING, samples=6, plain_share=0.3)):
        compiled = compile_program(program.source, top=program.top, options=options)
        refused = [o for o in compiled.outcomes if not o.applied]
        assert refused == [], directives_json(options.directives)


@pytest.mark.parametrize("seed", range(5))
def test_samples_keep_the_bounds(seed: int) -> None:
    sampling = replace(SAMPLING, samples=20, seed=seed, plain_share=0.0, copy_limit=4, bank_limit=6)
    for program in PROGRAMS.values():
        space = mapping_space(_function(program), copy_limit=4)
        loops = {loop.name: loop for loop in space.loops}
        for drawn in sampled_mappings(space, sampling, program.program_id):
            assert max((_copies(name, loops, drawn.directives) for name in loops), default=1) <= 4
            shapes = {a.name: a.shape for a in space.arrays}
            banks = [
                d.value or shapes[d.variable][(d.dimension or 1) - 1]
                for d in drawn.directives
                if d.kind == "partition"
            ]
            assert sum(banks) <= 6


def _copies(name: str, loops: dict[str, LoopSpace], directives: tuple[Directive, ...]) -> int:
    """Copies of a loop's body, counted from the directives alone."""
    total, inside_pipeline = 1, False
    chain: list[str] = []
    current: str | None = name
    while current is not None:
        chain.insert(0, current)
        current = loops[current].parent
    for loop in chain:
        if inside_pipeline:
            total *= loops[loop].trip_count or 1
        for directive in directives:
            if directive.loop == loop and directive.kind in ("unroll", "parallel"):
                total *= directive.value or loops[loop].trip_count or 1
            inside_pipeline |= directive.loop == loop and directive.kind == "pipeline"
    return total


def test_cells_that_copies_add_are_bounded() -> None:
    program = PROGRAMS["3mm"]
    none = _sampled(program, replace(SAMPLING, added_cells_limit=0, plain_share=0.0))
    kinds = {d.kind for options in none for d in options.directives}
    assert kinds <= {"pipeline", "flatten", "partition"}
    some = _sampled(program, replace(SAMPLING, added_cells_limit=100_000, plain_share=0.0))
    assert "unroll" in {d.kind for options in some for d in options.directives}


# ---- what a draw depends on -----------------------------------------------------------------------------


def test_the_first_sample_has_no_directives() -> None:
    for program in PROGRAMS.values():
        assert _sampled(program, SAMPLING)[0].directives == ()


def test_samples_are_the_same_again_and_differ_by_seed_and_program() -> None:
    program = PROGRAMS["gemm"]
    assert _sampled(program, SAMPLING) == _sampled(program, SAMPLING)
    assert _sampled(program, SAMPLING) != _sampled(program, replace(SAMPLING, seed=1))
    space = mapping_space(_function(program))
    assert sampled_mappings(space, SAMPLING, "0" * 32) != sampled_mappings(space, SAMPLING, "1" * 32)


def test_no_configuration_comes_twice() -> None:
    tiny = MappingSpace(loops=(), arrays=())
    space = replace(SAMPLING, memory_delay=(2, 5), write_delay=2)
    drawn = sampled_mappings(tiny, space, "ab")
    assert len(drawn) == 2
    for program in PROGRAMS.values():
        made = _sampled(program, SAMPLING)
        assert len(set(made)) == len(made)


def test_clock_periods_are_drawn_from_the_list() -> None:
    made = _sampled(PROGRAMS["gemm"], replace(SAMPLING, clock_periods_ns=(5.0, 10.0)))
    assert Counter(o.clock_period_ns for o in made) == {5.0: 4, 10.0: 4}


def test_configurations_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ContentCache(folder=tmp_path)
    program = PROGRAMS["2mm"]
    for space in (configuration_space(), SAMPLING):
        first = program_configurations(program, space, liberty="osu018", cache=cache)
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules["pipelines.dataset.labelling.configurations"], "read_function", _fail)
            assert program_configurations(program, space, liberty="osu018", cache=cache) == first
    bad = replace(program, program_id="00", source="int f(int n) { return f(n - 1) + f(n - 2); }", top="f")
    refused = program_configurations(bad, configuration_space(), liberty="osu018", cache=cache)
    assert isinstance(refused, str)
    assert "recurs" in refused
    assert program_configurations(bad, configuration_space(), liberty="osu018", cache=cache) == refused


def _fail(*_: object, **__: object) -> None:
    raise AssertionError("read again")


def test_a_fault_of_the_engine_costs_one_program_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ContentCache(folder=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["pipelines.dataset.labelling.configurations"], "mapping_space", _fail)
        refused = program_configurations(PROGRAMS["gemm"], SAMPLING, liberty="osu018", cache=cache)
        (row,) = plan_designs(
            [PROGRAMS["gemm"]],
            SAMPLING,
            LabelContext(
                target=Target(liberty=find_liberty(None), clock_period_ns=10.0),
                cache=cache,
                options=label_options(workers=1),
            ),
        ).designs
    assert refused == EngineFault(reason="the engine failed: AssertionError: read again")
    assert (row.status, row.reason) == ("tool_error", "the engine failed: AssertionError: read again")
    made = program_configurations(PROGRAMS["gemm"], SAMPLING, liberty="osu018", cache=cache)
    assert isinstance(made, list)
