"""Small integer programs of the AST stage, for differential tests of engines.

`typed_programs` has the forms that the stage lacks: `do` loops, loops that count down, `!`, every type mixed.
"""

from __future__ import annotations

from pipelines.programs.ast import AstOptions, ast_program
from pipelines.schemas import ProgramRow

OPTIONS = AstOptions(
    data_types=("int32_t",),
    statements=(6, 14),
    loop_depth_weights=(0.0, 0.3, 0.5, 0.2),
    control_share=0.9,
    control_weights=(4, 2, 2, 16, 2, 1),
    array_extent=(3, 8),
    max_cycles=20_000,
    source_bytes=(500, 3000),
)


def random_program(number: int) -> ProgramRow:
    """Return a program, the same for the same number."""
    return ast_program(number, seed=0, options=OPTIONS)
