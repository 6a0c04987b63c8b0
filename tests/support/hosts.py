"""Hosts in network namespaces of this machine: a bridge, an address each, and no way out.

    python -m tests.support.hosts FOLDER ... -- COMMAND ...    hides folders, then runs a command

The namespaces and their devices end with the block that made them. Only root may make them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

NETWORK = "10.203.0"
BRIDGE = "bridge0"


def can_make_hosts() -> bool:
    """Tell whether this user may make network namespaces."""
    name = f"simfoundry-{os.getpid()}-try"
    if os.getuid() or not _does("netns", "add", name):
        return False
    bridge = _does("-n", name, "link", "add", BRIDGE, "type", "bridge")
    return _does("netns", "delete", name) and bridge


def address(number: int) -> str:
    """Return the address of a host; number 0 is the first."""
    return f"{NETWORK}.{number + 1}"


@contextmanager
def hosts(count: int) -> Iterator[Sequence[str]]:
    """Make hosts that are joined by a bridge. Yields: the names of their namespaces."""
    names = [f"simfoundry-{os.getpid()}-{number}" for number in range(count)]
    first = names[0]
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", first, "link", "add", BRIDGE, "type", "bridge")
        _ip("-n", first, "address", "add", f"{address(0)}/24", "dev", BRIDGE)
        _ip("-n", first, "link", "set", BRIDGE, "up")
        for number, name in enumerate(names[1:], 1):
            port = f"port{number}"
            _ip("-n", first, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("-n", first, "link", "set", port, "master", BRIDGE, "up")
            _ip("-n", name, "address", "add", f"{address(number)}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
        yield names
    finally:
        for name in names:
            _does("netns", "delete", name)


def on_host(name: str, command: Sequence[str]) -> list[str]:
    """Return a command as it runs on a host."""
    return ["ip", "netns", "exec", name, *command]


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def _does(*arguments: str) -> bool:
    try:
        return subprocess.run(["ip", *arguments], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    end = sys.argv.index("--")
    command = sys.argv[end + 1 :]
    for folder in sys.argv[1:end]:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    os.execvp(command[0], command)
