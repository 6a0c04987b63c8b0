"""From C text to a `Summary`, exact for affine programs.

Belongs here: dependences, trip counts, operations and footprints. Does not: costs (`bound/`).

Outside this package only the names below are used.
"""

from pipelines.pragmas.analysis.summarising import summarise

__all__ = ["summarise"]
