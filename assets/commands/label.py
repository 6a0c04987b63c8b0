"""`simfoundry label`: one program through HLS, simulation and synthesis.

Belongs here: typed inputs of the engine, rows as JSON values. Does not: labelling.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from assets.commands.programs import read_directives, read_user_program
from assets.configuration import compose_configuration
from assets.deployments import find_deployment
from assets.settings import Settings
from pipelines.hls import HlsError, HlsOptions, read_interface
from pipelines.interface import DataSet
from pipelines.labelling import label_design, liberty_name
from pipelines.programs import load_data
from pipelines.schemas import ProgramRow
from pipelines.synthesis import Target, find_liberty


def label_file(
    *,
    file: Path,
    top: str,
    directives: Path | None,
    memory_delay: int,
    clock: float,
    data: Path | None,
    liberty: str | None,
) -> dict[str, Any]:
    """Label one C file under one configuration.

    Args:    memory_delay: cycles. clock: period in ns. data: values of every argument; drawn when None.
    Returns: rows of designs, directive_outcomes, labels and runs, as JSON values.
    Raises:  ProgramError, HlsError, SynthesisError, FoundryError: an input is not acceptable.
    """
    program = read_user_program(file, top)
    values = None if data is None else _data(program, file, data)
    target = Target(liberty=find_liberty(liberty), clock_period_ns=clock)
    settings = Settings(configuration=compose_configuration([]), deployment=find_deployment())
    configuration = HlsOptions(
        memory_read_delay_cycles=memory_delay,
        memory_write_delay_cycles=memory_delay,
        directives=read_directives(directives),
        clock_period_ns=clock,
        liberty=liberty_name(target),
    )
    made = label_design(
        program,
        configuration,
        target=target,
        cache=settings.cache,
        options=settings.options,
        data=values,
    )
    return {
        "design": asdict(made.design),
        "directive_outcomes": [asdict(outcome) for outcome in made.outcomes],
        "label": asdict(made.label),
        "runs": [asdict(run) for run in made.runs],
    }


def _data(program: ProgramRow, file: Path, data: Path) -> DataSet:
    try:
        return load_data(data, read_interface(program.source, program.top, file=str(file)))
    except HlsError as error:
        raise HlsError(error.rule, error.got, file=str(file), line=error.line) from error
