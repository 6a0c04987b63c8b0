"""Inputs of the engines around other tools: CIRCT, Bambu, SiliconCompiler.

Bambu and SiliconCompiler are not installed everywhere: stand-ins of theirs print what the tools print.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.extend(
    str(Path(__file__).resolve().parents[1] / area) for area in ("circt", "bambu", "siliconcompiler")
)

from engine_outputs import Folders, Output, outcome
from test_bambu import DATA, INTERFACE, REPORT
from test_circt_flows import LOCAL, SCALE
from test_mlir_text import EXITS
from test_siliconcompiler import METRICS, STEP, manifest, metric

from pipelines import bambu, circt
from pipelines.rtl.simulation import MemoryTiming
from pipelines.silicon import siliconcompiler

_BANKED = """
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
int16_t mix(bool flags[4], uint8_t a[2][3], int64_t wide, int16_t b[4])
{
    int16_t best = 0;
    uint32_t bits = 7;
    for (int i = 0; i < 4; i++) {
        flags[i] = !flags[i] && (a[i & 1][i % 3] != 2 || wide > 5);
        bits = (bits << 3) ^ (bits >> 5) | a[i & 1][0];
        b[i] = (int16_t)(~b[i] + (bits % 9u) + abs(b[i]));
        if (b[i] >= best && !(b[i] == 3)) best = b[i];
        else if (wide <= -9) continue;
    }
    while (best > 100) best /= 2;
    return best;
}
"""
_REJECTED = {
    "floats": "float f(float a[4]) { return a[0] * 2.0f; }",
    "no program": "int f(",
    "two recursions": "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }",
}


def circt_outputs(folders: Folders) -> Iterator[Output]:
    """Designs of both flows, as MLIR and as Verilog, and programs that are rejected."""
    sources = {"scale": SCALE, "smooth": LOCAL, "leave": EXITS, "mix": _BANKED, "f": _REJECTED["floats"]}
    timing = MemoryTiming(read_delay_cycles=2, write_delay_cycles=3)
    for flow, tops in (("calyx", ("smooth", "leave", "mix", "f")), ("handshake", ("scale", "mix", "f"))):
        for top in tops:
            folder = folders.scratch / f"{flow} {top}"
            found = circt.compile_with_circt(
                sources[top], top=top, flow=flow, folder=folder, timeout_s=60, timing=timing
            )
            yield f"{flow} {top}", [found.status, found.module, found.interface, found.mlir, found.verilog]
    for name in ("no program", "two recursions"):
        found = circt.compile_with_circt(
            _REJECTED[name], top="f", flow="calyx", folder=folders.scratch / "other", timeout_s=60
        )
        yield name, [found.status, found.interface]
        yield (
            f"{name} simulated",
            outcome(
                lambda f=found: circt.simulate_circt_design(
                    f, {}, folder=folders.scratch, runtime_folder=folders.runtimes
                )
            ),
        )
    yield (
        "unknown flow",
        outcome(lambda: circt.compile_with_circt("", top="f", flow="x", folder=folders.scratch, timeout_s=1)),
    )


def _tool(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def bambu_outputs(folders: Folders) -> Iterator[Output]:
    """Reports, command lines and test benches, and runs of a stand-in."""
    yield "report", bambu.parse_report(REPORT)
    yield "no report", bambu.parse_report("bash: bambu: command not found")
    yield "wrong number", outcome(lambda: bambu.parse_report(f"{REPORT}\nNumber of states: 1e999"))
    yield (
        "failures",
        [bambu.failure_reason(t) is None for t in (" error -> Function f not found", "all is well")],
    )
    for simulate in (True, False):
        options = bambu.BambuOptions(memory_read_delay_cycles=10, device="xc7z020", simulate=simulate)
        yield f"command line {simulate}", bambu.command_line("kernel", options)
    yield "test bench", bambu.bench_text(INTERFACE, DATA)
    yield "no data", outcome(lambda: bambu.bench_text(INTERFACE, {}))
    yield "no delay", outcome(lambda: bambu.BambuOptions(memory_read_delay_cycles=0))
    tools = folders.scratch / "tools"
    tools.mkdir()
    scripts = {
        "design": "echo 'module kernel(); endmodule' > kernel.v; echo 'Total cycles : 12 cycles'",
        "nothing": "exit 0",
        "error": "echo 'error -> Function kernel not found' >&2; exit 1",
        "huge number": "echo 'Number of states: 1e999'",
        "silent failure": "exit 1",
        "version": "echo 'Version: PandA 2023.1'",
    }
    with patch.dict(os.environ, {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}):
        for number, (name, script) in enumerate(scripts.items()):
            _tool(tools, "bambu", script)
            work = folders.scratch / f"work{number}"
            work.mkdir()
            found = bambu.run_bambu(
                "void kernel(int n, int A[2][2]) {}",
                interface=INTERFACE,
                data=DATA if number else None,
                options=bambu.BambuOptions(simulate=number > 0),
                folder=work,
                timeout_s=20,
            )
            yield f"run {name}", [found.status, found.report, found.verilog]
        yield "installed", bambu.is_installed()
        yield "version length", len(bambu.tool_version()) > 0


def siliconcompiler_outputs(folders: Folders) -> Iterator[Output]:
    """Manifests, and runs of a stand-in."""
    yield "manifest", siliconcompiler.parse_manifest(manifest(), step=STEP)
    yield "other step", siliconcompiler.parse_manifest(manifest(), step="synthesis")
    yield "lacking", siliconcompiler.parse_manifest(manifest(leakagepower=None), step=STEP)
    wrong: tuple[dict[str, Any], ...] = (
        {"cellarea": metric(1.0, "mm^2")},
        {"cellarea": metric(-5.0, "um^2")},
        {"cells": metric(1e16)},
        {"setupslack": metric(-1e16, "ns")},
    )
    texts = ["not json", '{"design": "top"}', *(manifest(**{**METRICS, **changes}) for changes in wrong)]
    texts.append(json.dumps({"metric": {"cells": {"node": {"synthesis": {"0": {"value": 1}}}}}}))
    for number, text in enumerate(texts):
        yield f"wrong manifest {number}", outcome(lambda t=text: siliconcompiler.parse_manifest(t, step=STEP))
    tools = folders.scratch / "tools"
    tools.mkdir()
    for name in ("yosys", "openroad"):
        _tool(tools, name, "exit 0")
    scripts = {
        "label": f"cat > manifest.json <<'END'\n{manifest()}\nEND",
        "errors": f"cat > manifest.json <<'END'\n{manifest(errors=metric(2))}\nEND",
        "failure": "echo broken >&2; exit 1",
        "nothing": "exit 0",
        "no manifest": "echo '{}' > manifest.json",
    }
    siliconcompiler.tool_version.cache_clear()
    try:
        with patch.dict(os.environ, {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}):
            for name, script in scripts.items():
                _tool(
                    tools, "smake", f'case "$*" in *--version) echo "smake 0.38.11"; exit 0;; esac\n{script}'
                )
                yield f"run {name}", _flow(folders.scratch, "top")
            yield "no identifier", outcome(lambda: _flow(folders.scratch, "a b"))
            yield "whole flow", outcome(siliconcompiler.require_flow)
    finally:
        siliconcompiler.tool_version.cache_clear()


def _flow(folder: Path, top: str) -> object:
    return siliconcompiler.run_flow(
        "module top(input clk); endmodule",
        top=top,
        clock_period_ns=10.0,
        folder=folder / "run",
        cache_folder=folder / "pdk",
        timeout_s=60.0,
    )
