"""Long lists of numbers are not parsed: the same designs, errors and hashes, and larger files."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pipelines.c import HlsError, read_function
from pipelines.c.text import number_lists as lists
from pipelines.c.text.preprocess import parse
from pipelines.hls import HlsOptions, compile_program
from pipelines.programs.normalised import ast_hash

TYPES = (
    "unsigned char",
    "const short",
    "int",
    "const unsigned",
    "const long",
    "_Bool",
    "float",
    "const double",
)


def _number(choice: random.Random, kind: str) -> str:
    if kind.split()[-1] in ("float", "double"):
        forms = [f"{choice.uniform(-9, 9):.4f}f", f"-{choice.random():.3e}", ".5", f"{choice.randrange(99)}."]
        return choice.choice([*forms, str(choice.randrange(-99, 99)), "1.0e400", "1.0e30"])
    value = choice.choice([choice.randrange(256), choice.randrange(1 << 40), choice.randrange(10)])
    forms = [str(value), hex(value), f"0{value:o}", f"- {value}", f"+{value}", f"{value}u", f"0x{value:X}UL"]
    return choice.choice([*forms, f"{choice.randrange(9)}.75"])


def _list(choice: random.Random, kind: str, sizes: tuple[int, ...]) -> str:
    """An initialiser of an array, with fewer values than elements at times, and comments and blank lines."""
    count = choice.choice([sizes[0], sizes[0], max(1, sizes[0] - 3)])
    inner = [_list(choice, kind, sizes[1:]) if sizes[1:] else _number(choice, kind) for _ in range(count)]
    space = [" ", "", "\n", " /* { , } */ ", "\n" * 12, " // 1, 2\n"]
    text = "".join(f"{item}{choice.choice(space)},{choice.choice(space)}" for item in inner[:-1])
    return f"{{{text}{inner[-1]}{choice.choice(['', ',', ' , '])}}}"


def _program(seed: int) -> str:
    """A function that reads, and at times changes, a table of random form."""
    choice = random.Random(seed)
    kind = choice.choice(TYPES)
    sizes = choice.choice([(40,), (40,), (20, 3), (3, 4, 5), (2, 30)])
    text = _list(choice, kind, sizes)
    form = choice.randrange(8)
    if form == 0:  # braces left out
        text = "{" + ", ".join(_number(choice, kind) for _ in range(60)) + "}"
        sizes = (20, 3)
    shown = "".join(f"[{size}]" for size in sizes)
    if form == 1:
        shown = "[]" + shown[shown.index("]") + 1 :]
    index = "".join(f"[(n + i) % {size - 3 if size > 9 else size}]" for size in sizes)
    table = f"static {kind} t{shown} = {text};"
    outer, inner = ("", table) if choice.randrange(3) == 0 else (table, "")
    change = f"t{index} = n;" if choice.randrange(3) == 0 and "const" not in kind else ""
    if form == 2:
        outer = (
            f"{table} struct s {{ int a; short b; }}; struct s u[40] = {text};" if len(sizes) == 1 else table
        )
        change = "s += u[n & 7].b;" if len(sizes) == 1 else ""
        inner = ""
    if form == 3:
        outer += f" int unused[] = {text}; int after = 3; "
        change += "s += after;"
    return (
        f"{outer} int other;\ndouble f(unsigned n) {{ {inner} double s = 0;"
        f" for (int i = 0; i < 4; i++) {{ s += t{index}; {change} }} return s; }}"
    )


def _outcome(source: str) -> tuple[str, object]:
    """The design of a program as text, or the error; and its hash."""
    parse.cache_clear()
    lists.cut_lists.cache_clear()
    try:
        design = compile_program(source, top="f", options=HlsOptions())
    except HlsError as error:
        return str(error), None
    return design.verilog, (ast_hash(source, "f"), design.function, design.interface)


def _outcomes(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[str, object], ...]:
    """Outcomes with every list parsed, and with lists of more than 20 numbers cut."""
    monkeypatch.setattr(lists, "LEAST_NUMBERS", 1 << 30)
    parsed = _outcome(source)
    monkeypatch.setattr(lists, "LEAST_NUMBERS", 20)
    return parsed, _outcome(source)


@pytest.mark.parametrize("first", [pytest.param(0), pytest.param(40, marks=pytest.mark.slow)])
def test_designs_are_the_same_without_parsing_of_lists(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    designs = 0
    for seed in range(first, 40 if first == 0 else 400):
        source = _program(seed)
        parsed, cut = _outcomes(source, monkeypatch)
        assert cut == parsed, source
        designs += parsed[1] is not None
    assert designs > 20


LONG = ", ".join(str(n) for n in range(70))


@pytest.mark.parametrize(
    "source",
    [
        f"int t[60] = {{{LONG}}};\nint f(int n) {{ return t[n & 7]; }}",
        f"int t[] = {{{LONG},, 2}};\nint f(int n) {{ return t[n & 7]; }}",
        f"int t = {{{LONG}}};\nint f(int n) {{ return t + n; }}",
        f"int t[70] = {{{LONG}}};\nint f(int n) {{\n  return t[n & 7] + }}",
        f"int t[70] = {{99999999999999999999, {LONG}}};\nint f(int n) {{ return t[n & 7]; }}",
        f"int t[2][35] = {{{LONG}}}; int f(int n) {{ return t[n & 1][3] + sizeof(int[]){{{LONG}}}; }}",
        f"int f(int n) {{ return (int[]){{{LONG}}}[n & 7]; }}",
        f"int t[70] = {{{LONG}, 09}};\nint f(int n) {{ return t[n & 7]; }}",
        f"char *t[] = {{{LONG}}};\nint f(int n) {{ return t[n & 7] != 0; }}",
        f"enum e {{ A = 3 }};\nint f(int n) {{ static int t[] = {{{LONG}}}, u; u += t[n & 7]; return u; }}",
    ],
)
def test_errors_are_the_same_without_parsing_of_lists(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed, cut = _outcomes(source, monkeypatch)
    assert cut == parsed


@pytest.mark.parametrize(
    "text",
    [
        f'const char t[] = "{{{LONG}}}"',
        f'const char t[] = "\\"{{{LONG}}}"',
        f"const int t[] = {{'\"', '\\'', {LONG}, '\"'}}",
    ],
)
def test_lists_in_strings_stay(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"int f(int n) {{ {text}; return t[n & 63]; }}"
    parsed, cut = _outcomes(source, monkeypatch)
    assert cut == parsed


def _large(kind: str, count: int, use: str) -> str:
    rows = "\n".join(["0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0,"] * (count // 8))
    return f"static {kind} t[] = {{\n{rows}\n}};\nint f(int n) {{ return {use}; }}\n"


def test_a_large_table_that_the_design_does_not_read_is_accepted() -> None:
    source = _large("const unsigned char", 400_000, "n + 1")
    assert len(source) > 2_000_000
    assert read_function(source, top="f").arrays == ()


@pytest.mark.parametrize("kind", ["const unsigned char", "int", "const float"])
def test_a_table_that_the_design_reads_has_a_bound(kind: str) -> None:
    message = r"^a table that the design reads must have at most 131072 numbers, got more in t \(f\.c:1\)$"
    with pytest.raises(HlsError, match=message):
        read_function(_large(kind, 140_000, "t[n & 7]"), top="f", file="f.c")


@pytest.mark.parametrize(
    "use",
    [lambda t: f"(const int[]){{{t}}}[n & 7]", lambda t: f"(struct s){{{t}}}.a", lambda t: f"(int){{{t}}}"],
)
def test_a_long_list_in_an_expression_has_a_bound(use: Callable[[str], str]) -> None:
    text = "1, 2, 3, 4, 5, 6, 7, 8, " * 17_000
    source = f"struct s {{ int a; }};\nint f(int n) {{ return {use(text)}; }}\n"
    with pytest.raises(
        HlsError, match=r"^a table that the design reads must have at most 131072 numbers, got"
    ):
        read_function(source, top="f", file="f.c")
