"""Explorations of programs with our own high-level synthesis, as rows of `pragma_designs`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from pipelines.base.cache import ContentCache
from pipelines.base.identity import canonical_json, content_hash
from pipelines.base.workers import Progress, ProgressCallback, silent
from pipelines.cyclemodel import engine_version
from pipelines.hls import HlsOptions, TransformOptions, tool_version
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, read_target
from pipelines.pragmas.configuration import configuration_key
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.exploration import AUTODSE, EXHAUSTIVE, NLP_DSE, RANDOM, SuiteExploration
from pipelines.pragmas.search.baselines import (
    BaselineOptions,
    explore_all,
    explore_bottlenecks,
    explore_randomly,
)
from pipelines.pragmas.search.evaluation import Evaluation, Exploration, Step
from pipelines.pragmas.search.evaluators import OwnHls, own_evaluator
from pipelines.pragmas.search.ladder import explore
from pipelines.pragmas.search.state import LADDER, LadderOptions
from pipelines.pragmas.summary import Summary
from pipelines.programs import SuiteOptions, cached_programs, polybench_program
from pipelines.schemas import OK, PragmaDesignRow, ProgramRow

_VERSION = "5"
"""Raise it when a search, a bound or what measures gives other rows."""


def pragmas_version() -> str:
    """Return the version of this package and of the engines that it measures with."""
    return content_hash(_VERSION, tool_version(), engine_version())[:12]


OWN_TARGET = "simfoundry"


def explore_suite(
    options: SuiteExploration,
    suites: SuiteOptions,
    *,
    cache: ContentCache,
    on_progress: ProgressCallback = silent,
) -> list[PragmaDesignRow]:
    """Explore every kernel by every method; finished explorations come from the cache.

    Args:   suites: what the programs of suites depend on.
    Raises: PragmaError: a kernel is unknown, or outside the supported class. ProgramError: unknown suite,
            name, size or type.
    """
    rows: list[PragmaDesignRow] = []
    programs = named_programs(options, suites, cache)
    asked = [(program, method) for program in programs for method in options.methods]
    for done, (program, method) in enumerate(asked, 1):
        rows += _cached_rows(program, method, options, cache)
        latest = f"{program.name} by {method}"
        on_progress(Progress(step="pragmas", done=done, total=len(asked), failed=0, latest=latest))
    return rows


def named_programs(options: SuiteExploration, suites: SuiteOptions, cache: ContentCache) -> list[ProgramRow]:
    """Return the programs that are explored, in the order of their names.

    Raises: PragmaError: a suite has no such program, or several of the name.
            ProgramError: see `explore_suite`.
    """
    rows = {
        suite: cached_programs(suite, suites, cache)
        for suite in sorted({name.split("/")[0] for name in options.kernels if "/" in name})
    }
    return [
        _one_named(name, rows[name.split("/")[0]])
        if "/" in name
        else polybench_program(name, size=options.size, data_type=options.data_type)
        for name in options.kernels
    ]


def _one_named(name: str, programs: Sequence[ProgramRow]) -> ProgramRow:
    """Return the program of a suite that `suite/program` or `suite/program/size` names."""
    fitting = [p for p in programs if name in (f"{p.suite}/{p.name}", f"{p.suite}/{p.name}/{p.size}")]
    suite = name.split("/")[0]
    if not fitting:
        known = ", ".join(sorted(p.name for p in programs)[:_NAMES_SHOWN]) or "none"
        raise PragmaError(
            f"unknown program: {name}; suite {suite} has {len(programs)} programs: {known}, ..."
        )
    if len(fitting) > 1:
        sizes = ", ".join(sorted(f"{name}/{p.size}" for p in fitting))
        raise PragmaError(f"several programs: {name}; accepted: {sizes}")
    if fitting[0].status != OK:
        raise PragmaError(f"rejected program: {name} ({fitting[0].reason})")
    return fitting[0]


_NAMES_SHOWN = 3


def exploration_key(program: ProgramRow, method: str, options: SuiteExploration) -> str:
    """Hash what an exploration depends on."""
    limits = asdict(options)
    del limits["kernels"], limits["methods"]
    return content_hash(program.program_id, method, canonical_json(limits), pragmas_version())


def _cached_rows(
    program: ProgramRow, method: str, options: SuiteExploration, cache: ContentCache
) -> Sequence[PragmaDesignRow]:
    key = exploration_key(program, method, options)
    stored = cache.get("exploration", key)
    if stored is None:
        rows = explore_program(program, method, options, cache=cache)
        cache.keep("exploration", key, {"rows": [asdict(row) for row in rows]}, *(row.status for row in rows))
        return rows
    return [PragmaDesignRow(**row) for row in stored["rows"]]


def explore_program(
    program: ProgramRow, method: str, options: SuiteExploration, *, cache: ContentCache
) -> list[PragmaDesignRow]:
    """Return one exploration as rows."""
    summary, target = summarise(program.source, program.top, file=program.name), suite_target(options)
    evaluator = OwnHls(
        program=program,
        summary=summary,
        cache=cache,
        base=HlsOptions(transforms=TransformOptions(unsafe_math=not options.ordered_sums)),
        timeout_s=options.hls_timeout_s,
        most_operations=options.most_operations,
        most_area_um2=options.most_area_um2,
    )
    exploration = _searches(options)[method](summary, target, evaluator)
    return exploration_rows(_explored(program, options), exploration)


def exploration_ids(options: SuiteExploration, suites: SuiteOptions, cache: ContentCache) -> frozenset[str]:
    """Return the ids of the explorations that the present version makes.

    Raises: PragmaError, ProgramError: see `explore_suite`.
    """
    programs = named_programs(options, suites, cache)
    return frozenset(_explored(p, options).identity(method) for p in programs for method in options.methods)


def _explored(program: ProgramRow, options: SuiteExploration) -> Explored:
    limits = canonical_json(asdict(options) | {"kernels": None, "methods": None})
    return Explored(
        program=program, target=suite_target(options).name, evaluator=own_evaluator(), options=limits
    )


def suite_target(options: SuiteExploration) -> Target:
    """Return the engine as a target, whose `dsp_count` is area in 1000 um2."""
    target = read_target(OWN_TARGET)
    return (target.ordered() if options.ordered_sums else target).within_area(options.most_area_um2)


_Search = Callable[[Summary, Target, OwnHls], Exploration]


def _searches(options: SuiteExploration) -> dict[str, _Search]:
    ladder = LadderOptions(
        rungs=LADDER,
        together=options.together,
        solver_timeout_s=None,
        solver_nodes=options.solver_nodes,
        most_evaluations=options.most_evaluations,
    )
    baseline = BaselineOptions(
        together=options.together, most_evaluations=options.most_evaluations, seed=options.seed
    )
    return {
        NLP_DSE: lambda s, t, e: explore(s, t, e, replace(ladder, most_copies=e.most_copies, size=e.size)),
        AUTODSE: lambda s, t, e: explore_bottlenecks(s, t, e, baseline),
        RANDOM: lambda s, t, e: explore_randomly(s, t, e, baseline),
        EXHAUSTIVE: lambda s, t, e: explore_all(s, t, e, baseline),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What was explored and by what: columns of the rows beside the steps' columns.

    Attributes:
        target, evaluator: names, with versions; options: of the search, canonical JSON.
    """

    program: ProgramRow
    target: str
    evaluator: str
    options: str

    def identity(self, method: str) -> str:
        """Return the id of its exploration by a method."""
        return content_hash(self.program.program_id, self.target, self.evaluator, method, self.options)


def exploration_rows(explored: Explored, exploration: Exploration) -> list[PragmaDesignRow]:
    """Return one row per step."""
    identity = explored.identity(exploration.method)
    return [_row(explored, exploration.method, identity, step) for step in exploration.steps]


def _row(explored: Explored, method: str, identity: str, step: Step) -> PragmaDesignRow:
    measured = step.evaluation or Evaluation(status=OK)
    has_latency = measured.latency_cycles is not None
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
        applied=not measured.not_applied if has_latency else None,
        not_applied=canonical_json(list(measured.not_applied)) if measured.not_applied else None,
        dsp_count=measured.dsp_count,
        area_um2=measured.area_um2,
        strips=measured.strips if has_latency else None,
        best_cycles=step.best_cycles,
        solver_wall_s=step.solver_s,
        measure_wall_s=None if step.evaluation is None else measured.wall_s,
        elapsed_wall_s=step.elapsed_s,
    )
