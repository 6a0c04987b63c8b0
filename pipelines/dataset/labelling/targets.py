"""Targets of labelling: their names, the designs that lack their labels, the labels, and the versions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import partial
from typing import ClassVar

from pipelines.base.tools import ToolMissing
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.c import HlsError
from pipelines.dataset.labelling.flows import recompile, rtl_of
from pipelines.dataset.labelling.options import LabelContext, LabelOptions
from pipelines.dataset.labelling.runs import is_audited
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    HasVerilog,
    LabelFigures,
    LabelTables,
    is_mapped,
)
from pipelines.hls import TOOL
from pipelines.schemas import OK, TOOL_ERROR, DesignRow, LabelRow, ProgramRow
from pipelines.silicon.synthesis import SynthesisError


class LabelTarget(ABC):
    """A tool that labels designs; `pipelines.dataset.labelling.registry` lists the classes.

    Attributes:
        name: in the column `tool` of its rows.
        is_tool: whether its name in `Synthesis.tools` asks for it; otherwise `chosen` reads other options.
        constants: version constants that its rows depend on, as FILE:NAME.
        programs: names in `assets.engines.TOOLS` of the programs that its rows depend on.
    """

    name: str
    is_tool: ClassVar[bool] = True
    constants: ClassVar[tuple[str, ...]] = ()
    programs: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def chosen(cls, options: LabelOptions) -> Sequence[LabelTarget]:
        """Return the targets of this class that options ask for."""
        return [cls()] if cls.name in options.synthesis.tools else []

    @abstractmethod
    def version(self) -> str:
        """Return its present version.

        Raises: ToolMissing: it is not installed.
        """

    @abstractmethod
    def lacking(
        self, designs: Sequence[DesignRow], tables: LabelTables, options: LabelOptions
    ) -> Collection[str]:
        """Return the ids of designs that are to have its label and have none.

        Args: tables: the present rows of the designs.
        """

    @abstractmethod
    def label(
        self,
        programs: Sequence[ProgramRow],
        designs: Sequence[DesignRow],
        tables: LabelTables,
        context: LabelContext,
        *,
        on_progress: ProgressCallback = silent,
    ) -> LabelTables:
        """Label the designs that lack its label; a failure is a status.

        Args:    tables: rows of the targets before it.
        Returns: its rows alone.
        Raises:  ToolMissing: it is not installed.
        """


class SecondTarget(LabelTarget):
    """A tool that gives designs with an ok label a second row in table `labels`.

    Only those: all their runs equal native C.

    Attributes:
        title: name in the progress; library: in the column `liberty` of its rows.
        kind: of its entries in the cache; failures: what makes a row of status `tool_error`.
    """

    title: str
    library: str
    kind: ClassVar[str]
    failures: ClassVar[tuple[type[Exception], ...]] = (ToolMissing, SynthesisError, HlsError, OSError)

    @abstractmethod
    def key(self, design: DesignRow, context: LabelContext) -> str:
        """Return the hash of all that the figures of a design depend on."""

    @abstractmethod
    def make(self, design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext) -> LabelFigures:
        """Run the tool on a design.

        Raises: one of `failures`.
        """

    def shares(self, options: LabelOptions) -> tuple[float, float]:
        """Return its shares of the designs mapped to cells, and of those with cycles alone."""
        del options
        return 1.0, 1.0

    def figures(
        self, design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext
    ) -> LabelFigures:
        """Return the figures of a design, from the cache where it has them; raises what `make` raises."""
        return context.cache.cached(
            self.kind,
            self.key(design, context),
            lambda: self.make(design, rtl, context),
            lambda stored: LabelFigures(**stored),
            statuses=lambda figures: (figures.status,),
        )

    def lacking(
        self, designs: Sequence[DesignRow], tables: LabelTables, options: LabelOptions
    ) -> Collection[str]:
        """Return the ids of designs of its shares that have no row of its own."""
        most_um2, (mapped, alone) = options.synthesis.unmapped_most_um2, self.shares(options)
        small = {
            d.design_id for d in designs if most_um2 is None or (d.estimated_area_um2 or 0.0) <= most_um2
        }
        asked = {
            row.design_id
            for row in tables.labels
            if row.tool == SYNTHESIS_TOOL and row.status == OK
            if is_mapped(row) or row.design_id in small
            if is_audited(row.design_id, mapped if is_mapped(row) else alone)
        }
        return asked - {row.design_id for row in tables.labels if row.tool == self.name}

    def label(
        self,
        programs: Sequence[ProgramRow],
        designs: Sequence[DesignRow],
        tables: LabelTables,
        context: LabelContext,
        *,
        on_progress: ProgressCallback = silent,
    ) -> LabelTables:
        """Label the designs that lack its row; a failure is a status."""
        asked = self.lacking(designs, tables, context.options)
        by_program = {program.program_id: program for program in programs}
        labels = run_all(
            self.title,
            [(by_program[design.program_id], design) for design in designs if design.design_id in asked],
            partial(self._label, version=self.version(), context=context),
            workers=context.options.workers,
            cost=lambda item: item[1].estimated_area_um2 or 0.0,
            on_progress=on_progress,
        )
        return LabelTables(labels=labels)

    def _label(
        self, item: tuple[ProgramRow, DesignRow], *, version: str, context: LabelContext
    ) -> Outcome[LabelRow]:
        program, design = item

        def rtl() -> HasVerilog:
            return recompile(program, design) if design.tool == TOOL else rtl_of(program, design, context)

        try:
            figures = self.figures(design, rtl, context)
        except self.failures as error:
            figures = LabelFigures(status=TOOL_ERROR, reason=str(error))
        row = LabelRow(
            design_id=design.design_id,
            tool=self.name,
            tool_version=version,
            suite=design.suite,
            liberty=self.library,
            **asdict(figures),
        )
        return Outcome(result=row, failed=row.status != OK, name=program.name)
