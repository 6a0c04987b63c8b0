"""Every suite of programs by its name: suites of the catalogue, and generated ones.

Programs come from the cache when the same code wrote them from the same options before: a program takes 50 ms
to write and to hash its syntax tree, and a run needs all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache as once

import numpy as np

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.c import tool_version
from pipelines.programs.ast import AstOptions, ast_programs
from pipelines.programs.catalogue import SUITES
from pipelines.programs.collections import WRITTEN, WRITTEN_FOLDER, collection_programs
from pipelines.programs.control import reject_degenerate
from pipelines.programs.dataflow import DataflowOptions, dataflow_programs
from pipelines.programs.errors import ProgramError
from pipelines.programs.evaluation import EVALUATION_SUITES, evaluation_programs, reject_duplicates
from pipelines.programs.machsuite_catalogue import MACHSUITE_SUITE, machsuite_suite
from pipelines.programs.normalised import ast_hash_or_none
from pipelines.programs.rows import kernel_programs
from pipelines.programs.similarity import HASHES, SHINGLE_WORDS, Signature, signature
from pipelines.schemas import ProgramRow, table_spec

AST, DATAFLOW, LLM = "ast", "dataflow", "llm"
GENERATED_SUITES = (AST, DATAFLOW, LLM)
KIND = "programs"
_VERSION = "4e4b39d0a4e9e6c3155247f3dac369b1d0a48276d157fcc532de30864d9afc13"
"""Raise it when a suite gives other programs, or a program another hash of its syntax tree."""


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
        reject_degenerate: whether generated programs of `pipelines.programs.control` are rejected rows.
        polybench_sizes, polybench_types: of the suite polybench; machsuite and written have mini and small
            of these sizes.
        written_first, written_count: kernels of the suite written, by number; None for all from the first.
    """

    sizes: tuple[str, ...]
    ast: Generation
    dataflow: Generation
    ast_options: AstOptions = field(default_factory=AstOptions)
    dataflow_options: DataflowOptions = field(default_factory=DataflowOptions)
    reject_degenerate: bool = False
    polybench_sizes: tuple[str, ...] = ("mini",)
    polybench_types: tuple[str, ...] = ("int", "float")
    written_first: int = 0
    written_count: int | None = None


SuiteFunction = Callable[[SuiteOptions], list[ProgramRow]]


def _kernels(suite: str) -> SuiteFunction:
    return lambda options: kernel_programs(suites=(suite,), sizes=options.sizes)


def _evaluation(suite: str) -> SuiteFunction:
    return lambda options: evaluation_programs(
        suite, sizes=options.polybench_sizes, data_types=options.polybench_types
    )


def _ast(options: SuiteOptions) -> list[ProgramRow]:
    return ast_programs(**asdict(options.ast), options=options.ast_options)


def _dataflow(options: SuiteOptions) -> list[ProgramRow]:
    return dataflow_programs(**asdict(options.dataflow), options=options.dataflow_options)


def _llm(options: SuiteOptions) -> list[ProgramRow]:
    del options
    raise ProgramError("programs of suite llm need a language model, got options without one")


SUITE_PROGRAMS: Mapping[str, SuiteFunction] = {
    **{suite: _kernels(suite) for suite in SUITES},
    AST: _ast,
    DATAFLOW: _dataflow,
    LLM: _llm,
    WRITTEN: lambda options: collection_programs(
        WRITTEN_FOLDER,
        suite=WRITTEN,
        stage=WRITTEN,
        sizes=options.polybench_sizes,
        first=options.written_first,
        count=options.written_count,
    ),
    MACHSUITE_SUITE: lambda options: machsuite_suite(options.polybench_sizes),
    **{suite: _evaluation(suite) for suite in EVALUATION_SUITES},
}
"""Every suite; an entry is all that a new one needs outside its own module."""
ALL_SUITES = tuple(SUITE_PROGRAMS)


def suite_programs(suite: str, options: SuiteOptions) -> list[ProgramRow]:
    """Return the programs of a suite; one for training that equals an evaluation program is a rejected row.

    So is a generated one that is degenerate, when the options say so.

    Args:    suite: of ALL_SUITES; programs of llm need a model, see `pipelines.programs.llm.llm_programs`.
    Raises:  ProgramError: there is no such suite, or no such size.
    """
    if suite not in SUITE_PROGRAMS:
        raise ProgramError(f"unknown suite: {suite}; accepted: {', '.join(ALL_SUITES)}")
    rows = SUITE_PROGRAMS[suite](options)
    if suite in EVALUATION_SUITES:
        return rows
    apart = reject_duplicates(rows)
    judged = options.reject_degenerate and suite in GENERATED_SUITES
    return reject_degenerate(apart) if judged else apart


def cached_programs(suite: str, options: SuiteOptions, cache: ContentCache) -> list[ProgramRow]:
    """Return the programs of a suite, as `suite_programs` gives them, in order of their id.

    Raises: ProgramError: there is no such suite, or no such size. OSError: the disk is full.
    """
    spec = table_spec("programs")
    key = content_hash(suite, asdict(options), code_version())
    rows = cache.cached_table(KIND, key, spec.schema(), lambda: spec.to_arrow(suite_programs(suite, options)))
    return spec.from_arrow(rows)


def cached_ast_hash(program: ProgramRow, cache: ContentCache) -> str | None:
    """Return hash of the syntax tree of a program's source, which takes 15 ms; None when it is no program."""
    key = content_hash(program.source, program.top, code_version())
    entry: dict[str, str | None] = cache.cached(
        "ast_hash", key, lambda: {"ast_hash": ast_hash_or_none(program.source, program.top)}, dict
    )
    return entry["ast_hash"]


def cached_signature(program: ProgramRow, cache: ContentCache) -> Signature | None:
    """Return the MinHash signature of a program's syntax tree; None when it is no program."""
    key = content_hash(program.source, program.top, code_version(), HASHES, SHINGLE_WORDS)
    entry: dict[str, list[int] | None] = cache.cached(
        "signature", key, lambda: {"hashes": _hashes(program)}, dict
    )
    hashes = entry["hashes"]
    return None if hashes is None else np.array(hashes, dtype=np.uint32)


def _hashes(program: ProgramRow) -> list[int] | None:
    own = signature(program.source, program.top)
    return None if own is None else own.tolist()


@once
def code_version() -> str:
    """Return the version of this package, of the engine that reads programs, and of the random generator."""
    return content_hash(_VERSION, tool_version(), np.__version__)
