"""Running external tools: arguments reach them untouched, and nothing outlives its limits."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipelines.base.tools import (
    OUTPUT_LIMIT_BYTES,
    ToolMissing,
    ToolRun,
    find_tool,
    full_disk,
    run_tool,
    stopwatch,
)

RunPython = Callable[..., ToolRun]


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    def run(code: str, *arguments: str, **options: object) -> ToolRun:
        argv = [sys.executable, "-I", "-c", code, *arguments]
        limits: dict[str, object] = {"timeout_s": 60.0, **options}
        return run_tool(argv, folder=tmp_path, **limits)  # type: ignore[arg-type]

    return run


def test_arguments_reach_the_tool_untouched(run_python: RunPython) -> None:
    nasty = ["a b", "'", '"', ";rm -rf x", "$HOME", "`id`", "*", "", "µ"]
    result = run_python("import sys, json; print(json.dumps(sys.argv[1:]))", *nasty)
    assert result.returncode == 0
    assert json.loads(result.stdout) == nasty


def test_exit_status_and_both_streams_come_back(run_python: RunPython) -> None:
    result = run_python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (result.returncode, result.stdout, result.stderr) == (3, "out\n", "err\n")
    assert not result.timed_out
    assert result.wall_s > 0


def test_a_signal_is_a_negative_status(run_python: RunPython) -> None:
    assert run_python("import os; os.kill(os.getpid(), 9)").returncode == -9


def test_standard_input_is_given(run_python: RunPython) -> None:
    assert run_python("print(input()[::-1])", stdin="abc\n").stdout == "cba\n"


def test_a_tool_that_ignores_its_input_is_no_error(run_python: RunPython) -> None:
    assert run_python("pass", stdin="x" * 1_000_000).returncode == 0


def test_only_declared_variables_reach_the_tool(
    run_python: RunPython, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    code = "import os; print('\\n'.join(f'{k}={v}' for k, v in os.environ.items()))"
    lines = run_python(code, environment={"EXTRA": "1"}).stdout.splitlines()
    assert {"LC_ALL=C", f"HOME={tmp_path}", "EXTRA=1"} <= set(lines)
    assert not any(line.startswith("SECRET_TOKEN") for line in lines)


def test_the_tool_works_in_its_folder(run_python: RunPython, tmp_path: Path) -> None:
    assert run_python("import os; print(os.getcwd())").stdout.strip() == os.path.realpath(tmp_path)


def test_the_time_limit_ends_the_whole_process_group(run_python: RunPython, tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time, pathlib\n"
        "code = 'import time; time.sleep(30)'\n"
        "null = subprocess.DEVNULL\n"
        "child = subprocess.Popen([sys.executable, '-c', code], stdout=null, stderr=null)\n"
        "pathlib.Path('child').write_text(str(child.pid))\n"
        "time.sleep(30)\n"
    )
    result = run_python(code, timeout_s=2.0)
    assert result.timed_out
    assert result.returncode is None
    child = int((tmp_path / "child").read_text())
    assert _is_gone(child)


def _is_gone(pid: int) -> bool:
    for _ in range(100):
        status = Path(f"/proc/{pid}/stat")
        if not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_the_memory_limit_holds(run_python: RunPython) -> None:
    result = run_python("x = bytearray(2 << 30)", memory_bytes=1 << 30)
    assert result.returncode == 1
    assert "MemoryError" in result.last_words()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_output_limit_ends_a_tool(run_python: RunPython, stream: str) -> None:
    """Without the limit the tool would go on writing until its time limit."""
    result = run_python(f"import sys\nwhile True: sys.{stream}.write('x' * 65536)", timeout_s=600.0)
    assert (result.returncode, result.limit, result.timed_out) == (-signal.SIGKILL, "output", False)
    assert len(result.stdout) + len(result.stderr) == OUTPUT_LIMIT_BYTES
    assert (result.last_words(), result.machine_fault) == ("wrote more than 4 MiB", None)


def test_output_of_the_limit_is_whole(run_python: RunPython) -> None:
    result = run_python(f"import sys; sys.stdout.write('x' * {OUTPUT_LIMIT_BYTES})")
    assert (result.returncode, result.limit, len(result.stdout)) == (0, None, OUTPUT_LIMIT_BYTES)


def test_a_tool_that_writes_before_it_reads_gets_all_its_input(run_python: RunPython) -> None:
    code = "import sys; print('x' * 1_000_000); print(len(sys.stdin.read()))"
    assert run_python(code, stdin="y" * 1_000_000).stdout.endswith("x\n1000000\n")


def test_output_that_is_not_utf8_is_no_error(run_python: RunPython) -> None:
    result = run_python(r"import sys; sys.stdout.buffer.write(b'a\xffb')")
    assert result.stdout == "a\ufffdb"


@pytest.mark.parametrize(
    ("stdout", "stderr", "words"),
    [
        ("out\n", " err \n", "err"),
        ("out\n", " \n", "out"),
        ("", "", "no output"),
        ("", "abc", "bc"),
    ],
)
def test_last_words_prefers_the_error_stream(stdout: str, stderr: str, words: str) -> None:
    run = ToolRun(returncode=1, stdout=stdout, stderr=stderr, wall_s=0.0)
    assert run.last_words(limit=2 if words == "bc" else 400) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (signal.SIGSEGV, "ended by SIGSEGV (segmentation fault): before"),
        (signal.SIGABRT, "ended by SIGABRT (aborted): before"),
        (50, "ended by signal 50: before"),
    ],
)
def test_last_words_name_the_signal_that_ended_a_tool(run_python: RunPython, number: int, words: str) -> None:
    code = f"import os; print('before', flush=True); os.kill(os.getpid(), {int(number)})"
    assert run_python(code).last_words() == words


_WORKS, _WAITS = "while True: pass", "import time; time.sleep(99)"
_IGNORES = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n" + _WORKS
_IN_A_CHILD = f"import subprocess, sys; sys.exit(128 - subprocess.call([sys.executable, '-c', {_WORKS!r}]))"
_SAID = "import sys; sys.exit('gcc: fatal error: CPU time limit exceeded signal terminated program cc1')"


def test_a_limit_of_processor_time_counts_work_and_not_waiting(run_python: RunPython) -> None:
    result = run_python("import time; time.sleep(1.2)", timeout_s=1.0, of_processor=True)
    assert (result.returncode, result.limit, result.machine_fault) == (0, None, None)


@pytest.mark.sample(2)
@pytest.mark.parametrize("code", [_WORKS, _IGNORES, _IN_A_CHILD, _SAID])
def test_the_processor_limit_ends_a_tool(run_python: RunPython, code: str) -> None:
    result = run_python(code, timeout_s=1.0, of_processor=True)
    assert (result.returncode, result.timed_out) == (None, True)
    assert (result.limit, result.machine_fault) == ("processor", None)


def test_the_clock_is_a_fault_of_the_machine_only_behind_a_limit_of_processor_time(
    run_python: RunPython,
) -> None:
    plain, last_resort = (
        run_python(_WAITS, timeout_s=0.1, of_processor=bounded) for bounded in (False, True)
    )
    assert (plain.limit, plain.timed_out, plain.machine_fault) == ("clock", True, None)
    assert (last_resort.limit, last_resort.timed_out) == ("clock", True)
    assert last_resort.machine_fault == "the machine was too busy: no end within 1 s by the clock"
    assert last_resort.last_words() == last_resort.machine_fault


def test_a_kill_from_outside_and_a_full_disk_are_faults_of_the_machine(run_python: RunPython) -> None:
    killed = run_python("import os; os.kill(os.getpid(), 9)")
    assert (killed.limit, killed.machine_fault) == (None, "SIGKILL from outside, as when memory runs out")
    full = "import errno, os; raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))"
    assert run_python(full).machine_fault == "No space left on device"
    assert run_python("import sys; sys.exit('an error in the input')").machine_fault is None


def test_run_tool_rejects_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_tool([str(tmp_path / "absent")], folder=tmp_path, timeout_s=1.0)


def test_find_tool_gives_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "mytool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_tool("mytool", "mypackage") == str(tool)


def test_find_tool_rejects_a_missing_tool_and_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    message = (
        r"^mytool not found on PATH; install the Debian package mypackage "
        r"or run `make setup`$"
    )
    with pytest.raises(ToolMissing, match=message):
        find_tool("mytool", "mypackage")
    with pytest.raises(ToolMissing, match=r"^mytool not found on PATH; install it from https://my\.org$"):
        find_tool("mytool", "https://my.org")


def test_stopwatch_goes_forward() -> None:
    start = stopwatch()
    time.sleep(0.01)
    assert stopwatch() - start >= 0.01


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert full_disk(tmp_path) == ""
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
    assert full_disk(tmp_path) == "; No space left on device: 4096 bytes"
