"""A call in a process of its own, with the memory that it took at most."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

# With 8 GiB of addresses a fault ends the child, not the machine.
_CALL = """
import importlib, json, pathlib, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
module, function, path = sys.argv[1:]
try:
    getattr(importlib.import_module(module), function)(pathlib.Path(path))
    text = "read"
except Exception as error:
    text = f"{type(error).__name__}: {error}"
status = pathlib.Path("/proc/self/status").read_text()  # ru_maxrss begins with that of whoever started it
print(json.dumps([text, int(status.partition("VmHWM:")[2].split()[0]) * 1024]))
"""


def read_in_child(module: str, function: str, path: Path) -> tuple[str, int]:
    """Call a function of a module with a path.

    Returns: "read" or the exception as text, and the peak of resident memory in bytes.
    """
    argv = [sys.executable, "-c", _CALL, module, function, str(path)]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    text, peak_bytes = json.loads(run.stdout)
    return text, peak_bytes
