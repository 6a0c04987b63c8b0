"""Other tools beside the engine: the same rows, failures as rows, cache; Bambu through a stand-in."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines import circt
from pipelines.base.cache import ContentCache
from pipelines.base.tools import ToolMissing
from pipelines.dataset.labelling import (
    TOOLS,
    LabelContext,
    LabelledDesign,
    LabellingError,
    external_tools,
    flows,
    label_design,
    label_designs,
    plan_designs,
    require_tools,
    synthesis,
)
from pipelines.hls import TOOL, HlsOptions
from pipelines.programs import program_from_file
from pipelines.schemas import ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty
from tests.support.labelling import configuration_space, label_options

SUM = """
int total(int A[8])
{
    int s = 0;
    for (int i = 0; i < 8; i++) {
#pragma HLS pipeline II=1
        s += A[i];
    }
    return s;
}
"""
PIPELINE = '{"kind":"pipeline","loop":"L0","value":1}'
OPTIONS = label_options(workers=1)


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


def program(folder: Path, text: str = SUM) -> ProgramRow:
    path = folder / "total.c"
    path.write_text(text)
    return program_from_file(path, top="total")


def label(row: ProgramRow, target: Target, cache: ContentCache, tool: str) -> LabelledDesign:
    return label_design(
        row, HlsOptions(), LabelContext(target=target, cache=cache, options=OPTIONS), tool=tool
    )


# ---- CIRCT -----------------------------------------------------------------------------------------


@pytest.mark.circt
@pytest.mark.sample(2)
@pytest.mark.parametrize("tool", ["circt-calyx", "circt-handshake"])
def test_a_flow_of_circt_gives_every_row(
    tool: str, tmp_path: Path, target: Target, store: ContentCache
) -> None:
    row = program(tmp_path)
    made, own = label(row, target, store, tool), label(row, target, store, TOOL)
    (run,), (other,) = made.runs, own.runs
    assert (made.design.status, made.label.status, run.status) == ("ok", "ok", "ok")
    assert (made.design.tool, made.design.directives, made.design.delay_library) == (tool, "[]", "none")
    assert (run.engine, run.audited, run.outputs_equal) == ("verilator", False, True)
    assert (run.bytes_read, run.bytes_written) == (other.bytes_read, other.bytes_written) == (32, 0)
    assert run.latency_cycles
    assert other.latency_cycles
    assert run.latency_cycles > other.latency_cycles
    assert run.data_id == other.data_id
    assert made.label.area_um2
    assert made.label.area_um2 > 1000
    assert made.design.design_id != own.design.design_id


@pytest.mark.circt
def test_a_directive_left_out_is_an_outcome(tmp_path: Path, target: Target, store: ContentCache) -> None:
    row = program(tmp_path)
    (left_out,) = label(row, target, store, "circt-calyx").outcomes
    assert (left_out.directive, left_out.applied) == (PIPELINE, False)
    assert left_out.reason == "circt-calyx is given no directives"
    (applied,) = label(row, target, store, TOOL).outcomes
    assert (applied.directive, applied.applied) == (PIPELINE, True)


@pytest.mark.circt
def test_a_second_time_runs_no_other_tool(
    tmp_path: Path, target: Target, store: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = program(tmp_path)
    first = label(row, target, store, "circt-calyx")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a tool was run")

    monkeypatch.setattr(external_tools, "compile_with_circt", refuse)
    monkeypatch.setattr(external_tools, "simulate_circt_design", refuse)
    monkeypatch.setattr(synthesis, "synthesize_design", refuse)
    assert label(row, target, store, "circt-calyx") == first


@pytest.mark.circt
def test_hardware_of_another_tool_that_differs_from_native_c_is_never_ok(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = external_tools.simulate_circt_design

    def wrong(*given: object, **arguments: object) -> object:
        return replace(real(*given, **arguments), returned=12345)  # type: ignore[arg-type]

    monkeypatch.setattr(external_tools, "simulate_circt_design", wrong)
    made = label(program(tmp_path), target, fresh, "circt-calyx")
    (run,) = made.runs
    assert (made.label.status, run.status, run.outputs_equal) == ("tool_error", "tool_error", False)
    assert "hardware differs from native C in the result" in (run.reason or "")
    assert (run.latency_cycles, made.label.area_um2) == (None, None)


@pytest.mark.circt
def test_what_a_flow_refuses_is_a_rejected_design(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    made = label(program(tmp_path, SUM.replace("int A", "float A")), target, store, "circt-handshake")
    assert (made.design.status, made.label.status, made.runs) == ("rejected", "rejected", ())
    assert (made.design.reason or "").startswith("a program for CIRCT must have integers only")


@pytest.mark.circt
def test_a_failing_flow_is_a_row_and_is_tried_again(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = program(tmp_path)
    with monkeypatch.context() as patch:
        broken = external_tools.HlsResult(
            status="tool_error", reason="a crash (signal 11)", rtl=None, wall_s=0.0
        )
        patch.setattr(external_tools.CirctTool, "compile", lambda *_, **__: broken)
        made = label(row, target, fresh, "circt-calyx")
        assert (made.design.status, made.design.reason) == ("tool_error", "a crash (signal 11)")
        assert made.label.reason == "high-level synthesis: a crash (signal 11)"
    context = LabelContext(target=target, cache=fresh, options=OPTIONS)
    again = flows.compile_design(row, "circt-calyx", HlsOptions(), context)
    assert (again.design.status, again.design.design_id) == ("ok", made.design.design_id)


@pytest.mark.circt
def test_changed_verilog_of_another_tool_is_not_labelled_under_the_old_row(
    tmp_path: Path, target: Target, fresh: ContentCache
) -> None:
    row = program(tmp_path)
    context = LabelContext(target=target, cache=fresh, options=OPTIONS)
    made = flows.compile_design(row, "circt-calyx", HlsOptions(), context)
    old = replace(made.design, rtl_sha256="0" * 64)
    (found,) = label_designs([row], [old], context).labels
    assert found.status == "tool_error"
    assert "circt-calyx must give the Verilog 000" in (found.reason or "")


# ---- plans -----------------------------------------------------------------------------------------


@pytest.mark.circt
def test_other_tools_have_one_design_a_delay_and_the_engine_its_own(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    plain = SUM.replace("#pragma HLS pipeline II=1", "")
    space = configuration_space(memory_delay=(2, 10))
    options = replace(OPTIONS, tools=(TOOL, "circt-calyx"))
    row = program(tmp_path, plain)
    both = plan_designs([row], space, LabelContext(target=target, cache=store, options=options))
    found = [(d.tool, d.memory_read_delay_cycles) for d in both.designs]
    assert sorted(found) == [
        ("circt-calyx", 2),
        ("circt-calyx", 10),
        *((TOOL, delay) for delay in (2, 2, 10, 10)),
    ]
    alone = plan_designs([row], space, LabelContext(target=target, cache=store, options=OPTIONS))
    assert alone.designs == [d for d in both.designs if d.tool == TOOL]
    assert alone.directive_outcomes == both.directive_outcomes


@pytest.mark.circt
def test_a_refused_program_is_one_rejected_design_a_tool(
    tmp_path: Path, target: Target, store: ContentCache
) -> None:
    row = program(tmp_path, "int total(int n) { return g(n); }")
    context = LabelContext(target=target, cache=store, options=replace(OPTIONS, tools=TOOLS[:3]))
    designs = plan_designs([row], configuration_space(), context).designs
    assert [(d.tool, d.status) for d in designs] == [(tool, "rejected") for tool in TOOLS[:3]]
    assert len({d.design_id for d in designs}) == 3
    labels = label_designs([row], designs, LabelContext(target=target, cache=store, options=OPTIONS)).labels
    assert {found.status for found in labels} == {"rejected"}


def test_require_tools_rejects_an_unknown_name() -> None:
    known = "simfoundry-hls, circt-calyx, circt-handshake, bambu"
    with pytest.raises(LabellingError, match=rf"^unknown tool: vitis; accepted: {known}$"):
        require_tools((TOOL, "vitis"))


def test_require_tools_rejects_a_flow_of_circt_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circt, "is_installed", lambda: False)
    extra = r"the extra circt, which has wheels for .*: pip install 'simfoundry\[circt\]'"
    with pytest.raises(ToolMissing, match=f"^circt-calyx: the flows of CIRCT need {extra}$"):
        require_tools((TOOL, "circt-calyx"))


def test_plan_designs_rejects_bambu_that_is_not_installed_before_it_begins(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"^bambu: not found on PATH; install it from .*bambu\)$"):
        plan_designs(
            [program(tmp_path)],
            configuration_space(),
            LabelContext(target=target, cache=fresh, options=replace(OPTIONS, tools=(TOOL, "bambu"))),
        )
    assert sorted(path.name for path in fresh.folder.iterdir()) == ["engines", "runtime"]


# ---- Bambu -----------------------------------------------------------------------------------------

VERILOG = "module total(input clock, output reg q); always @(posedge clock) q <= ~q; endmodule"


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, simulated: str) -> None:
    """A `bambu` on the PATH that does what its first and only program needs."""
    tools = folder / "tools"
    tools.mkdir()
    script = f"""#!/bin/sh
case "$*" in
--version) echo 'Version: PandA 2023.1'; exit 0;;
esac
if grep -q pragma program.c; then echo 'error -> a directive was given' >&2; exit 1; fi
echo "{VERILOG}" > total.v
echo 'Number of states: 4'
echo 'Number of modules instantiated: 7'
case "$*" in
*--simulate*) {simulated};;
esac
"""
    (tools / "bambu").write_text(script)
    (tools / "bambu").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")


def test_bambu_on_the_path_gives_every_row(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "grep -q 'A=\"{' testbench.xml && echo 'Total cycles : 37 cycles'")
    made = label(program(tmp_path), target, fresh, "bambu")
    (run,) = made.runs
    assert (made.design.status, made.design.state_count, made.design.module_count) == ("ok", 4, 7)
    assert made.design.tool_version.startswith("PandA 2023.1+")
    assert (run.engine, run.latency_cycles, run.outputs_equal) == ("bambu-verilator", 37, True)
    assert (run.bytes_read, run.native_wall_s is None) == (None, False)
    assert (made.label.status, made.label.flip_flop_count) == ("ok", 1)
    assert [o.applied for o in made.outcomes] == [False]


def test_bambu_rejects_objects_of_static_storage(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "exit 1")
    text = "int total_of[4];\nvoid total(int k) { total_of[k & 3] = k; }\n"
    path = tmp_path / "total.c"
    path.write_text(text)
    made = label(program_from_file(path, top="total"), target, fresh, "bambu")
    reason = "Bambu passes arguments only, so a program must not use objects of static storage, got total_of"
    assert (made.label.status, made.design.reason) == ("rejected", f"{reason} (total.c)")


def test_outputs_of_bambu_that_differ_are_never_ok(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "echo 'error -> Simulation not correct!'; exit 1")
    made = label(program(tmp_path), target, fresh, "bambu")
    (run,) = made.runs
    assert (made.design.status, made.label.status, run.outputs_equal) == ("ok", "tool_error", False)
    assert run.reason == "hardware differs from native C: Simulation not correct!"


def test_undefined_behaviour_is_rejected_before_bambu_simulates(
    tmp_path: Path, target: Target, fresh: ContentCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, "echo 'Total cycles : 37 cycles'")
    row = program(tmp_path, SUM.replace("s += A[i];", "s += A[i] + 2147483647;"))
    made = label(row, target, fresh, "bambu")
    assert made.label.status == "rejected"
    assert "signed integer overflow" in (made.label.reason or "")


def test_directives_are_blanked_and_lines_kept() -> None:
    source = "#pragma once\n  # pragma HLS unroll \\\n factor=4\nint x;\n#pragma omp parallel for\nint y;\n"
    assert external_tools.without_directives(source) == "#pragma once\n\n\nint x;\n\nint y;\n"
