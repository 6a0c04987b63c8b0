"""Confined runs: every attack leaves a clear status, and this process unharmed."""

from __future__ import annotations

import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attack_support import ATTACKS, MIB, attack, compile_attacks, left_running

from pipelines.base.sandbox import (
    FILES,
    MEMORY,
    OUTPUT,
    TIME,
    Limits,
    SandboxError,
    confinement,
    read_output,
    run_confined,
)
from pipelines.base.sandbox.system_calls import system_call_filter
from pipelines.base.tools import ToolMissing, find_tool


@pytest.fixture(scope="module")
def attacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The attacks, compiled by a gcc that was confined itself."""
    return compile_attacks(tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="module")
def checked_attacks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same under AddressSanitizer, which reserves terabytes of address space."""
    return compile_attacks(tmp_path_factory.mktemp("checked"), "-fsanitize=address,undefined", "-no-pie")


@pytest.mark.parametrize("status", [0, 3, 255])
def test_run_confined_gives_the_exit_status(attacks: Path, tmp_path: Path, status: int) -> None:
    run = attack(attacks, tmp_path, str(status))
    assert (run.returncode, run.stdout, run.stderr, run.stopped_by) == (status, "", "", None)
    assert run.wall_s > 0


def test_run_confined_gives_the_files_that_are_left(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "write", "result")
    assert (run.returncode, run.stdout) == (0, "result done\n")
    assert read_output(tmp_path / "box" / "result", most_bytes=MIB) == b"\1" * MIB


def test_run_confined_shows_one_environment_everywhere(tmp_path: Path) -> None:
    script = (
        "pwd; id -G; hostname; env | sort; cat /proc/self/oom_score_adj >/dev/null; ls /; ls /proc/self/fd"
    )
    run = run_confined(
        (find_tool("bash", "bash"), "-c", script),
        folder=tmp_path / "box",
        limits=Limits(processes=8),
        environment={"A": "b"},
    )
    lines = run.stdout.splitlines()
    assert run.stderr == ""
    assert (lines[0], lines[2]) == ("/box", "box")
    assert len(lines[1].split()) == 1  # no group but its own
    assert {"A=b", "HOME=/box", "LC_ALL=C", "TMPDIR=/box"} < set(lines)
    assert {"home", "root", "tmp", "var", "sys"}.isdisjoint(lines)
    assert lines[-4:] == ["0", "1", "2", "3"]  # 3 is the folder that ls reads


@pytest.mark.parametrize(("devices", "status"), [((), 1), ((Path("/dev/zero"),), 0)])
def test_run_confined_opens_named_devices_only(
    devices: tuple[Path, ...], status: int, tmp_path: Path
) -> None:
    argv = (find_tool("head", "coreutils"), "-c", "1", "/dev/zero")
    assert run_confined(argv, folder=tmp_path / "box", devices=devices).returncode == status


def test_run_confined_has_no_privilege(tmp_path: Path) -> None:
    run = run_confined(
        (find_tool("grep", "grep"), "-E", "^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):", "/proc/self/status"),
        folder=tmp_path / "box",
    )
    values = dict(line.split(":\t") for line in run.stdout.splitlines())
    assert values == {f"Cap{n}": "0" * 16 for n in ("Inh", "Prm", "Eff", "Amb")} | {
        "NoNewPrivs": "1",
        "Seccomp": "2",
    }


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_run_confined_limits_processes(attacks: Path, tmp_path: Path, processes: int) -> None:
    run = attack(attacks, tmp_path, "children", processes=processes)
    assert run.stdout == f"{processes - 1} children, then EAGAIN\n"
    assert (run.returncode, left_running(attacks)) == (0, [])


def test_run_confined_survives_a_fork_bomb(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "bomb", processes=20, wall_s=0.5)
    assert (run.returncode, run.timed_out, run.stopped_by) == (None, True, TIME)
    assert left_running(attacks) == []


def test_run_confined_stops_an_endless_loop(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "spin", wall_s=0.3)
    assert (run.returncode, run.stopped_by, left_running(attacks)) == (None, TIME, [])
    fault = "the machine was too busy: no end within 0.3 s by the clock"
    assert (run.limit, run.machine_fault) == ("clock", fault)


@pytest.mark.parametrize("wall_s", [1e-9, 0.001, 0.003, 0.006])
def test_run_confined_can_be_stopped_before_the_program_runs(
    attacks: Path, tmp_path: Path, wall_s: float
) -> None:
    run = attack(attacks, tmp_path, "spin", wall_s=wall_s)
    assert (run.returncode, run.stopped_by, left_running(attacks)) == (None, TIME, [])


def test_run_confined_limits_processor_time(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "spin", cpu_s=1, wall_s=600)
    assert (run.returncode, run.stopped_by, run.limit, run.machine_fault) == (None, None, "processor", None)


def test_run_confined_limits_the_address_space(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "allocate", str(100 << 30), address_bytes=256 * MIB)
    assert (run.returncode, run.stdout) == (0, "allocation ENOMEM\n")


@pytest.mark.parametrize("program", ["attacks", "checked_attacks"])
def test_run_confined_stops_an_allocation_of_100_gb(
    program: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(program)
    run = attack(path, tmp_path, "allocate", str(100 << 30), memory_bytes=128 * MIB, wall_s=600)
    assert (run.returncode, run.stdout, run.stopped_by) == (-signal.SIGKILL, "", MEMORY)
    assert (run.limit, run.machine_fault) == ("memory", None)
    assert left_running(path) == []


def test_run_confined_lets_a_sanitized_program_use_its_memory(checked_attacks: Path, tmp_path: Path) -> None:
    run = attack(checked_attacks, tmp_path, "allocate", str(64 * MIB), memory_bytes=256 * MIB)
    assert (run.returncode, run.stdout, run.stopped_by) == (0, "allocation done\n", None)


def test_run_confined_counts_the_memory_of_all_processes(attacks: Path, tmp_path: Path) -> None:
    share = str(50 * MIB)
    run = attack(
        attacks, tmp_path, "allocate together", share, memory_bytes=128 * MIB, processes=4, wall_s=600
    )
    assert (run.returncode, run.stopped_by) == (-signal.SIGKILL, MEMORY)


def test_run_confined_ends_a_daemon(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "daemon", processes=4)
    assert (run.returncode, run.stdout, left_running(attacks)) == (0, "daemon done\n", [])


def test_run_confined_limits_the_size_of_a_file(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "huge", file_bytes=2 * MIB)
    assert (run.returncode, run.stopped_by) == (-signal.SIGXFSZ, None)
    assert (tmp_path / "box" / "huge").stat().st_size == 2 * MIB


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        (("many",), {"folder_entries": 100}),
        (("huge",), {"file_bytes": 64 * MIB, "folder_bytes": 8 * MIB}),
        (("write", "one"), {"folder_bytes": 4096}),
    ],
)
def test_run_confined_limits_the_folder(
    attacks: Path, tmp_path: Path, words: tuple[str, ...], limits: dict[str, int]
) -> None:
    run = attack(attacks, tmp_path, *words, **limits)
    assert (run.returncode, run.stopped_by) == (-signal.SIGKILL, FILES)


@pytest.mark.parametrize("stream", ["stdout", "err"])
def test_run_confined_stops_a_flood_of_output(attacks: Path, tmp_path: Path, stream: str) -> None:
    run = attack(attacks, tmp_path, "flood", stream, output_bytes=1000)
    assert (run.returncode, run.stopped_by) == (-signal.SIGKILL, OUTPUT)
    assert (run.stderr if stream == "err" else run.stdout) == "and so on " * 100


@pytest.mark.parametrize(
    "path",
    ["/etc/group", str(ATTACKS), str(Path.home()), str(Path("/proc/1", "root", "etc/group")), "/dev/kmsg"],
)
def test_run_confined_hides_files(attacks: Path, tmp_path: Path, path: str) -> None:
    run = attack(attacks, tmp_path, "read", path)
    assert run.stdout in ("read ENOENT\n", "read EACCES\n")


def test_run_confined_shows_what_is_named_and_only_for_reading(attacks: Path, tmp_path: Path) -> None:
    named = tmp_path / "named.txt"
    named.write_text("as it was")
    box = tmp_path / "box"
    programs = (str(attacks), str(named))
    shown = run_confined((programs[0], "read", programs[1]), folder=box, readable=(attacks, named))
    assert shown.stdout == "read done\n"
    written = run_confined((programs[0], "write", programs[1]), folder=box, readable=(attacks, named))
    assert written.stdout.split()[1] in ("EACCES", "EROFS")
    assert named.read_text() == "as it was"


@pytest.mark.parametrize(
    "path", ["/x", "/tmp/x", "/dev/x", "/usr/bin/x", "/proc/sys/kernel/core_pattern", "/proc/1/mem"]
)
def test_run_confined_writes_nowhere_else(attacks: Path, tmp_path: Path, path: str) -> None:
    run = attack(attacks, tmp_path, "write", path)
    assert run.stdout.split()[1] in ("EACCES", "EROFS", "ENOENT")


def test_run_confined_refuses_sockets(attacks: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        run = attack(attacks, tmp_path, "sockets", str(server.getsockname()[1]))
    assert run.stdout == "inet EPERM\nconnect EBADF\ninet6 EPERM\nunix EPERM\npair EPERM\n"


def test_run_confined_has_no_network_even_without_the_filter(
    attacks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_everything = system_call_filter()[-8:]
    monkeypatch.setattr(confinement, "system_call_filter", lambda: allow_everything)
    with socket.create_server(("127.0.0.1", 0)) as server:
        run = attack(attacks, tmp_path, "sockets", str(server.getsockname()[1]))
    assert run.stdout.splitlines()[:2] == ["inet done", "connect ECONNREFUSED"]


def test_run_confined_cannot_reach_its_parent(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "processes", str(os.getpid()))
    assert run.returncode == 0
    lines = dict(line.rsplit(" ", 1) for line in run.stdout.splitlines())
    assert lines["kill"] == "ESRCH"
    assert (lines["trace"], lines["trace keeper"]) == ("EPERM", "EPERM")


def test_run_confined_refuses_ways_around_its_limits(attacks: Path, tmp_path: Path) -> None:
    run = attack(attacks, tmp_path, "evade", processes=4)
    refused = [
        *(f"{n} EPERM" for n in ("memory file", "shared memory", "namespace", "clone")),
        "clone3 ENOSYS",
    ]
    assert run.stdout.splitlines()[:5] == refused
    assert run.stdout.splitlines()[5] in ("user EPERM", "user EINVAL")


def test_run_confined_ends_everything_when_it_is_interrupted(
    attacks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_process: int) -> int:
        if left_running(attacks):
            raise KeyboardInterrupt
        return 0

    monkeypatch.setattr("pipelines.base.sandbox.supervision.resident_bytes", interrupt)
    with pytest.raises(KeyboardInterrupt):
        attack(attacks, tmp_path, "bomb", processes=4)
    assert left_running(attacks) == []


def test_run_confined_ends_with_the_process_that_called_it(attacks: Path, tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        attack(attacks, tmp_path, "daemon", "forever", processes=4, wall_s=600)
        os._exit(0)
    while not any(line.startswith(str(attacks)) for line in left_running(attacks)):
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for _ in range(1000):
        if not left_running(attacks):
            return
        time.sleep(0.01)
    pytest.fail(f"left running: {left_running(attacks)}")


def test_run_confined_counts_processes_apart_in_every_thread(attacks: Path, tmp_path: Path) -> None:
    def outcome(index: int) -> str:
        return attack(attacks, tmp_path / str(index), "children", processes=4).stdout

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(outcome, range(12))) == {"3 children, then EAGAIN\n"}


def test_run_confined_rejects_a_machine_without_namespaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "bin" / "bwrap"
    wrapper.parent.mkdir()
    wrapper.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    with pytest.raises(SandboxError, match=r"^cannot confine a program: bwrap: No permissions .*; run as"):
        run_confined(("/usr/bin/touch", "ran"), folder=tmp_path / "box")
    assert list((tmp_path / "box").iterdir()) == []


def test_run_confined_rejects_a_kernel_that_hides_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.base.sandbox.supervision._OWN_CHILDREN", tmp_path / "absent")
    with pytest.raises(SandboxError, match=r"^kernel lacks CONFIG_PROC_CHILDREN: no /"):
        run_confined(("/usr/bin/true",), folder=tmp_path / "box")


def test_run_confined_rejects_an_absent_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"^bwrap not found on PATH; .* package bubblewrap "):
        run_confined(("/usr/bin/true",), folder=tmp_path / "box")


@pytest.mark.parametrize(
    ("argv", "readable", "message"),
    [
        ((), (), r"^program is not an absolute path: '\.'$"),
        (("true",), (), r"^program is not an absolute path: 'true'$"),
        (
            ("/usr/bin/absent",),
            (),
            r"^program must be executable and inside a readable path, got /usr/bin/absent; ",
        ),
        (("/etc/group",), (), r"^program must be executable and inside a readable path, got /etc/group; "),
        (("/usr/bin/true",), ("/absent",), r"^no such readable path: /absent$"),
        (("/usr/bin/true",), ("/",), r"^readable path must lie outside /box, /proc, /dev, got /$"),
        (("/usr/bin/true",), ("/dev/null",), r"^readable path must lie outside .*, got /dev/null$"),
    ],
)
def test_run_confined_rejects_misuse(
    tmp_path: Path, argv: tuple[str, ...], readable: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SandboxError, match=message):
        run_confined(argv, folder=tmp_path / "box", readable=[Path(r) for r in readable])


def test_run_confined_rejects_a_folder_that_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with pytest.raises(SandboxError, match=r"^folder is not empty: old \(/"):
        run_confined(("/usr/bin/true",), folder=tmp_path)


def test_run_confined_places_files(tmp_path: Path) -> None:
    run = run_confined(("/usr/bin/cat", "a", "b"), folder=tmp_path, files={"a": b"one ", "b": b"two"})
    assert (run.returncode, run.stdout) == (0, "one two")


def test_run_confined_places_files_in_folders(tmp_path: Path) -> None:
    files = {"a/b/c": b"one ", "a/d": b"two"}
    run = run_confined(("/usr/bin/cat", "a/b/c", "a/d"), folder=tmp_path, files=files)
    assert (run.returncode, run.stdout) == (0, "one two")


@pytest.mark.parametrize("name", ["../a", "/a", "a/../b", "./a", "a//b", "a/", "", ".."])
def test_run_confined_rejects_a_file_outside_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(SandboxError, match=r"^file must have a plain name, got "):
        run_confined(("/usr/bin/true",), folder=tmp_path / "box", files={name: b""})


@pytest.mark.parametrize("name", ["wall_s", "memory_bytes", "processes"])
def test_limits_rejects_nothing_at_all(name: str) -> None:
    with pytest.raises(SandboxError, match=rf"^{name} must be positive, got 0$"):
        Limits(**{name: 0})


def test_read_output_rejects_links_pipes_and_excess(attacks: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not for you")
    attack(attacks, tmp_path / "1", "link", str(secret))
    attack(attacks, tmp_path / "2", "pipe")
    attack(attacks, tmp_path / "3", "write", "long")
    with pytest.raises(SandboxError, match=r"^output is not a regular file: Too many levels .* \(link\)$"):
        read_output(tmp_path / "1" / "box" / "link", most_bytes=100)
    with pytest.raises(SandboxError, match=r"^output is not a regular file: prw------- \(pipe\)$"):
        read_output(tmp_path / "2" / "box" / "pipe", most_bytes=100)
    with pytest.raises(SandboxError, match=r"^output has 1048576 bytes \(long\); accepted: at most 100$"):
        read_output(tmp_path / "3" / "box" / "long", most_bytes=100)
    with pytest.raises(SandboxError, match=r"^output is not a regular file: No such file .* \(none\)$"):
        read_output(tmp_path / "none", most_bytes=100)
