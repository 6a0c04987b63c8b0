"""The preprocessor sees no file but the program and the headers of the engine, in bounded time and memory."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from pycparser import c_ast

from pipelines.base.sandbox import ConfinedRun, MachineFault, run_confined
from pipelines.c import HlsError, interface_of, preprocess_source, read_function
from pipelines.c.text.preprocess import INCLUDE_FOLDER, parse
from pipelines.hls import HlsOptions, compile_program
from pipelines.native import run_native
from pipelines.programs import polybench_program

PROGRAM = "\nint f(int a) { return a; }\n"
HEADERS = sorted(p.relative_to(INCLUDE_FOLDER).as_posix() for p in INCLUDE_FOLDER.rglob("*.h"))
FOREIGN = (
    f"#include must be one of {', '.join(f'<{name}>' for name in HEADERS if '/own' not in name)}, "
    "or of the program's folder or an --include folder"
)
ROOT = "/".join([".."] * (len(INCLUDE_FOLDER.parts) - 1))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[ConfinedRun]:
    """Every run of gcc by the front end."""
    kept: list[ConfinedRun] = []

    def recorded(*arguments, **options) -> ConfinedRun:
        kept.append(run_confined(*arguments, **options))
        return kept[-1]

    monkeypatch.setattr("pipelines.c.text.preprocess.run_confined", recorded)
    return kept


def message_of(source: str) -> str:
    with pytest.raises(HlsError) as refused:
        preprocess_source(source, file="f.c")
    return str(refused.value)


@pytest.mark.parametrize(
    ("included", "place"),
    [
        ('"/dev/zero"', "f.c:1"),
        ('"/dev/null"', "f.c"),
        ('"/proc/self/environ"', "f.c"),
        ('"/etc/passwd"', "f.c:1"),
        ('"/usr/include/stdio.h"', "f.c"),
        ("<../preprocess.py>", "f.c:1"),
        ("<windows.h>", "f.c:1"),
    ],
)
def test_program_includes_no_file_of_the_machine(included: str, place: str) -> None:
    assert message_of(f"#include {included}{PROGRAM}") == f'{FOREIGN}, got "{included[1:-1]}" ({place})'


def test_program_includes_no_file_above_the_headers() -> None:
    path = f"{ROOT}/usr/include/stdio.h"
    assert message_of(f"#include <{path}>{PROGRAM}") == f'{FOREIGN}, got "/usr/include/stdio.h" (f.c)'
    path = f"{INCLUDE_FOLDER}/../include/stdint.h"
    assert message_of(f'#include "{path}"{PROGRAM}') == f'{FOREIGN}, got "{path}" (f.c)'


def test_program_waits_for_no_pipe_and_reads_no_huge_file(tmp_path: Path, runs: list[ConfinedRun]) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    for name in ("pipe", "sparse"):
        path = tmp_path / name
        assert message_of(f'#include "{path}"{PROGRAM}') == f'{FOREIGN}, got "{path}" (f.c:1)'
    assert [run.limit for run in runs] == [None, None]


def test_program_does_not_include_itself() -> None:
    assert message_of(f"#include __FILE__{PROGRAM}") == f'{FOREIGN}, got "<stdin>" (f.c)'


TENS = "#define T0 a+\n" + "".join(f"#define T{n} {f'T{n - 1} ' * 10}\n" for n in range(1, 10))
LARGE = "a preprocessed program must be at most 8388608 bytes"
UNFOLDED = "macros that take more than 512 MiB to expand"
EXPLOSIONS = {
    "a billion tokens": (f"{TENS}int f(int a) {{ return T9 a; }}\n", "output", "more"),
    "a billion tokens in one argument": (
        f"#define S(x) #x\n#define S2(x) S(x)\n{TENS}const char *text = S2(T9);{PROGRAM}",
        "memory",
        UNFOLDED,
    ),
    "a file that includes itself twice": (
        f"#if __INCLUDE_LEVEL__ < 60\n#include __FILE__\n#include __FILE__\n#endif{PROGRAM}",
        "output",
        "more",
    ),
}


@pytest.mark.parametrize(("source", "limit", "got"), EXPLOSIONS.values(), ids=EXPLOSIONS.keys())
def test_preprocessor_ends_at_its_limits(source: str, limit: str, got: str, runs: list[ConfinedRun]) -> None:
    assert message_of(source) == f"{LARGE}, got {got} (f.c)"
    (run,) = runs
    assert run.limit == limit
    assert len(run.stdout) <= 8 << 20


def test_preprocessor_says_the_first_error_alone(runs: list[ConfinedRun]) -> None:
    source = "#error no\n" * 50_000 + PROGRAM
    assert message_of(source) == "a program must pass the C preprocessor, got #error no (f.c:1)"
    assert len(runs[0].stderr) < 1000


NO_HAS_INCLUDE = "a program must pass the C preprocessor, got __has_include, which is not C11 (f.c:1)"


@pytest.mark.parametrize("header", ['"/etc/shadow"', '"/usr/include/stdio.h"', '"kernel.c"', "<math.h>"])
def test_program_cannot_ask_which_files_exist(header: str, tmp_path: Path) -> None:
    asks = f"#if __has_include({header})\n#endif{PROGRAM}"
    assert message_of(asks) == NO_HAS_INCLUDE
    pasted = f"#define PASTE(a, b) a##b\n#if PASTE(__has_, include)({header})\n#endif{PROGRAM}"
    said = 'a program must pass the C preprocessor, got missing binary operator before token "(" (f.c:2)'
    assert message_of(pasted) == said
    run = run_native(asks, interface_of(read_function(PROGRAM, top="f")), {"a": 1}, folder=tmp_path)
    assert (run.status, run.reason) == (
        "rejected",
        'C must compile with gcc -std=c11, got missing binary operator before token "(" (kernel.c:1)',
    )


def test_program_that_could_ask_which_files_exist_is_the_same_natively(tmp_path: Path) -> None:
    source = (
        "#ifdef __has_include\n#define ASKS 1\n#else\n#define ASKS 0\n#endif\nint f(void) { return ASKS; }\n"
    )
    function = read_function(source, top="f")
    assert function.body[-1].value.value == 0
    assert run_native(source, interface_of(function), {}, folder=tmp_path).returned == 0


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('const char t[] = {\n#embed "/etc/passwd"\n};', "invalid preprocessing directive #embed (f.c:2)"),
        (
            '#pragma GCC dependency "/etc/shadow"',
            "cc1: fatal error: /etc/shadow: No such file or directory compilation terminated. (f.c)",
        ),
    ],
)
def test_program_reads_no_file_by_a_directive(source: str, said: str) -> None:
    assert message_of(source + PROGRAM) == f"a program must pass the C preprocessor, got {said}"


def test_assembly_of_a_program_reads_no_file(tmp_path: Path) -> None:
    source = f'{PROGRAM}__asm__(".incbin \\"/etc/passwd\\"");\n'
    run = run_native(source, interface_of(read_function(PROGRAM, top="f")), {"a": 1}, folder=tmp_path)
    assert (run.status, run.reason) == (
        "rejected",
        "C must compile with gcc -std=c11, got file not found: /etc/passwd (kernel.c)",
    )


def test_program_is_preprocessed_once(runs: list[ConfinedRun]) -> None:
    source = f"/* preprocessed once */{PROGRAM}"
    assert preprocess_source(source, file="a.c") == preprocess_source(source, file="b.c")
    assert read_function(source, top="f") == read_function(source, top="f")
    assert len(runs) == 1


def test_busy_machine_is_no_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    late = ConfinedRun(
        returncode=None, stdout="", stderr="", wall_s=100.0, limit="clock", machine_fault="too busy"
    )
    source = f"/* late */{PROGRAM}"
    with monkeypatch.context() as patched:
        patched.setattr("pipelines.c.text.preprocess.run_confined", lambda *_, **__: late)
        with pytest.raises(MachineFault, match=r"^the C preprocessor: too busy$"):
            preprocess_source(source, file="f.c")
    assert "late" not in preprocess_source(source, file="f.c")


def test_reading_a_program_leaves_its_syntax_tree_as_it_was() -> None:
    """All readings of a source share one tree."""
    for name in ("atax", "deriche", "correlation"):
        program = polybench_program(name, size="mini", data_type="float")
        tree = parse(program.source, file="program.c")
        before = _shown(tree)
        first = read_function(program.source, top=program.top)
        compile_program(program.source, top=program.top, options=HlsOptions())
        assert parse(program.source, file="program.c") is tree
        assert _shown(tree) == before
        assert read_function(program.source, top=program.top) == first


def _shown(tree: c_ast.FileAST) -> str:
    text = io.StringIO()
    tree.show(text, attrnames=True, nodenames=True, showcoord=True)
    return text.getvalue()
