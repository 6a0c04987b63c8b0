"""The process that runs the Arc passes of pycde's CIRCT: run by path, with a packages folder and two files.

It is a separate process because a fault in a pass can end it. The first line of the result is a comment
with offsets of ports, places of memories (name, offset, bytes per word) and the size of the state, as JSON;
the module in LLVM dialect follows.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

# One pass manager per pass: a single pipeline of all of them aborted.
PASSES = (
    "convert-to-arcs{}",
    "arc-dedup",
    "hw-flatten-modules",
    "cse",
    "arc-canonicalizer",
    "arc-split-loops",
    "arc-dedup",
    "arc-infer-state-properties",
    "cse",
    "arc-canonicalizer",
    "arc-make-tables",
    "cse",
    "arc-canonicalizer",
    "arc-lower-state",
    "arc-inline",
    "arc-merge-ifs",
    "cse",
    "arc-canonicalizer",
    "arc-lower-arcs-to-funcs",
    "arc.model(arc-allocate-state)",
    "arc-lower-clocks-to-funcs",
    "cse",
    "arc-canonicalizer",
    "lower-arc-to-llvm",
    "cse",
    "arc-canonicalizer",
)
_PORT = re.compile(r'arc\.root_(?:input|output) "([^"]+)", %\w+ \{offset = (\d+)')
_MEMORY = re.compile(
    r'arc\.alloc_memory %\w+ \{name = "([^"]+)", offset = (\d+) : i32, stride = (\d+) : i32\}'
)
_SIZE = re.compile(r"storageBytes (\d+)")


def lower(text: str) -> str:
    """Return the module in LLVM dialect behind a comment with offsets."""
    library: Any = import_module("pycde.circt")
    ir: Any = import_module("pycde.circt.ir")
    passmanager: Any = import_module("pycde.circt.passmanager")
    places: dict[str, Any] = {}
    context: Any = ir.Context()
    with context:
        library.register_dialects(context)
        module: Any = ir.Module.parse(text)
        for name in PASSES:
            manager: Any = passmanager.PassManager.parse(f"builtin.module({name})")
            manager.run(module.operation)
            if "arc-allocate-state" in name:
                allocated = str(module)
                places = {
                    "ports": {port: int(offset) for port, offset in _PORT.findall(allocated)},
                    "memories": [(name, int(at), int(step)) for name, at, step in _MEMORY.findall(allocated)],
                    "size": int(_SIZE.findall(allocated)[0]),
                }
        return f"// {json.dumps(places)}\n{module}\n"


if __name__ == "__main__":
    sys.path.append(sys.argv[1])
    Path(sys.argv[3]).write_text(lower(Path(sys.argv[2]).read_text("utf-8")), "utf-8")
