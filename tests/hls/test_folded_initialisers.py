"""Initialisers of written objects that fold to what is not finite, or by functions of bits, as in gcc."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pipelines.base.tools import find_tool, run_tool
from pipelines.c import HlsError, read_interface

WRITTEN = (
    "double {} = 1.0 / 0.0;",
    "float {} = 0.0f / 0.0f;",
    "double {} = -(0.0 / 0.0);",
    "float {} = (float)(1.0 / 0.0 - 1.0 / 0.0);",
    "float {} = 3e38f * 10;",
    "float {} = 1 / -0.0f;",
    "double {} = 0.0 / 0.0 + 1;",
    "int {} = 1.0 / 0.0 > 3;",
    "int {} = 1.0 / 0.0 ? 4 : 5;",
    "int {} = 0 && 1.0 / 0.0;",
    "long {} = __builtin_offsetof(struct s, b[1]);",
    "int {} = __builtin_popcount(-1) + 3;",
    "int {} = __builtin_clz(255u) * __builtin_ctzll(1ll << 40);",
    "int {} = __builtin_parity(7) | __builtin_ffs(48) << 4;",
    "unsigned short {} = __builtin_bswap16(0x1234);",
    "unsigned long {} = __builtin_bswap64(0x1234);",
    "long {} = _Alignof(struct s) + _Alignof(short);",
    "int {} = _Generic((short)1, int: 1, short: 2, default: 3);",
    "int {} = _Generic(1.0f, int: 1, default: 7);",
    "int {} = 'ab';",
    "int {} = '\\377\\377\\377\\377';",
    "int {} = '\\xe9';",
    "long {} = L'\\xff';",
    "unsigned {} = U'z' + u'\\n';",
    "struct s {} = {{.b = {{[1] = 1 / 0.0}}, .c = (char)__builtin_popcount(7)}};",
)


def _drawn(draw: random.Random, depth: int = 3) -> str:
    """A floating constant expression whose divisor may be zero."""
    if depth == 0:
        return draw.choice(["0.0", "-0.0", "1.5f", "3", "1e308", "2.5", "7u"])
    a, b = _drawn(draw, depth - 1), _drawn(draw, depth - 1)
    operator = draw.choice("+-*/")
    return f"({a} {operator} 1.0 * {b})" if draw.random() < 0.7 else f"-(float)({a} {operator} (double){b})"


def _objects() -> list[str]:
    draw = random.Random(7)
    drawn = [f"{draw.choice(['float', 'double'])} {{}} = {_drawn(draw)};" for _ in range(40)]
    return [text.format(f"g{n}") for n, text in enumerate([*WRITTEN, *drawn])]


def test_memory_of_written_objects_starts_as_gcc_has_it(tmp_path: Path) -> None:
    objects = _objects()
    head = "struct s { int a; double b[2]; char c; };\n" + "\n".join(objects)
    names = [f"g{n}" for n in range(len(objects))]
    body = " ".join(f"((char *)&{name})[n] = 0;" for name in names)
    arguments = read_interface(f"{head}\nvoid f(int n) {{ {body} }}\n", "f").arguments
    own = {a.static.name: a.static.initial for a in arguments if a.static is not None}
    shown = " ".join(
        f'for (unsigned k = 0; k < sizeof {name}; k++) printf("%02x", ((unsigned char *)&{name})[k]);'
        ' printf("\\n");'
        for name in names
    )
    (tmp_path / "shown.c").write_text(
        f"{head}\nint printf(const char *, ...);\nint main(void) {{ {shown} }}\n"
    )
    gcc = [find_tool("gcc", "gcc"), "-std=c11", "-w", "shown.c", "-o", "shown"]
    assert run_tool(gcc, folder=tmp_path, timeout_s=60).returncode == 0
    lines = run_tool([str(tmp_path / "shown")], folder=tmp_path, timeout_s=60).stdout.split()
    for text, name, line in zip(objects, names, lines, strict=True):
        assert (text, own[name] or bytes(len(line) // 2)) == (text, bytes.fromhex(line))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "int g = (int)(1.0 / 0.0);",
            "an object that a function changes must have an initialiser of constants",
        ),
        (
            "int g = __builtin_clz(0);",
            "an object that a function changes must have an initialiser of constants",
        ),
        ("int g = _Generic(1L, long: 1, default: 2);", "_Generic must select by a number of type short"),
    ],
)
def test_initialisers_reject_what_has_no_value(text: str, rule: str) -> None:
    with pytest.raises(HlsError, match=f"^{rule}"):
        read_interface(f"{text}\nvoid f(int n) {{ g += n; }}\n", "f")
