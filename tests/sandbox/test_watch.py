"""What processes use, seen from outside."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pipelines.base.processes import processor_s

BURNS = """
import subprocess, sys, time
def burn():
    while time.process_time() < 0.2: pass
if len(sys.argv) > 1:
    burn()
    if sys.argv[1] == "lives":
        print("burnt", flush=True)
        sys.stdin.read()
else:
    subprocess.run([sys.executable, __file__, "ends"])
    child = subprocess.Popen([sys.executable, __file__, "lives"], stdout=subprocess.PIPE)
    child.stdout.readline()
    burn()
    print("burnt", flush=True)
    sys.stdin.read()
    child.wait()
"""


def test_processor_time_is_of_all_descendants(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Of a process, a child that has ended and one that lives."""
    script = tmp_path_factory.mktemp("burns") / "burns.py"
    script.write_text(BURNS)
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "burnt\n"
    used_s = processor_s(process.pid)
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    process.stdout.close()
    assert used_s >= 0.55
    assert used_s == pytest.approx(usage.ru_utime + usage.ru_stime, rel=0.2)
