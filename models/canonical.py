"""Questions in canonical form: the program's text, and the names in directives, data and trips."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from models.query import Query
from pipelines.base.identity import canonical_json
from pipelines.programs.canonical import TOP, CanonicalProgram, canonical_program


def canonical_query(query: Query) -> Query:
    """Return a question about the canonical text of its program.

    Raises: HlsError (a ValueError): the text is not C11, has no such function, or directives cannot be read.
            ValueError: data, inputs or trips are not JSON objects.
    """
    program = canonical_of(query)
    trips = _renamed(query.trips, program.loop_name)
    return replace(
        query,
        source=program.text,
        top=TOP,
        directives=program.directives,
        inputs=_renamed(query.inputs, lambda name: program.objects.get(name, name)),
        data=_renamed(query.data, lambda name: program.objects.get(name, name)),
        trips=trips,
    )


def canonical_of(query: Query) -> CanonicalProgram:
    """Return the canonical program of a question. Raises: HlsError: as `canonical_query`."""
    return canonical_program(query.source, query.top, query.directives)


def _renamed(text: str, name_of: Any) -> str:
    """Return a JSON object with other names; an empty text stays empty."""
    if not text:
        return text
    content: Any = json.loads(text)
    if not isinstance(content, Mapping):
        raise ValueError("data, inputs and trips of a question must be JSON objects")
    return canonical_json({name_of(name): value for name, value in content.items()})
