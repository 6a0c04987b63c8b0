"""Every suite of programs by its name: those of the catalogue, and those that are generated."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from pipelines.programs.ast import AstOptions, ast_programs
from pipelines.programs.catalogue import SUITES
from pipelines.programs.dataflow import DataflowOptions, dataflow_programs
from pipelines.programs.errors import ProgramError
from pipelines.programs.evaluation import EVALUATION_SUITES, evaluation_programs, reject_duplicates
from pipelines.programs.rows import kernel_programs
from pipelines.schemas import ProgramRow

AST, DATAFLOW, LLM = "ast", "dataflow", "llm"
GENERATED_SUITES = (AST, DATAFLOW, LLM)
ALL_SUITES = (*SUITES, *GENERATED_SUITES, *EVALUATION_SUITES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """How many programs a stage generates, and how.

    Attributes:
        count: programs, from number `first` on; a program depends on its number alone.
        seed: of all of them.
    """

    count: int
    seed: int = 0
    first: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """What the programs of any suite depend on.

    Attributes:
        sizes: of the kernels, of SIZES.
        polybench_sizes, polybench_types: of the suite polybench.
    """

    sizes: tuple[str, ...]
    ast: Generation
    dataflow: Generation
    ast_options: AstOptions = field(default_factory=AstOptions)
    dataflow_options: DataflowOptions = field(default_factory=DataflowOptions)
    polybench_sizes: tuple[str, ...] = ("mini",)
    polybench_types: tuple[str, ...] = ("int", "float")


def suite_programs(suite: str, options: SuiteOptions) -> list[ProgramRow]:
    """The programs of a suite.

    A generated program that equals an evaluation program is a rejected row.

    Args:    suite: of ALL_SUITES; programs of llm need a model, see `pipelines.programs.llm.llm_programs`.
    Raises:  ProgramError: there is no such suite, or no such size.
    """
    if suite == AST:
        rows = ast_programs(**asdict(options.ast), options=options.ast_options)
        return reject_duplicates(rows)
    if suite == DATAFLOW:
        rows = dataflow_programs(**asdict(options.dataflow), options=options.dataflow_options)
        return reject_duplicates(rows)
    if suite == LLM:
        raise ProgramError("programs of suite llm need a language model, got options without one")
    if suite in EVALUATION_SUITES:
        return evaluation_programs(suite, sizes=options.polybench_sizes, data_types=options.polybench_types)
    if suite not in SUITES:
        raise ProgramError(f"unknown suite: {suite}; accepted: {', '.join(ALL_SUITES)}")
    return kernel_programs(suites=(suite,), sizes=options.sizes)
