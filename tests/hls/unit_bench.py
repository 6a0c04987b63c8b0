"""Functional units in Verilator against the C compiler's arithmetic, vector by vector.

One program holds any number of checks. Each draws operands, applies them at the rate of its unit (noise in
between), and compares the result in its due cycle with native C, bit for bit. Two NaN that differ in sign or
payload are counted separately.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.base.tools import find_tool, run_tool
from pipelines.c.signature import ScalarType
from pipelines.hls.units.catalogue import FunctionalUnit, instance_text, module_texts
from pipelines.rtl.simulation.verilator import (
    SAFE_OPTIMISATION,
    _include_flags,
    _verilator_root,
    prepare_runtime,
)

NATIVE_FLAGS = ("-O1", "-ffp-contract=off", "-fno-builtin", "-w")
BENCH_FLAGS = ("-w", "-std=gnu++17", "-DVM_TRACE=0", "-DVL_TIME_CONTEXT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One operation of one unit.

    Attributes:
        name: of the operation, for people.
        unit: under test; mode: value of its mode port.
        operands: type of each operand; result: type of the result.
        c: C expression of `a` and `b`, which have the operands' types (integers: the 64-bit ones).
        valid: C condition under which the expression is defined; other operands are drawn again.
    """

    name: str
    unit: FunctionalUnit
    operands: tuple[ScalarType, ...]
    result: ScalarType
    c: str
    mode: int = 0
    valid: str = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Outcome of a check: vectors, different results, NaN with different bits, first differences."""

    name: str
    vectors: int
    mismatches: int
    nan_bits: int
    examples: str
    seconds: float


def c_type(scalar: ScalarType) -> str:
    """C type for arithmetic on a type."""
    if scalar.floating:
        return scalar.c_name
    return "int64_t" if scalar.signed else "uint64_t"


# The processor's own instructions: the library would give a NaN another sign.
_ROOTS = (
    'static float root_of_float(float a) { float r; __asm__("sqrtss %1, %0" : "=x"(r) : "x"(a)); return r; }',
    "static double root_of_double(double a)"
    ' { double r; __asm__("sqrtsd %1, %0" : "=x"(r) : "x"(a)); return r; }',
)


def native_text(checks: Sequence[Check]) -> str:
    """C file with one function and one validity function per check."""
    lines = ["#include <stdint.h>", *_ROOTS]
    for number, check in enumerate(checks):
        arguments = ", ".join(f"{c_type(t)} {n}" for t, n in zip(check.operands, "ab", strict=False))
        lines.append(f"{c_type(check.result)} native_{number}({arguments}) {{ return {check.c}; }}")
        lines.append(f"int valid_{number}({arguments}) {{ return {check.valid}; }}")
    return "\n".join(lines) + "\n"


def wrapper_text(checks: Sequence[Check]) -> str:
    """Verilog module with one instance per check."""
    ports = ["input clk", "input rst"]
    body: list[str] = []
    for number, check in enumerate(checks):
        unit = check.unit
        ports += [f"input [{w - 1}:0] u{number}_{p}" for p, w in unit.ports]
        ports.append(f"output [{unit.output[1] - 1}:0] u{number}_y")
        ports += [f"input u{number}_go"] if unit.started else []
        text = instance_text(
            unit,
            f"unit_{number}",
            [f"u{number}_{p}" for p, _ in unit.ports],
            f"u{number}_y",
            go=f"u{number}_go" if unit.started else None,
            mode=f"1'b{check.mode}",
        )
        body.append(f"  {text}")
    top = "module bench (\n  " + ",\n  ".join(ports) + "\n);\n" + "\n".join(body) + "\nendmodule\n"
    return module_texts([c.unit for c in checks]) + top


def _draw_text(check: Check, index: int, first: str) -> str:
    scalar = check.operands[index]
    if not scalar.floating:
        return f"draw_integer(s, {scalar.width_bits}, {str(scalar.signed).lower()})"
    shape = "FLOAT_FORMAT" if scalar.width_bits == 32 else "DOUBLE_FORMAT"
    if not check.result.floating and len(check.operands) == 1:
        return f"draw_near_integers(s, {shape}, {check.result.width_bits})"
    return f"draw_partner(s, {shape}, {first})" if index else f"draw_float(s, {shape})"


def _typed(scalar: ScalarType, text: str) -> str:
    if not scalar.floating:
        return f"({c_type(scalar)}){text}"
    return f"from_bits<{scalar.c_name}, {scalar.bits_c_name}>({text})"


def check_text(number: int, check: Check) -> str:
    """C++ class that drives and judges one check."""
    names = "ab"[: len(check.operands)]
    types = ", ".join(c_type(t) for t in check.operands)
    values = ", ".join(_typed(t, n) for t, n in zip(check.operands, names, strict=True))
    draws = " ".join(f"{n} = {_draw_text(check, i, 'a')};" for i, n in enumerate(names))
    native = f"native_{number}({values})"
    if check.result.floating:
        shape = "FLOAT_FORMAT" if check.result.width_bits == 32 else "DOUBLE_FORMAT"
        expected = f"to_bits<{check.result.c_name}, {check.result.bits_c_name}>({native})"
        both_nan = f"{shape}.is_nan(want) && {shape}.is_nan(got)"
    else:
        expected, both_nan = f"(uint64_t){native}", "false"
    pins = "".join(
        f" m.u{number}_{p} = {n} & low_bits({w});" for n, (p, w) in zip(names, check.unit.ports, strict=True)
    )
    go = f" m.u{number}_go = fresh;" if check.unit.started else ""
    return f"""
extern "C" {c_type(check.result)} native_{number}({types});
extern "C" int valid_{number}({types});
struct Check{number} : Tally {{
  static constexpr int latency = {check.unit.latency_cycles}, busy = {check.unit.busy_cycles};
  void drive(Vbench &m, Stream &s, uint64_t cycle) {{
    bool fresh = cycle % busy == 0;
    do {{ {draws} }} while (fresh && !valid_{number}({values}));
    Vector &v = ring[cycle % SPAN];
    v = Vector{{fresh, a, b, 0}};
    if (fresh) v.want = {expected} & low_bits({check.unit.output[1]});
   {pins}{go}
  }}
  void judge(Vbench &m, uint64_t cycle) {{
    if (cycle < latency) return;
    const Vector &v = ring[(cycle - latency) % SPAN];
    if (!v.used) return;
    uint64_t want = v.want, got = m.u{number}_y;
    ++vectors;
    if (got != want) differ(v, got, {both_nan});
  }}
}};
"""


_BENCH = """
#include <cstdio>
#include <cstdlib>
#include "unit_vectors.hpp"
template <class T, class U> T from_bits(uint64_t bits) {
  U u = (U)bits;
  T t;
  std::memcpy(&t, &u, sizeof t);
  return t;
}
template <class T, class U> uint64_t to_bits(T t) {
  U u;
  std::memcpy(&u, &t, sizeof u);
  return u;
}
constexpr int SPAN = 128;
struct Vector { bool used; uint64_t a, b, want; };
struct Tally {
  Vector ring[SPAN] = {};
  uint64_t a = 0, b = 0, vectors = 0, mismatches = 0, nan_bits = 0;
  char examples[512] = "";
  int length = 0;
  void differ(const Vector &v, uint64_t got, bool both_nan) {
    ++(both_nan ? nan_bits : mismatches);
    if (mismatches + nan_bits <= 4)
      length += std::snprintf(examples + length, sizeof examples - length, "%llx %llx: %llx not %llx; ",
          (long long)v.a, (long long)v.b, (long long)got, (long long)v.want);
  }
};
"""


def bench_text(checks: Sequence[Check], model: str) -> str:
    """C++ program: arguments are cycles and seed; it prints one JSON line of figures per check."""
    numbers = range(len(checks))
    members = " ".join(f"static Check{n} c{n};" for n in numbers)
    drive = " ".join(f"c{n}.drive(m, s, cycle);" for n in numbers)

    def judge(when: str) -> str:
        return " ".join(
            f"if (Check{n}::latency {when}) c{n}.judge(m, cycle{'' if when == '== 0' else ' + 1'});"
            for n in numbers
        )

    report = " ".join(
        f'std::printf("[%llu, %llu, %llu, \\"%s\\"]\\n", (long long)c{n}.vectors,'
        f" (long long)c{n}.mismatches, (long long)c{n}.nan_bits, c{n}.examples);"
        for n in numbers
    )
    return f"""{model}
{_BENCH}
{"".join(check_text(n, c) for n, c in enumerate(checks))}
int main(int count, char **arguments) {{
  uint64_t cycles = std::strtoull(arguments[1], nullptr, 10);
  Stream s{{std::strtoull(arguments[2], nullptr, 10) * 2654435761u + 1}};
  VerilatedContext context;
  Vbench m{{&context}};
  {members}
  m.rst = 1;
  for (int i = 0; i < 4; ++i) {{ m.clk = i & 1; m.eval(); }}
  m.rst = 0;
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {{
    {drive}
    m.clk = 0; m.eval();
    {judge("== 0")}
    m.clk = 1; m.eval();
    {judge("> 0")}
  }}
  {report}
  m.final();
}}
"""


def _must(
    argv: Sequence[str], folder: Path, timeout_s: float, environment: dict[str, str] | None = None
) -> str:
    run = run_tool(list(argv), folder=folder, timeout_s=timeout_s, environment=environment or {})
    if run.returncode != 0:
        raise RuntimeError(f"{Path(argv[0]).name} must succeed, got {run.returncode}: {run.last_words(2000)}")
    return run.stdout


def build_bench(
    checks: Sequence[Check], folder: Path, runtime_folder: Path, *, optimize: str = "-O0"
) -> Path:
    """Build the program of some checks in an empty folder.

    Args:    optimize: for g++ on the simulation; native C always has `NATIVE_FLAGS`.
    Returns: path of the program.
    Raises:  RuntimeError: a tool failed, or Verilator warned.
    """
    runtime = prepare_runtime(runtime_folder)
    (folder / "bench.v").write_text(wrapper_text(checks))
    argv = [find_tool("verilator_bin", "verilator"), "--cc", "--no-timing", *SAFE_OPTIMISATION]
    argv += [
        "--prefix",
        "Vbench",
        "--top-module",
        "bench",
        "--Mdir",
        "model",
        "--x-initial",
        "unique",
        "bench.v",
    ]
    _must(argv, folder, 300, {"VERILATOR_ROOT": str(_verilator_root())})
    sources = sorted(p.name for p in (folder / "model").glob("*.cpp"))
    model = "\n".join(f'#include "model/{name}"' for name in sources)
    (folder / "bench.cpp").write_text(bench_text(checks, model))
    (folder / "native.c").write_text(native_text(checks))
    _must([find_tool("gcc", "gcc"), *NATIVE_FLAGS, "-c", "native.c", "-o", "native.o"], folder, 120)
    argv = [find_tool("g++", "g++"), optimize, *BENCH_FLAGS, *_include_flags(), "-I", "model", "-I", "."]
    argv += ["-I", str(Path(__file__).parent), "bench.cpp", "native.o", str(runtime), "-o", "bench"]
    _must([*argv, "-pthread", "-lm"], folder, 600)
    return folder / "bench"


def run_bench(
    program: Path, checks: Sequence[Check], cycles: int, seed: int = 1, timeout_s: float = 36000
) -> list[Outcome]:
    """Run a program for some cycles."""
    run = run_tool([str(program), str(cycles), str(seed)], folder=program.parent, timeout_s=timeout_s)
    if run.returncode != 0:
        raise RuntimeError(f"the bench must end with 0, got {run.returncode}: {run.last_words()}")
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return [
        Outcome(
            name=check.name,
            vectors=row[0],
            mismatches=row[1],
            nan_bits=row[2],
            examples=row[3],
            seconds=run.wall_s,
        )
        for check, row in zip(checks, rows, strict=True)
    ]
