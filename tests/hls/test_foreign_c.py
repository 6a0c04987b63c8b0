"""C as people write it: what other engines' programs use, against gcc."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from pipelines.c import HlsError, bundle_source, read_interface
from pipelines.c.frontend import read_function
from pipelines.c.text.headers import (
    INCLUDE_FOLDER,
    header_options,
    is_library_needed,
    library_functions,
    redefined_functions,
)
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs.data import draw_data


def native(source: str, folder: Path) -> tuple[str, str | None, int | None]:
    interface = read_interface(source, "f")
    run = run_native(source, interface, draw_data(interface, "{}", seed=0), folder=folder)
    return run.status, run.reason, run.returned


def test_functions_that_a_program_only_declares_are_those_of_the_headers(tmp_path: Path) -> None:
    body = "double f(double x) { return sin(x) + atan2(x, 2.0); }"
    declared = f"double sin(double); double atan2(double, double);\n{body}"
    included = f"#include <math.h>\n{body}"
    assert is_library_needed(declared)
    assert not is_library_needed(included)
    assert native(declared, tmp_path / "a") == native(included, tmp_path / "b")
    assert (
        compile_program(declared, top="f", options=HlsOptions()).verilog
        == compile_program(included, top="f", options=HlsOptions()).verilog
    )


def test_a_program_defines_functions_of_the_headers_itself(tmp_path: Path) -> None:
    source = "#include <math.h>\ndouble floor(double x) { return x + 100; }\n"
    source += "double f(double x) { return floor(x) + ceil(x); }"
    assert redefined_functions(source) == ("floor",)
    assert redefined_functions("if (floor(x)) { }") == ()
    status, _, bits = native(source, tmp_path)
    assert status == "ok"
    assert bits is not None
    assert struct.unpack("<d", struct.pack("<Q", bits))[0] > 98
    assert compile_program(source, top="f", options=HlsOptions()).verilog


def test_own_names_of_the_headers_are_all_there() -> None:
    text = (INCLUDE_FOLDER / "simfoundry" / "own.h").read_text()
    assert [n for n in library_functions() if f"SIMFOUNDRY_OWN_{n}\n" not in text] == []
    assert "-DSIMFOUNDRY_OWN_sin" in header_options("#define sin mine\n")


EXPANDED = """#include <math.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "parts/local.h"
double f(double x[N], unsigned char b[8]) {
    double s = 0;
    assert(N == 4);
    for (int i = 0; i < N; i++) s += sin(x[i]) + (isnan(x[i]) ? 1 : 0);
    return s > INFINITY ? NAN : s + memcmp(b, b + 4, 4) + twice(b[0]);
}
int main(int argc, char **argv) { FILE *file = fopen(argv[0], "r"); return printf("%d", argc); }
"""


@pytest.mark.parametrize("options", [("-E",), ("-E", "-P"), ("-E", "-O2")], ids=" ".join)
def test_output_of_gcc_is_the_program(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "local.h").write_text("#define N 4\nstatic int twice(int a) { return 2 * a; }\n")
    (tmp_path / "f.c").write_text(EXPANDED)
    argv = ["gcc", *options, "f.c", "-o", "f.i"]
    subprocess.run(argv, cwd=tmp_path, check=True)
    plain, expanded = (bundle_source(tmp_path / name) for name in ("f.c", "f.i"))
    assert native(expanded, tmp_path / "a") == native(plain, tmp_path / "b")
    assert native(plain, tmp_path / "c")[0] == "ok"


def test_bundle_source_takes_further_files(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int g(int);\nint f(int n) { return g(n); }\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "g.c").write_text("int g(int a)\n{\n  return b;\n}\n")
    source = bundle_source(tmp_path / "f.c", others=[tmp_path / "lib" / "g.c"])
    with pytest.raises(HlsError, match=r"^a name must be declared, got 'b' \(.*g\.c:3\)$"):
        read_function(source, top="f", file="f.c")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            '# 1 "../inc/h.h"\n__attribute__((noinline)) static int g(int *a, int i) { return a[i | 4]; }\n'
            '# 1 "k.c"\nint f(int a[4], int n) { return g(a, n & 7); }',
            "index out of bounds reading a (../inc/h.h:1)",
        ),
        (
            '# 1 "inc/h.h"\nstatic int g(int a, int i) { return a << i; }\n# 1 "k.c"\n'
            "int f(int a) { return g(a | 1, 40 + (a & 1)); }",
            "shift exponent",
        ),
        (
            "#include <string.h>\nint f(char a[4])\n{\n"
            "  for (int i = 0; i < 4; i++) a[i] = 1;\n  return strlen(a);\n}",
            "index out of bounds reading a (kernel.c:5)",
        ),
    ],
)
def test_undefined_behaviour_in_any_file_is_rejected_with_its_line(
    tmp_path: Path, source: str, reason: str
) -> None:
    status, got, _ = native(source, tmp_path)
    assert status == "rejected"
    assert f"C must have defined behaviour, got {reason}" in str(got)
