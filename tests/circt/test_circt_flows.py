"""Both flows from C to outputs that equal native C."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from pipelines.base.tools import ToolMissing
from pipelines.c.signature import same_values
from pipelines.circt import (
    CirctError,
    compilation,
    compile_with_circt,
    simulate_circt_design,
    tool_version,
)
from pipelines.circt.compilation import FlowFailed, Session
from pipelines.native import run_native
from pipelines.programs import draw_data
from pipelines.rtl.simulation import MemoryTiming

pytestmark = pytest.mark.circt

SCALE = """
int scale(int factor, int a[6], int b[6]) {
    int most = -1000000;
    for (int i = 0; i < 6; i++) {
        int value = a[i] * factor;
        if (value < 0) value = -value / 3;
        else b[0] += 1;
        b[i] += value;
        most = value > most ? value : most;
    }
    return most;
}
"""

LOCAL = """
#include <stdint.h>
void smooth(uint8_t a[5], int64_t b[5]) {
    static const int16_t weight[3] = {-3, 7, 100};
    int line[5] = {9, 8, 7, 6, 5};
    for (int i = 1; i < 4; i++) {
        for (int k = 0; k < 3; k++) line[i] += weight[k] * a[i + k - 1];
    }
    for (int i = 0; i < 5; i++) {
        if (line[i] > 900) break;
        b[i] = ((int64_t)line[i] << 33) % 1000003;
        a[i] = (uint8_t)(line[i] / 2u);
    }
}
"""

SEARCH = """
void place(int a[5]) {
    for (int i = 1; i < 5; i++) {
        int key = a[i], j = i - 1;
        while (j >= 0 && a[j] > key) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = key;
    }
}
"""

BARE_CONDITION = """\
func.func @f(%go: i1) -> i1 {
  %r = scf.while (%g = %go) : (i1) -> i1 {
    scf.condition(%g) %g : i1
  } do {
  ^bb0(%g: i1):
    scf.yield %g : i1
  }
  return %r : i1
}
"""
"""A loop whose condition no operation computes: the lowering to Calyx ends the process on it."""


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("flow", "top", "source", "delays"),
    [
        ("calyx", "scale", SCALE, (1, 1)),
        ("calyx", "smooth", LOCAL, (2, 2)),
        ("calyx", "logic", SEARCH.replace("place", "logic"), (3, 5)),  # a word of SystemVerilog
        ("handshake", "scale", SCALE, (1, 1)),
        ("handshake", "module", LOCAL.replace("smooth", "module"), (5, 3)),
    ],
)
def test_flow_equals_native_c(
    flow: str, top: str, source: str, delays: tuple[int, int], tmp_path: Path, runtime_folder: Path
) -> None:
    timing = MemoryTiming(read_delay_cycles=delays[0], write_delay_cycles=delays[1])
    design = compile_with_circt(
        source, top=top, flow=flow, folder=tmp_path / "circt", timeout_s=120, timing=timing
    )
    assert (design.status, design.reason) == ("ok", None)
    assert design.tool == f"circt-{flow}"
    assert design.interface is not None
    data = draw_data(design.interface, "{}", seed=3)
    (tmp_path / "rtl").mkdir()
    result = simulate_circt_design(
        design, data, folder=tmp_path / "rtl", runtime_folder=runtime_folder, cycle_limit=20_000
    )
    native = run_native(source, design.interface, data, folder=tmp_path / "native")
    assert (native.status, result.status, result.reason) == ("ok", "ok", None)
    assert result.returned == native.returned
    for name, values in native.outputs.items():
        assert same_values(result.outputs[name], values), name


def test_stage_makes_a_crash_a_status(tmp_path: Path) -> None:
    session = Session(folder=tmp_path, timeout_s=120)
    steps = [{"passes": "builtin.module(lower-scf-to-calyx{top-level-function=f})"}]
    with pytest.raises(
        FlowFailed, match=r"^CIRCT must succeed in lower, got a crash \(signal \d+\)"
    ) as failed:
        session.stage("lower", BARE_CONDITION, steps)
    assert failed.value.status == "tool_error"


def test_stage_without_time_of_the_machine_is_a_tool_error(tmp_path: Path) -> None:
    session = Session(folder=tmp_path, timeout_s=1e-5)
    reason = "CIRCT must succeed in lower, got the machine was too busy: no end within 0.0001 s by the clock"
    with pytest.raises(FlowFailed, match=f"^{reason}$") as failed:
        session.stage("lower", BARE_CONDITION, [])
    assert failed.value.status == "tool_error"


def test_stage_gives_the_error_of_a_pass(tmp_path: Path) -> None:
    session = Session(folder=tmp_path, timeout_s=120)
    text = "func.func @f(%a: f32) -> f32 {\n%r = arith.remf %a, %a : f32\nreturn %r : f32\n}"
    steps = [{"passes": "builtin.module(lower-scf-to-calyx{top-level-function=f})"}]
    with pytest.raises(FlowFailed, match=r"failed to legalize operation 'arith\.remf'"):
        session.stage("lower", text, steps)


def test_compile_is_deterministic(tmp_path: Path) -> None:
    first, second = (
        compile_with_circt(SEARCH, top="place", flow="calyx", folder=tmp_path / n, timeout_s=120).verilog
        for n in ("a", "b")
    )
    assert first is not None
    assert first == second


def test_compile_with_circt_rejects_floats(tmp_path: Path) -> None:
    source = "void f(float a[4]) { for (int i = 0; i < 4; i++) a[i] += 1.0f; }"
    design = compile_with_circt(source, top="f", flow="calyx", folder=tmp_path, timeout_s=120)
    assert (design.status, design.verilog) == ("rejected", None)
    assert design.reason is not None
    assert design.reason.startswith("a program for CIRCT must have integers only")
    with pytest.raises(CirctError, match=r"^only a design with status ok can be simulated, got rejected$"):
        simulate_circt_design(design, {}, folder=tmp_path, runtime_folder=tmp_path)


def test_compile_with_circt_rejects_what_the_front_end_rejects(tmp_path: Path) -> None:
    design = compile_with_circt(
        "int f(int a) { return f(a); }", top="f", flow="calyx", folder=tmp_path, timeout_s=9
    )
    assert (design.status, design.interface) == ("rejected", None)


def test_compile_with_circt_rejects_unknown_flows(tmp_path: Path) -> None:
    with pytest.raises(CirctError, match=r"^unknown flow: llhd; accepted: calyx, handshake$"):
        compile_with_circt(SEARCH, top="place", flow="llhd", folder=tmp_path, timeout_s=1)


def test_tool_version_names_the_wheel() -> None:
    assert tool_version().startswith("1.")


def test_tool_version_rejects_a_missing_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(compilation, "version", missing)
    tool_version.cache_clear()
    with pytest.raises(ToolMissing, match=r"^the flows of CIRCT need the extra circt, "):
        tool_version()
