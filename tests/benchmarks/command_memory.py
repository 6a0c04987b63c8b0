"""Peak of the resident memory of commands on large inputs, tools included: the source of their `memory_gib`.

    python -m tests.benchmarks.command_memory [--only simulate] [--record]

Sums the memory of a command and of all its descendants 20 times a second. `memory_gib` in
`simfoundry/cli/` is twice the largest peak of a command, rounded up to a half and at most 4.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assets.figures import Figure
from pipelines.base.processes import resident_bytes
from pipelines.rtl.reuse.designs import gemm, mesh, rv32im
from tests.benchmarks.harness import ROOT, options_parser
from tests.benchmarks.recording import add_record_option, record

KERNEL = """
void gemm(int a[64][64], int b[64][64], int c[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      int s = 0;
      for (int k = 0; k < 64; k++) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
"""
KERNEL_ROW = '"' + KERNEL.replace("\n", " ") + '",gemm'
UNROLLED = [
    {"kind": "partition", "variable": "a", "dimension": 2, "style": "complete"},
    {"kind": "partition", "variable": "b", "dimension": 1, "style": "complete"},
    {"kind": "unroll", "loop": "L2", "value": 64},
    {"kind": "unroll", "loop": "L1", "value": 8},
    {"kind": "pipeline", "loop": "L1", "value": 1},
]
FIGURE = Figure(
    figure="",
    area="size",
    section="Memory of commands",
    value=0,
    unit="MiB",
    command="python -m tests.benchmarks.command_memory",
    commit="",
    machine="",
    date="",
)


def commands(folder: Path) -> Iterator[list[str]]:
    """Commands with the largest inputs that are accepted, or that users are likely to bring."""
    for name, source in (("gemm", gemm(64, 64)), ("mesh", mesh(16)), ("rv32im", rv32im(64))):
        path = folder / f"{name}.v"
        path.write_text(source.verilog)
        yield ["simulate", str(path), "--top", source.top, "--cycles", "100"]
    memory = folder / "memory.v"
    memory.write_text(
        "module top(input clk, input [25:0] a, output reg [7:0] y); reg [7:0] m [0:(1 << 26) - 1];"
        "always @(posedge clk) begin m[a] <= a; y <= m[a]; end endmodule\n"
    )
    yield ["simulate", str(memory), "--top", "top", "--cycles", "100"]
    wide, deep = folder / "wide.onnx", folder / "deep.onnx"
    onnx.save_model(layers(2, 7_000), str(wide))
    onnx.save_model(layers(400, 64), str(deep))
    for network in (ROOT / "examples" / "mlp.onnx", wide, deep):
        yield ["power", str(network)]
        yield ["place", str(network), "--moves", "100"]
    yield ["power", str(ROOT / "examples" / "mlp.onnx"), "--flow", "fixed"]
    yield ["explore", str(wide), "--budget-mw", "100"]
    yield ["network", "--pods", "16"]
    kernel, directives = folder / "gemm.c", folder / "directives.json"
    kernel.write_text(KERNEL)
    directives.write_text(json.dumps(UNROLLED))
    yield ["label", str(kernel), "--directives", str(directives), "--targets", "area,cycles"]
    yield ["predict", str(kernel), "--directives", str(directives)]
    yield ["pragmas", str(kernel)]
    table = folder / "table.csv"
    rows = "".join(f"{KERNEL_ROW},vitis,{delay},{delay * 1000}\n" for delay in range(1, 65))
    table.write_text(f"source,top,tool,memory_read_delay_cycles,latency_cycles\n{rows}")
    yield ["import", str(table)]
    yield ["import", str(ROOT / "releases" / "v2")]
    yield ["release", "check", "v2"]


def layers(count: int, size: int) -> onnx.ModelProto:
    """Fully connected layers of `size` inputs and outputs each."""
    rng = np.random.default_rng(0)
    names = [f"h{layer}" for layer in range(count + 1)]
    nodes = [
        helper.make_node("MatMul", [names[layer], f"w{layer}"], [names[layer + 1]]) for layer in range(count)
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, size]) for n in (names[0], names[-1])]
    weights = [
        numpy_helper.from_array(rng.normal(size=(size, size)).astype(np.float32), f"w{layer}")
        for layer in range(count)
    ]
    graph = helper.make_graph(nodes, "layers", ends[:1], ends[1:], initializer=weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def peak_bytes(arguments: list[str], folder: Path) -> tuple[int, float, int]:
    """Peak, seconds and exit status of a command."""
    start, most = time.monotonic(), 0
    process = subprocess.Popen(
        [sys.executable, "-m", "simfoundry.cli", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        most = max(most, resident_bytes(process.pid))
        time.sleep(0.05)
    return most, time.monotonic() - start, process.returncode


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--only", help="first word of the commands that are measured")
    add_record_option(parser)
    options = parser.parse_args()
    only = options.only
    with tempfile.TemporaryDirectory() as name:
        for arguments in commands(Path(name)):
            if only in (None, arguments[0]):
                most, seconds, status = peak_bytes(arguments, Path(name))
                words = " ".join(Path(word).name if "/" in word else word for word in arguments)
                print(f"{words}: {most / 2**20:,.0f} MiB, {seconds:.0f} s, status {status}", flush=True)
                if options.record:
                    new = replace(FIGURE, figure=f"`{words}`")
                    record(new.area, new.figure, round(most / 2**20), new=new)


if __name__ == "__main__":
    main()
