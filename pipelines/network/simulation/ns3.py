"""ns-3 as a second simulator of the same scenarios, and the only one of TCP."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata
from pathlib import Path

from pipelines.base.sealing import build_once
from pipelines.base.tools import find_tool, run_tool
from pipelines.network.errors import NetworkError
from pipelines.network.simulation.engine import run_program
from pipelines.network.simulation.scenario import Scenario, SimulationResult

ENGINE = "ns3-simulator"
_VERSION = "7f8ee293a738"
"""Raise it when our program over ns-3 gives a packet of the same scenario another delay."""
_SOURCE = Path(__file__).with_name("ns3_simulator.cc")
_HEADER = Path(__file__).with_name("scenario.h")
_FLAGS = ("-std=c++20", "-O2")
_MODULES = ("core", "network", "internet", "point-to-point")
_BUILD_LIMIT_S = 600.0
_SYSTEM = Path("/usr")
_CORE = re.compile(r"lib(ns3[0-9.]*)-core\.so")
_VERSION_LINE = re.compile(r"^Version:\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ns3Install:
    """Location of ns-3.

    Attributes:
        version: of ns-3.
        include_folder: holds the folder `ns3` with the headers.
        library_folder: holds the libraries.
        libraries: names for the linker.
    """

    version: str
    include_folder: Path
    library_folder: Path
    libraries: tuple[str, ...]


def find_ns3(*, system: Path = _SYSTEM) -> Ns3Install | None:
    """Find the running interpreter's ns-3, else the system's; None when there is neither.

    Args: system: prefix of Debian's headers and libraries.
    """
    return _wheel() or _debian(system)


def _wheel() -> Ns3Install | None:
    try:
        package = metadata.distribution("ns3")
    except metadata.PackageNotFoundError:
        return None
    root = Path(str(package.locate_file("ns3")))
    for folder in (root / "lib64", root / "lib"):
        if (installation := _install(root / "include", folder, package.version)) is not None:
            return installation
    return None


def _debian(system: Path) -> Ns3Install | None:
    for folder in sorted(system.glob("lib/*/pkgconfig")):
        for file in sorted(folder.glob("ns3*-core.pc")):
            version = _VERSION_LINE.search(file.read_text())
            for include in (system / "include", *sorted(system.glob("include/ns3.*"))):
                installation = version and _install(include, folder.parent, version.group(1))
                if installation:
                    return installation
    return None


def _install(include_folder: Path, library_folder: Path, version: str) -> Ns3Install | None:
    """Return the installation in both folders; None unless it has everything that the program needs."""
    if not (include_folder / "ns3" / "point-to-point-net-device.h").is_file():
        return None
    for prefix in _prefixes(library_folder):
        libraries = tuple(f"{prefix}-{module}" for module in _MODULES)
        if all((library_folder / f"lib{name}.so").exists() for name in libraries):
            return Ns3Install(
                version=version,
                include_folder=include_folder,
                library_folder=library_folder,
                libraries=libraries,
            )
    return None


def _prefixes(library_folder: Path) -> Iterator[str]:
    """Yield the prefix of library names: ns3 in Debian, ns3.44 elsewhere."""
    for file in sorted(library_folder.glob("libns3*-core.so")):
        if (name := _CORE.fullmatch(file.name)) is not None:
            yield name.group(1)


@cache
def _installed() -> Ns3Install:
    installation = find_ns3()
    if installation is None:
        raise NetworkError(
            "ns-3 or its headers not found; install with `pip install ns3` or `apt-get install libns3-dev`"
        )
    return installation


def engine_version() -> str:
    """Return the version of ns-3 and of our program over it, a part of every result's key.

    Raises: NetworkError: there is no ns-3.
    """
    return f"{_installed().version}-{_VERSION}"


def _build_id() -> str:
    """Return the version of ns-3 and hash of what the program is compiled from."""
    content = _SOURCE.read_bytes() + _HEADER.read_bytes() + " ".join(_FLAGS).encode()
    return f"{_installed().version}-{hashlib.sha256(content).hexdigest()[:12]}"


def build_ns3(engine_folder: Path) -> Path:
    """Build the program over ns-3, compiled with g++ when it is not in the folder yet.

    Args:   engine_folder: folder of compiled programs, one per version and location of ns-3.
    Raises: ToolMissing: g++ is not installed. NetworkError: there is no ns-3, or g++ does not compile the
            program.
    """
    install = _installed()
    place = hashlib.sha256(os.fsencode(install.library_folder)).hexdigest()[:6]
    return build_once(engine_folder.absolute(), f"{ENGINE}-{_build_id()}-{place}", partial(_build, install))


def _build(install: Ns3Install, folder: Path) -> Path:
    argv = [find_tool("g++", "g++"), *_FLAGS, str(_SOURCE), "-o", "program", *_places(install)]
    run = run_tool(argv, folder=folder, timeout_s=_BUILD_LIMIT_S)
    if run.returncode != 0:
        raise NetworkError(f"g++ failed to compile the program over ns-3: {run.last_words()}")
    return folder / "program"


def _places(install: Ns3Install) -> list[str]:
    """Return the arguments for headers and libraries, which the program also finds when it runs."""
    folder = install.library_folder
    return [
        f"-I{install.include_folder}",
        f"-L{folder}",
        *(f"-l{name}" for name in install.libraries),
        "-Xlinker",
        "-rpath",
        "-Xlinker",
        str(folder),
    ]


def simulate_in_ns3(scenario: Scenario, *, engine_folder: Path) -> SimulationResult:
    """Simulate a scenario in ns-3.

    UDP gives the same numbers as `simulate`, except the count of events. TCP delays include the wait for
    the congestion window; a packet that is not delivered within 4 s after the last transmission has -1.

    Args:   engine_folder: see `build_ns3`.
    Raises: SimulationFailed: past its time limit, or the program failed. NetworkError, ToolMissing: see
            `build_ns3`.
    """
    return run_program([os.fspath(build_ns3(engine_folder))], scenario)
