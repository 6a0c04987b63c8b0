"""Test benches in C++, compiled against a model of Verilator and against ours, and run confined."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.base.sandbox import Limits, read_output, run_confined
from pipelines.rtl.reuse import VERILOG
from pipelines.rtl.reuse.building import build, find_compiler, run_step
from pipelines.rtl.reuse.languages import source_text
from pipelines.rtl.reuse.verilated import compile_model, write_model
from pipelines.rtl.reuse.verilator import find_verilator

VCD = "wave.vcd"
LIMIT_S = 600.0
NO_PARTS: Mapping[str, bytes] = {}
_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a bench printed, and its waveform if it wrote one."""

    text: str
    vcd: str


def run_with_ours(
    text: str,
    *,
    top: str,
    bench: str,
    scratch: Path,
    language: str = VERILOG,
    parts: Mapping[str, bytes] = NO_PARTS,
) -> Run:
    """Run a bench with our library, as users link it. Args: parts: headers and sources of other models."""
    model = write_model(text, top=top, prefix="Vtop", timeout_s=LIMIT_S, language=language)
    library = compile_model(model, scratch=scratch, timeout_s=LIMIT_S)
    contents = {**model.files, **parts, model.library: library, "bench.cpp": bench.encode()}
    sources = ["bench.cpp", *(name for name in parts if name.endswith(".cpp"))]
    warnings = [] if parts else ["-Wall", "-Wextra", "-pedantic", "-Werror"]
    argv = [find_compiler(), "-std=c++17", *warnings, "-I.", *sources, model.library]
    return _run([*argv, "-o", "bench"], contents, scratch)


def run_with_verilator(
    text: str,
    *,
    top: str,
    bench: str,
    scratch: Path,
    programs: Path,
    name: str = "design.v",
    options: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> Run:
    """Run a bench with Verilator's model of the design.

    Args: programs: folder that keeps Verilator's runtime. options: of Verilator. flags: of the compiler.
    """
    root, executable = find_verilator()
    argv = [str(executable), "--cc", "--trace", "-Wno-fatal", "--prefix", "Vtop", "--top-module", top]
    model = run_step(
        [*argv, *options, "--Mdir", "model", name],
        scratch=scratch,
        readable=[root, executable],
        contents={name: source_text(text).encode()},
        environment={"VERILATOR_ROOT": str(root)},
        timeout_s=LIMIT_S,
    )
    sources = [*map(str, sorted((model / "model").glob("*.cpp"))), str(_runtime(root, programs))]
    argv = [find_compiler(), *_flags(root), *flags, f"-I{model / 'model'}", "bench.cpp", *sources]
    argv += ["-o", "bench", "-pthread", "-latomic"]
    return _run(argv, {"bench.cpp": bench.encode()}, scratch, [root, model, programs])


def _flags(root: Path) -> list[str]:
    folders = (f"-I{root / 'include'}", f"-I{root / 'include' / 'vltstd'}")
    return ["-std=gnu++17", "-w", "-DVM_TRACE=1", "-DVL_IGNORE_UNKNOWN_ARCH", *folders]


def _runtime(root: Path, programs: Path) -> Path:
    """Return Verilator's runtime with waveforms as one object, compiled once."""
    compiler = find_compiler()

    def make(scratch: Path) -> Path:
        names = ("verilated", "verilated_threads", "verilated_vcd_c")
        whole = "".join(f'#include "{root / "include" / name}.cpp"\n' for name in names)
        argv = [compiler, *_flags(root), "-O1", "-c", "all.cpp", "-o", "all.o"]
        contents = {"all.cpp": whole.encode()}
        folder = run_step(argv, scratch=scratch, readable=[root], contents=contents, timeout_s=LIMIT_S)
        return folder / "all.o"

    return build(programs, "verilator-runtime-vcd", (compiler, str(root), *_flags(root)), make)


def _run(
    argv: Sequence[str], contents: Mapping[str, bytes], scratch: Path, readable: Sequence[Path] = ()
) -> Run:
    built = run_step(argv, scratch=scratch, contents=contents, readable=readable, timeout_s=LIMIT_S)
    program, folder = built / "bench", built / "run"
    run = run_confined([str(program)], folder=folder, readable=[program], limits=Limits(processes=64))
    assert run.returncode == 0, run.last_words()
    vcd = folder / VCD
    return Run(text=run.stdout, vcd=read_output(vcd, most_bytes=_BYTES).decode() if vcd.exists() else "")


def vcd_values(vcd: str) -> dict[str, list[tuple[int, int]]]:
    """Return times and values of every signal of a waveform, by path; a value that stays is left out."""
    scope, names, values, time = list[str](), dict[str, list[str]](), dict[str, list[tuple[int, int]]](), 0
    head, _, body = vcd.partition("$enddefinitions")
    for kind, rest in re.findall(r"\$(scope|upscope|var)\s([^$]*)\$end", head):
        words = rest.split()
        if kind == "scope":
            scope.append(words[1])
        elif kind == "upscope":
            scope.pop()
        else:
            names.setdefault(words[2], []).append(".".join((*scope, words[3])))
    for line in body.splitlines()[1:]:
        if line.startswith("#"):
            time = int(line[1:])
        if not line or line[0] in "#$":
            continue
        value, code = line[1:].split() if line.startswith("b") else (line[:1], line[1:])
        changes = values.setdefault(code, [])
        if not changes or changes[-1][1] != int(value, 2):
            changes.append((time, int(value, 2)))
    return {path: values[code] for code, paths in names.items() for path in paths if code in values}


def random_bench(
    inputs: Mapping[str, int], outputs: Mapping[str, int], clocks: Sequence[str], *, evals: int, seed: int = 1
) -> str:
    """Return a bench that toggles clocks, draws inputs and prints outputs after each eval."""
    lines = ['#include "Vtop.h"', '#include "verilated.h"', "#include <stdio.h>"]
    lines += ["static uint64_t x = 88172645463325252ull;"]
    lines += ["static uint64_t draw() { x ^= x << 13; x ^= x >> 7; x ^= x << 17; return x; }"]
    lines += ["int main(int argc, char** argv) {", "  Verilated::commandArgs(argc, argv);"]
    lines += [f"  x += {seed};", "  Vtop* top = new Vtop;", f"  for (int i = 0; i < {evals}; i++) {{"]
    for clock in clocks:
        lines.append(f"    if (i && draw() % 2) top->{clock} = !top->{clock};")
    for port, width in inputs.items():
        chance = 4 if width > 1 else 6
        if width <= 64:
            lines.append(f"    if (draw() % 16 < {chance}) top->{port} = draw() & {(1 << width) - 1:#x}ull;")
            continue
        for word in range(-(-width // 32)):
            bits = min(32, width - 32 * word)
            most = (1 << bits) - 1
            lines.append(f"    if (draw() % 16 < {chance}) top->{port}[{word}] = draw() & {most:#x}u;")
    lines.append("    top->eval();")
    for port, width in outputs.items():
        words = [f"top->{port}"] if width <= 64 else [f"top->{port}[{w}]" for w in range(-(-width // 32))]
        lines += [f'    printf("%llx ", (unsigned long long){word});' for word in words]
    lines += ['    printf("\\n");', "  }", "  top->final();", "  delete top;", "}"]
    return "\n".join(lines) + "\n"
