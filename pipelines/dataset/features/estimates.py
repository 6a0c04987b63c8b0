"""The engine's estimate of one design: high-level synthesis in a process of its own, with a time limit.

Cycles are counted along the design's own control, so they are exact where no branch depends on data. Area and
power are estimates before logic synthesis.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from pipelines.base.cache import ContentCache, json_value
from pipelines.base.identity import content_hash
from pipelines.base.sandbox import MachineFault
from pipelines.base.workers import ChildProcess, begin_worker
from pipelines.c import HlsError
from pipelines.dataset.features.design_tables import know_design, know_run, knowledge_version
from pipelines.hls import HlsOptions, compile_program, design_id, design_row
from pipelines.programs import ProgramError
from pipelines.schemas import REJECTED, TIMEOUT, TOOL_ERROR, FeatureRow, ProgramRow, RunFeatureRow

ENDING_S = 2.0
"""Seconds in which a process ends on request; in one long step of the engine it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignEstimate:
    """The engine's estimate of one design.

    Attributes:
        status: `ok`, or that of the failure; reason: why it is not ok.
        cycles: of one call; None without an estimate, as the other figures.
    """

    status: str
    reason: str | None = None
    cycles: int | None = None
    area_um2: float | None = None
    power_mw: float | None = None


def estimate_design(
    program: ProgramRow,
    options: HlsOptions,
    *,
    cache: ContentCache,
    timeout_s: float,
    on_data: bool = False,
) -> DesignEstimate:
    """Estimate the design of a program under one configuration.

    Args:    timeout_s: processor time. on_data: take cycles and power from a run on the drawn data.
    Returns: a failure is a status.
    """
    key = content_hash(design_id(program, options), knowledge_version(), on_data, timeout_s)
    stored = cache.get("design_estimates", key)
    if stored is not None:
        return DesignEstimate(**stored)
    child = ChildProcess(_work, program, options, on_data)
    try:
        estimate: DesignEstimate = child.receive(timeout_s)
    except TimeoutError:
        reason = f"high-level synthesis took more than {timeout_s:g} s of processor time"
        estimate = DesignEstimate(status=TIMEOUT, reason=reason)
    except MachineFault as fault:
        estimate = DesignEstimate(status=TOOL_ERROR, reason=str(fault))
    finally:
        child.end(ENDING_S)
    cache.keep("design_estimates", key, json_value(estimate), estimate.status)
    return estimate


def _work(connection: Connection, program: ProgramRow, options: HlsOptions, on_data: bool) -> None:
    """Estimate a design in the child process and send the answer through the pipe."""
    begin_worker()
    try:
        with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
            estimate = _estimate(program, options, Path(folder), on_data=on_data)
    except (HlsError, ProgramError) as error:
        estimate = DesignEstimate(status=REJECTED, reason=str(error))
    except Exception as error:  # a fault of the engine costs one design and is tried again
        estimate = DesignEstimate(status=TOOL_ERROR, reason=f"{type(error).__name__}: {error}")
    connection.send(estimate)
    connection.close()


def _estimate(program: ProgramRow, options: HlsOptions, folder: Path, *, on_data: bool) -> DesignEstimate:
    compiled = compile_program(program.source, top=program.top, options=options, file=f"{program.name}.c")
    design = design_row(program, options, compiled, 0.0)
    row: FeatureRow | RunFeatureRow
    if on_data:
        row = know_run(program, design, seed=0, identity="", folder=folder, compiled=compiled)
        cycles = row.cycles
    else:
        row = know_design(program, design, folder=folder, compiled=compiled).features
        cycles = row.estimated_cycles
    return DesignEstimate(
        status=row.status,
        reason=row.reason,
        cycles=cycles,
        area_um2=compiled.report.estimated_area_um2,
        power_mw=row.estimated_power_mw,
    )
