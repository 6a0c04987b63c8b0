"""`simfoundry label`: programs through HLS, simulation and synthesis.

Belongs here: typed inputs of the engine, rows as JSON values. Does not: labelling.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assets.commands.programs import read_directives, read_user_program
from assets.configuration import compose_configuration
from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.settings import Settings
from pipelines.hls import HlsError, HlsOptions, read_interface
from pipelines.interface import DataSet
from pipelines.labelling import label_design, liberty_name
from pipelines.programs import ProgramError, load_data
from pipelines.schemas import REJECTED, ProgramRow
from pipelines.synthesis import Target, find_liberty


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """How programs are labelled: the options of the command.

    Attributes:
        top: function that becomes hardware; None for the one a file is about.
        memory_delay: cycles. clock: period in ns.
        data: JSON file with the value of every argument; None draws them.
    """

    top: str | None
    directives: Path | None
    memory_delay: int
    clock: float
    data: Path | None
    liberty: str | None


def label_path(path: Path, question: Question) -> dict[str, Any]:
    """Label a C file, or every C file under a folder, under one configuration.

    Returns: of a file its rows of designs, directive_outcomes, labels and runs, as JSON values; of a folder
             the same for each file in order of path, where a file that cannot be read as a program is an
             entry with its reason, and counts by status.
    Raises:  ProgramError, HlsError, SynthesisError, FoundryError: an input is not acceptable.
    """
    labeller = _Labeller.of(question)
    if not path.is_dir():
        return labeller.label(path)
    files = sorted(p for p in path.rglob("*.c") if p.is_file())
    if not files:
        raise FoundryError(f"a folder must have C files, got none ({path})")
    entries = [labeller.label_or_reason(file) for file in files]
    counts = Counter(str(entry["label"]["status"]) for entry in entries)
    return {"files": entries, "counts": dict(sorted(counts.items()))}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labeller:
    question: Question
    target: Target
    configuration: HlsOptions
    settings: Settings

    @classmethod
    def of(cls, question: Question) -> _Labeller:
        target = Target(liberty=find_liberty(question.liberty), clock_period_ns=question.clock)
        configuration = HlsOptions(
            memory_read_delay_cycles=question.memory_delay,
            memory_write_delay_cycles=question.memory_delay,
            directives=read_directives(question.directives),
            clock_period_ns=question.clock,
            liberty=liberty_name(target),
        )
        settings = Settings(configuration=compose_configuration([]), deployment=find_deployment())
        return cls(question=question, target=target, configuration=configuration, settings=settings)

    def label(self, file: Path) -> dict[str, Any]:
        program = read_user_program(file, self.question.top)
        data = self.question.data
        made = label_design(
            program,
            self.configuration,
            target=self.target,
            cache=self.settings.cache,
            options=self.settings.options,
            data=None if data is None else _data(program, file, data),
        )
        return {
            "design": asdict(made.design),
            "directive_outcomes": [asdict(outcome) for outcome in made.outcomes],
            "label": asdict(made.label),
            "runs": [asdict(run) for run in made.runs],
        }

    def label_or_reason(self, file: Path) -> dict[str, Any]:
        try:
            return {"file": str(file), **self.label(file)}
        except (HlsError, ProgramError) as error:
            return {"file": str(file), "label": {"status": REJECTED, "reason": str(error)}}


def _data(program: ProgramRow, file: Path, data: Path) -> DataSet:
    try:
        return load_data(data, read_interface(program.source, program.top, file=str(file)))
    except HlsError as error:
        raise HlsError(error.rule, error.got, file=str(file), line=error.line) from error
