"""The two routes into confinement, and the filter's numbers against the kernel's headers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from attack_support import ATTACKS, attack, compile_attacks

from pipelines.base.sandbox import SandboxError, run_confined
from pipelines.base.sandbox.confinement import FIRST_USER, is_real_root
from pipelines.base.sandbox.guard import _Guardian
from pipelines.base.sandbox.system_calls import CLONE, CLONE3, REFUSED, X86_ONLY, system_call_filter

SOMEBODY = 61234
HEADERS = Path("/usr/include")
needs_root = pytest.mark.skipif(not is_real_root(), reason="takes on other users")


@pytest.fixture
def open_folder() -> Generator[Path]:
    """A folder that every user can reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def as_somebody(act: Callable[[], object]) -> object:
    """What a function gives in a process of an ordinary user."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setgroups([])
        os.setgid(SOMEBODY)
        os.setuid(SOMEBODY)
        is_real_root.cache_clear()
        # This user may not read the interpreter of the tests, so that no guardian can be started.
        _Guardian.pipe, _Guardian.mark = os.open(os.devnull, os.O_WRONLY), "SIMFOUNDRY_GUARD_NONE"
        try:
            answer = act()
        except Exception as error:  # handed to the test
            answer = repr(error)
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        content = file.read()
    os.waitpid(child, 0)
    return json.loads(content)


@needs_root
@pytest.mark.parametrize("processes", [1, 3])
def test_run_confined_works_for_an_ordinary_user(open_folder: Path, processes: int) -> None:
    def runs() -> list[str]:
        program = compile_attacks(open_folder / "build", source=source)
        children = attack(program, open_folder / "1", "children", processes=processes)
        secret = attack(program, open_folder / "2", "read", "/etc/passwd")
        written = attack(program, open_folder / "3", "write", "/usr/bin/x")
        keeper = attack(program, open_folder / "5", "write", "/proc/1/mem")
        evading = attack(program, open_folder / "4", "processes", str(os.getpid()))
        return [r.stdout for r in (children, secret, written, keeper, evading)]

    source = open_folder / "attacks.c"
    source.write_bytes(ATTACKS.read_bytes())
    answer = as_somebody(runs)
    assert isinstance(answer, list)
    assert answer[0] == f"{processes - 1} children, then EAGAIN\n"
    assert answer[1:3] == ["read ENOENT\n", "/usr/bin/x EROFS\n"]
    assert answer[3] == "/proc/1/mem EROFS\n"  # what may have more processes than the program
    assert answer[4].startswith("kill ESRCH\n")


@needs_root
def test_run_confined_takes_on_a_user_of_its_own_under_root(tmp_path: Path) -> None:
    run = run_confined(("/usr/bin/id", "-u"), folder=tmp_path / "box")
    assert int(run.stdout) > FIRST_USER
    assert (tmp_path / "box").stat().st_uid == 0


@needs_root
def test_run_confined_rejects_a_file_that_its_user_cannot_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.touch(0o600)
    with pytest.raises(
        SandboxError, match=r"^readable path is not readable for every user \(chmod o\+r\): /"
    ):
        run_confined(("/usr/bin/cat", str(secret)), folder=tmp_path / "box", readable=(secret,))


@needs_root
def test_run_confined_rejects_a_kernel_that_permits_no_namespaces(tmp_path: Path) -> None:
    """In a user namespace of its own that may have no other, which is what a locked machine looks like."""
    program = (
        "import sys; from pathlib import Path; from pipelines.base.sandbox import run_confined\n"
        "run_confined(('/usr/bin/touch', 'ran'), folder=Path(sys.argv[1]))"
    )
    lock = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    command = ("unshare", "--user", "--map-root-user", "sh", "-c", lock, "sh", sys.executable, "-c", program)
    run = subprocess.run((*command, str(tmp_path / "box")), capture_output=True, text=True, check=False)
    assert re.search(r"SandboxError: cannot confine a program: bwrap: .*; run as root of", run.stderr)
    assert list((tmp_path / "box").iterdir()) == []


def numbers_in(header: str) -> dict[str, int]:
    path = next((p for p in (HEADERS / header, HEADERS / "x86_64-linux-gnu" / header) if p.exists()), None)
    if path is None:
        pytest.skip(f"no {header} here")
    return {
        name: int(number)
        for name, number in re.findall(
            r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text(), re.MULTILINE
        )
    }


@pytest.mark.parametrize(("column", "header"), [(0, "asm/unistd_64.h"), (1, "asm-generic/unistd.h")])
def test_system_call_filter_has_the_numbers_of_the_kernel(column: int, header: str) -> None:
    known = numbers_in(header)
    extra = X86_ONLY if column == 0 else {}
    named = {name: row[column] for name, row in REFUSED.items()} | extra
    named |= {"clone": CLONE[column], "clone3": CLONE3}
    assert {name: known[name] for name in named} == named


def test_system_call_filter_rejects_an_unknown_processor() -> None:
    with pytest.raises(
        SandboxError, match=r"^system calls of this processor are not known: z80; accepted: x86_64, aarch64$"
    ):
        system_call_filter("z80")
