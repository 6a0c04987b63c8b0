"""Labels of placed and routed designs: rows of their own in table `labels`, of tool `siliconcompiler`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pipelines.base.identity import content_hash
from pipelines.dataset.labelling.options import LabelContext, LabelOptions
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    HasVerilog,
    LabelFigures,
    LabelTables,
)
from pipelines.dataset.labelling.targets import SecondTarget
from pipelines.schemas import OK, DesignRow
from pipelines.silicon import siliconcompiler
from pipelines.silicon.siliconcompiler import SiliconCompilerError, run_flow


class PlacementTarget(SecondTarget):
    """Synthesis, placement and routing by SiliconCompiler, with a library of its own."""

    name = siliconcompiler.TOOL
    constants = ("pipelines/silicon/siliconcompiler/runner.py:_VERSION",)
    programs = (siliconcompiler.TOOL,)
    kind = "placement"
    failures = (*SecondTarget.failures, SiliconCompilerError)
    title = "placement"
    library = siliconcompiler.LIBRARY

    def version(self) -> str:
        """Return the version of SiliconCompiler and of the flow.

        Raises: ToolMissing: a tool of the flow is not installed.
        """
        siliconcompiler.require_flow()
        return siliconcompiler.tool_version()

    def lacking(
        self, designs: Sequence[DesignRow], tables: LabelTables, options: LabelOptions
    ) -> Collection[str]:
        """Return the ids of all designs with an ok label and without its row, of any area."""
        del designs, options
        labelled = {row.design_id for row in tables.labels if row.tool == SYNTHESIS_TOOL and row.status == OK}
        return labelled - {row.design_id for row in tables.labels if row.tool == self.name}

    def key(self, design: DesignRow, context: LabelContext) -> str:
        """Return the hash of Verilog, clock, version and time limit."""
        timeout_s = context.options.synthesis.placement_timeout_s
        return content_hash(
            design.rtl_sha256, design.clock_period_ns, siliconcompiler.tool_version(), timeout_s
        )

    def make(self, design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext) -> LabelFigures:
        """Synthesise, place and route a design."""
        text = rtl()
        with context.tool_folder(siliconcompiler.TOOL) as folder:
            result = run_flow(
                text.verilog,
                top=text.module,
                clock_period_ns=design.clock_period_ns,
                folder=folder,
                cache_folder=context.cache.folder / siliconcompiler.TOOL,
                timeout_s=context.options.synthesis.placement_timeout_s,
            )
        return LabelFigures.of(result, None)
