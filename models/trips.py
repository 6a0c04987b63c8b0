"""Trip counts that data fix: mean iterations per entry of the loops whose end the front end does not know."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from models.query import Query
from pipelines.schemas import OK, LoopRow

if TYPE_CHECKING:
    from pipelines.c.signature import DataSet
    from pipelines.hls import CompiledDesign

ENDLESS_TRIPS = 1 << 40
"""Mean iterations of a loop that a run did not leave within the limit of cycles: an estimate with them
passes that limit, too."""
_TIMEOUT_S = 60.0


def known_trips(query: Query) -> dict[str, float]:
    """Return the mean iterations by loop of a question. Raises: ValueError: not a JSON object of numbers."""
    try:
        return {name: float(mean) for name, mean in json.loads(query.trips or "{}").items()}
    except (AttributeError, TypeError) as error:
        raise ValueError(f"trips must be a JSON object of numbers, got {query.trips!r}") from error


def source_loop(name: str, known: Iterable[str]) -> str | None:
    """Return the loop of the source that a loop of a design is, or is a copy of (<loop>_<suffix>)."""
    return next(
        (n for n in sorted(known, key=len, reverse=True) if name == n or name.startswith(f"{n}_")), None
    )


def source_loops(query: Query) -> list[LoopRow]:
    """Return the loops of a question's program. Raises: HlsError: the front end does not accept it."""
    from pipelines.dataset.features import extract_loops
    from pipelines.programs import program_from_file

    return extract_loops(program_from_file(Path("program.c"), top=query.top, source=query.source))


def with_trips(loops: Sequence[LoopRow], query: Query) -> tuple[LoopRow, ...]:
    """Return the loops with the known means, rounded, where the front end knows no trip count.

    A loop that a run did not leave stays unknown.
    """
    known = {name: mean for name, mean in known_trips(query).items() if mean < ENDLESS_TRIPS}
    return tuple(
        replace(loop, trip_count=round(known[loop.loop]))
        if loop.trip_count is None and loop.loop in known
        else loop
        for loop in loops
    )


def count_trips(
    compiled: CompiledDesign, loops: Sequence[LoopRow], data: Sequence[DataSet]
) -> dict[str, float]:
    """Return the mean iterations per entry of the loops without a trip count, in runs of a design without
    directives.

    Returns: none where no run ends well; `ENDLESS_TRIPS` of a loop that a run did not leave within the limit
             of cycles.
    Raises:  ToolMissing: gcc is not installed. CycleModelError: the design breaks a rule of the graph.
    """
    from pipelines.base.tools import ToolRun
    from pipelines.cyclemodel import build_model, run_model
    from pipelines.dataset.features import late_loop_of
    from pipelines.dataset.labelling import loop_counts

    unknown = [loop.loop for loop in loops if loop.trip_count is None]
    endless: dict[str, float] = {}
    iterations: Counter[str] = Counter()
    entries: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        model = build_model(compiled, folder=Path(name), timeout_s=_TIMEOUT_S)
        if isinstance(model, ToolRun):
            return {}
        for result in run_model(model, data, folder=Path(name) / "run", timeout_s=_TIMEOUT_S):
            late = source_loop(late_loop_of(compiled, result) or "", unknown)
            if late is not None:
                endless[late] = float(ENDLESS_TRIPS)
            if result.status == OK:
                for loop in loop_counts(compiled.scheduled.graph, result.block_visits):
                    iterations[loop.loop] += loop.iterations
                    entries[loop.loop] += loop.entries
    return {own: iterations[own] / entries[own] for own in unknown if entries[own]} | endless


def trips_json(trips: Mapping[str, float]) -> str:
    """Return the trips as a question has them; empty for none."""
    return json.dumps({name: round(mean, 4) for name, mean in sorted(trips.items())}) if trips else ""
