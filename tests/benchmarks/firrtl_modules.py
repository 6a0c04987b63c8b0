"""Modules of a Chisel design: our reading of its FIRRTL against the Verilog of Chisel's own compiler.

    pip download --no-deps pythondata-cpu-rocket  # unpacked, PREFIX is .../generated-src/NAME.LitexConfig
    python -m tests.benchmarks.firrtl_modules PREFIX [MODULE ...]

Chisel's compiler removes inputs that the surrounding design keeps constant; such modules, and those that
stand for Verilog which is not there, cannot be compared. Each module runs 400 cycles with random inputs.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pipelines.rtl.reuse import FIRRTL, Program, RtlError, Simulator, build_reuse, words_of
from tests.benchmarks.harness import options_parser

CYCLES = 400
RESET_CYCLES = 3
LIMB = 64
_MODULE = re.compile(r"^module (\w+)\s*\(.*?^endmodule", re.DOTALL | re.MULTILINE)
_INSTANCE = re.compile(r"^  (\w+) \w+ \(", re.MULTILINE)
_INPUT = re.compile(r"^  input +(?:\[.*?\] *)?(\w+)", re.MULTILINE)
_IMPLICIT = {"clock", "reset"}


def closure(modules: Mapping[str, str], top: str) -> str:
    """Text of a module and all that it instantiates."""
    texts: dict[str, str] = {}
    waiting = [top]
    while waiting:
        name = waiting.pop()
        if name in modules and name not in texts:
            texts[name] = modules[name]
            waiting += _INSTANCE.findall(modules[name])
    return "\n".join(texts.values())


def outputs_of(program: Program, values: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Outputs by port and cycle for given inputs."""
    inputs = np.zeros((CYCLES, len(words_of(program.ports.inputs)), 1), np.uint64)
    for i, (port, limb, width) in enumerate(words_of(program.ports.inputs)):
        inputs[:, i, 0] = [v >> LIMB * limb & ((1 << width) - 1) for v in values[port]]
    rows = Simulator(program).play(inputs).outputs
    assert rows is not None
    outputs = {port: [0] * CYCLES for port in program.ports.outputs}
    for i, (port, limb, _) in enumerate(words_of(program.ports.outputs)):
        for cycle in range(CYCLES):
            outputs[port][cycle] |= int(rows[cycle, i, 0]) << LIMB * limb
    return outputs


def compare(firrtl: str, modules: Mapping[str, str], top: str, folder: Path) -> str:
    """`equal`, or what is different or prevents the comparison."""
    if top not in modules:
        return "not in the Verilog"
    try:
        ours = build_reuse(firrtl, top=top, folder=folder, language=FIRRTL, is_quick=True)
        removed = {*ours.ports.inputs} - {*_INPUT.findall(modules[top])} - _IMPLICIT
        if removed:
            return f"inputs removed: {len(removed)}"
        theirs = build_reuse(closure(modules, top), top=top, folder=folder, is_quick=True)
    except RtlError as error:
        return f"rejected: {str(error)[:100]}"
    rng = random.Random(1)
    widths = {**ours.ports.inputs, **theirs.ports.inputs}
    values = {
        port: [int(c < RESET_CYCLES) if "reset" in port else rng.getrandbits(width) for c in range(CYCLES)]
        for port, width in widths.items()
    }
    actual, expected = outputs_of(ours, values), outputs_of(theirs, values)
    wrong = [port for port in expected if actual[port] != expected[port]]
    return f"DIFFERENT: {', '.join(wrong)}" if wrong else f"equal: {len(expected)} outputs"


def module_names(firrtl: str) -> Iterator[str]:
    """Names of all modules."""
    return (match[1] for match in re.finditer(r"^  module (\w+) :", firrtl, re.MULTILINE))


def main() -> None:
    """Read the command line."""
    parser = options_parser(__doc__)
    parser.add_argument("prefix", type=Path)
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    firrtl = Path(f"{options.prefix}.fir").read_text("utf-8")
    verilog = "\n".join(Path(f"{options.prefix}{end}").read_text("utf-8") for end in (".v", ".behav_srams.v"))
    modules = {match[1]: match[0] for match in _MODULE.finditer(verilog)}
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="simulators-") as name:
        for top in options.modules or module_names(firrtl):
            result = compare(firrtl, modules, top, Path(name))
            kind = result.partition(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
            print(f"{top}: {result}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))


if __name__ == "__main__":
    main()
