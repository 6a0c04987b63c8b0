"""`simfoundry doctor`: what this machine has of what Simfoundry needs, and what mends the rest."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from assets.deployments import Deployment
from assets.errors import FoundryError, explain, extras_of
from pipelines.base.files import read_bounded
from simfoundry.commands.aligned import aligned_lines
from simfoundry.commands.supervision import require_free

OK, MISSING, DIFFERS, TAKEN, LOW = "ok", "missing", "other version", "taken", "low"
OLDEST, NEWEST = (3, 11), (3, 13)
"""Versions of Python; setup/venv.sh has the same."""
LEAST_DISK_GIB = 2.0
"""Free room in which the smoke run ends."""
LEAST_MEMORY_GIB = 4.0
"""What one `label` may use."""
MOST_LOCK_BYTES = 1 << 20
SETUP, VENV = "make setup", "make venv"
MEMINFO = Path("/proc/meminfo")
_EXTRA = re.compile(r"extra == ['\"](?P<extra>[\w-]+)['\"]")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
HEAD = ("part", "name", "state", "here", "needed", "mend")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked for.

    Attributes:
        state: OK, or what is wrong.
        here: version or amount on this machine; empty where it is missing.
        is_required: whether nothing is labelled without it; only such things make the machine unready.
        mend: command or words that mend it; empty where nothing is wrong.
    """

    part: str
    name: str
    state: str
    here: str = ""
    is_required: bool = False
    mend: str = ""

    @property
    def is_in_the_way(self) -> bool:
        """Whether Simfoundry cannot work because of it."""
        return self.is_required and self.state == MISSING


def examine(deployment: Deployment, ports: Mapping[str, int]) -> list[Check]:
    """Look for everything that commands need.

    Args: ports: of servers, by the command and option that choose them.
    """
    packages = list(_packages(deployment.project))
    tools: Sequence[Check] = ()
    if not any(check.is_in_the_way for check in packages):  # versions of tools are asked by packages
        tools = [*_tools(deployment.project), *_simulators()]
    return [
        _python(),
        *packages,
        *tools,
        _sandbox(),
        *(_port(name, number) for name, number in ports.items()),
        *_room(deployment.data_dir),
    ]


def examination_json(checks: Sequence[Check]) -> dict[str, Any]:
    """Return the checks, and whether nothing is in the way, as JSON."""
    return {"ready": not in_the_way(checks), "checks": [asdict(check) for check in checks]}


def examination_text(checks: Sequence[Check]) -> str:
    """Return the checks as a table."""
    rows = [
        (c.part, c.name, c.state, c.here, "required" if c.is_required else "optional", c.mend) for c in checks
    ]
    return "\n".join(aligned_lines([HEAD, *rows]))


def in_the_way(checks: Sequence[Check]) -> str:
    """Return one line about what is required and missing, with what mends it; empty when nothing is."""
    missing = [check for check in checks if check.is_in_the_way]
    if not missing:
        return ""
    mends = "; ".join(dict.fromkeys(check.mend for check in missing))
    return f"required and missing: {', '.join(check.name for check in missing)}; to mend it: {mends}"


# ---- Python and its packages ---------------------------------------------------------------------------


def _python() -> Check:
    here = sys.version_info[:2]
    is_right = OLDEST <= here <= NEWEST
    accepted = " to ".join(".".join(map(str, one)) for one in (OLDEST, NEWEST))
    return Check(
        part="python",
        name="python",
        state=OK if is_right else MISSING,
        here=".".join(map(str, sys.version_info[:3])),
        is_required=True,
        mend="" if is_right else f"make PYTHON=/path/to/python setup (accepted: {accepted})",
    )


def _packages(project: Path) -> Iterator[Check]:
    """Yield one check of all packages that are as they shall be, and one of each that is not."""
    locked = _locked(project / "requirements.txt")
    wrong: list[Check] = []
    names = _required_packages()
    for name in names:
        here, exact = _version_of(name), locked.get(_normal(name))
        if here is None:
            wrong.append(
                Check(part="packages", name=name, state=MISSING, here="", is_required=True, mend=VENV)
            )
        elif exact not in (None, here.partition("+")[0]):
            wrong.append(
                Check(part="packages", name=name, state=DIFFERS, here=f"{here}, not {exact}", mend=VENV)
            )
    count = len(names) - len(wrong)
    yield Check(
        part="packages",
        name="extra foundry",
        state=OK,
        here=f"{count} of {len(names)}{' as locked' if locked else ''}",
        is_required=True,
    )
    yield from wrong


def _required_packages() -> list[str]:
    """Return the packages of every installation and of the extra `foundry`."""
    try:
        lines = requires("simfoundry") or []
    except PackageNotFoundError:  # a checkout on the path
        return []
    marked = [(_NAME.match(line), _EXTRA.search(line)) for line in lines]
    return [name[0] for name, extra in marked if name and (extra is None or extra["extra"] == "foundry")]


def _locked(path: Path) -> dict[str, str]:
    """Return the versions of a lock by name; none without one."""
    if not path.is_file():
        return {}
    content = read_bounded(path, what="lock", most_bytes=MOST_LOCK_BYTES, error=FoundryError)
    lines = content.decode("utf-8", "replace").splitlines()
    parts = [line.partition(";")[0].partition("==") for line in lines if not line.startswith("#")]
    return {_normal(name): exact.strip() for name, _, exact in parts}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


# ---- tools ---------------------------------------------------------------------------------------------


def _tools(project: Path) -> Iterator[Check]:
    """Yield the tools that tools.yaml names; those of the default configuration are required."""
    from assets.configuration import compose_configuration  # lazy imports: a second, and extra foundry
    from assets.engines import ABSENT, TOOLS, recorded_tools
    from pipelines.base.tools import ToolMissing
    from pipelines.silicon.synthesis import SynthesisError

    configuration = compose_configuration([])
    recorded = recorded_tools(project) or {}
    for name, tool in TOOLS.items():
        is_required = tool.is_used(configuration)
        try:
            here, problem = tool.version(configuration), ""
        except (ToolMissing, SynthesisError, PackageNotFoundError) as error:
            here, problem = ABSENT, explain(error)
        if here == ABSENT:
            mend = SETUP if is_required else _extra_command(name) or problem
            yield Check(part="tools", name=name, state=MISSING, is_required=is_required, mend=mend)
            continue
        other = recorded.get(name)
        differs = other not in (None, ABSENT, here)
        shown = f"{here}, dvc.lock was made with {other}" if differs else here
        yield Check(
            part="tools",
            name=name,
            state=DIFFERS if differs else OK,
            here=shown,
            is_required=is_required,
            mend="simfoundry run --lock writes dvc.lock anew" if differs else "",
        )


def _simulators() -> Iterator[Check]:
    """Yield what makes `simfoundry simulate` faster or lets it do more."""
    from pipelines.rtl.reuse.building import COMPILERS
    from pipelines.rtl.reuse.choice import installed_engines

    clang = next((path for name in COMPILERS if name != "g++" and (path := shutil.which(name))), None)
    arc = "installed" if "arc" in installed_engines() else None
    for name, here, mend in (
        ("clang", clang, "apt-get install clang"),
        ("vcd2fst", shutil.which("vcd2fst"), "apt-get install gtkwave"),
        ("arc", arc, _extra_command("pycde")),
    ):
        state = MISSING if here is None else OK
        yield Check(part="tools", name=name, state=state, here=here or "", mend="" if here else mend)


def _extra_command(package: str) -> str:
    extras = extras_of(package)
    return f"pip install '.[{extras[0]}]'" if extras else ""


def _sandbox() -> Check:
    """Check that a program can be confined, by confining one."""
    from pipelines.base.sandbox import MachineFault, SandboxError, run_confined
    from pipelines.base.tools import ToolMissing

    with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
        try:
            run = run_confined(("/usr/bin/true",), folder=Path(folder) / "box")
            problem = "" if run.returncode == 0 else f"a program in it ended with {run.returncode}"
        except (SandboxError, MachineFault, ToolMissing) as error:
            problem = explain(error)
    return Check(
        part="sandbox",
        name="bubblewrap",
        state=MISSING if problem else OK,
        here="" if problem else "a program runs confined",
        is_required=True,
        mend=problem,
    )


# ---- the machine ---------------------------------------------------------------------------------------


def _port(name: str, number: int) -> Check:
    try:
        require_free({name: number})
    except FoundryError:
        return Check(part="ports", name=name, state=TAKEN, here=str(number), mend="another port")
    return Check(part="ports", name=name, state=OK, here=str(number))


def _room(data_dir: Path) -> Iterator[Check]:
    """Yield free disk and memory, and processors."""
    place = next(folder for folder in (data_dir, *data_dir.parents) if folder.is_dir())
    disk = shutil.disk_usage(place).free / 2**30
    yield _amount("disk", str(place), disk, LEAST_DISK_GIB, "make room")
    memory = _available_gib()
    if memory is not None:
        yield _amount("memory", "available", memory, LEAST_MEMORY_GIB, "end other programs")
    yield Check(part="processors", name="processors", state=OK, here=str(os.cpu_count() or 1))


def _amount(part: str, name: str, gib: float, least: float, mend: str) -> Check:
    is_enough = gib >= least
    return Check(
        part=part,
        name=name,
        state=OK if is_enough else LOW,
        here=f"{gib:,.1f} GiB",
        mend="" if is_enough else f"{mend}: {least:g} GiB or more",
    )


def _available_gib() -> float | None:
    """Return the memory that programs may take, None where the system does not say."""
    if not MEMINFO.is_file():
        return None
    match = re.search(r"^MemAvailable: +(\d+) kB$", MEMINFO.read_text(encoding="ascii"), re.MULTILINE)
    return int(match[1]) / 2**20 if match else None
