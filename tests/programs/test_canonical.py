"""Canonical text: what does not change it, what it says, and that it computes the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipelines.c import HlsError, read_interface
from pipelines.c.signature import same_values
from pipelines.native import run_native
from pipelines.programs.canonical import TOP, canonical_program
from pipelines.programs.collections import WRITTEN_FOLDER, kernel_files, kernel_rows
from pipelines.programs.data import draw_data
from pipelines.schemas import OK

PLAIN = """
struct pair { int left; unsigned right; };
static int scale(int x) { return x * 3 + 16; }
void top(int a[8], struct pair p[4]) {
    for (int i = 0; i < 8; i++) {
        if (a[i] > 0) {
            a[i] = scale(a[i]) + p[i / 2].left;
        }
    }
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i", "j"),
        ("pair", "couple"),
        ("left", "first"),
        ("scale", "helper"),
        ("16", "0x10"),
        ("16", "(2 * LENGTH)"),
        ("8", "LENGTH"),
        ("unsigned", "uint32_t"),
        ("int a[8]", "const row_t a"),
        ("for", "outer: for"),
        ("for", "/* a loop */\n\n for"),
        ("void top", "int unused(void) { return 1; }\nvoid top"),
    ],
)
def test_spelling_does_not_change_the_text(old: str, new: str) -> None:
    text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, PLAIN)
    assert text != PLAIN
    head = "#include <stdint.h>\n#define LENGTH 8\ntypedef int row_t[LENGTH];\n"
    assert canonical_program(head + text, "top").text == canonical_program(PLAIN, "top").text


@pytest.mark.parametrize(
    ("old", "new"), [("i < 8", "i < 7"), ("* 3", "+ 3"), ("unsigned", "long"), ("int a[8]", "int a[9]")]
)
def test_meaning_changes_the_text(old: str, new: str) -> None:
    assert canonical_program(PLAIN.replace(old, new), "top").text != canonical_program(PLAIN, "top").text


DIRECTED = """#define N 64
enum { HALF = N / 2, LAST };
static const short table[2] = {'a', LAST};
static int clip(int x, int lo) { while (x > lo) { x -= 2; } return x; }
void fir(int x[N], int y[N]) {
  for (int n = 0; n < HALF; n++) {
    inner: for (int k = 0; k < N; k++) { if (x[k] < -0x10) goto next; y[n] += clip(x[k], table[1]); }
    next: ;
  }
}
"""


def test_directives_stand_at_their_loops_under_canonical_names() -> None:
    directives = [
        {"kind": "pipeline", "loop": "inner", "value": 1},
        {"kind": "unroll", "loop": "clip_L0_1", "value": 2},
        {"dimension": 1, "kind": "partition", "style": "complete", "variable": "x"},
    ]
    program = canonical_program(DIRECTED, "fir", json.dumps(directives))
    assert program.objects == {"table": "g0", "x": "v0", "y": "v1"}
    assert program.loops == {"L0": "L0", "inner": "L1", "clip_L0": "f1_L0"}
    subjects = {(d.get("loop"), d.get("variable")) for d in json.loads(program.directives)}
    assert subjects == {("L1", None), ("f1_L0_1", None), (None, "v0")}
    lines = [line.strip() for line in program.text.splitlines()]
    before = {lines[n + 1]: line for n, line in enumerate(lines) if line.startswith("#pragma")}
    assert before["for (int v3 = 0; v3 < 64; v3++)"] == "#pragma HLS pipeline value=1"
    assert before["while (v4 > v5)"] == "#pragma HLS unroll value=2"
    assert "#pragma HLS partition complete variable=v0 dim=1" in lines
    assert "short g0[2] = {97, 33};" in lines
    assert "for (int v2 = 0; v2 < 32; v2++)" in lines


@pytest.mark.parametrize(
    ("source", "top", "message"),
    [
        ("void f(", "f", "a program must be C11"),
        ("void g(int a[2]) { a[0] = 1; }", "f", "top must be a function of the file"),
        ("#define f 1\nint g;", "f", "top must be a function of the file"),
    ],
)
def test_what_is_no_program_is_refused(source: str, top: str, message: str) -> None:
    with pytest.raises(HlsError, match=message):
        canonical_program(source, top)


KERNELS = kernel_files(WRITTEN_FOLDER)


@pytest.mark.sample(24)
@pytest.mark.parametrize("manifest", KERNELS, ids=lambda path: path.stem)
def test_canonical_text_is_its_own_and_computes_the_same(manifest: Path, tmp_path: Path) -> None:
    program = kernel_rows(manifest, suite="written", stage="written", sizes=("small",))[0]
    canonical = canonical_program(program.source, program.top)
    assert canonical_program(canonical.text, TOP).text == canonical.text
    try:
        interface = read_interface(program.source, program.top)
    except HlsError as error:
        pytest.skip(f"the front end refuses the kernel itself: {error}")
    text = f"#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n{canonical.text}"
    data = draw_data(interface, program.inputs, seed=0)
    own = run_native(program.source, interface, data, folder=tmp_path / "own")
    names = {name: canonical.objects.get(name, name) for name in data}
    other = run_native(
        text, read_interface(text, TOP), {names[n]: v for n, v in data.items()}, folder=tmp_path / "other"
    )
    assert (own.status, other.status) == (OK, OK), (own.reason, other.reason)
    assert own.returned == other.returned
    for name, values in own.outputs.items():
        assert same_values(values, other.outputs[names[name]])
