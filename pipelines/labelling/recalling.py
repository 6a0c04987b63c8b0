"""Labels of a whole program from one entry of the cache, when all its designs were labelled before.

Why: with entries of steps alone, 10,000 designs take 30,000 reads, 10,000 data sets drawn and as many scratch
folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipelines.cache import ContentCache
from pipelines.identity import content_hash
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.versions import labels_version
from pipelines.schemas import OK, DesignRow, LabelRow, ProgramRow, RunRow
from pipelines.synthesis import Target, liberty_hash
from pipelines.tools import ToolMissing

KIND = "labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramLabels:
    """Labels and runs of all designs of a program."""

    labels: tuple[LabelRow, ...]
    runs: tuple[RunRow, ...]

    @property
    def statuses(self) -> list[str | None]:
        """Outcomes of all steps."""
        own = (status for run in self.runs for status in (run.status, run.power_status))
        return [*(label.status for label in self.labels), *own]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The entries of a cache under one target and set of options.

    Attributes:
        context: hash of all that is the same for every program; None when a tool is missing, so that its
            version is not known and nothing is recalled or kept.
    """

    cache: ContentCache
    context: str | None

    def key(self, program: ProgramRow, designs: Sequence[DesignRow]) -> str:
        """What the labels of a program depend on."""
        made = sorted((d.design_id, d.tool, d.status, d.reason, d.rtl_sha256) for d in designs)
        return content_hash(self.context, program.program_id, program.name, program.suite, made)

    def recall(self, program: ProgramRow, designs: Sequence[DesignRow]) -> ProgramLabels | None:
        """Labels of all designs of a program, None when they are not there."""
        stored = None if self.context is None else self.cache.get(KIND, self.key(program, designs))
        if stored is None:
            return None
        return ProgramLabels(
            labels=tuple(LabelRow(**row) for row in stored["labels"]),
            runs=tuple(RunRow(**row) for row in stored["runs"]),
        )

    def keep(self, program: ProgramRow, designs: Sequence[DesignRow], found: ProgramLabels) -> bool:
        """Store the labels of all designs of a program, unless a tool failed; whether they were stored."""
        if self.context is None:
            return False
        value: dict[str, Any] = {
            "labels": [asdict(row) for row in found.labels],
            "runs": [asdict(row) for row in found.runs],
        }
        return self.cache.keep(KIND, self.key(program, designs), value, *found.statuses)


def recollection(
    designs: Sequence[DesignRow], *, target: Target, cache: ContentCache, options: LabelOptions
) -> Recollection:
    """The entries that hold for a target, options, and the present versions of what made the designs.

    Raises: SynthesisError: the library cannot be read.
    """
    tools = sorted({d.tool for d in designs if d.status == OK})
    try:
        versions = labels_version(tools)
    except ToolMissing:
        return Recollection(cache=cache, context=None)
    chosen = {name: value for name, value in asdict(options).items() if name not in ("workers", "slots")}
    context = content_hash(
        versions,
        [target.liberty.stem, liberty_hash(target.liberty), target.clock_period_ns],
        chosen,
        [field for row in (LabelRow, RunRow) for field in row.__dataclass_fields__],
    )
    return Recollection(cache=cache, context=context)
