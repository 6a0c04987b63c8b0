"""The AST stage: random typed C programs in which every statement is live.

Outside this package only the names below are used.
"""

from pipelines.programs.ast.generation import (
    GeneratedProgram,
    ast_program,
    ast_programs,
    generate_program,
    lacks_discarded,
    written_row,
)
from pipelines.programs.ast.options import FORMS, AstOptions

__all__ = [
    "FORMS",
    "AstOptions",
    "GeneratedProgram",
    "ast_program",
    "ast_programs",
    "generate_program",
    "lacks_discarded",
    "written_row",
]
