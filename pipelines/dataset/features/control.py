"""Whether the control flow of a program depends on its data."""

from __future__ import annotations

from pipelines.c import read_function
from pipelines.programs import control_expressions, influence_of
from pipelines.schemas import ProgramRow


def control_class(program: ProgramRow) -> str:
    """Return the class I when no loop bound, branch or early exit depends on data, else class II.

    Data are the elements of array arguments and the scalar arguments. Operations and memory accesses take
    cycles that do not depend on values, so that a design of class I takes the same cycles on all data. The
    opposite does not hold: sides of a branch may take the same time, or become a selection.

    Returns: `I` or `II`.
    Raises:  HlsError: the C front end rejects the program.
    Source:  LLMulator, section 5.2.
    """
    function = read_function(program.source, top=program.top, file=f"{program.name}.c")
    influence = influence_of(function)
    depends = any(influence.of(expression) for expression in control_expressions(function))
    return "II" if depends else "I"
