"""C text to a `Summary`: what a program admits, exact for affine programs.

Outside this package only the names below are used.
"""

from pipelines.pragmas.analysis.summarising import summarise, summarise_function

__all__ = ["summarise", "summarise_function"]
