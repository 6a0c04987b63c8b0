"""The process that runs MLIR passes on one module: run by path, with files for request and result.

It is a separate process because a fault in a pass can end it.

The request is JSON: `text`, a module; `steps`, each `{"passes": pipeline}`, with `"verify": false` when the
result is not valid yet, or `{"clocks": true}`; `verilog`, whether the result is Verilog or the module.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import circt
from circt import ir, passmanager

_NOTHING = "module{}"
_FUNCTION = "func.func @nothing() { return }"
_LOADERS = (
    ("builtin.module(func.func(convert-affine-to-loopschedule))", _NOTHING),
    ("builtin.module(func.func(handshake-legalize-memrefs))", _NOTHING),
    ("builtin.module(lower-calyx-to-hw)", _NOTHING),
    ("builtin.module(lower-scf-to-calyx{top-level-function=nothing})", _FUNCTION),
)
"""Passes that load the dialects of their results, and a module to run them on: the wheel registers few
dialects itself."""


def _context() -> Any:
    library: Any = circt
    context: Any = ir.Context()
    library.register_dialects(context)
    with context:
        for pipeline, text in _LOADERS:
            _run(ir.Module.parse(text), pipeline, False)
    return context


def _run(module: Any, pipeline: str, verify: bool) -> None:
    passes: Any = passmanager.PassManager.parse(pipeline)
    passes.enable_verifier(verify)
    passes.run(module.operation)


def connect_register_clocks(module: Any) -> None:
    """Give registers that the lowering of Calyx clocks by a bit the clock of their module."""
    for top in module.body.operations:
        if top.operation.name != "hw.module":
            continue
        inside = [o.operation for o in top.operation.regions[0].blocks[0].operations]
        clocks = [o.results[0] for o in inside if o.name == "seq.to_clock"]
        for operation in inside:
            if operation.name.startswith("seq.compreg") and str(operation.operands[1].type) == "i1":
                operation.operands[1] = clocks[0]


def answer(request: dict[str, Any]) -> str:
    """Run the steps of a request; the resulting module as text or Verilog."""
    context = _context()
    with context:
        module: Any = ir.Module.parse(request["text"])
        for step in request["steps"]:
            if "passes" in step:
                _run(module, step["passes"], step.get("verify", True))
            else:
                connect_register_clocks(module)
        module.operation.verify()
        if not request["verilog"]:
            return str(module)
        library: Any = circt
        output = io.StringIO()
        library.export_verilog(module, output)
        return output.getvalue()


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(answer(json.loads(Path(sys.argv[1]).read_text("utf-8"))), "utf-8")
