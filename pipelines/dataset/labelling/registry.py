"""The targets of labelling, in the order in which they run and their rows stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pipelines.base.tools import ToolMissing
from pipelines.base.validation import some_of
from pipelines.dataset.labelling.cross_checks import CrossCheckTarget
from pipelines.dataset.labelling.fpga import FpgaTarget
from pipelines.dataset.labelling.label import CellTarget
from pipelines.dataset.labelling.options import LabelOptions, Synthesis
from pipelines.dataset.labelling.other_libraries import LibraryTarget
from pipelines.dataset.labelling.placement import PlacementTarget
from pipelines.dataset.labelling.targets import LabelTarget

TARGETS: tuple[type[LabelTarget], ...] = (
    CellTarget,
    FpgaTarget,
    LibraryTarget,
    PlacementTarget,
    CrossCheckTarget,
)

SYNTHESIS_TOOLS = tuple(target.name for target in TARGETS if target.is_tool)
"""Accepted names of `Synthesis.tools`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSynthesis(Synthesis):
    """Options of logic synthesis whose tools are targets."""

    tools: Annotated[tuple[str, ...], some_of(SYNTHESIS_TOOLS)]


def label_targets(options: LabelOptions) -> list[LabelTarget]:
    """Return the targets that options ask for."""
    return [target for kind in TARGETS for target in kind.chosen(options)]


def target_versions(options: LabelOptions) -> dict[str, str]:
    """Return the present version of each target that options ask for and that is installed, by name."""
    versions: dict[str, str] = {}
    for target in label_targets(options):
        try:
            versions[target.name] = target.version()
        except ToolMissing:
            continue
    return versions
