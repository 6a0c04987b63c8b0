"""Programs labelled on data sets of several kinds: runs, inputs, loops, power and statuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import (
    LabelContext,
    LabelledDesign,
    describe_inputs,
    label_design,
    runs,
)
from pipelines.dataset.labelling.runs import is_fully_powered
from pipelines.hls import HlsOptions
from pipelines.programs import ProgramError, program_from_file
from pipelines.schemas import DATA_KINDS, InputRow, LoopRunRow, RunRow
from pipelines.silicon.synthesis import Target, find_liberty
from tests.support.labelling import label_options

SORT = """
void f(int A[12])
{
    outer: for (int i = 1; i < 12; i++) {
        int v = A[i], j = i;
        inner: while (j > 0) {
            if (A[j - 1] <= v)
                break;
            A[j] = A[j - 1];
            j--;
        }
        A[j] = v;
    }
}
"""
TRANSPOSE = """
void f(int A[3][5], int B[5][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++)
            B[j][i] = A[i][j];
}
"""
QUOTIENT = """
int f(int A[6])
{
    int s = 0;
    for (int i = 0; i < 6; i++)
        s += 1000 / A[i];
    return s;
}
"""


@pytest.fixture(scope="module")
def target() -> Target:
    return Target(liberty=find_liberty(None), clock_period_ns=10.0)


@pytest.fixture(scope="module")
def cache(
    tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[Path], ContentCache]
) -> ContentCache:
    return new_cache(tmp_path_factory.mktemp("cache"))


def label(
    source: str, folder: Path, cache: ContentCache, target: Target, inputs: object = None, **options: Any
) -> LabelledDesign:
    path = folder / "f.c"
    path.write_text(source)
    program = program_from_file(path, top="f", inputs=json.dumps(inputs or {}))
    settings = label_options(workers=1, **{"data_kinds": DATA_KINDS, "full_power_fraction": 0.0, **options})
    context = LabelContext(target=target, cache=cache, options=settings)
    return label_design(program, HlsOptions(), context)


def by_kind(made: LabelledDesign) -> dict[str | None, RunRow]:
    return {run.data_kind: run for run in made.runs}


@pytest.fixture(scope="module")
def sorting(tmp_path_factory: pytest.TempPathFactory, cache: ContentCache, target: Target) -> LabelledDesign:
    return label(SORT, tmp_path_factory.mktemp("sort"), cache, target)


def test_each_kind_is_a_run_and_cycles_follow_the_data(sorting: LabelledDesign) -> None:
    assert sorting.label.status == "ok"
    found = by_kind(sorting)
    assert list(found) == ["drawn", "uniform", "sparse", "sorted", "skewed", "constant", "adversarial"]
    assert {run.status for run in sorting.runs} == {"ok"}
    cycles = {kind: run.latency_cycles or 0 for kind, run in found.items()}
    assert cycles["sorted"] == cycles["constant"] == min(cycles.values())
    assert cycles["adversarial"] == max(cycles.values())  # it descends


def inputs_of(made: LabelledDesign, runs: Sequence[RunRow]) -> list[InputRow]:
    program = program_from_file(Path("f.c"), top="f", source=SORT, inputs="{}")
    return describe_inputs([program], [made.design], runs, label_options(workers=1))


def test_every_run_has_its_inputs(sorting: LabelledDesign) -> None:
    described = inputs_of(sorting, sorting.runs)
    assert [row.data_id for row in described] == [run.data_id for run in sorting.runs]
    rows = {row.data_id: row for row in described}
    found = by_kind(sorting)
    assert rows[found["sorted"].data_id].is_sorted
    assert rows[found["constant"].data_id].distinct_count == 1
    assert len(json.loads(rows[found["drawn"].data_id].values or "")) == 12


def test_a_run_on_data_of_another_program_is_an_error(sorting: LabelledDesign) -> None:
    other = replace(sorting.runs[0], data_id="0" * 32)
    with pytest.raises(ProgramError, match=r"a run must be on data of its program, got data 0{32}"):
        inputs_of(sorting, [other])


def insertions(values: list[int]) -> tuple[int, int, int, int]:
    """Iterations, entries, branches and branches taken of the inner loop, counted in Python."""
    values, iterations, taken = list(values), 0, 0
    for i in range(1, len(values)):
        v, j = values[i], i
        while j > 0:
            iterations += 1
            if values[j - 1] <= v:
                taken += 1
                break
            values[j] = values[j - 1]
            j -= 1
        values[j] = v
    return iterations, len(values) - 1, iterations, taken


def test_loops_of_each_run_are_those_of_a_count_in_python(sorting: LabelledDesign) -> None:
    loops = {(row.data_id, row.loop): row for row in sorting.loop_runs}
    assert len(loops) == 2 * len(sorting.runs)
    for inputs in inputs_of(sorting, sorting.runs):
        outer, inner = loops[inputs.data_id, "outer"], loops[inputs.data_id, "inner"]
        assert (outer.iterations, outer.entries) == (11, 1)
        assert counts_of(inner) == insertions(json.loads(inputs.values or ""))


def counts_of(row: LoopRunRow) -> tuple[int, int, int, int | None]:
    return row.iterations, row.entries, row.branches, row.branches_taken


def test_power_is_that_of_the_first_data_set_alone(sorting: LabelledDesign) -> None:
    assert [run.data_kind for run in sorting.runs if run.power_status is not None] == ["drawn"]


def test_power_is_that_of_every_data_set_of_the_sample(
    sorting: LabelledDesign, tmp_path: Path, cache: ContentCache, target: Target
) -> None:
    made = label(SORT, tmp_path, cache, target, full_power_fraction=1.0)
    assert {run.power_status for run in made.runs} == {"ok"}
    assert len({run.power_mw for run in made.runs}) > 3
    assert [run.data_id for run in made.runs] == [run.data_id for run in sorting.runs]


def test_the_sample_of_power_grows_with_its_share(sorting: LabelledDesign) -> None:
    designs = [replace(sorting.design, design_id=f"design{k}") for k in range(400)]

    def sample(share: float) -> set[str]:
        options = label_options(full_power_fraction=share)
        return {design.design_id for design in designs if is_fully_powered(design, 1, options)}

    assert sample(0.1) < sample(0.5)
    assert 20 < len(sample(0.1)) < 60
    assert len(sample(1.0)) == len(designs)


def test_drawn_data_alone_give_the_run_of_before(
    sorting: LabelledDesign, tmp_path: Path, cache: ContentCache, target: Target
) -> None:
    made = label(SORT, tmp_path, cache, target, data_kinds=("drawn",), full_power_fraction=1.0)
    assert made.runs == sorting.runs[:1]


def test_a_second_time_does_no_tool_work(
    sorting: LabelledDesign,
    tmp_path: Path,
    cache: ContentCache,
    target: Target,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("run_native_sets", "count_cycles_of"):
        monkeypatch.setattr(runs, name, None)
    assert label(SORT, tmp_path, cache, target) == sorting


def test_loops_that_no_entry_has_are_counted_again_without_native_c(
    sorting: LabelledDesign,
    tmp_path: Path,
    cache: ContentCache,
    target: Target,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for path in (cache.folder / "loop_runs").rglob("*.json"):
        path.unlink()
    monkeypatch.setattr(runs, "run_native_sets", None)
    assert label(SORT, tmp_path, cache, target).loop_runs == sorting.loop_runs


def test_a_new_kind_runs_on_its_data_alone(
    tmp_path: Path, cache: ContentCache, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SORT.replace("12", "13")
    label(source, tmp_path, cache, target, data_kinds=("drawn", "uniform"), power=False)
    sizes: list[int] = []
    real = runs.count_cycles_of

    def counting(compiled: Any, data: Any, **options: Any) -> Any:
        sizes.append(len(data))
        return real(compiled, data, **options)

    monkeypatch.setattr(runs, "count_cycles_of", counting)
    made = label(source, tmp_path, cache, target, data_kinds=("drawn", "uniform", "sparse"), power=False)
    assert len(made.runs) == 3
    assert sizes == [1]


def test_a_program_of_class_1_takes_the_same_cycles_on_all_data(
    tmp_path: Path, cache: ContentCache, target: Target
) -> None:
    made = label(TRANSPOSE, tmp_path, cache, target, power=False)
    assert len(made.runs) >= 3
    assert len({run.latency_cycles for run in made.runs}) == 1


def test_data_that_a_program_is_not_made_for_fail_their_run_alone(
    tmp_path: Path, cache: ContentCache, target: Target
) -> None:
    inputs = {"A": {"kind": "uniform", "low": -500, "high": 500}}
    kinds = ("drawn", "sparse", "sorted")
    made = label(QUOTIENT, tmp_path, cache, target, inputs, data_kinds=kinds, power=False)
    found = by_kind(made)
    assert {kind: run.status for kind, run in found.items()} == {
        "drawn": "ok",
        "sparse": "rejected",
        "sorted": "ok",
    }
    assert "division by zero" in (found["sparse"].reason or "")
    assert made.label.status == "ok"
    assert {row.data_id for row in made.loop_runs} == {found["drawn"].data_id, found["sorted"].data_id}


def test_an_engine_that_fails_on_any_data_fails_the_label(
    tmp_path: Path, cache: ContentCache, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(request: Any, native: Any, cycles: Any, context: Any) -> str | None:
        return "array A" if request.kind == "sorted" else None

    monkeypatch.setattr(runs, "_difference", wrong)
    source = SORT.replace("12", "7")
    made = label(source, tmp_path, cache, target, data_kinds=("drawn", "sorted"), power=False)
    assert [run.status for run in made.runs] == ["ok", "tool_error"]
    assert (made.label.status, made.label.reason) == (
        "tool_error",
        "the scheduled design differs from native C in array A",
    )
