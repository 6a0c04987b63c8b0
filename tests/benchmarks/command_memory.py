"""Peak of the resident memory of commands on large inputs, tools included: where `MEMORY_GIB` comes from.

    python tests/benchmarks/command_memory.py [--only simulate]

Sums the memory of a command and of all its descendants 20 times a second. `MEMORY_GIB` in
`simfoundry/cli/entry.py` is twice the largest peak of a command, rounded up to a half and at most 4.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pipelines.processes import resident_bytes
from pipelines.rtlreuse.designs import gemm, mesh, rv32im

ROOT = Path(__file__).resolve().parents[2]


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
    yield ["power", str(ROOT / "examples" / "mlp.onnx")]
    yield ["power", str(ROOT / "examples" / "mlp.onnx"), "--flow", "fixed"]
    yield ["place", str(ROOT / "examples" / "mlp.onnx")]
    yield ["network", "--pods", "16"]


def peak_bytes(arguments: list[str]) -> tuple[int, float, int]:
    """Peak, seconds and exit status of a command."""
    start, most = time.monotonic(), 0
    process = subprocess.Popen(
        [sys.executable, "-m", "simfoundry.cli", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        most = max(most, resident_bytes(process.pid))
        time.sleep(0.05)
    return most, time.monotonic() - start, process.returncode


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="first word of the commands that are measured")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as name:
        for arguments in commands(Path(name)):
            if only in (None, arguments[0]):
                most, seconds, status = peak_bytes(arguments)
                words = " ".join(Path(word).name if "/" in word else word for word in arguments)
                print(f"{words}: {most / 2**20:,.0f} MiB, {seconds:.0f} s, status {status}", flush=True)


if __name__ == "__main__":
    main()
