"""Labels of designs in the cells of other libraries: rows of their own in table `labels`, of tool
`pyosys_<library>`.

The Verilog is the one that was scheduled for the library of the context, so these rows say what the same
design costs in another technology. They have no power.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pipelines.dataset.labelling.options import LabelContext, LabelOptions, library_name
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    HasVerilog,
    LabelFigures,
    synthesis_key,
    synthesise,
)
from pipelines.dataset.labelling.targets import SecondTarget
from pipelines.schemas import DesignRow
from pipelines.silicon.synthesis import find_liberty, tool_version


class LibraryTarget(SecondTarget):
    """The project's own synthesis with the cells of another library."""

    is_tool = False
    kind = "synthesis"

    def __init__(self, liberty: Path) -> None:
        self.liberty = liberty
        self.library = library_name(liberty)
        self.name = f"{SYNTHESIS_TOOL}_{self.library}"
        self.title = f"labels in {liberty.stem}"

    @classmethod
    def chosen(cls, options: LabelOptions) -> Sequence[LibraryTarget]:
        """Return one target per library of `other_libraries`.

        Raises: SynthesisError: a library is missing or is not liberty.
        """
        return [cls(find_liberty(name)) for name in options.synthesis.other_libraries]

    def version(self) -> str:
        """Return the version of the project's own synthesis."""
        return tool_version()

    def shares(self, options: LabelOptions) -> tuple[float, float]:
        """Return the shares `other_library_fraction` and `other_library_unmapped_fraction`."""
        synthesis = options.synthesis
        return synthesis.other_library_fraction, synthesis.other_library_unmapped_fraction

    def key(self, design: DesignRow, context: LabelContext) -> str:
        """Return the key of logic synthesis with the other library."""
        return synthesis_key(design, self._moved(context).target, context.options)

    def make(self, design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext) -> LabelFigures:
        """Map a design to the cells of the library."""
        return synthesise(design, rtl, self._moved(context))

    figures = make  # which looks into the cache itself

    def _moved(self, context: LabelContext) -> LabelContext:
        return replace(context, target=replace(context.target, liberty=self.liberty))
