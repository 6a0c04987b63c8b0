"""Labelling: truth checks, failures as rows, cache and resume."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipelines.cache import ContentCache
from pipelines.hls import HlsOptions
from pipelines.labelling import (
    ConfigurationSpace,
    LabelledDesign,
    LabelOptions,
    Progress,
    attempts,
    label_design,
    label_designs,
    plan_designs,
)
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow
from pipelines.synthesis import Target, find_liberty

SUM = """
int total(int A[8])
{
    int s = 0;
    for (int i = 0; i < 8; i++)
        s += A[i];
    return s;
}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ContentCache:
    return ContentCache(folder=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def target() -> Target:
    return Target(liberty=find_liberty(None), clock_period_ns=10.0)


def program(tmp_path: Path, text: str = SUM, top: str = "total") -> ProgramRow:
    path = tmp_path / "total.c"
    path.write_text(text)
    return program_from_file(path, top=top)


def label(row: ProgramRow, target: Target, store: ContentCache, **options: float) -> LabelledDesign:
    settings = LabelOptions(workers=1, **options)  # type: ignore[arg-type]
    return label_design(row, HlsOptions(), target=target, cache=store, options=settings)


def test_an_ok_design_has_every_label(tmp_path: Path, target: Target, store: ContentCache) -> None:
    made = label(program(tmp_path), target, store)
    (run,) = made.runs
    assert (made.design.status, made.label.status, run.status, run.outputs_equal) == ("ok", "ok", "ok", True)
    assert made.label.area_um2
    assert made.label.area_um2 > 1000
    assert made.label.flip_flop_count
    assert made.label.cell_count
    assert made.label.delay_ns
    assert run.latency_cycles
    assert run.latency_cycles > 8


def test_a_second_time_does_no_tool_work(
    tmp_path: Path, target: Target, store: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = label(program(tmp_path), target, store)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a tool was run")

    for name in ("run_native", "simulate_design", "synthesize_design"):
        monkeypatch.setattr(attempts, name, refuse)
    assert label(program(tmp_path), target, store) == first


def test_undefined_behaviour_is_rejected_with_its_line(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    text = SUM.replace("s += A[i];", "s += A[i] + 2147483647;")
    made = label(program(tmp_path, text), target, store)
    assert (made.design.status, made.label.status, made.label.area_um2) == ("ok", "rejected", None)
    assert "signed integer overflow" in (made.label.reason or "")
    assert "(total.c:6)" in (made.label.reason or "")


def test_hardware_that_differs_is_never_ok(
    tmp_path: Path, target: Target, store: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = attempts.simulate_design

    def wrong(verilog: str, **arguments: object) -> object:
        return replace(real(verilog, **arguments), returned=12345)  # type: ignore[arg-type]

    monkeypatch.setattr(attempts, "simulate_design", wrong)
    fresh = ContentCache(folder=tmp_path / "cache")
    made = label(program(tmp_path), target, fresh)
    assert (made.label.status, made.runs[0].status, made.runs[0].outputs_equal) == (
        "tool_error",
        "tool_error",
        False,
    )
    assert "hardware differs from native C in the result" in (made.runs[0].reason or "")
    assert made.runs[0].latency_cycles is None
    assert made.label.area_um2 is None


def test_changed_verilog_is_not_labelled_under_the_old_row(
    tmp_path: Path, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ContentCache(folder=tmp_path / "cache")
    row = program(tmp_path)
    made = attempts.attempt_hls(row, HlsOptions(), store)
    other = replace(made.design, rtl_sha256="0" * 64)
    (found,) = label_designs(
        [row], [other], target=target, cache=store, options=LabelOptions(workers=1)
    ).labels
    assert found.status == "tool_error"
    assert "must compile to the Verilog" in (found.reason or "")


def test_a_missing_tool_is_a_row_and_is_tried_again(
    tmp_path: Path, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.tools import ToolMissing

    store = ContentCache(folder=tmp_path / "cache")

    def missing(*_: object, **__: object) -> None:
        raise ToolMissing("verilator_bin must be on the PATH, got nothing")

    with monkeypatch.context() as patch:
        patch.setattr(attempts, "simulate_design", missing)
        made = label(program(tmp_path), target, store)
    assert (made.label.status, made.label.reason) == (
        "tool_error",
        "verilator_bin must be on the PATH, got nothing",
    )
    assert label(program(tmp_path), target, store).label.status == "ok"


def test_a_failing_tool_is_tried_again_a_mismatch_is_not(
    tmp_path: Path, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ContentCache(folder=tmp_path / "cache")
    real = attempts.simulate_design
    calls: list[str] = []

    def crash(verilog: str, **arguments: object) -> object:
        calls.append("crash")
        return replace(real(verilog, **arguments), status="tool_error", reason="g++: killed")  # type: ignore[arg-type]

    def wrong(verilog: str, **arguments: object) -> object:
        calls.append("wrong")
        return replace(real(verilog, **arguments), returned=12345)  # type: ignore[arg-type]

    monkeypatch.setattr(attempts, "simulate_design", crash)
    assert label(program(tmp_path), target, store).label.reason == "g++: killed"
    monkeypatch.setattr(attempts, "simulate_design", wrong)
    for _ in range(2):
        assert label(program(tmp_path), target, store).label.status == "tool_error"
    assert calls == ["crash", "wrong"]


def test_a_refused_program_is_one_rejected_design(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    row = program(tmp_path, "int total(int n) { return g(n); }")
    space = ConfigurationSpace()
    tables = plan_designs([row], space, target=target, cache=store, options=LabelOptions())
    (design,) = tables.designs
    assert design.status == "rejected"
    assert "(total.c:1)" in (design.reason or "")
    labels = label_designs([row], tables.designs, target=target, cache=store, options=LabelOptions())
    assert labels.labels[0].status == "rejected"
    assert labels.runs == []


def test_the_space_gives_each_configuration_once(tmp_path: Path, target: Target, store: ContentCache) -> None:
    steps: list[Progress] = []
    space = ConfigurationSpace(memory_delays=(2, 10), pipeline=(False, True))
    tables = plan_designs(
        [program(tmp_path)],
        space,
        target=target,
        cache=store,
        options=LabelOptions(),
        on_progress=steps.append,
    )
    found = {(d.memory_read_delay_cycles, d.directives) for d in tables.designs}
    pipelined = '[{"kind":"pipeline","loop":"L0"}]'
    assert found == {(2, "[]"), (2, pipelined), (10, "[]"), (10, pipelined)}
    assert [s.done for s in steps] == [1, 2, 3, 4]
    assert {o.applied for o in tables.directive_outcomes} == {True}


def test_a_program_without_loops_has_no_pipelined_twin(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    row = program(tmp_path, "int total(int n) { return n + 1; }")
    space = ConfigurationSpace(memory_delays=(2,), pipeline=(False, True))
    tables = plan_designs([row], space, target=target, cache=store, options=LabelOptions())
    assert len(tables.designs) == 1


def test_given_data_are_used(tmp_path: Path, target: Target, store: ContentCache) -> None:
    row = program(tmp_path)
    data = {"A": np.arange(8, dtype=np.int32)}
    made = label_design(row, HlsOptions(), target=target, cache=store, options=LabelOptions(), data=data)
    assert made.runs[0].status == "ok"
    assert made.runs[0].data_id != label(row, target, store).runs[0].data_id
