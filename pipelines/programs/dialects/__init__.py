"""Dialects of C: a program of a generator written as others write, with the same results on the same data.

Belongs here: rewritings of texts of the stages ast and dataflow that keep every result, and which of them a
dialect has. Does not: what programs compute, which the stages draw. A rewriting that is not provably sound in
a place is not applied there.
"""

from pipelines.programs.dialects.rewriting import (
    DIALECTS,
    OWN,
    dialect_of,
    drawn_dialect,
    in_dialect,
    require_weights,
)

__all__ = ["DIALECTS", "OWN", "dialect_of", "drawn_dialect", "in_dialect", "require_weights"]
