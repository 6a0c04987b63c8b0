"""What rows follow from besides tables and options: version constants of engines, and versions of tools.

A constant is raised by hand when its engine gives other rows (tests/golden_outputs). DVC reads the same
constants from the same files, as parameters of its stages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

import yaml

from assets.errors import FoundryError, explain
from assets.settings import Configuration
from pipelines import bambu, circt, cyclemodel
from pipelines.base.identity import content_hash
from pipelines.base.tools import ToolMissing
from pipelines.power import opensta_version
from pipelines.rtl import simulation
from pipelines.rtl.simulation import icarus_version
from pipelines.schemas import write_bytes_atomically
from pipelines.silicon import siliconcompiler
from pipelines.silicon.synthesis import (
    SynthesisError,
    find_liberty,
    liberty_hash,
    second_yosys_version,
)

ROOT = Path(__file__).resolve().parents[1]
TOOLS_FILE = "tools.yaml"
ABSENT = "absent"
_HEADER = """\
# Versions of the tools that made the tables of dvc.lock, written with it by `simfoundry run`. null: the
# configuration does not use the tool. absent: it was not installed.
"""


@dataclass(frozen=True, slots=True, order=True)
class Constant:
    """A version constant: the file that has it, relative to the root, and its name."""

    file: str
    name: str

    @property
    def value(self) -> Any:
        """Its value, read from its line of the file: importing an engine takes up to a second.

        Raises: FoundryError: the file has no such line.
        """
        return self.read(ROOT)

    def read(self, root: Path) -> Any:
        """Read its value in the file of another checkout; None when there is no such file."""
        path = root / self.file
        if not path.is_file():
            return None
        line = re.search(rf"^{self.name} = (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        if line is None:
            raise FoundryError(f"no constant {self.name} in {path}; accepted: {self.name} = VALUE in a line")
        return ast.literal_eval(line[1])


@dataclass(frozen=True, slots=True)
class Engine:
    """The constants of an engine, and the tools, of TOOLS, whose version its rows depend on."""

    constants: tuple[Constant, ...]
    tools: tuple[str, ...] = ()


def engine(*constants: str, tools: Sequence[str] = ()) -> Engine:
    """Make an engine of constants `FILE:NAME`."""
    pairs = (constant.rpartition(":")[::2] for constant in constants)
    return Engine(tuple(Constant(file, name) for file, name in pairs), tuple(tools))


TOOLS_OF_ALL = ("numpy", "pyarrow")
"""Tools of every step: drawn data, and the bytes of every table."""
HLS = engine("pipelines/c/engine.py:_VERSION")
CYCLE_MODEL = engine("pipelines/cyclemodel/runner.py:_VERSION", tools=("gcc",))
VERILATOR = engine("pipelines/rtl/simulation/verilator.py:_VERSION", tools=("verilator",))
RTL_REUSE = engine("pipelines/rtl/reuse/building.py:VERSION")
AUDITS = engine("pipelines/rtl/reuse/auditing.py:_VERSION")
SYNTHESIS = engine("pipelines/silicon/synthesis/yosys.py:_VERSION", tools=("libraries", "pyosys"))
POWER = engine("pipelines/power/estimate.py:_VERSION", "pipelines/power/estimate.py:POWER_MODEL")
CIRCT = engine("pipelines/circt/compilation.py:_VERSION", tools=("circt",))
BAMBU = engine("pipelines/bambu/runner.py:_VERSION", tools=("bambu",))
LABELLING = engine(
    "pipelines/dataset/labelling/cache.py:_VERSION", "pipelines/dataset/labelling/configurations.py:_VERSION"
)
LABELS = engine(
    "pipelines/dataset/labelling/synthesis.py:_LABEL_VERSION",
    "pipelines/dataset/labelling/synthesis.py:_POWER_VERSION",
)
PROGRAMS = engine("pipelines/programs/suites.py:_VERSION")
VARIANTS = engine(
    "pipelines/dataset/variants.py:_VERSION",
    "models/program_lm/__init__.py:VERSION",
    "models/program_lm/provider.py:_SAMPLING_VERSION",
)
FEATURES = engine(
    "pipelines/dataset/features/extraction.py:_VERSIONS",
    "pipelines/dataset/features/extraction.py:_CLASS_VERSION",
)
KNOWLEDGE = engine("pipelines/dataset/features/design_tables.py:_VERSION")
RECORDS = engine("pipelines/dataset/records/records.py:_VERSION")
NETWORK = engine(
    "pipelines/network/simulation/engine.py:_VERSION",
    "pipelines/network/simulation/ns3.py:_VERSION",
    "pipelines/network/runs/simulate.py:_RUNS_VERSION",
    "pipelines/network/runs/simulate.py:_PACKETS_VERSION",
    tools=("ns3",),
)
ACCELERATORS = engine(
    "pipelines/accelerators/dataset.py:VERSION",
    "pipelines/accelerators/labels.py:VERSION",
    "pipelines/accelerators/systolic/compilation.py:COMPILER_VERSION",
    "pipelines/accelerators/systolic/hardware.py:GENERATOR_VERSION",
)
FIXED = engine(
    "pipelines/accelerators/fixed/dataset.py:VERSION",
    "pipelines/accelerators/fixed/dataset.py:_COLUMNS_VERSION",
    tools=("da4ml",),
)
FABRIC = engine(
    "pipelines/fabric/dataset.py:VERSION",
    "pipelines/fabric/dataset.py:_ID_VERSION",
    "pipelines/fabric/simulation.py:VERSION",
)
PRAGMAS = engine("pipelines/pragmas/search/suite.py:_VERSION")


def training_engine(package: str) -> Engine:
    """Return the constants of a package of predictors: every one that ends in VERSION."""
    file = f"models/{package}/__init__.py"
    names = re.findall(r"^(\w*VERSION) = ", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    return Engine(tuple(Constant(file, name) for name in names))


# ---- tools -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program, package or library from outside.

    Attributes:
        version: under a configuration; raises ToolMissing, SynthesisError or PackageNotFoundError when it is
            not installed.
        is_used: whether rows of a configuration may depend on it.
    """

    version: Callable[[Configuration], str]
    is_used: Callable[[Configuration], bool] = lambda configuration: True  # noqa: ARG005


def _named(version: Callable[[], str]) -> Callable[[Configuration], str]:
    """Return a version that no configuration changes, without the engines' constant behind the last +."""
    return lambda _: version().rpartition("+")[0] or version()


def _packaged(name: str) -> Callable[[Configuration], str]:
    return lambda _: package_version(name)


def _library_hashes(configuration: Configuration) -> str:
    """Return the hash of the cell libraries' contents."""
    names = (configuration.synthesis.liberty, *configuration.synthesis.other_libraries)
    return content_hash([liberty_hash(find_liberty(name)) for name in names])[:12]


def _ns3_version(configuration: Configuration) -> str:
    from pipelines.network.simulation.ns3 import find_ns3  # lazy import: takes 0.5 s

    del configuration
    installation = find_ns3()
    return ABSENT if installation is None else installation.version


LIBRARIES = "libraries"
"""The cell libraries that a configuration names; keys of the cache have their content."""
TOOLS: Mapping[str, Tool] = {
    "bambu": Tool(version=_named(bambu.tool_version), is_used=lambda c: bambu.TOOL in c.labelling.tools),
    "circt": Tool(
        version=_named(circt.tool_version),
        is_used=lambda c: any(tool.startswith("circt-") for tool in c.labelling.tools),
    ),
    "da4ml": Tool(version=_packaged("da4ml"), is_used=lambda c: bool(c.fixed.groups)),
    "gcc": Tool(version=_named(cyclemodel.engine_version)),
    "iverilog": Tool(version=_named(icarus_version)),
    LIBRARIES: Tool(version=_library_hashes),
    "ns3": Tool(
        version=_ns3_version,
        is_used=lambda c: any("tcp" in group.protocols for group in c.network.groups.values()),
    ),
    "numpy": Tool(version=_packaged("numpy")),
    "pyarrow": Tool(version=_packaged("pyarrow")),
    "pyosys": Tool(version=_packaged("pyosys")),
    "siliconcompiler": Tool(
        version=_named(siliconcompiler.tool_version),
        is_used=lambda c: siliconcompiler.TOOL in c.synthesis.tools,
    ),
    "sta": Tool(version=_named(opensta_version)),
    "verilator": Tool(version=_named(simulation.engine_version)),
    "yosys": Tool(version=_named(second_yosys_version)),
}


def present_tools(configuration: Configuration) -> dict[str, str | None]:
    """Return the version of every tool, by name; None of those that the configuration does not use."""
    used = {name: tool for name, tool in TOOLS.items() if tool.is_used(configuration)}
    return {name: _present(used[name], configuration) if name in used else None for name in TOOLS}


def machine_tools() -> dict[str, str]:
    """Return the version of every tool that no configuration chooses, by name: what this machine has."""
    return {name: _present(tool, Configuration()) for name, tool in TOOLS.items() if name != LIBRARIES}


def _present(tool: Tool, configuration: Configuration) -> str:
    try:
        return tool.version(configuration)
    except (ToolMissing, SynthesisError, PackageNotFoundError):
        return ABSENT


def recorded_tools(project: Path) -> dict[str, str | None] | None:
    """Return the versions with which dvc.lock was made; None when they were not written.

    Raises: FoundryError: the file is not such a file.
    """
    path = project / TOOLS_FILE
    if not path.is_file():
        return None
    try:
        content = yaml.load(path.read_bytes(), yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise FoundryError(f"not YAML: {path}: {explain(error)}") from error
    if not isinstance(content, dict):
        raise FoundryError(f"not a mapping of tools to versions: {path}; check it out again")
    return content


def write_tools(project: Path, tools: Mapping[str, str | None]) -> None:
    """Write the versions beside dvc.lock."""
    content = _HEADER + yaml.safe_dump(dict(tools))
    path = project / TOOLS_FILE
    if not path.is_file() or path.read_text(encoding="utf-8") != content:
        write_bytes_atomically(path, content.encode())


def other_versions(present: Mapping[str, str | None], recorded: Mapping[str, str | None]) -> list[str]:
    """Return the tools that both use, in another version, as `NAME PRESENT, not RECORDED`."""
    return [
        f"{name} {version}, not {recorded[name]}"
        for name, version in present.items()
        if version is not None and recorded.get(name) not in (None, version)
    ]
