"""Labelling: truth checks, failures as rows, cache and resume."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.base.cache import ContentCache
from pipelines.base.workers import Progress
from pipelines.c import Directive, HlsError
from pipelines.dataset.labelling import (
    LabelContext,
    LabelledDesign,
    configurations,
    flows,
    label_design,
    label_designs,
    plan_designs,
    runs,
    synthesis,
)
from pipelines.dataset.labelling.configurations import program_configurations
from pipelines.dataset.labelling.runs import is_audited
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty
from tests.support.labelling import configuration_space, label_options

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
def store(
    tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[Path], ContentCache]
) -> ContentCache:
    return new_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def fresh(tmp_path: Path, new_cache: Callable[[Path], ContentCache]) -> ContentCache:
    """A cache without results."""
    return new_cache(tmp_path / "cache")


@pytest.fixture(scope="module")
def target() -> Target:
    return Target(liberty=find_liberty(None), clock_period_ns=10.0)


def program(tmp_path: Path, text: str = SUM, top: str = "total") -> ProgramRow:
    path = tmp_path / "total.c"
    path.write_text(text)
    return program_from_file(path, top=top)


def label(row: ProgramRow, target: Target, store: ContentCache, **options: Any) -> LabelledDesign:
    settings = label_options(workers=1, **options)
    return label_design(row, HlsOptions(), LabelContext(target=target, cache=store, options=settings))


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

    for name in ("run_native_sets", "count_cycles_of", "simulate_design"):
        monkeypatch.setattr(runs, name, refuse)
    monkeypatch.setattr(synthesis, "synthesize_design", refuse)
    monkeypatch.setattr(synthesis, "estimate_power", refuse)
    assert label(program(tmp_path), target, store) == first


def test_undefined_behaviour_is_rejected_with_its_line(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    text = SUM.replace("s += A[i];", "s += A[i] + 2147483647;")
    made = label(program(tmp_path, text), target, store)
    assert (made.design.status, made.label.status, made.label.area_um2) == ("ok", "rejected", None)
    assert "signed integer overflow" in (made.label.reason or "")
    assert "(total.c:6)" in (made.label.reason or "")


def changed_result(monkeypatch: pytest.MonkeyPatch, engine: str, **changes: object) -> list[str]:
    """Let an engine give another result; returns a list that grows with each call."""
    real = getattr(runs, engine)
    calls: list[str] = []

    def wrong(*given: object, **arguments: object) -> object:
        calls.append(engine)
        result = real(*given, **arguments)
        return (
            [replace(r, **changes) for r in result]
            if isinstance(result, list)
            else replace(result, **changes)
        )

    monkeypatch.setattr(runs, engine, wrong)
    return calls


@pytest.mark.parametrize(
    ("engine", "subject"), [("count_cycles_of", "the scheduled design"), ("simulate_design", "hardware")]
)
def test_a_result_that_differs_from_native_c_is_never_ok(
    engine: str,
    subject: str,
    tmp_path: Path,
    target: Target,
    fresh: ContentCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed_result(monkeypatch, engine, returned=12345)
    made = label(program(tmp_path), target, fresh, audit_fraction=1.0)
    (run,) = made.runs
    assert (made.label.status, run.status, run.outputs_equal) == ("tool_error", "tool_error", False)
    assert f"{subject} differs from native C in the result" in (run.reason or "")
    assert (run.latency_cycles, run.bytes_read, made.label.area_um2) == (None, None, None)


def test_an_audited_run_names_both_engines(tmp_path: Path, target: Target, store: ContentCache) -> None:
    (run,) = label(program(tmp_path), target, store, audit_fraction=1.0).runs
    assert (run.engine, run.audit_engine, run.audited) == ("cycle_model", "verilator", True)
    assert run.audit_latency_cycles == run.latency_cycles
    assert (run.bytes_read, run.bytes_written) == (32, 0)
    assert run.audit_build_wall_s
    (other,) = label(program(tmp_path), target, store, audit_fraction=0.0).runs
    assert (other.audited, other.audit_engine, other.audit_latency_cycles) == (False, None, None)
    assert other.latency_cycles == run.latency_cycles


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["reuse", "cxxrtl"])
def test_any_engine_may_audit(
    engine: str, tmp_path: Path, target: Target, store: ContentCache, fresh: ContentCache
) -> None:
    (run,) = label(program(tmp_path), target, fresh, audit_fraction=1.0, audit_engine=engine).runs
    (usual,) = label(program(tmp_path), target, store, audit_fraction=1.0).runs
    assert (run.status, run.audit_engine, usual.audit_engine) == ("ok", engine, "verilator")
    assert run.audit_latency_cycles == usual.audit_latency_cycles
    assert (run.bytes_read, run.bytes_written) == (usual.bytes_read, usual.bytes_written)
    assert run.audit_engine_version != usual.audit_engine_version


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"latency_cycles": 7}, "the cycle model counts 7 cycles, verilator "),
        ({"bytes_read": {"A": 31}}, "the cycle model counts 31 bytes read, verilator 32"),
    ],
)
def test_a_count_that_simulation_does_not_confirm_is_a_tool_error(
    changes: dict[str, object],
    reason: str,
    tmp_path: Path,
    target: Target,
    fresh: ContentCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed_result(monkeypatch, "count_cycles_of", **changes)
    made = label(program(tmp_path), target, fresh, audit_fraction=1.0)
    (run,) = made.runs
    assert (made.label.status, run.status, run.latency_cycles) == ("tool_error", "tool_error", None)
    assert reason in (run.reason or "")
    assert run.audit_latency_cycles


# Native C starts `t` as zero and as -16843010, neither of which is positive; the hardware at random.
UNINITIALISED = """
void positive(int A[8], int out[8])
{
    int t[64];
    for (int i = 0; i < 64; i += 9)
        t[i] = A[i / 9];
    for (int i = 0; i < 8; i++)
        out[i] = t[i] > 0;
}
"""


@pytest.mark.slow
def test_an_audit_says_that_outputs_depend_on_the_start_of_memories(
    tmp_path: Path, target: Target, fresh: ContentCache
) -> None:
    row = program(tmp_path, UNINITIALISED, "positive")
    (usual,) = label(row, target, fresh, audit_fraction=0.0, power=False).runs
    assert usual.status == "ok"
    made = label(row, target, fresh, audit_fraction=1.0, power=False)
    (run,) = made.runs
    assert (made.label.status, run.status, run.latency_cycles) == ("tool_error", "tool_error", None)
    assert "differs from native C in array out, but not when its registers" in (run.reason or "")
    assert "the C reads what it never wrote, or the hardware lacks a reset" in (run.reason or "")


def test_the_audited_sample_grows_with_its_fraction() -> None:
    names = [f"design {k}" for k in range(2000)]
    samples = [{n for n in names if is_audited(n, f)} for f in (0.0, 0.1, 0.5, 1.0)]
    assert samples[0] == set()
    assert samples[1] < samples[2] < samples[3] == set(names)
    assert 150 < len(samples[1]) < 250


def test_changed_verilog_is_not_labelled_under_the_old_row(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = program(tmp_path)
    made = flows.compile_natively(row, HlsOptions(), fresh)[0]
    other = replace(made.design, rtl_sha256="0" * 64)
    (found,) = label_designs(
        [row], [other], LabelContext(target=target, cache=fresh, options=label_options(workers=1))
    ).labels
    assert found.status == "tool_error"
    assert "must compile to the Verilog" in (found.reason or "")


def test_a_missing_tool_is_a_row_and_is_tried_again(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.base.tools import ToolMissing

    def missing(*_: object, **__: object) -> None:
        raise ToolMissing("verilator_bin must be on the PATH, got nothing")

    with monkeypatch.context() as patch:
        patch.setattr(runs, "simulate_design", missing)
        made = label(program(tmp_path), target, fresh, audit_fraction=1.0)
    assert (made.label.status, made.label.reason) == (
        "tool_error",
        "verilator_bin must be on the PATH, got nothing",
    )
    assert label(program(tmp_path), target, fresh, audit_fraction=1.0).label.status == "ok"


def test_a_failing_tool_is_tried_again_a_mismatch_is_not(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        crashes = changed_result(patch, "simulate_design", status="tool_error", reason="g++: killed")
        for _ in range(2):
            made = label(program(tmp_path), target, fresh, audit_fraction=1.0)
            assert made.label.reason == "audit: g++: killed"
    assert len(crashes) == 2
    mismatches = changed_result(monkeypatch, "simulate_design", returned=12345)
    for _ in range(2):
        made = label(program(tmp_path), target, fresh, audit_fraction=1.0)
        assert made.label.status == "tool_error"
    assert len(mismatches) == 2  # as it is, and with memories that start as zero


def test_a_fault_of_the_engine_is_a_row_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: Target, fresh: ContentCache
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise IndexError("list index out of range")

    with monkeypatch.context() as patch:
        patch.setattr(flows, "compile_program", broken)
        found = label(program(tmp_path), target, fresh)
    assert (found.design.status, found.label.status) == ("tool_error", "tool_error")
    assert found.design.reason == "the engine failed: IndexError: list index out of range"
    assert flows.compile_natively(program(tmp_path), HlsOptions(), fresh)[0].design.status == "ok"


def test_a_refusal_of_an_earlier_engine_is_not_taken_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: ContentCache
) -> None:
    def refusing(*_: object, **__: object) -> None:
        raise HlsError("a call must be of another function", "f")

    row, space = program(tmp_path), configuration_space()
    with monkeypatch.context() as patch:
        patch.setattr(flows, "compile_program", refusing)
        patch.setattr(configurations, "_mappings_or_refusal", lambda *_: "refused")
        assert flows.compile_natively(row, HlsOptions(), fresh)[0].design.status == "rejected"
        assert program_configurations(row, space, liberty="osu018", cache=fresh) == "refused"
    assert flows.cached_rows(row, HlsOptions(), fresh) is None
    assert flows.compile_natively(row, HlsOptions(), fresh)[0].design.status == "ok"
    assert isinstance(program_configurations(row, space, liberty="osu018", cache=fresh), list)


def test_a_refusal_that_holds_is_taken_from_the_cache(tmp_path: Path, fresh: ContentCache) -> None:
    row = program(tmp_path, "int total(int n) { return total(n) + 1; }")
    made = flows.compile_natively(row, HlsOptions(), fresh)[0]
    assert made.design.status == "rejected"
    assert flows.cached_rows(row, HlsOptions(), fresh) == made


def test_a_refused_program_is_one_rejected_design(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    row = program(tmp_path, "int total(int n) { return g(n); }")
    space = configuration_space()
    tables = plan_designs([row], space, LabelContext(target=target, cache=store, options=label_options()))
    (design,) = tables.designs
    assert design.status == "rejected"
    assert "(total.c:1)" in (design.reason or "")
    labels = label_designs(
        [row], tables.designs, LabelContext(target=target, cache=store, options=label_options())
    )
    assert labels.labels[0].status == "rejected"
    assert labels.runs == []


def test_the_space_gives_each_configuration_once(tmp_path: Path, target: Target, fresh: ContentCache) -> None:
    steps: list[Progress] = []
    space = configuration_space(memory_delay=(2, 10), pipeline=(False, True))
    tables = plan_designs(
        [program(tmp_path)],
        space,
        LabelContext(target=target, cache=fresh, options=label_options()),
        on_progress=steps.append,
    )
    found = {(d.memory_read_delay_cycles, d.directives) for d in tables.designs}
    pipelined = '[{"kind":"pipeline","loop":"L0"}]'
    assert found == {(2, "[]"), (2, pipelined), (10, "[]"), (10, pipelined)}
    assert [(s.step, s.done) for s in steps] == [
        ("configurations", 1),
        *(("designs", done) for done in (1, 2, 3, 4)),
    ]
    assert {o.applied for o in tables.directive_outcomes} == {True}


def test_a_program_without_loops_has_no_pipelined_twin(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    row = program(tmp_path, "int total(int n) { return n + 1; }")
    space = configuration_space(memory_delay=(2,), pipeline=(False, True))
    tables = plan_designs([row], space, LabelContext(target=target, cache=store, options=label_options()))
    assert len(tables.designs) == 1


def test_given_data_are_used(tmp_path: Path, target: Target, store: ContentCache) -> None:
    row = program(tmp_path)
    data = {"A": np.arange(8, dtype=np.int32)}
    made = label_design(
        row, HlsOptions(), LabelContext(target=target, cache=store, options=label_options()), data=data
    )
    assert made.runs[0].status == "ok"
    assert made.runs[0].data_id != label(row, target, store).runs[0].data_id


DOT = """
float total(float a[32], float b[32]) {
    float s = 0;
    for (int i = 0; i < 32; i++)
        s += a[i] * b[i];
    return s;
}
"""
UNSAFE = HlsOptions(
    directives=(Directive(kind="pipeline", loop="L0"),), transforms=TransformOptions(unsafe_math=True)
)


def label_unsafe(
    row: ProgramRow, target: Target, store: ContentCache, options: HlsOptions = UNSAFE
) -> LabelledDesign:
    settings = label_options(workers=1, audit_fraction=1.0)
    return label_design(row, options, LabelContext(target=target, cache=store, options=settings))


@pytest.mark.slow
def test_reordered_sums_may_differ_by_rounding(tmp_path: Path, target: Target, store: ContentCache) -> None:
    row = program(tmp_path, DOT)
    unsafe = label_unsafe(row, target, store)
    safe = label_unsafe(row, target, store, replace(UNSAFE, transforms=TransformOptions()))
    assert (unsafe.label.status, unsafe.runs[0].outputs_equal) == ("ok", True)
    assert (unsafe.runs[0].latency_cycles or 0) < (safe.runs[0].latency_cycles or 0)


@pytest.mark.parametrize(
    ("engine", "subject"), [("count_cycles_of", "the scheduled design"), ("simulate_design", "hardware")]
)
def test_reordered_sums_that_are_far_off_are_never_ok(
    engine: str,
    subject: str,
    tmp_path: Path,
    target: Target,
    fresh: ContentCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed_result(monkeypatch, engine, returned=0x41200000)  # 10.0
    (run,) = label_unsafe(program(tmp_path, DOT), target, fresh).runs
    assert (run.status, run.outputs_equal) == ("tool_error", False)
    assert f"{subject} differs from native C in the result" in (run.reason or "")


def test_the_space_passes_on_what_the_engine_may_do(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    space = configuration_space(
        memory_delay=(5,),
        pipeline=(False,),
        write_delay=3,
        unsafe_math=True,
        unit_limits=("fadd=1",),
    )
    row = program(tmp_path, DOT)
    (design,) = plan_designs(
        [row], space, LabelContext(target=target, cache=store, options=label_options())
    ).designs
    assert (design.memory_read_delay_cycles, design.memory_write_delay_cycles) == (5, 3)
    engine = json.loads(design.engine_options)
    assert (engine["unsafe_math"], engine["unit_limits"]) == (True, {"fadd": 1})
