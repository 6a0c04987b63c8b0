"""Explorations of PolyBench kernels with our own high-level synthesis, as rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from pipelines.cache import ContentCache
from pipelines.hls import HlsOptions, TransformOptions
from pipelines.identity import canonical_json, content_hash
from pipelines.pragmas.analysis import summarise
from pipelines.pragmas.bound import Target, read_target
from pipelines.pragmas.errors import PragmaError
from pipelines.pragmas.explore.bottleneck import AUTODSE, RivalOptions, explore_bottlenecks
from pipelines.pragmas.explore.ladder import explore
from pipelines.pragmas.explore.own_hls import OwnHls
from pipelines.pragmas.explore.rows import Explored, exploration_rows
from pipelines.pragmas.explore.sampling import EXHAUSTIVE, RANDOM, explore_all, explore_randomly
from pipelines.pragmas.explore.steps import Exploration
from pipelines.pragmas.explore.walking import LADDER, NLP_DSE, LadderOptions
from pipelines.pragmas.summary import Summary
from pipelines.pragmas.version import pragmas_version
from pipelines.programs import polybench_program
from pipelines.schemas import PragmaDesignRow, ProgramRow
from pipelines.workers import Progress, ProgressCallback, silent

METHODS = (NLP_DSE, AUTODSE, RANDOM, EXHAUSTIVE)
OWN_TARGET = "simfoundry"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteExploration:
    """Which programs are explored, and how far.

    Attributes:
        kernels: of PolyBench; size, data_type: as `polybench_program` takes them.
        methods: of METHODS, each an exploration of each kernel.
        most_evaluations: designs an exploration measures; None for no limit.
        solver_nodes: of each sub-problem.
        most_operations: operations and accesses of a design; larger ones count as late.
        hls_timeout_s: processor time of each design, far above what one of that size takes.
        most_area_um2: estimated area that a design may have; None for any.
        ordered_sums: floating sums keep their order, for programs whose results are roundings.
        together: designs measured at a time; seed: of random searches.
    """

    kernels: tuple[str, ...] = ()
    size: str = "mini"
    data_type: str = "float"
    methods: tuple[str, ...] = (NLP_DSE,)
    most_evaluations: int | None = 20
    solver_nodes: int = 2000
    most_operations: int = 15_000
    hls_timeout_s: float = 600.0
    most_area_um2: float | None = None
    ordered_sums: bool = False
    together: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for method in self.methods:
            if method not in METHODS:
                raise PragmaError(f"a method must be one of {', '.join(METHODS)}, got {method!r}")


def explore_suite(
    options: SuiteExploration, *, cache: ContentCache, on_progress: ProgressCallback = silent
) -> list[PragmaDesignRow]:
    """Explore every kernel by every method; an exploration that ended before is recalled.

    Raises: PragmaError: a kernel is outside the class that is supported. ProgramError: there is none of that
            name, size or type.
    """
    rows: list[PragmaDesignRow] = []
    asked = [(kernel, method) for kernel in options.kernels for method in options.methods]
    for done, (kernel, method) in enumerate(asked, 1):
        program = polybench_program(kernel, size=options.size, data_type=options.data_type)
        rows += _remembered(program, method, options, cache)
        latest = f"{kernel} by {method}"
        on_progress(Progress(step="pragmas", done=done, total=len(asked), failed=0, latest=latest))
    return rows


def exploration_key(program: ProgramRow, method: str, options: SuiteExploration) -> str:
    """What an exploration follows from."""
    limits = asdict(options)
    del limits["kernels"], limits["methods"]
    return content_hash(program.program_id, method, canonical_json(limits), pragmas_version())


def _remembered(
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
    """One exploration as rows."""
    summary, target = summarise(program.source, program.top, file=program.name), own_target(options)
    evaluator = OwnHls(
        program=program,
        summary=summary,
        cache=cache,
        base=HlsOptions(transforms=TransformOptions(unsafe_math=not options.ordered_sums)),
        timeout_s=options.hls_timeout_s,
        most_operations=options.most_operations,
        most_area_um2=options.most_area_um2,
    )
    found = _searches(options)[method](summary, target, evaluator)
    limits = canonical_json(asdict(options) | {"kernels": None, "methods": None})
    explored = Explored(program=program, target=target.name, evaluator=evaluator.name, options=limits)
    return exploration_rows(explored, found)


def own_target(options: SuiteExploration) -> Target:
    """The engine as a target; its `dsp_count` is area in 1000 um2."""
    target = read_target(OWN_TARGET)
    if options.ordered_sums:
        target = target.ordered()
    if options.most_area_um2 is None:
        return target
    return replace(target, dsp_available=int(options.most_area_um2 / 1000))


_Search = Callable[[Summary, Target, OwnHls], Exploration]


def _searches(options: SuiteExploration) -> dict[str, _Search]:
    ladder = LadderOptions(
        rungs=LADDER,
        together=options.together,
        solver_timeout_s=None,
        solver_nodes=options.solver_nodes,
        most_evaluations=options.most_evaluations,
    )
    rival = RivalOptions(
        together=options.together, most_evaluations=options.most_evaluations, seed=options.seed
    )
    return {
        NLP_DSE: lambda s, t, e: explore(s, t, e, replace(ladder, most_copies=e.most_copies, size=e.size)),
        AUTODSE: lambda s, t, e: explore_bottlenecks(s, t, e, rival),
        RANDOM: lambda s, t, e: explore_randomly(s, t, e, rival),
        EXHAUSTIVE: lambda s, t, e: explore_all(s, t, e, rival),
    }
