"""The language model of a configuration, and the suite llm."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from assets.errors import FoundryError
from assets.settings import CONFIGURATION_FOLDER, Group, Listener, Settings, ignore_progress
from assets.suites import suite_options
from models.program_lm import EditOptions, TrainingOptions
from models.program_lm.provider import EmbeddedProvider
from models.smollm2 import SmolOptions, SmolProvider
from pipelines.base.identity import content_hash
from pipelines.base.workers import Progress
from pipelines.dataset.variants import check_variant
from pipelines.programs import AST, DATAFLOW, SuiteOptions, cached_programs, code_version
from pipelines.programs.ast import ast_program
from pipelines.programs.dataflow import dataflow_program
from pipelines.programs.evaluation import frozen_hashes, reject_duplicates
from pipelines.programs.llm import (
    LlmOptions,
    LlmPrograms,
    LlmUsage,
    ParentPool,
    Prices,
    Prompt,
    Provider,
    ServerOptions,
    ServerProvider,
    llm_programs,
)
from pipelines.schemas import OK, REJECTED, ProgramRow, table_spec

KIND = "variants"
"""Kind of cache entries that hold all rows of the suite."""
PROMPT_FOLDER = CONFIGURATION_FOLDER / "prompts"


class LlmParents(Group):
    """How often a program of each stage is varied, and how many of its first programs; all when None."""

    ast: Annotated[float, Field(ge=0)]
    dataflow: Annotated[float, Field(ge=0)]
    ast_first: Annotated[int, Field(ge=1)] | None = None
    dataflow_first: Annotated[int, Field(ge=1)] | None = None


class LlmEmbedded(Group):
    """The project's own model; see models.program_lm for the meanings."""

    seed: int
    training: TrainingOptions
    editing: EditOptions


class LlmFolder(Group):
    """A folder of weights."""

    path: str | None
    temperature: Annotated[float, Field(ge=0, le=5)]
    most_tokens: Annotated[int, Field(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm(LlmOptions):
    """The programs of the suite llm: the stage, the model that is asked, prompts and parents."""

    provider: Literal["embedded", "smollm2", "server", "folder"]
    prompts: Annotated[tuple[str, ...], Field(min_length=1)]
    parents: LlmParents
    prices: Prices
    embedded: LlmEmbedded
    smollm2: SmolOptions = field(
        default_factory=SmolOptions
    )  # configurations of releases before v3 have none
    server: ServerOptions
    folder: LlmFolder

    @model_serializer(mode="wrap")
    def _in_order(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the keys in the order of params.yaml: `_FIRST`, then the rest as declared."""
        content = handler(self)
        return {name: content[name] for name in _FIRST} | content


_FIRST = ("count", "seed", "provider", "prompts", "parents", "attempts", "most_failures", "prices")


def make_variants(settings: Settings, listen: Listener) -> LlmPrograms:
    """Make the programs of the suite llm under a configuration; one that equals an evaluation program is
    rejected.

    Rows of an earlier run with the same model, prompts, parents and code come from the cache, in order of id.

    Raises: FoundryError: a prompt is not there. ProgramError: there are no parents.
    """
    options, provider = settings.group(Llm), provider_of(settings, os.environ, listen)
    prompts = [read_prompt(name) for name in options.prompts]
    key = _variants_key(settings, provider, prompts)
    stored = settings.cache.get_table(KIND, key)
    spec = table_spec("programs")
    if stored is not None and stored.schema.equals(spec.schema(), check_metadata=False):
        return LlmPrograms(rows=tuple(spec.from_arrow(stored)))

    def told(done: int, total: int, failed: int, latest: str) -> None:
        listen(Progress(step="programs", done=done, total=total, failed=failed, latest=latest))

    generated = llm_programs(
        options,
        provider=provider,
        prompts=prompts,
        parents=parents_of(settings),
        judge=check_variant,
        cache=settings.cache,
        known=_earlier(settings),
        on_variant=told,
    )
    rows = tuple(reject_duplicates(generated.rows))
    if all(row.status in (OK, REJECTED) for row in rows):  # a failure is tried again by the next run
        settings.cache.put_table(KIND, key, spec.to_arrow(rows))
    return LlmPrograms(rows=rows)


def remember_variants(settings: Settings, rows: Sequence[ProgramRow]) -> bool:
    """Put the programs of the suite llm into the cache, as if the model had been asked here.

    A variant on which a tool failed stays as the release has it: its reply is in no release.

    Returns: whether they were stored; not when the cache has them, or a request had no reply.
    Raises:  FoundryError: a prompt is not there.
    """
    provider = provider_of(settings, os.environ, ignore_progress)
    prompts = [read_prompt(name) for name in settings.group(Llm).prompts]
    key = _variants_key(settings, provider, prompts)
    if any(row.reply_sha256 is None for row in rows) or settings.cache.get_table(KIND, key) is not None:
        return False
    settings.cache.put_table(KIND, key, table_spec("programs").to_arrow(rows))
    return True


def _variants_key(settings: Settings, provider: Provider, prompts: Sequence[Prompt]) -> str:
    """Hash what the programs of suite llm depend on: model, prompts, parents, limits and code."""
    suites = _parent_options(settings)
    return content_hash(
        options_in_keys(settings.group(Llm)),
        provider.identity,
        [[prompt.name, prompt.text] for prompt in prompts],
        settings.group(Llm).parents.model_dump(include={"ast", "dataflow"}),
        [
            asdict(suites.ast),
            asdict(suites.ast_options),
            asdict(suites.dataflow),
            asdict(suites.dataflow_options),
        ],
        sorted(frozen_hashes()),
        code_version(),
    )


def options_in_keys(options: LlmOptions) -> dict[str, Any]:
    """Return the options of the stage; the others of a configuration are in keys by what they give."""
    content = asdict(options)
    return {option.name: content[option.name] for option in fields(LlmOptions)}


def _earlier(settings: Settings) -> dict[str, str]:
    """Name by syntax tree hash of the programs that variants are made of."""
    suites = [suite for suite in (AST, DATAFLOW) if getattr(settings.group(Llm).parents, suite) > 0]
    rows = [r for s in suites for r in cached_programs(s, _parent_options(settings), settings.cache)]
    return {row.ast_hash: row.name for row in rows if row.ast_hash is not None}


def provider_of(settings: Settings, environment: Mapping[str, str], listen: Listener) -> Provider:
    """Return the configured provider.

    Args:   environment: where a server's key is; nothing else is read of it.
    Raises: ProgramError: an option is out of range. FoundryError: the provider lacks something.
    """
    chosen = settings.group(Llm)
    if chosen.provider == "server":
        return _server(chosen, environment)
    if chosen.provider == "smollm2":
        return SmolProvider(chosen.smollm2, prices=chosen.prices)
    if chosen.provider == "folder":
        from models.folder_lm import FolderProvider

        if chosen.folder.path is None:
            raise FoundryError("llm.folder.path is null; accepted: a folder of weights")
        return FolderProvider(
            Path(chosen.folder.path),
            temperature=chosen.folder.temperature,
            most_tokens=chosen.folder.most_tokens,
            prices=chosen.prices,
        )

    def told(step: int, steps: int, loss: float) -> None:
        listen(
            Progress(step="programs", done=step, total=steps, failed=0, latest=f"training, loss {loss:.3f}")
        )

    return EmbeddedProvider(
        cache=settings.cache,
        training=chosen.embedded.training,
        editing=chosen.embedded.editing,
        seed=chosen.embedded.seed,
        on_step=told,
        prices=chosen.prices,
    )


def _server(chosen: Llm, environment: Mapping[str, str]) -> ServerProvider:
    key = environment.get(chosen.server.key_variable) or None
    return ServerProvider(chosen.server, key=key, prices=chosen.prices)


def read_prompt(name: str) -> Prompt:
    """Read a prompt of conf/prompts.

    Raises: FoundryError: there is no such file.
    """
    path = PROMPT_FOLDER / f"{name}.txt"
    if path.parent != PROMPT_FOLDER or not path.is_file():
        valid = ", ".join(sorted(p.stem for p in PROMPT_FOLDER.glob("*.txt")))
        raise FoundryError(f"unknown prompt: {name} ({PROMPT_FOLDER}); accepted: {valid}")
    return Prompt(name=name, text=path.read_text(encoding="utf-8"))


def _parent_options(settings: Settings) -> SuiteOptions:
    """Return the options of the suites of parents: discarded attempts are no parents, and dialects of later
    programs change none.
    """
    options, parents = suite_options(settings), settings.group(Llm).parents
    ast = replace(options.ast, count=min(options.ast.count, parents.ast_first or options.ast.count))
    dataflow = replace(
        options.dataflow, count=min(options.dataflow.count, parents.dataflow_first or options.dataflow.count)
    )
    ast_options = replace(options.ast_options, keep_discarded=False)
    dataflow_options = options.dataflow_options
    if ast.count <= ast_options.dialect_first:
        ast_options = replace(ast_options, dialect_weights=(), dialect_first=0)
    if dataflow.count <= dataflow_options.dialect_first:
        dataflow_options = replace(dataflow_options, dialect_weights=(), dialect_first=0)
    return replace(
        options, ast=ast, dataflow=dataflow, ast_options=ast_options, dataflow_options=dataflow_options
    )


def parents_of(settings: Settings) -> list[ParentPool]:
    """Return the programs of the stages ast and dataflow as the configuration asks for them."""
    suites, weights = _parent_options(settings), settings.group(Llm).parents

    @lru_cache(maxsize=4096)
    def of_ast(number: int) -> ProgramRow:
        return ast_program(number, seed=suites.ast.seed, options=suites.ast_options)

    @lru_cache(maxsize=4096)
    def of_dataflow(number: int) -> ProgramRow:
        return dataflow_program(number, seed=suites.dataflow.seed, options=suites.dataflow_options)

    return [
        ParentPool(name=AST, count=suites.ast.count, weight=weights.ast, program=of_ast),
        ParentPool(name=DATAFLOW, count=suites.dataflow.count, weight=weights.dataflow, program=of_dataflow),
    ]


def usage_notes(usage: LlmUsage) -> dict[str, str]:
    """Return the replies, tokens and cost of a language model, for the summary of the step."""
    return {
        "asked": f"{usage.asked} replies, {usage.generated} programs kept, {usage.duplicates} duplicates",
        "tokens": f"{usage.prompt_tokens} read, {usage.completion_tokens} written, cost {usage.cost:.4f}",
    }
