"""Measuring by looking up: a table of results that others made, or a folder of synthesis reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipelines.identity import content_hash
from pipelines.pragmas.bound import Target, impossible
from pipelines.pragmas.configuration import Configuration
from pipelines.pragmas.explore.evaluation import Evaluation
from pipelines.pragmas.explore.keys import configuration_key
from pipelines.pragmas.summary import Summary
from pipelines.schemas import INFEASIBLE, OK, REJECTED, VendorDesignRow
from pipelines.vendor import VendorError, read_csynth

REPORT = "csynth.xml"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTable:
    """An `Evaluator` over known results.

    Attributes:
        results: by `configuration_key`; a configuration that is not among them is rejected.
    """

    name: str
    results: Mapping[str, Evaluation]

    def evaluate(self, configuration: Configuration) -> Evaluation:
        """The recorded result."""
        found = self.results.get(configuration_key(configuration))
        return found or Evaluation(status=REJECTED, reason="no result of this configuration is recorded")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedReports:
    """An `Evaluator` over reports of Vitis HLS that the user makes.

    Attributes:
        folder: has one folder a configuration, named by `report_folder`, with `csynth.xml` in it.
        summary, target: of the program; reports of latencies that no design can have are rejected.
    """

    folder: Path
    summary: Summary
    target: Target
    name: str = "vitis-reports"

    def evaluate(self, configuration: Configuration) -> Evaluation:
        """What the configuration's report says; rejected when there is none."""
        path = self.folder / report_folder(configuration) / REPORT
        if not path.is_file():
            return Evaluation(status=REJECTED, reason=f"a report must be at {path}, got no file")
        try:
            row = read_csynth(path).designs[0]
        except VendorError as error:
            return Evaluation(status=REJECTED, reason=str(error))
        return vendor_evaluation(row, self.summary, self.target)


def report_folder(configuration: Configuration) -> str:
    """Name of the folder of a configuration's report."""
    return content_hash(configuration_key(configuration))[:16]


def vendor_evaluation(row: VendorDesignRow, summary: Summary, target: Target) -> Evaluation:
    """A vendor's result as an evaluation; one that does not fit its part is infeasible, one whose latency no
    design can have is rejected."""
    status, reason = row.status, row.reason
    if row.latency_cycles is not None and (why := impossible(summary, target, row.latency_cycles)):
        return Evaluation(status=REJECTED, reason=why)
    if status == OK and row.fits is False:
        status, reason = INFEASIBLE, "the design does not fit its part"
    return Evaluation(
        status=status,
        reason=reason,
        latency_cycles=row.latency_cycles,
        dsp_count=row.dsp_count,
    )
