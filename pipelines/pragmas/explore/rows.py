"""An exploration as rows of `pragma_designs`."""

from __future__ import annotations

from dataclasses import dataclass

from pipelines.identity import canonical_json, content_hash
from pipelines.pragmas.explore.evaluation import Evaluation
from pipelines.pragmas.explore.keys import configuration_key
from pipelines.pragmas.explore.steps import Exploration, Step
from pipelines.schemas import OK, PragmaDesignRow, ProgramRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What was explored, by what: all that rows say besides the steps.

    Attributes:
        target, evaluator: names, with versions; options: of the search, canonical JSON.
    """

    program: ProgramRow
    target: str
    evaluator: str
    options: str


def exploration_rows(explored: Explored, exploration: Exploration) -> list[PragmaDesignRow]:
    """One row a step."""
    program = explored.program
    identity = content_hash(
        program.program_id, explored.target, explored.evaluator, exploration.method, explored.options
    )
    return [_row(explored, exploration.method, identity, step) for step in exploration.steps]


def _row(explored: Explored, method: str, identity: str, step: Step) -> PragmaDesignRow:
    measured = step.evaluation or Evaluation(status=OK)
    was = step.evaluation is not None
    return PragmaDesignRow(
        exploration_id=identity,
        step=step.index,
        program_id=explored.program.program_id,
        suite=explored.program.suite,
        kernel=explored.program.name,
        size=explored.program.size,
        method=method,
        target=explored.target,
        evaluator=explored.evaluator,
        most_partitions=step.most_partitions,
        fine_only=step.fine_only,
        configuration=None if step.configuration is None else configuration_key(step.configuration),
        decision=step.decision,
        bound_cycles=step.bound_cycles,
        space_bound_cycles=step.space_bound_cycles,
        proven=step.proven,
        status=measured.status,
        reason=measured.reason,
        latency_cycles=measured.latency_cycles,
        applied=not measured.not_applied if was and measured.latency_cycles is not None else None,
        not_applied=canonical_json(list(measured.not_applied)) if measured.not_applied else None,
        dsp_count=measured.dsp_count,
        area_um2=measured.area_um2,
        strips=measured.strips if was and measured.latency_cycles is not None else None,
        best_cycles=step.best_cycles,
        solver_wall_s=step.solver_s,
        measure_wall_s=measured.wall_s if was else None,
        elapsed_wall_s=step.elapsed_s,
    )
