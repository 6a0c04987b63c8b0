"""The reference set of program variants: programs of which a generator has to make an accepted variant."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from models.program_lm import EditOptions, TrainingOptions
from models.program_lm.editing import draw_variant
from models.program_lm.network import untrained
from models.program_lm.training import size_of
from models.reference_sets import Vector, reference_set_of
from models.tasks import Reference, ReferenceSet
from pipelines.base.identity import content_hash
from pipelines.c import read_function
from pipelines.schemas import ProgramRow, read_table, table_spec


def program_reference(reference: Reference) -> ReferenceSet:
    """Return the programs of the AST stage; the error is 0 where the first variant is accepted, else 1.

    A variant is accepted when it differs from its program and the C front end reads it. The grammar alone
    makes such variants, so the baseline is a network with random weights under the same grammar.
    """
    judged = reference_programs(reference)

    def score(network: Any) -> Vector:
        return np.array([0.0 if _is_accepted(network, row.source, row.top) else 1.0 for row in judged])

    places = read_table(reference.folder, table_spec("splits"))
    groups = {r.program_id: r.group for r in places if r.split == reference.split}
    programs = [row.program_id for row in judged]
    return reference_set_of(programs, groups, score(untrained(size_of(TrainingOptions()), 0)), score)


def reference_programs(reference: Reference) -> list[ProgramRow]:
    """Return the programs of the AST stage in a reference set."""
    places = read_table(reference.folder, table_spec("splits"))
    judged = {r.program_id for r in places if r.split == reference.split and r.part in reference.parts}
    rows = read_table(reference.folder, table_spec("programs"))
    return [r for r in rows if r.program_id in judged and r.suite == "ast"]


def first_variant(network: Any, source: str) -> str:
    """Return the variant of a program that a generator is judged by.

    Raises: ValueError: the generator cannot read the program.
    """
    generator = Random(int(content_hash("reference", source), 16))  # noqa: S311 - sampling, no secrets
    return draw_variant(source, network, EditOptions(), generator).source


def _is_accepted(network: Any, source: str, top: str) -> bool:
    try:
        variant = first_variant(network, source)
        read_function(variant, top=top)
    except ValueError:
        return False
    return variant != source
