"""The cost of reading a program grows with its text; programs beyond a limit are refused by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipelines.c import HlsError, ir, preprocess_source, read_function
from pipelines.c.reading.session import MAXIMUM_STEPS, Session


def nested_structures(depth: int, members: int) -> str:
    """Structures s0 to s<depth - 1>, each with several members of the previous one."""
    text = f"struct s0 {{ {' '.join(f'int m{n};' for n in range(members))} }};\n"
    for level in range(1, depth):
        text += f"struct s{level} {{ {' '.join(f'struct s{level - 1} m{n};' for n in range(members))} }};\n"
    return text


DEEP = nested_structures(16, 4)
STRUCTURES = {
    "a variable": "int f(int a) { struct s15 x; return a; }",
    "an argument": "int f(int a, struct s15 x[2]) { return a; }",
    "a size": "int f(int a) { return a + sizeof(struct s15); }",
    "an initialiser": "int f(int a) { struct s15 x = {1}; return a; }",
    "a copy": "int f(int a) { struct s15 x, y; x = y; return a; }",
    "a global": "struct s15 x; int f(int a) { x = x; return a; }",
}


@pytest.mark.parametrize("use", STRUCTURES.values(), ids=STRUCTURES.keys())
def test_structure_of_too_many_members_is_refused(use: str) -> None:
    rule = "a structure must have at most 65536 members, those of its members included"
    with pytest.raises(HlsError) as refused:
        read_function(f"{DEEP}{use}\n", top="f", file="f.c")
    assert str(refused.value) == f"{rule}, got 262144 (f.c:10)"


def calls(body: str, depth: int) -> str:
    """Functions on one line, each of which calls the previous one twice."""
    text = "int g0(int a) { return a + 1; } "
    for level in range(1, depth):
        text += f"int g{level}(int a) {{ {body.replace('g', f'g{level - 1}')} }} "
    return f"{text}int f(int a) {{ return g{depth - 1}(a); }}\n"


def returning(expression: str) -> str:
    return f"int f(int a) {{ return {expression}; }}"


def dimensions(one: str) -> str:
    return f"int f(int a) {{ int x{one * 300}; return a; }}"


def switch_of(cases: int) -> str:
    parts = " ".join(f"case {n}: a++;" for n in range(cases))
    return f"int f(int a) {{ switch (a) {{ {parts} }} return a; }}"


VALUES = "the arrays of a program must have at most 16777216 initial values, got 33554432 (f.c:1)"
TOKENS = "a preprocessed program must have at most 262144 tokens, got more (f.c)"
LONG = "a name, number or string must have at most 4095 characters"
TEXT = "strings in a row must have at most 262144 characters, got more (f.c)"
SUFFIXES = "a declarator must have at most 256 suffixes in a row, got more (f.c)"
ELEMENTS = "an array must have at most 16777216 elements, got 1090519040 (f.c:2)"
FULL = "s[16777216] = {1}, t[16777216] = {1}; return s[a] + t[a]; }"
LARGE_STRUCTURE = "struct s { int a[16777216]; int b[1 << 30]; };\n"
TOO_LARGE = {
    "terms": (returning("a+" * 200_000 + "a"), TOKENS),
    "a number": (returning("9" * 5000), f"{LONG}, got 5000 ({'9' * 20}...) (f.c)"),
    "a character": (returning(f"'{'a' * 5000}'"), f"{LONG}, got 5002 ('{'a' * 19}...) (f.c)"),
    "a string": (returning(f'"{"a" * 5000}"[a]'), f'{LONG}, got 5002 ("{"a" * 19}...) (f.c)'),
    "strings": (returning('"abcdefg" ' * 30_000 + "[a]"), TEXT),
    "wide strings": (returning('L"abcdefg" ' * 30_000 + "[a]"), TEXT),
    "dimensions": (dimensions("[2]"), SUFFIXES),
    "dimensions on lines far apart": (dimensions("[2]" + "\n" * 12), SUFFIXES),
    "tables": (f"int f(int a) {{ static const int {FULL}", VALUES),
    "filled arrays": (f"int f(int a) {{ int {FULL}", VALUES),
    "an argument": (f"{LARGE_STRUCTURE}int f(int a, struct s x[1]) {{ return a; }}", ELEMENTS),
}


@pytest.mark.parametrize(("source", "message"), TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_program_that_is_too_large_is_refused(source: str, message: str) -> None:
    with pytest.raises(HlsError) as refused:
        read_function(source, top="f", file="f.c")
    assert str(refused.value) == message


PARAMETERS = ", ".join(f"int a{n}" for n in range(200))
ARGUMENTS = ", ".join(["a++"] * 200)
MANY_STEPS = {
    "calls": calls("return g(a) + g(a);", 30),
    "calls without effects": calls("g(a), g(a); return 0;", 30),
    "cases that fall through": switch_of(200),
    "arguments with effects": f"int g({PARAMETERS}) {{ return a0; }} {returning(f'g({ARGUMENTS})')}",
}


@pytest.mark.parametrize("source", MANY_STEPS.values(), ids=MANY_STEPS.keys())
def test_program_that_takes_too_much_to_read_is_refused(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAXIMUM_STEPS == 262_144
    monkeypatch.setattr("pipelines.c.reading.session.MAXIMUM_STEPS", 10_000)
    rule = "a program must have at most 10000 expressions and statements after inlining"
    with pytest.raises(HlsError) as refused:
        read_function(source, top="f", file="f.c")
    assert (refused.value.rule, refused.value.got) == (rule, "more")


def test_long_text_in_parts_is_accepted() -> None:
    source = returning('"abcdefg" ' * 20_000 + "[a]")
    assert preprocess_source(source, file="f.c").endswith("}\n")


def chain(first: str, following: str, last: str) -> Callable[[int], str]:
    """Programs of several lines, each of which uses the previous one twice."""

    def program(length: int) -> str:
        lines = [following.replace("OLD", f"c{n - 1}").replace("NEW", f"c{n}") for n in range(1, length)]
        return "\n".join([first, *lines, last.replace("LAST", f"c{length - 1}")])

    return program


def nested(inner: str, outer: str, program: str) -> Callable[[int], str]:
    """Programs with a nested expression."""

    def of_depth(depth: int) -> str:
        text = inner
        for _ in range(depth):
            text = outer.replace("INNER", text)
        return program.replace("INNER", text)

    return of_depth


STRUCT = "struct s { int x; };\nint f(int a) { struct s b; b.x = a; return INNER.x; }\n"


def size_of_members(depth: int) -> str:
    return f"{nested_structures(depth // 2, 2)}int f(void) {{ return sizeof(struct s{depth // 2 - 1}); }}"


GROWING = {
    "constants": chain("const int c0 = 1;", "const int NEW = OLD & OLD;", "int f(void) { return LAST; }"),
    "sizes": chain(
        "struct c0 { char x; };",
        "struct NEW { char x[sizeof(struct OLD) - sizeof(struct OLD) + 1]; };",
        "int f(void) { return sizeof(struct LAST); }",
    ),
    "members": size_of_members,
    "choices of structures": nested("b", "(a > 0 ? b : INNER)", STRUCT),
    "choices": nested("b[0]", "(b[1] ? b[2] : INNER)", "int f(int b[9]) { return INNER; }"),
    "conjunctions": nested("b[0]", "(INNER && b[1])", "int f(int b[9]) { return INNER; }"),
    "sizes of expressions": nested("a", "sizeof(a + INNER)", "int f(int a) { return INNER; }"),
}


@pytest.mark.parametrize("program", GROWING.values(), ids=GROWING.keys())
def test_reading_grows_with_the_text(program: Callable[[int], str], monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    plain = Session.count

    def count(session: Session, node: object, steps: int = 1) -> None:
        taken[-1] += steps
        plain(session, node, steps)

    monkeypatch.setattr(Session, "count", count)
    for size in (12, 24):
        taken.append(0)
        read_function(program(size), top="f")
    assert taken[1] <= 5 * taken[0]  # that of the square is 4; of a doubling at each level, 4096


@pytest.mark.parametrize("operator", ["&&", "||"])
def test_conditions_on_loads_grow_with_the_text(operator: str) -> None:
    parts: list[int] = []
    for terms in (32, 64):
        source = f"int f(int b[64]) {{ return {f' {operator} '.join(f'b[{n}]' for n in range(terms))}; }}"
        function = read_function(source, top="f")
        parts.append(sum(1 for _ in ir.all_expressions(function.body)))
    assert parts[0] < 20_000
    assert parts[1] < 4 * parts[0]
