"""Icarus Verilog as a second opinion: outputs of a design for the inputs of a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

from pipelines.rtl.reuse import Program, RunResult
from pipelines.rtl.reuse.languages import source_text
from pipelines.rtl.reuse.structure import words_of

LIMB = 64


def first_difference(program: Program, verilog: str, top: str, result: RunResult, folder: Path) -> str | None:
    """The first cycle and output of stimulus 0 in which Icarus Verilog differs in a bit that it knows."""
    assert result.inputs is not None
    assert result.outputs is not None
    words = words_of(program.ports.outputs)
    lines = _simulate(program, verilog, top, result, folder)
    assert len(lines) == len(result.outputs)
    for cycle, (line, row) in enumerate(zip(lines, result.outputs, strict=True)):
        for text, port in zip(line.split(), program.ports.outputs, strict=True):
            value = sum(
                int(row[i, 0]) << LIMB * limb for i, (name, limb, _) in enumerate(words) if name == port
            )
            if any(a not in ("x", "X", b) for a, b in zip(text, f"{value:0{len(text)}x}", strict=True)):
                return f"cycle {cycle}, {port}: {text}, not {value:x}"
    return None


def _simulate(program: Program, verilog: str, top: str, result: RunResult, folder: Path) -> list[str]:
    assert result.inputs is not None
    ports, cycles = program.ports, len(result.inputs)
    words = words_of(ports.inputs)
    (folder / "in.hex").write_text("\n".join(f"{int(n):x}" for n in result.inputs[:, :, 0].ravel()))
    declared = [f"reg [{w - 1}:0] {n};" for n, w in ports.inputs.items()]
    declared += [f"wire [{w - 1}:0] {n};" for n, w in ports.outputs.items()]
    names = [*ports.inputs, *ports.outputs]
    pins = [f".{n}({n})" for n in names] + ([f".{ports.clock}(tick)"] if ports.clock else [])
    pins += [f".{n}(tick_{n})" for n in ports.clocks]
    ticks = ["tick", *(f"tick_{n}" for n in ports.clocks)]
    rises = ["1'b1", *(f"c % {period} == {phase}" for period, phase in ports.clocks.values())]
    sets = [f"{n}[{LIMB * limb} +: {w}] = m[c * {len(words)} + {i}];" for i, (n, limb, w) in enumerate(words)]
    form = " ".join("%h" for _ in ports.outputs)
    bench = f"""
module bench;
  {" ".join(declared)}
  reg {", ".join(f"{tick} = 0" for tick in ticks)};
  integer c; reg [63:0] m [0:{max(1, cycles * len(words)) - 1}];
  {top} dut ({", ".join(pins)});
  initial begin
    $readmemh("in.hex", m);
    for (c = 0; c < {cycles}; c = c + 1) begin
      {" ".join(sets)}
      #1 {{{", ".join(ticks)}}} = 0; #1 $display("{form}", {", ".join(ports.outputs)});
      {{{", ".join(ticks)}}} = {{{", ".join(rises)}}}; #1;
    end
  end
endmodule
"""
    (folder / "design.v").write_text(source_text(verilog))
    (folder / "bench.v").write_text(bench)
    argv = ["iverilog", "-g2012", "-s", "bench", "-o", "bench", "design.v", "bench.v"]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    run = subprocess.run(["vvp", "bench"], cwd=folder, check=True, capture_output=True, text=True)
    return [line for line in run.stdout.splitlines() if "WARNING" not in line]
