"""Many small programs at a time: one gcc run for their native code, one g++ run for their simulators.

Small designs spend most of their time on starting compilers and reading headers; a batch does this once. It
runs the same code as single tests: the project's own test bench, and the C text itself.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipelines.base.tools import find_tool, run_tool
from pipelines.c.signature import Argument, DataSet, Interface
from pipelines.hls import CompiledDesign
from pipelines.rtl.simulation import MemoryTiming, encode_input
from pipelines.rtl.simulation.exchange import (
    Observed,
    banks_of,
    decode_arrays,
    decode_output,
    value_of_bits,
    written_arrays,
)
from pipelines.rtl.simulation.harness import _PRELUDE, harness_text, module_ports
from pipelines.rtl.simulation.verilator import (
    COMPILER_FLAGS,
    SAFE_OPTIMISATION,
    _include_flags,
    _verilator_root,
    prepare_runtime,
)

INCLUDE = Path(__file__).resolve().parents[2] / "pipelines" / "c" / "include"
CYCLE_LIMIT = 3_000_000


@dataclass(frozen=True)
class Outcome:
    """Outputs, returned value, cycles and accesses by array (of hardware), or what went wrong."""

    outputs: DataSet
    returned: object
    cycles: int | None = None
    problem: str | None = None
    loads: Mapping[str, int] = field(default_factory=dict)
    stores: Mapping[str, int] = field(default_factory=dict)


def _failed(problem: str) -> Outcome:
    return Outcome(outputs={}, returned=None, problem=problem)


# ---- native C -------------------------------------------------------------------------------------------


def _head(number: int, interface: Interface) -> str:
    """The head of a function that calls a program, whose top function may be static."""
    arguments = [f"{a.type.c_name} {a.name}{_dimensions(a)}" for a in interface.arguments]
    returns = "void" if interface.returns is None else interface.returns.c_name
    return f"{returns} top_{number}({', '.join(arguments) or 'void'})"


def _dimensions(argument: Argument) -> str:
    return "".join(f"[{n}]" for n in argument.shape)


def _call(number: int, interface: Interface) -> str:
    """A C function that reads the arguments of a program, calls it, and writes its outputs."""
    lines = [f"{_head(number, interface)};", f"static int run_{number}(FILE *in, FILE *out)", "{"]
    for argument in (*interface.arrays, *interface.scalars):
        lines.append(f"    static {argument.type.c_name} {argument.name}{_dimensions(argument)};")
        lines.append(f"    if (!fread(&{argument.name}, sizeof {argument.name}, 1, in)) return 1;")
    names = ", ".join(a.name for a in interface.arguments)
    lines.append("    uint64_t bits = 0;")
    if interface.returns is None:
        lines.append(f"    top_{number}({names});")
    else:
        lines.append(f"    {interface.returns.c_name} value = top_{number}({names});")
        lines.append("    memcpy(&bits, &value, sizeof value);")
    lines.append("    fwrite(&bits, 8, 1, out);")
    lines += [f"    fwrite({a.name}, sizeof {a.name}, 1, out);" for a in written_arrays(interface)]
    return "\n".join([*lines, "    return 0;", "}"])


def run_natively(
    programs: Mapping[int, tuple[str, Interface, DataSet]], folder: Path, *, sanitize: bool = False
) -> dict[int, Outcome]:
    """Native results of programs, by their number.

    Args:    sanitize: stop at undefined behaviour and report it as the problem.
    """
    flags = ["-std=c11", "-w", "-ffp-contract=off", "-fno-builtin", "-fno-math-errno", "-O1"]
    flags += ["-ftrivial-auto-var-init=zero", "-isystem", str(INCLUDE)]
    flags += ["-fsanitize=undefined", "-fno-sanitize-recover=all"] if sanitize else []
    sources: list[str] = []
    declared = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "#include <stdint.h>"]
    for number, (text, interface, data) in programs.items():
        names = ", ".join(a.name for a in interface.arguments)
        called = f"{{ {'' if interface.returns is None else 'return '}{interface.top}({names}); }}"
        (folder / f"p{number}.c").write_text(
            f"#define {interface.top} own_{number}\n{text}\n"
            f"#include <stdint.h>\n{_head(number, interface)} {called}\n"
        )
        (folder / f"p{number}.in").write_bytes(encode_input(interface, data))
        sources.append(f"p{number}.c")
        declared.append(_call(number, interface))
    cases = "\n".join(f"    case {n}: return run_{n}(in, out);" for n in programs)
    main = (
        "int main(int argc, char **argv)\n{\n"
        '    FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");\n'
        f"    switch (atoi(argv[1])) {{\n{cases}\n    }}\n    return argc;\n}}\n"
    )
    (folder / "main.c").write_text("\n".join([*declared, main]))
    gcc = find_tool("gcc", "gcc")
    for source in (*sources, "main.c"):
        own = [f for f in flags if f not in ("-isystem", str(INCLUDE))] if source == "main.c" else flags
        run = run_tool([gcc, *own, "-c", source], folder=folder, timeout_s=120)
        if run.returncode != 0:
            return {n: _failed(f"gcc: {run.last_words()}") for n in programs}
    objects = [f"{Path(s).stem}.o" for s in (*sources, "main.c")]
    linked = run_tool([gcc, *flags, *objects, "-o", "all", "-lm"], folder=folder, timeout_s=120)
    if linked.returncode != 0:
        return {n: _failed(f"gcc: {linked.last_words()}") for n in programs}
    outcomes: dict[int, Outcome] = {}
    for number, (_, interface, _) in programs.items():
        argv = ["./all", str(number), f"p{number}.in", f"p{number}.out"]
        memory = None if sanitize else 4 << 30
        run = run_tool(argv, folder=folder, timeout_s=20, memory_bytes=memory)
        if run.returncode != 0:
            outcomes[number] = _failed(f"native: {run.returncode} {run.last_words(200)}")
            continue
        content = (folder / f"p{number}.out").read_bytes()
        (bits,) = struct.unpack_from("<Q", content)
        returned = None if interface.returns is None else value_of_bits(int(bits), interface.returns)
        outcomes[number] = Outcome(outputs=decode_arrays(interface, content, 8), returned=returned)
    return outcomes


# ---- hardware -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hardware:
    """A design to be simulated on data."""

    compiled: CompiledDesign
    data: DataSet
    timing: MemoryTiming


def _translate(number: int, design: Hardware, folder: Path) -> str | None:
    """Translate Verilog to C++ in folder/m<number>; returns the problem or None."""
    (folder / f"d{number}.v").write_text(design.compiled.verilog)
    argv = [find_tool("verilator_bin", "verilator"), "--cc", "--no-timing", *SAFE_OPTIMISATION, "-Wno-fatal"]
    argv += ["--prefix", f"Vd{number}", "--top-module", design.compiled.module, "--Mdir", f"m{number}"]
    argv += ["--x-initial", "unique", "--x-assign", "unique", f"d{number}.v"]
    environment = {"VERILATOR_ROOT": str(_verilator_root())}
    run = run_tool(argv, folder=folder, timeout_s=120, environment=environment)
    return None if run.returncode == 0 else f"verilator: {run.last_words(300)}"


def _bench(number: int, design: Hardware) -> str:
    compiled = design.compiled
    text = harness_text(
        compiled.interface,
        f"Vd{number}",
        design.timing,
        banks=banks_of(compiled.interface, compiled.banks),
        ports=module_ports(compiled.verilog, compiled.module),
    )
    body = text[len(_PRELUDE) :].replace("int main(", "static int run(")
    body = body.replace('"input.bin"', f'"input{number}.bin"').replace(
        '"output.bin"', f'"output{number}.bin"'
    )
    return f"namespace d{number} {{\n{body}\n}}\n"


def simulate_all(designs: Mapping[int, Hardware], folder: Path, runtime: Path) -> dict[int, Outcome]:
    """Simulation results of designs by number."""
    outcomes: dict[int, Outcome] = {}
    for number, design in designs.items():
        problem = _translate(number, design, folder)
        if problem is not None:
            outcomes[number] = _failed(problem)
    good = {n: d for n, d in designs.items() if n not in outcomes}
    sources = [f"m{n}/{p.name}" for n in good for p in sorted((folder / f"m{n}").glob("*.cpp"))]
    # Verilator 5.032 refuses the precompiled headers of several designs in one unit.
    includes = [f'#undef VL_PCH_INCLUDED\n#include "{source}"' for source in sources]
    cases = "\n".join(f"        case {n}: return d{n}::run(argc - 1, argv + 1);" for n in good)
    main = (
        "int main(int argc, char** argv) {\n    switch (std::atoi(argv[1])) {\n"
        f"{cases}\n    }}\n    return 9;\n}}\n"
    )
    benches = [_bench(n, d) for n, d in good.items()]
    (folder / "unit.cpp").write_text("\n".join([*includes, _PRELUDE, *benches, main]))
    flags = [f if f != "-O1" else "-O0" for f in COMPILER_FLAGS]
    paths = [f"-Im{n}" for n in good]
    argv = [find_tool("g++", "g++"), *flags, *_include_flags(), *paths, "unit.cpp"]
    argv += [str(prepare_runtime(runtime)), "-o", "simulators", "-pthread"]
    built = run_tool(argv, folder=folder, timeout_s=600)
    if built.returncode != 0:
        return outcomes | {n: _failed(f"g++: {built.last_words(300)}") for n in good}
    for number, design in good.items():
        outcomes[number] = _simulate(number, design, folder)
    return outcomes


def _simulate(number: int, design: Hardware, folder: Path) -> Outcome:
    interface = design.compiled.interface
    (folder / f"input{number}.bin").write_bytes(encode_input(interface, design.data))
    argv = ["./simulators", str(number), str(CYCLE_LIMIT)]
    run = run_tool(argv, folder=folder, timeout_s=120)
    if run.returncode != 0:
        what = "hang" if run.timed_out or run.returncode == 4 else f"exit {run.returncode}"
        return _failed(f"{what}: {run.last_words(200)}")
    banks = banks_of(interface, design.compiled.banks)
    content = (folder / f"output{number}.bin").read_bytes()
    seen: Observed = decode_output(interface, banks, content)
    return Outcome(
        outputs=dict(seen.outputs),
        returned=seen.returned,
        cycles=seen.latency_cycles,
        loads=seen.loads,
        stores=seen.stores,
    )


def difference(native: Outcome, other: Outcome) -> str | None:
    """The first difference between two outcomes, None when they are bit-equal."""
    names: Sequence[str] = [
        n
        for n, values in native.outputs.items()
        if n not in other.outputs or values.tobytes() != np.asarray(other.outputs[n]).tobytes()
    ]
    if names:
        return f"array {', '.join(names)}"
    return None if repr(native.returned) == repr(other.returned) else "the result"
