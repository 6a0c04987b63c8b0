"""Random C programs with a function `f`: pointers, bit-fields, nodes, and layouts of structures."""

from __future__ import annotations

import random
from collections.abc import Iterator

PACKED = "__attribute__((packed))"


def random_pointers(seed: int) -> str:
    """A program that moves and reads pointers into three arrays, or none."""
    draw = random.Random(seed)
    names, arrays = ("p", "q", "r"), ("A", "B", "c")
    lines = [f"int *{name} = {draw.choice((*arrays, '0'))};" for name in names]

    def target() -> str:
        array, name = draw.choice(arrays), draw.choice(names)
        return draw.choice(
            (f"{array} + {draw.randrange(4)}", f"&{array}[n & 3]", name, "0", f"n & 1 ? {name} : {array}")
        )

    def step() -> str:
        one, other = draw.choice(names), draw.choice(names)
        return draw.choice(
            (
                f"{one} = {target()};",
                f"if ({one}) s += {one}[{draw.randrange(4)}] * {draw.randrange(1, 9)};",
                f"if ({one} && n & {draw.randrange(1, 8)}) {one}[n & 3] ^= s;",
                f"s += ({one} == {other}) + 2 * !{one};",
                f"if (n & {draw.randrange(1, 8)}) {one} = {target()}; else s++;",
                f"set(&{one}, {draw.choice(arrays)}, n & {draw.randrange(8)});",
                f"s += sum({one}, n & 3);",
            )
        )

    lines += ["for (int i = 0; i < 3; i++) {", *(step() for _ in range(draw.randrange(4, 9))), "n += 3; }"]
    return (
        "static void set(int **p, int *to, int k) { if (k > 3) *p = to + (k & 3);\n"
        "else if (k == 2) *p = 0; }\n"
        "static int sum(const int *a, int n) { int s = 0; if (!a) return -5; while (n--)\n"
        "s += *a++; return s; }\n"
        "int f(int A[8], int B[8], int n) { int c[9] = {1, 2, 3}, s = 0;\n"
        + "\n".join(lines)
        + "\nreturn s; }"
    )


def bit_field_programs(seed: int) -> str:
    """A program that writes and reads bit-fields of a local structure, of one in memory and through bytes."""
    draw = random.Random(seed)

    def members() -> Iterator[str]:
        for number in range(draw.randrange(2, 7)):
            kind, most = draw.choice(
                (
                    ("unsigned", 32),
                    ("int", 32),
                    ("unsigned char", 8),
                    ("short", 16),
                    ("_Bool", 1),
                    ("long", 32),
                )
            )
            if draw.random() < 0.25 and kind != "_Bool":  # other bytes than 0 and 1 are no _Bool
                yield f"{kind} m{number};"
            else:
                yield f"{kind} m{number} : {draw.randrange(1, most + 1)};"
            if draw.random() < 0.2:
                yield f"int : {draw.randrange(0, 9)};"

    listed = list(members())
    names = [line.split()[-1 if ":" not in line else -3].strip(";") for line in listed if " m" in line]
    one, other = draw.choice(names), draw.choice(names)
    sums = " ".join(f"r = r * 7 + t.{name} + (g->{name} < 0) + (g->{name} - 2 < -1);" for name in names)
    return (
        f"struct s {{ {' '.join(listed)} }}; union u {{ struct s s;\n"
        f"unsigned char b[sizeof(struct s)]; }};\n"
        "static struct s kept = {1, 2}; long f(struct s *g, struct s many[3], long n) {\n"
        "struct s t = {n, n >> 3}; union u v; long r = sizeof(struct s); for (unsigned i = 0;\n"
        "i < sizeof v.b; i++) v.b[i] = n * (i + 3);\n"
        f"t.{one} = n; g->{other} += t.{one} * 3; t.{other}++; kept.{one} ^= n;\n"
        f"r += (v.s.{one} = n >> 2);\n"
        f"many[1].{one} -= v.s.{other}; if (n & 1) many[2] = many[0]; if (n & 2) *g = many[1];\n"
        f"v.s.{other}--;\n"
        f"{sums} for (unsigned i = 0; i < sizeof v.b; i++) r = r * 3 + v.b[i];\n"
        f"return r + kept.{one} + kept.{other}; }}"
    )


def random_nodes(seed: int) -> str:
    """A program that links nodes of a static array and calls functions of a table."""
    draw = random.Random(seed)
    names, functions = ("a", "b", "c"), ("add", "mix", "low")

    def node() -> str:
        return draw.choice((*names, "0", "&pool[n & 7]", f"heads[n & {draw.randrange(4)}]"))

    def step() -> str:
        one, other = draw.choice(names), draw.choice(names)
        return draw.choice(
            (
                f"{one} = {node()};",
                f"if ({one}) {one}->next = {node()};",
                f"if ({one} && {one}->next) {one} = {one}->next;",
                f"if ({one}) {one}->v = calls[(unsigned){draw.choice(('s', 'n'))} % 3]({one}->v, n);",
                f"heads[{draw.randrange(4)}] = {node()};",
                f"s += count({one}) + 2 * ({one} == {other}) + ({one} && {one}->next == {other});",
                f"calls[{draw.randrange(3)}] = n & {draw.randrange(1, 8)} ? {draw.choice(functions)} : add;",
                f"set(&{draw.choice((one, 'heads[n & 3]'))}, {node()}, n & {draw.randrange(8)});",
            )
        )

    body = [step() for _ in range(draw.randrange(5, 11))]
    return "\n".join(
        (
            "struct node { unsigned v; struct node *next; };",
            "static struct node pool[8], *heads[4];",
            "static unsigned add(unsigned x, unsigned y) { return x + y; }",
            "static unsigned mix(unsigned x, unsigned y) { unsigned r = 1; for (int i = 0; i < 3; i++)",
            "r = r * x + y; return r; }",
            "static unsigned low(unsigned x, unsigned y) { return x < y ? x : y; }",
            "static unsigned (*calls[3])(unsigned, unsigned) = {add, mix, low};",
            "static int count(const struct node *p) { int k = 0; while (p && k < 5) { k++; p = p->next; }",
            "return k; }",
            "static void set(struct node **to, struct node *p, int k) { if (k > 2) *to = p; }",
            "unsigned f(unsigned A[8], unsigned n) { unsigned s = 0; struct node *a = 0;",
            "struct node *b = pool, *c = &pool[3];",
            "for (int i = 0; i < 8; i++) pool[i].v = A[i];",
            "for (int i = 0; i < 3; i++) {",
            *body,
            "n = n * 5 + 3; }",
            "for (int i = 0; i < 8; i++) s = s * 7 + pool[i].v + (pool[i].next ? pool[i].next->v : 9);",
            "return s; }",
        )
    )


def random_layout(seed: int) -> str:
    """A program with the sizes and offsets of structures and unions with random attributes."""
    draw = random.Random(seed)
    kinds = ["char", "short", "int", "long", "float", "double", "char", "wide", "near", "short[3]"]
    lines = [
        "typedef int wide __attribute__((aligned(16)));",
        "typedef int near __attribute__((aligned(2)));",
    ]
    sums: list[str] = []
    for number in range(4):
        pack = draw.choice(("", "", "1", "2", "4", "push, 1", "pop"))
        lines += [f"#pragma pack({pack})"] if draw.random() < 0.5 else []
        whole = draw.choice(("", "", "packed", "aligned(8)", "packed, aligned(4)", "aligned(2)", "noinline"))
        members: list[str] = []
        for place in range(draw.randrange(1, 6)):
            kind, _, size = draw.choice(kinds).partition("[")
            own = draw.choice(("", "", "", "packed", "aligned(4)", "aligned(16)", "packed, aligned(2)"))
            mark = f" __attribute__(({own}))" if own else ""
            before = draw.choice(("", "_Alignas(8) ")) if not own and kind in ("char", "int") else ""
            members.append(f"{before}{kind} m{place}{f'[{size}' if size else ''}{mark};")
            sums.append(f"__builtin_offsetof(struct s{number}, m{place})")
        lines.append(f"struct s{number} {{ {' '.join(members)} }} __attribute__(({whole}));")
        sums += [f"sizeof(struct s{number})", f"_Alignof(struct s{number})"]
        kinds.append(f"struct s{number}")
    total = " ".join(f"r = r * 31 + {value};" for value in sums)
    return "\n".join([*lines, f"unsigned long f(int n) {{ unsigned long r = n; {total} return r; }}"])


def packed_bit_fields(seed: int) -> str:
    """A program of `bit_field_programs` whose structure is packed by an attribute or a pragma."""
    whole = (PACKED, "__attribute__((packed, aligned(4)))", "")[seed % 3]
    pragma = "" if whole else f"#pragma pack({(1, 2, 4)[seed // 3 % 3]})\n"
    return pragma + bit_field_programs(seed).replace("struct s {", f"struct {whole} s {{", 1)
