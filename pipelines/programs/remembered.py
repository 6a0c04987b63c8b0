"""The programs of a suite from the cache, when the same code made them from the same options before.

Why: a program takes 50 ms to write and to hash its syntax tree, and a run makes all of them anew.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache as once

import numpy as np

from pipelines.cache import ContentCache
from pipelines.hls import tool_version
from pipelines.identity import content_hash
from pipelines.programs.normalised import ast_hash_or_none
from pipelines.programs.suites import SuiteOptions, suite_programs
from pipelines.schemas import ProgramRow, table_spec

KIND = "programs"
_VERSION = "c79dd65f5f10e8a9845857c6d3b084dd71d0735c6f3e086f82505ce4e637a1ae"
"""Raise it when a suite gives other programs, or a program another hash of its syntax tree."""


def remembered_programs(suite: str, options: SuiteOptions, cache: ContentCache) -> list[ProgramRow]:
    """The programs of a suite, as `suite_programs` gives them, in order of their id.

    Raises: ProgramError: there is no such suite, or no such size. OSError: the disk is full.
    """
    spec = table_spec("programs")
    key = content_hash(suite, asdict(options), code_version())
    stored = cache.get_table(KIND, key)
    if stored is None or not stored.schema.equals(spec.schema(), check_metadata=False):
        stored = spec.to_arrow(suite_programs(suite, options))
        cache.put_table(KIND, key, stored)
    return spec.from_arrow(stored)


def remembered_hash(program: ProgramRow, cache: ContentCache) -> str | None:
    """The hash of the syntax tree of a program's source, None when it is no program; found once, in 15 ms."""
    key = content_hash(program.source, program.top, code_version())
    stored = cache.get("ast_hash", key)
    if stored is None:
        stored = {"ast_hash": ast_hash_or_none(program.source, program.top)}
        cache.put("ast_hash", key, stored)
    return stored["ast_hash"]


@once
def code_version() -> str:
    """Version of this package, of the engine that reads programs, and of what draws numbers."""
    return content_hash(_VERSION, tool_version(), np.__version__)
