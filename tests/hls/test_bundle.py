"""Programs of several files: bundled text, refusals, and places of errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipelines.c.errors import HlsError
from pipelines.c.frontend import interface_of, read_function
from pipelines.c.text.preprocess import bundle_source, defined_functions


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / next(iter(files))


def test_local_headers_are_put_in_and_system_headers_stay(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        {
            "a.c": '#include <stdint.h>\n#include "a.h"\nvoid f(T x[N]) { x[0] = 1; }\n',
            "a.h": '#ifndef A\n#define A\n#include "inner/b.h"\ntypedef int32_t T;\n#include "a.h"\n#endif\n',
            "inner/b.h": '#pragma once\n#include "c.h"\n#define N M\n',
            "inner/c.h": "#define M 12\n",
        },
    )
    text = bundle_source(main)
    assert "#include <stdint.h>" in text
    assert str(tmp_path) not in text
    assert interface_of(read_function(text, top="f")).arguments[0].shape == (12,)


def test_file_without_local_headers_is_its_own_text(tmp_path: Path) -> None:
    text = '#include <math.h>\n/*\n#include "b.h"\n*/\nint f(void) { return 1; }\n'
    assert bundle_source(write(tmp_path, {"a.c": text, "b.h": "*/"})) == text


def test_headers_are_found_in_include_folders(tmp_path: Path) -> None:
    main = write(tmp_path, {"p/a.c": '#include "s.h"\n#include <t.h>\nint f(void) { return S + T; }\n'})
    write(tmp_path, {"common/s.h": "#define S 1\n", "common/t.h": "#define T 2\n"})
    text = bundle_source(main, include_folders=[tmp_path / "common"])
    assert read_function(text, top="f").body


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"a.c": '#include "h.h"\nint f(void) { return x; }\n', "h.h": "#define A 1\n\n"},
            r"a name must be declared, got 'x' \(.*a\.c:2\)",
        ),
        (
            {"a.c": '#include "h.h"\nint f(void) { return g(); }\n', "h.h": "\nint g(void) { return y; }\n"},
            r"a name must be declared, got 'y' \(h\.h:2\)",
        ),
        (
            {"a.c": '#include "h.h"\nint f(void) { return 1; }\n', "h.h": "\n\nint g(void) { return +; }\n"},
            r"a program must be C11, got a syntax error: .* \(h\.h:3\)",
        ),
        (
            {"a.c": '#include "h.h"\nint f(void) { return 1; }\n', "h.h": "\n#error wrong size\n"},
            r"a program must pass the C preprocessor, got #error wrong size \(h\.h:2\)",
        ),
    ],
)
def test_errors_name_the_file_and_line_they_are_in(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    main = write(tmp_path, files)
    with pytest.raises(HlsError, match=f"^{message}$"):
        read_function(bundle_source(main), top="f", file=str(main))


def test_bundle_rejects_headers_outside_its_folders(tmp_path: Path) -> None:
    main = write(tmp_path, {"p/a.c": 'int a;\n#include "../secret.h"\n', "secret.h": "int b;\n"})
    with pytest.raises(HlsError, match=r"^a header must lie in .*, got '\.\./secret\.h' \(a\.c:2\)$"):
        bundle_source(main)
    (tmp_path / "p" / "link.h").symlink_to(tmp_path / "secret.h")
    main.write_text('#include "link.h"\n')
    with pytest.raises(HlsError, match=r"^a header must lie in .*, got 'link\.h' \(a\.c:1\)$"):
        bundle_source(main)


def test_bundle_leaves_a_header_it_cannot_find_to_the_preprocessor(tmp_path: Path) -> None:
    main = write(tmp_path, {"a.c": '#ifdef X\n#include "x.h"\n#endif\nint f(void) { return 1; }\n'})
    assert read_function(bundle_source(main), top="f").body
    main.write_text('#include "x.h"\nint f(void) { return 1; }\n')
    with pytest.raises(HlsError, match=r'^#include must be one of <.*>, or .*, got "x\.h" \(program\.c:1\)$'):
        read_function(bundle_source(main), top="f")


def test_bundle_rejects_a_text_that_grows_too_large(tmp_path: Path) -> None:
    main = write(tmp_path, {"a.c": '#include "h.h"\n' * 40, "h.h": "int x;\n" * 32000})
    with pytest.raises(
        HlsError, match=r"^a program with its headers must be at most 4194304 bytes, got more"
    ):
        bundle_source(main)


def test_bundle_rejects_what_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"\xff\xfe")
    with pytest.raises(HlsError, match=r"^a C file must be UTF-8 text, got other bytes"):
        bundle_source(tmp_path / "a.c")
    with pytest.raises(HlsError, match=r"must be readable, got cannot read the C file .*: No such file"):
        bundle_source(tmp_path / "none.c")


def test_a_source_behind_a_link_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "main.c").write_text("int g(int x);\nint f(int x) { return g(x); }\n")
    (tmp_path / "g.c").write_text("int g(int x) { return x + 1; }\n")
    (folder / "g.c").symlink_to(tmp_path / "g.c")
    rule = "a file of the program must lie in its folder, not behind a link that leads elsewhere, got g.c"
    with pytest.raises(HlsError, match=re.escape(rule)):
        bundle_source(folder / "main.c", others=[folder / "g.c"])


RECURSIVE = """
#ifndef N
#define N 0
int a(int x) { return x; }
#elif N == 0
#undef N
#define N 1
int b(int x) { return a(x) + N; }
#else
#define LAST
int f(int x) { return b(x) + N; }
#endif
#ifndef LAST
#include "a.c"
#endif
"""


def test_file_that_includes_itself_by_a_changing_macro_is_in_the_text_as_often(tmp_path: Path) -> None:
    main = write(tmp_path, {"a.c": RECURSIVE})
    assert main.read_text().count("#include") == 1
    text = bundle_source(main)
    assert [line for line in text.splitlines() if line.startswith('# 1 "a.c"')] == ['# 1 "a.c"'] * 2
    assert "SIMFOUNDRY_INCLUDED_AGAIN" not in text
    assert defined_functions(text) == ("a", "b", "f")


@pytest.mark.parametrize(
    "guard", ["#ifndef A\n#define A\n", "#if !defined(A)\n#define A 1\n", "#if 0\n", "#pragma once\n#if 1\n"]
)
def test_file_that_includes_itself_under_a_guard_is_in_the_text_once(tmp_path: Path, guard: str) -> None:
    main = write(tmp_path, {"a.c": f'{guard}#include "a.c"\nint f(int x) {{ return x; }}\n#endif\n'})
    assert bundle_source(main) == main.read_text().replace('#include "a.c"', "")


def test_header_whose_first_condition_is_no_guard_includes_itself(tmp_path: Path) -> None:
    header = """#ifndef N
#define N 0
#endif
#if N == 0
#undef N
#define N 1
#include "h.h"
#else
int g(int x) { return x + N; }
#endif
"""
    main = write(tmp_path, {"a.c": '#include "h.h"\nint f(int x) { return g(x); }\n', "h.h": header})
    assert defined_functions(bundle_source(main)) == ("g", "f")


def test_file_that_includes_itself_without_an_end_is_refused(tmp_path: Path) -> None:
    main = write(tmp_path, {"a.c": '#include "a.c"\nint f(int a) { return a; }\n'})
    with pytest.raises(HlsError, match=r"^headers must nest at most 32 deep, got more \(a\.c:1\)$"):
        bundle_source(main)
    main = write(
        tmp_path,
        {"b.c": '#include "b.h"\nint f(void);\n', "b.h": '\n#include "c.h"\n', "c.h": '#include "b.h"\n'},
    )
    with pytest.raises(HlsError, match=r"^headers must nest at most 32 deep, got more \(c\.h:1\)$"):
        bundle_source(main)
    main = write(tmp_path, {"d.c": '#ifdef M\n#include "d.c"\n#endif\nint f(int a) { return a; }\n'})
    assert bundle_source(main) == main.read_text().replace('#include "d.c"', "")
    with pytest.raises(HlsError, match=r"^headers must nest at most 32 deep, got more \(d\.c:2\)$"):
        bundle_source(main, macros="#define M 1\n")
