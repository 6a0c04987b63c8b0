"""The native runner: what it accepts, and what it rejects with which reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.base.sandbox import ConfinedRun, SandboxError
from pipelines.base.tools import ToolMissing
from pipelines.c import read_interface
from pipelines.c.signature import INT32, Argument, DataSet, Interface, ScalarType
from pipelines.native import NativeRun, native_version, run_native, run_native_sets, runner
from pipelines.native.runner import undefined_behaviour


def array(name: str, *shape: int, kind: ScalarType = INT32) -> Argument:
    return Argument(name=name, type=kind, shape=shape, read=True, written=bool(shape))


AB_N = Interface(top="f", arguments=(array("a", 5), array("b", 3, 5), array("n")), returns=INT32)


def data_of(interface: Interface, value: int = 3) -> DataSet:
    return {a.name: np.full(a.shape, value, a.type.dtype) for a in interface.arguments}


def run_body(body: str, folder: Path, *, timeout_s: float = 20) -> NativeRun:
    """Run `int f(int a[5], int b[3][5], int n)` on threes; the body is line 2."""
    source = f"int f(int a[5], int b[3][5], int n) {{\n{body}\n}}\n"
    return run_native(source, AB_N, data_of(AB_N), folder=folder, timeout_s=timeout_s)


def test_run_native_gives_outputs_and_result(tmp_path: Path) -> None:
    run = run_body("a[1] = n + 1; b[2][4] = -7; return a[1] * 10;", tmp_path)
    assert (run.status, run.reason, run.returned) == ("ok", None, 40)
    assert run.outputs["a"].tolist() == [3, 4, 3, 3, 3]
    assert run.outputs["b"].tolist() == [[3] * 5, [3] * 5, [3] * 4 + [-7]]
    assert run.wall_s > 0
    assert run.tool_version == native_version()
    assert run.tool_version.startswith("gcc")


def test_run_native_gives_only_written_arrays(tmp_path: Path) -> None:
    only_read = Argument(name="a", type=INT32, shape=(2,), read=True, written=False)
    interface = Interface(top="f", arguments=(only_read,), returns=INT32)
    run = run_native("int f(int a[2]) { return a[1]; }", interface, data_of(interface), folder=tmp_path)
    assert (run.outputs, run.returned) == ({}, 3)


def test_run_native_twice_in_one_folder(tmp_path: Path) -> None:
    assert run_body("return 1;", tmp_path).returned == 1
    assert run_body("return 2;", tmp_path).returned == 2


def test_run_native_sets_compiles_once_and_starts_each_set_afresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    real = runner.run_confined

    def counting(argv: Sequence[str], **options: Any) -> ConfinedRun:
        compiled.extend(argv[:1] if Path(argv[0]).name.startswith("gcc") else ())
        return real(argv, **options)

    monkeypatch.setattr(runner, "run_confined", counting)
    source = "static int calls; int f(int n) { calls++; return 100 / n + calls; }"
    interface = Interface(top="f", arguments=(array("n"),), returns=INT32)
    sets: list[DataSet] = [{"n": np.array(n, np.int32)} for n in (50, 0, 25)]
    first, second, third = run_native_sets(source, interface, sets, folder=tmp_path)
    assert (first.returned, second.status, third.returned) == (3, "rejected", 5)
    assert "division by zero" in (second.reason or "")
    assert len(compiled) == 3  # harness, checked, plain
    assert third.wall_s < first.wall_s


def test_run_native_in_a_folder_with_an_awkward_name(tmp_path: Path) -> None:
    folder = tmp_path / "a b; 'c' \"d\" $(e)"
    assert run_body("return 5;", folder).returned == 5


@pytest.mark.parametrize("top", ["main", "read", "fwrite", "f"])
def test_run_native_takes_any_top_name(tmp_path: Path, top: str) -> None:
    interface = Interface(top=top, arguments=(), returns=INT32)
    run = run_native(f"int {top}(void) {{ return -6; }}", interface, {}, folder=tmp_path)
    assert (run.reason, run.returned) == (None, -6)


def test_run_native_passes_every_integer_type(tmp_path: Path) -> None:
    kinds = [ScalarType(width_bits=w, signed=s) for w in (8, 16, 32, 64) for s in (True, False)]
    arguments = tuple(array(f"a{i}", 2, kind=k) for i, k in enumerate(kinds)) + tuple(
        array(f"s{i}", kind=k) for i, k in enumerate(kinds)
    )
    interface = Interface(top="f", arguments=arguments, returns=kinds[-1])
    parameters = ", ".join(f"{a.type.c_name} {a.name}{'[2]' if a.is_array else ''}" for a in arguments)
    body = " ".join(f"a{i}[1] = s{i};" for i in range(len(kinds)))
    source = f"#include <stdint.h>\nuint64_t f({parameters}) {{ {body} return s7; }}"
    data = {a.name: np.full(a.shape, np.iinfo(a.type.dtype).max, a.type.dtype) for a in arguments} | {
        f"a{i}": np.zeros(2, k.dtype) for i, k in enumerate(kinds)
    }
    run = run_native(source, interface, data, folder=tmp_path)
    assert (run.reason, run.returned) == (None, 2**64 - 1)
    for i, kind in enumerate(kinds):
        assert run.outputs[f"a{i}"].tolist() == [0, np.iinfo(kind.dtype).max]
        assert run.outputs[f"a{i}"].dtype == kind.dtype


UNDEFINED = [
    ("return n + 2147483647;", "signed integer overflow: 3 .* cannot be .* type 'int'"),
    ("return (-2147483647 - 1) / (2 - n);", "division of -2147483648 by -1 cannot be .*"),
    ("return 7 / (n - 3);", "division by zero"),
    ("return 7 % (n - 3);", "division by zero"),
    ("return 1 << (n + 29);", "shift exponent 32 is too large for 32-bit type 'int'"),
    ("return 1 >> (n - 4);", "shift exponent -1 is negative"),
    ("return a[n + 2];", "index out of bounds reading a"),
    ("a[n + 2] = 1; return 0;", "index out of bounds writing a"),
    ("return a[n - 4];", "index out of bounds reading a"),
    ("return a[2000000000 + n];", "index out of bounds reading a"),
    ("return a[-2000000000 + n];", "index out of bounds reading a"),
    ("b[n][0] = 1; return 0;", "index out of bounds writing b"),
    ("b[n * 100000000][0] = 1; return 0;", "index out of bounds writing b"),
    ("return b[0][n + 2];", r"index 5 out of bounds for type 'int \[5\]'"),
    (
        "int c[4]; c[0] = 1; c[n + 1] = 2; return c[0];",
        r"index 4 out of bounds for type 'int \[4\]'",
    ),
]
UNINITIALISED = [
    ("int x; a[0] = x; return 0;", "different outputs in a when they start otherwise"),
    ("int x; return x;", "different outputs in the returned value when they start otherwise"),
    ("int c[8]; c[n] = 1; return c[n + 1];", "different outputs in the returned value .*"),
    ("int x; if (x == 0) a[100000000 + n] = 1; return 0;", "SIGSEGV when they start as zero"),
]


@pytest.fixture(scope="module")
def rejected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NativeRun]:
    """Runs of bodies on threes, by body; all in one program, each in the data set that chooses it."""
    bodies = [body for body, _ in (*UNDEFINED, *UNINITIALISED)]
    lines = "\n".join(f"case {number}: {{ {body} }}" for number, body in enumerate(bodies))
    source = (
        f"int f(int a[5], int b[3][5], int n, int which) {{ switch (which) {{\n{lines}\n}} return 0; }}\n"
    )
    interface = Interface(top="f", arguments=(*AB_N.arguments, array("which")), returns=INT32)
    sets = [data_of(interface) | {"which": np.array(number, np.int32)} for number in range(len(bodies))]
    runs = run_native_sets(source, interface, sets, folder=tmp_path_factory.mktemp("rejected"))
    return dict(zip(bodies, runs, strict=True))


@pytest.mark.parametrize(("body", "got"), UNDEFINED)
def test_run_native_rejects_undefined_behaviour(body: str, got: str, rejected: dict[str, NativeRun]) -> None:
    run = rejected[body]
    assert run.status == "rejected"
    place = rf"\(kernel\.c:{2 + [*rejected].index(body)}\), in `case .+`"
    assert re.fullmatch(rf"C must have defined behaviour, got {got} {place}", run.reason)
    assert (run.outputs, run.returned) == ({}, None)


def test_run_native_rejects_local_arrays_that_do_not_fit_the_stack(tmp_path: Path) -> None:
    body = "int c[9000000]; for (int i = 0; i < 9000000; i++) c[i] = i * n / 3; return c[n];"
    run = run_body(body, tmp_path)
    reason = r"C must have .*, got local arrays that do not fit the stack \(kernel\.c:[12]\), in `.+`"
    assert run.status == "rejected"
    assert re.fullmatch(reason, run.reason)


@pytest.mark.parametrize(("body", "returned"), [("return -n << 3;", -24), ("return n << 30;", -1 << 30)])
def test_run_native_takes_left_shifts_as_gcc_defines_them(tmp_path: Path, body: str, returned: int) -> None:
    assert re.search(r"left shift of .* \(kernel\.c:2\)", str(run_body(body, tmp_path / "c11").reason))
    source = f"int f(int a[5], int b[3][5], int n) {{\n{body}\n}}\n"
    (run,) = run_native_sets(source, AB_N, [data_of(AB_N)], folder=tmp_path / "gcc", gcc_shifts=True)
    assert (run.status, run.returned) == ("ok", returned)


@pytest.mark.sample(3)
@pytest.mark.parametrize("shape", [(1,), (3,), (1024,), (1025,), (5, 3), (2, 3, 5)])
@pytest.mark.parametrize("beyond", [False, True])
def test_run_native_rejects_one_step_outside_any_shape(
    tmp_path: Path, shape: tuple[int, ...], beyond: bool
) -> None:
    interface = Interface(top="f", arguments=(array("a", *shape), array("n")), returns=INT32)
    index = shape[0] - 3 if beyond else -4  # n is 3
    extents = "".join(f"[{n}]" for n in shape)
    last = "".join(f"[{0 if beyond else n - 1}]" for n in shape[1:])
    source = f"int f(int a{extents}, int n) {{ return a[{index} + n]{last}; }}"
    run = run_native(source, interface, data_of(interface), folder=tmp_path)
    reason = "C must have defined behaviour, got index out of bounds reading a (kernel.c:1), in `int f("
    assert str(run.reason).startswith(reason)


@pytest.mark.parametrize(("body", "got"), UNINITIALISED)
def test_run_native_rejects_uninitialised_variables(
    body: str, got: str, rejected: dict[str, NativeRun]
) -> None:
    run = rejected[body]
    assert run.status == "rejected"
    rule = "result must not depend on uninitialised variables"
    assert re.fullmatch(rf"{rule}, got {got} \(kernel\.c\)", run.reason)


def test_run_native_takes_an_uninitialised_variable_that_is_set_first(tmp_path: Path) -> None:
    assert run_body("int x; int c[9]; x = n; c[1] = x; return c[1];", tmp_path).returned == 3


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return c;", r"C must compile with gcc -std=c11, got 'c' undeclared .* \(kernel\.c:2\)"),
        ("return 1", r"C must compile with gcc -std=c11, got expected ';' .* \(kernel\.c:2\)"),
        ("return g(1);", r"C must .*, got (undefined reference to|implicit declaration of function) '?g.*"),
        (
            "#include <nothing.h>",
            r"C must compile .*, got nothing\.h: No such file .*\(kernel\.c:2\)",
        ),
    ],
)
def test_run_native_rejects_what_is_not_c(tmp_path: Path, body: str, reason: str) -> None:
    run = run_body(body, tmp_path)
    assert run.status == "rejected"
    assert re.fullmatch(reason, run.reason)


def test_run_native_takes_a_file_whose_other_functions_lack_definitions(tmp_path: Path) -> None:
    others = (
        "int missing(int); extern int absent[];\n"
        "int g(int x) { return missing(x) + absent[x]; }\n"
        "static int h(int x) { return missing(x); }\n"
        "int k(int x) { return h(x) + g(x); }\n"
    )
    interface = Interface(top="f", arguments=(), returns=INT32)
    run = run_native(f"{others}int f(void) {{ return 7; }}", interface, {}, folder=tmp_path)
    assert (run.status, run.returned) == ("ok", 7)


def test_run_native_rejects_a_missing_top(tmp_path: Path) -> None:
    run = run_native("int g(void) { return 1; }", AB_N, data_of(AB_N), folder=tmp_path)
    assert run.status == "rejected"
    assert run.reason == "C does not define the top function f (kernel.c)"


def test_run_native_stops_an_endless_loop(tmp_path: Path) -> None:
    run = run_body("while (n) { } return 0;", tmp_path, timeout_s=0.3)
    assert (run.status, run.reason) == ("timeout", "native C ran past its limit of 0.3 s")
    assert (run.outputs, run.returned) == ({}, None)


@pytest.mark.parametrize("call", ["exit(1)", "_Exit(2)", "abort()", "__builtin_abort()", "__builtin_trap()"])
def test_run_native_names_the_call_that_ends_a_program(call: str, tmp_path: Path) -> None:
    body = f"{{\n    if (n)\n        {call};\n    return n;\n}}"
    source = f"#include <stdlib.h>\nvoid _Exit(int);\nint f(int n)\n{body}"
    interface = read_interface(source, "f")
    run = run_native(source, interface, {"n": np.int32(1)}, folder=tmp_path)
    name = call.split("(")[0].removeprefix("__builtin_" if "abort" in call else " ")
    reason = f"C must return from its top function, got a call of {name} (kernel.c:6), in `{call};`"
    assert (run.status, run.reason) == ("rejected", reason)
    assert run_native(source, interface, {"n": np.int32(0)}, folder=tmp_path).status == "ok"


HOSTILE = """
typedef unsigned long word;
extern int open(const char *, int, ...), fork(void), socket(int, int, int);
extern int symlink(const char *, const char *);
extern long write(int, const void *, word);
extern void exit(int), *malloc(word);
"""


def run_hostile(body: str, folder: Path, *, timeout_s: float = 20) -> NativeRun:
    source = f"{HOSTILE}\nint f(void) {{ {body} }}\n"
    interface = Interface(top="f", arguments=(), returns=INT32)
    return run_native(source, interface, {}, folder=folder, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("body", "returned"),
    [
        ('return open("/etc/passwd", 0);', -1),
        (f'return open("{Path(__file__)}", 0);', -1),
        ('return open("/tmp/escaped", 0101, 0600);', -1),
        ("return fork();", -1),
        ("return socket(2, 1, 0);", -1),
    ],
)
def test_run_native_confines_a_program(tmp_path: Path, body: str, returned: int) -> None:
    run = run_hostile(body, tmp_path)
    assert (run.status, run.reason, run.returned) == ("ok", None, returned)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "exit(0); return 0;",
            r"C must return from its top function, got a call of exit \(kernel\.c:8\), in .*exit\(0\);.*",
        ),
        (
            "char c[4096] = {1}; for (int i = 0; i < 1000; i++) { write(1, c, 4096); } return 0;",
            r"native C exceeds its limits: too much output \(kernel\.c\)",
        ),
        (
            'symlink("/etc/passwd", "outputs.bin"); return 0;',
            r"the checked program failed: exit status 3: harness: outputs\.bin can be written",
        ),
        (
            "int *p = malloc(2000000000); for (word i = 0; i < 500000000; i += 1024) p[i] = 1; return p[5];",
            r"native C uses more than 1 GiB of memory",
        ),
    ],
)
def test_run_native_rejects_what_is_no_computation(
    tmp_path: Path, body: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.native.runner.MEMORY_BYTES", 1 << 30)
    run = run_hostile(body, tmp_path, timeout_s=600)
    assert run.status in ("rejected", "tool_error")
    assert re.fullmatch(reason, run.reason)


def test_run_native_rejects_a_file_of_the_machine_as_source(tmp_path: Path) -> None:
    run = run_hostile('}\n#include "/etc/passwd"\n{', tmp_path)
    assert (run.status, run.reason) == (
        "rejected",
        "C must compile with gcc -std=c11, got /etc/passwd: No such file or directory (kernel.c:9)",
    )


def test_run_native_reports_a_machine_that_forbids_confinement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise SandboxError("confinement must be possible, got nothing of the kind")

    monkeypatch.setattr("pipelines.native.runner.run_confined", refuse)
    run = run_body("return 0;", tmp_path)
    assert (run.status, run.reason) == ("tool_error", "confinement must be possible, got nothing of the kind")


def test_undefined_behaviour_takes_no_place_that_a_program_made_up() -> None:
    text = "ERROR: AddressSanitizer: SEGV on unknown address 0x10\n#0 0x1 in f /box/kernel.c:3\n"
    places = "9 0 ff\nx y z\n0 1\n99999999 0 ff\n0 zz ff\n"
    assert undefined_behaviour(text, places, AB_N) == "SEGV accessing memory (kernel.c:3)"


def test_run_native_reports_a_folder_it_cannot_use(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    run = run_body("return 0;", blocked)
    assert run.status == "tool_error"
    assert run.reason is not None
    assert run.reason.startswith(f"cannot run gcc in {blocked}: ")


def test_run_native_rejects_an_absent_gcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"^gcc not found on PATH; install "):
        run_body("return 0;", tmp_path)


def test_run_native_does_not_blame_the_program_for_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = ConfinedRun(
        returncode=1,
        stdout="",
        stderr="kernel.c:9:1: fatal error: error writing to ./cc1.s: No space left on device\n",
        wall_s=0.1,
        machine_fault="No space left on device",
    )
    monkeypatch.setattr("pipelines.native.runner.run_confined", lambda *_, **__: full)
    run = run_body("return 0;", tmp_path)
    assert (run.status, run.reason) == (
        "tool_error",
        "gcc did not end by itself: No space left on device",
    )


def test_run_native_does_not_blame_the_program_for_the_harness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = tmp_path / "harness.c"
    harness.write_text("#error no libc\n")
    harness.chmod(0o644)
    monkeypatch.setattr("pipelines.native.runner._HARNESS", harness)
    run = run_body("return 0;", tmp_path / "run")
    assert run.status == "tool_error"
    assert re.match(r"gcc failed: .*harness\.c:1:2: error: #error no libc", run.reason)


F_OF_A = "\nint f(int a[2]) { return g(a, a[0]); }\n"
INDEXED = "int g(int *a, int n) { return a[n + 7]; }"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (f"int g(int *a, int n) {{ return n; }}{F_OF_A}float h(void) {{ return y; }}",
         "C must compile with gcc -std=c11, got 'y' undeclared (first use in this function) (kernel.c:3)"),
        (f"int g(int *a, int n) {{ return n; }}{F_OF_A}int z = 1;\nint z = 2;",
         "C must compile with gcc -std=c11, got redefinition of 'z' (kernel.c:4)"),
        (f'# 1 "my/a b.h"\nint g(int *a, int n) {{ return y; }}\n# 2 "gemm.c"{F_OF_A}',
         "C must compile with gcc -std=c11, got 'y' undeclared (first use in this function) (my/a b.h:1)"),
        (f'# 1 "my/a b.h"\nint g(int *a, int n) {{ return n / (n - 3); }}\n# 2 "gemm.c"{F_OF_A}',
         "C must have defined behaviour, got division by zero (my/a b.h:1), "
         "in `int g(int *a, int n) { return n / (n - 3); }`"),
        (f'# 1 "my/a b.h"\n{INDEXED}\n# 2 "gemm.c"{F_OF_A}',
         f"C must have defined behaviour, got index out of bounds reading a (my/a b.h:1), in `{INDEXED}`"),
        (f'# 1 "a.h"\n\n# 2 "gemm.c"\n{INDEXED}{F_OF_A}',
         f"C must have defined behaviour, got index out of bounds reading a (gemm.c:2), in `{INDEXED}`"),
        (f"int g(int *a, int n) {{ return n; }}{F_OF_A}void simfoundry_call(int a) {{ }}",
         "C must compile with gcc -std=c11, got conflicting types for 'simfoundry_call'; "
         "have 'void(void **, void *)' (kernel.c)"),
        (f'int g(int *a, int n) {{ __asm__("nonsense"); return n; }}{F_OF_A}',
         "C must compile with gcc -std=c11, got no such instruction: `nonsense' (kernel.c:1)"),
    ],
)  # fmt: skip
def test_run_native_rejects_a_fault_outside_the_top_function(
    tmp_path: Path, source: str, reason: str
) -> None:
    interface = Interface(top="f", arguments=(array("a", 2),), returns=INT32)
    run = run_native(source, interface, data_of(interface), folder=tmp_path)
    assert (run.status, run.reason) == ("rejected", reason)


def test_undefined_behaviour_does_not_blame_the_program_for_the_sanitizer() -> None:
    text = "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x10 (pc 0x1)\n  #0 0x1 in _start\n"
    assert undefined_behaviour(text, "", AB_N) is None
    assert undefined_behaviour("harness: inputs.bin can be read\n", "", AB_N) is None


def test_run_native_compiles_what_the_top_function_reaches(tmp_path: Path) -> None:
    source = 'int f(int n) { return n; }\nvoid other(void) { __asm__("nonsense"); }\n'
    interface = Interface(top="f", arguments=(array("n"),), returns=INT32)
    run = run_native(source, interface, data_of(interface), folder=tmp_path)
    assert (run.status, run.returned) == ("ok", 3)
