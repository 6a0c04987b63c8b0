"""Labels of whole programs in the cache, and the versions they depend on.

Why whole programs: with entries of steps alone, 10,000 designs take 30,000 reads, 10,000 data sets drawn and
as many scratch folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pipelines import cyclemodel, hls, power
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.tools import ToolMissing
from pipelines.dataset.labelling.external_tools import external_tool
from pipelines.dataset.labelling.options import LabelContext, LabelOptions
from pipelines.dataset.labelling.synthesis import LabelTables
from pipelines.native import native_version
from pipelines.rtl import simulation
from pipelines.schemas import (
    OK,
    DesignRow,
    LabelRow,
    LoopRunRow,
    ProgramRow,
    RunRow,
)
from pipelines.silicon.synthesis import liberty_hash
from pipelines.silicon.synthesis import tool_version as synthesis_version

# ---- versions ------------------------------------------------------------------------------------------

_VERSION = "214c5db0780d57e2"
"""Raise it when the steps of this package, or data drawn by `programs.data`, give other rows."""
_SAME_LABELS = ("8be3097d9c795f7b",)
"""Versions with the very same labels, which release network-long-v1 names."""


def present_versions(tools: Iterable[str] = (hls.TOOL,)) -> dict[str, str]:
    """Return the present version of each engine that labels, by name.

    Args:   tools: of `TOOLS`, that make designs.
    Raises: ToolMissing: one of them, or gcc or Verilator, is not installed.
    """
    return {
        hls.TOOL: hls.tool_version(),
        cyclemodel.ENGINE: cyclemodel.engine_version(),
        simulation.ENGINE: simulation.engine_version(),
        "native": native_version(),
        "pyosys": synthesis_version(),
        power.ENGINE: power.tool_version(),
        **_design_versions(tools),
    }


def _design_versions(tools: Iterable[str]) -> dict[str, str]:
    other = [tool for tool in tools if tool != hls.TOOL]
    versions = {t: f"{external_tool(t).version()} {external_tool(t).engine_version()}" for t in other}
    return {hls.TOOL: hls.tool_version(), **versions}


def designs_version(tools: Iterable[str]) -> str:
    """Return the hash of all that designs of a program and a configuration depend on.

    Args:   tools: of `TOOLS`, that make designs.
    Raises: ToolMissing: one of them is not installed.
    """
    return content_hash(_design_versions(tools), _VERSION)


def labels_version(tools: Iterable[str]) -> str:
    """Return hash of all versions, of the order of the steps (this package), and of how data are drawn."""
    return _labels_version(tools, _VERSION)


def has_present_labels(version: str, tools: Iterable[str]) -> bool:
    """Tell whether an earlier version gives the same labels as the present one; see `labels_version`."""
    chosen = tuple(tools)
    return version in {_labels_version(chosen, one) for one in (_VERSION, *_SAME_LABELS)}


def inputs_version() -> str:
    """Return the hash of all that the rows of table `inputs` depend on besides programs and runs."""
    return content_hash(hls.tool_version(), _VERSION, np.__version__)


def _labels_version(tools: Iterable[str], own: str) -> str:
    return content_hash(present_versions(tools), own, np.__version__)


# ---- whole programs ------------------------------------------------------------------------------------

KIND = "labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCache:
    """The labels of whole programs under one target and set of options.

    Attributes:
        shared_key: hash of all that is the same for every program; None when a tool is missing, so that its
            version is not known and nothing is looked up or stored.
    """

    cache: ContentCache
    shared_key: str | None

    def key(self, program: ProgramRow, designs: Sequence[DesignRow]) -> str:
        """Hash what the labels of a program depend on."""
        compiled = sorted((d.design_id, d.tool, d.status, d.reason, d.rtl_sha256) for d in designs)
        return content_hash(self.shared_key, program.program_id, program.name, program.suite, compiled)

    def get(self, program: ProgramRow, designs: Sequence[DesignRow]) -> LabelTables | None:
        """Return the labels of all designs of a program, None when there is no entry."""
        stored = None if self.shared_key is None else self.cache.get(KIND, self.key(program, designs))
        if stored is None:
            return None
        return LabelTables(
            labels=[LabelRow(**row) for row in stored["labels"]],
            runs=[RunRow(**row) for row in stored["runs"]],
            loop_runs=[LoopRunRow(**row) for row in stored["loop_runs"]],
        )

    def keep(self, program: ProgramRow, designs: Sequence[DesignRow], labels: LabelTables) -> bool:
        """Store labels of all designs of a program, unless a tool failed; tell whether they were stored."""
        if self.shared_key is None:
            return False
        return self.cache.keep(KIND, self.key(program, designs), asdict(labels), *labels.statuses)


_ELSEWHERE = (
    "workers",
    "slots",
    "tools",
    "liberty",
    "fpga_fraction",
    "fpga_unmapped_fraction",
    "unmapped_most_um2",
    "other_libraries",
    "other_library_fraction",
    "other_library_unmapped_fraction",
)
"""Options that the labels of the project's own synthesis do not depend on."""
_PREFIXED = ("timeout_s", "tools", "fraction")
"""Options of synthesis that keys name with a prefix."""


def options_in_keys(options: LabelOptions) -> dict[str, Any]:
    """Return the options that labels depend on, under the names that they have in keys of the cache."""
    values, synthesis = asdict(options), asdict(options.synthesis)
    values |= {f"synthesis_{name}": synthesis.pop(name) for name in _PREFIXED} | synthesis
    values["synthesis"] = values.pop("mapped")
    if synthesis["all_most_um2"] is None:  # keys that are older than the option
        del values["all_most_um2"]
    return {name: value for name, value in values.items() if name not in _ELSEWHERE}


def label_cache(designs: Sequence[DesignRow], context: LabelContext) -> LabelCache:
    """Return entries that hold for a target, options, and the present versions of the tools of the designs.

    Raises: SynthesisError: the library cannot be read.
    """
    try:
        versions = labels_version(sorted({d.tool for d in designs if d.status == OK}))
    except ToolMissing:
        return LabelCache(cache=context.cache, shared_key=None)
    target = context.target
    shared_key = content_hash(
        versions,
        [target.liberty.stem, liberty_hash(target.liberty), target.clock_period_ns],
        options_in_keys(context.options),
        [column for row in (LabelRow, RunRow, LoopRunRow) for column in row.__dataclass_fields__],
    )
    return LabelCache(cache=context.cache, shared_key=shared_key)
