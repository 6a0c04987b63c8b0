"""Objects of static storage: which become ports, their first data, and hardware against native C."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from batches import run_natively
from object_programs import object_program

from pipelines.c import Directive, HlsError, bundle_source, read_function, read_interface
from pipelines.c.signature import Argument, DataSet, same_values
from pipelines.cyclemodel import CycleResult, count_cycles
from pipelines.dataset.releases import open_release
from pipelines.hls import (
    TOOL,
    CompiledDesign,
    HlsOptions,
    check_program,
    compile_program,
    design_id,
    design_row,
    options_of,
    tool_version,
)
from pipelines.native import NativeRun, run_native
from pipelines.programs import ProgramError, draw_data, load_data, program_from_file
from pipelines.rtl.simulation import MemoryTiming, simulate_design
from pipelines.schemas import table_spec
from tests.support.case_files import sources_of

SOURCES = sources_of(Path(__file__).parent / "cases" / "sources" / "objects.c")
EVERY_FORM, STATE, NAMES = SOURCES["every form"], SOURCES["state.h"], SOURCES["names and scopes"]
SCALED = "int out[8]; void f(int k) { for (int i = 0; i < 8; i++) out[i] = k * i; }"


def arguments(source: str) -> dict[str, Argument]:
    return {a.name: a for a in read_interface(source, "f").arguments}


def outcomes(
    source: str, top: str, data: DataSet, folder: Path, *directives: Directive
) -> tuple[CompiledDesign, CycleResult, NativeRun]:
    """A design, what it computes, and what native C does; it must be equal."""
    compiled = compile_program(source, top=top, options=HlsOptions(directives=directives))
    counted = count_cycles(compiled, data, folder=folder / "model")
    native = run_native(source, compiled.interface, data, folder=folder / "native")
    assert (counted.status, native.status) == ("ok", "ok"), (counted.reason, native.reason)
    assert counted.returned == native.returned
    assert counted.outputs.keys() == native.outputs.keys()
    for name, values in native.outputs.items():
        assert same_values(values, counted.outputs[name]), name
    return compiled, counted, native


# ---- which objects are ports ---------------------------------------------------------------------------


def test_written_object_of_the_file_is_an_output(tmp_path: Path) -> None:
    out = arguments(SCALED)["out"]
    assert (out.shape, out.read, out.written) == ((8,), False, True)
    data = draw_data(read_interface(SCALED, "f"), '{"k": {"kind": "constant", "value": 3}}', seed=0)
    _, counted, _ = outcomes(SCALED, "f", data, tmp_path)
    assert counted.outputs["out"].tolist() == [3 * i for i in range(8)]
    assert counted.stores == {"out": 8}


@pytest.mark.parametrize(
    ("declaration", "role"),
    [
        ("int t[4] = {1, 2, 3, 4};", None),
        ("const int t[4] = {1, 2, 3, 4};", None),
        ("static const int t[4];", None),
        ("int t[4];", "zeros"),
        ("int t[4] = {1, 2, 3, 4}; void init(void) { t[0] = 9; }", "values"),
        ("int t[4] = {1, 2, 3, 4}; void fill(int *); void init(void) { fill(t); }", "values"),
        ("int t[4] = {1, 2, 3, 4}; int sum(const int *); int init(void) { return sum(t) + t[1]; }", None),
        ("int t[4] = {1, 2, 3, 4}; void init(void) { int t[4]; t[0] = 9; }", None),
        ("int t[4] = {1, 2, 3, 4}; typedef int n; void g(n, int); void init(void) { g(t[0], t[1]); }", None),
        ("typedef int *p; int t[4] = {1, 2, 3, 4}; void g(p); void init(void) { g(t); }", "values"),
    ],
)
def test_object_that_is_only_read_is_a_constant_unless_the_file_does_not_fix_it(
    declaration: str, role: str | None
) -> None:
    t = arguments(f"{declaration} int f(int k) {{ return t[k & 3]; }}").get("t")
    if role is None:
        assert t is None
        return
    assert t is not None
    assert (t.read, t.written) == (True, False)
    assert t.initial_values.tolist() == ([0, 0, 0, 0] if role == "zeros" else [1, 2, 3, 4])


def test_number_that_another_function_passes_by_value_stays_a_constant() -> None:
    source = "int n = 3; void g(int); void init(void) { g(n); } int f(int k) { return n + k; }"
    assert list(arguments(source)) == ["k"]


def test_number_that_is_only_read_is_a_scalar_port() -> None:
    n = arguments(
        "int n; int f(const int a[9]) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }"
    )
    assert n["n"].shape == ()
    assert n["n"].static is not None
    compiled = compile_program("int n; int f(void) { return n; }", top="f", options=HlsOptions())
    assert "s_n" in compiled.verilog


def test_written_static_variable_of_a_function_is_an_output(tmp_path: Path) -> None:
    source = (
        "static int count(int k) { static int c = 3; return c += k; }\n"
        "int f(int k) { return count(k) + count(1); }"
    )
    data = draw_data(read_interface(source, "f"), '{"k": {"kind": "constant", "value": 5}}', seed=0)
    _, counted, _ = outcomes(source, "f", data, tmp_path)
    assert (counted.returned, counted.outputs["c"].tolist()) == (8 + 9, [9])


def test_read_only_static_variable_of_a_function_stays_a_constant() -> None:
    assert list(arguments("int f(int k) { static int t[2] = {4, 5}; return t[k & 1]; }")) == ["k"]


def test_every_form_of_object_equals_native_c(tmp_path: Path) -> None:
    interface = read_interface(EVERY_FORM, "f")
    names = ["a", "x", "g", "h", "p", "u", "total", "n", "in", "cube", "c", "d", "e", "once"]
    assert {a.name for a in interface.arguments} == set(names)
    data = draw_data(interface, "{}", seed=1)
    assert data["p"].tolist() == [[1, 2], [0, 4]]
    outcomes(EVERY_FORM, "f", data, tmp_path)


def test_names_scopes_and_headers_of_objects_equal_native_c(tmp_path: Path) -> None:
    (tmp_path / "state.h").write_text(STATE)
    (tmp_path / "edge.c").write_text(NAMES)
    source = bundle_source(tmp_path / "edge.c")
    interface = read_interface(source, "edge")
    objects = {a.name: a.static.name for a in interface.arguments if a.static is not None}
    assert (objects["x_1"], objects["n"], objects["n_1"]) == ("x", "n", "n")
    data = draw_data(interface, '{"x": {"kind": "uniform", "low": 0, "high": 8}}', seed=0)
    outcomes(source, "edge", data, tmp_path)


@pytest.mark.slow
def test_verilog_of_every_form_of_object_equals_the_cycle_model(tmp_path: Path, runtime_folder: Path) -> None:
    compiled = compile_program(EVERY_FORM, top="f", options=HlsOptions())
    data = draw_data(compiled.interface, "{}", seed=1)
    counted = count_cycles(compiled, data, folder=tmp_path / "model")
    (tmp_path / "verilog").mkdir()
    simulated = simulate_design(
        compiled.verilog,
        module=compiled.module,
        interface=compiled.interface,
        data=data,
        timing=MemoryTiming(read_delay_cycles=2, write_delay_cycles=2),
        banks=compiled.banks,
        folder=tmp_path / "verilog",
        runtime_folder=runtime_folder,
    )
    assert (simulated.returned, simulated.latency_cycles) == (counted.returned, counted.latency_cycles)
    for name, values in counted.outputs.items():
        assert same_values(values, simulated.outputs[name]), name


def test_directives_shape_an_object_like_an_argument(tmp_path: Path) -> None:
    directives = (
        Directive(kind="pipeline", loop="L0"),
        Directive(kind="partition", variable="out", style="cyclic", value=2, dimension=1),
    )
    data = draw_data(read_interface(SCALED, "f"), "{}", seed=0)
    compiled, _, _ = outcomes(SCALED, "f", data, tmp_path, *directives)
    assert [bank.argument for bank in compiled.banks] == ["out", "out"]


# ---- refusals ------------------------------------------------------------------------------------------


def test_pointer_of_the_file_keeps_the_object_of_its_initialiser() -> None:
    assert list(arguments("int b[4]; int *const p = b; void f(int k) { p[1] = k; }")) == ["k", "b"]


@pytest.mark.parametrize(
    "source", ["void f(int k) { k++; }", "void f(const int a[4]) { int s = a[0]; s++; }"]
)
def test_program_without_outputs_is_rejected(source: str) -> None:
    for refuse in (
        lambda: compile_program(source, top="f", options=HlsOptions()),
        lambda: check_program(source, top="f", options=HlsOptions(), file="f.c"),
    ):
        with pytest.raises(
            HlsError, match=r"a design must have outputs \(return a value, .*, got no outputs"
        ):
            refuse()


def test_volatile_objects_that_the_program_does_not_use_are_accepted() -> None:
    read_function("volatile int r; void g(void) { r = 1; } void f(int *p) { *p = 1; }", top="f")


def test_static_variable_of_a_function_is_found_after_a_macro(tmp_path: Path) -> None:
    source = "#define WORD unsigned short\nint f(int k) { static WORD c = 7; return c += k; }"
    outcomes(source, "f", draw_data(read_interface(source, "f"), "{}", seed=0), tmp_path)


# ---- data ----------------------------------------------------------------------------------------------


def test_first_data_of_an_object_is_its_initialiser_or_what_the_user_gives() -> None:
    interface = read_interface("int t[3] = {1, 2}, n; int f(int k) { t[0] += n; return t[k & 1]; }", "f")
    drawn = draw_data(interface, json.dumps({"k": {"kind": "constant", "value": 0}}), seed=0)
    assert (drawn["t"].tolist(), drawn["n"].tolist()) == ([1, 2, 0], 0)
    assert draw_data(interface, '{"n": {"kind": "uniform", "low": 7, "high": 8}}', seed=0)["n"] == 7
    given = load_data({"k": 1, "t": [4, 5, 6]}, interface)
    assert (given["t"].tolist(), given["n"].tolist()) == ([4, 5, 6], 0)
    with pytest.raises(ProgramError, match="unknown argument of f: m; accepted: k, t, n"):
        load_data({"k": 1, "m": 2}, interface)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int f(int k) { return k - k; }", True),
        ("int out[8]; void f(int k) { for (int i = 0; i < 8; i++) out[i] = i * i; }", True),
        ("int f(int k) { return k; }", False),
        ("int c; int f(void) { return c++; }", False),
    ],
)
def test_constant_results_are_flagged(source: str, expected: bool, tmp_path: Path) -> None:
    compiled = compile_program(source, top="f", options=HlsOptions())
    path = tmp_path / "f.c"
    path.write_text(source)
    row = design_row(program_from_file(path, top="f"), HlsOptions(), compiled, 0.0)
    assert (row.status, row.is_constant) == ("ok", expected)


# ---- random programs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seeds",
    [range(910_000, 910_003), pytest.param(range(910_003, 910_048), marks=pytest.mark.slow)],
    ids=["few", "more"],
)
def test_random_programs_compute_the_same_with_objects_as_with_arguments(
    seeds: range, tmp_path: Path
) -> None:
    programs, cases = {}, {}
    for seed in seeds:
        program = object_program(seed)
        row = program.original
        interface = read_interface(row.source, row.top)
        values = draw_data(interface, row.inputs, seed=seed)
        programs[seed], cases[seed] = program, (row.source, interface, values)
    natives = run_natively(cases, tmp_path)
    for seed, program in programs.items():
        _, interface, values = cases[seed]
        compiled = compile_program(program.text, top=program.original.top, options=HlsOptions())
        written = {a.name for a in interface.arrays if a.written}
        assert written <= {a.name for a in compiled.interface.arguments if a.written}, seed
        assert compiled.interface.has_outputs
        data = program.data(compiled.interface, values)
        counted = count_cycles(compiled, data, folder=tmp_path / f"m{seed}")
        assert (counted.status, counted.returned) == ("ok", natives[seed].returned), seed
        for name in written:
            assert same_values(counted.outputs[name], natives[seed].outputs[name]), (seed, name)
    seed, program = next(iter(programs.items()))
    interface = read_interface(program.text, program.original.top)
    outcomes(program.text, program.original.top, program.data(interface, cases[seed][2]), tmp_path)


def test_objects_have_the_values_of_their_memory() -> None:
    t = arguments("short t[2][2] = {{-1}, {2, 3}}; void f(int k) { t[0][1] = k; }")["t"]
    np.testing.assert_array_equal(t.initial_values, np.array([[-1, 0], [2, 3]], np.int16))


# ---- identity ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["v1", "v2"])
def test_designs_of_a_release_keep_their_ids(release: str) -> None:
    """One program of each suite."""
    tables = open_release(Path(__file__).parents[2] / "releases" / release)
    for suite in tables.partitions("designs"):
        designs = table_spec("designs").from_arrow(tables.arrow("designs", suite))
        present = [d for d in designs if (d.tool, d.tool_version) == (TOOL, tool_version())]
        if not present:
            continue
        programs = table_spec("programs").from_arrow(tables.arrow("programs", suite))
        program = next(p for p in programs if p.program_id == present[0].program_id)
        own = [d for d in present if d.program_id == program.program_id]
        assert [design_id(program, options_of(d)) for d in own] == [d.design_id for d in own], suite
