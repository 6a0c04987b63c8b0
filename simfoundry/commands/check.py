"""`simfoundry check`: whether a predictor keeps the rules that training, registry and answers rely on.

The file of a person runs in a process of its own: what it prints, and an exit that no code can catch, do not
reach the process that answers.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.problems import is_debugging
from models.base import PredictorError
from models.catalogue import PredictorSpec, predictor_named
from models.conformance import CHECKS, Finding, file_of, findings_of, place_of_error
from models.declarations import declaration_problem
from models.predictor_files import line_of, predictor_of_file
from models.tasks import DatasetError
from pipelines.base.sandbox import MachineFault
from pipelines.base.workers import ChildProcess, begin_worker, lead_group
from simfoundry.commands.models import training_settings

_ERRORS = {kind.__name__: kind for kind in (FoundryError, DatasetError, PredictorError)}
"""Errors of `check`, which go from process to process by name and text."""


def check(
    predictor: str,
    *,
    data: Path | None = None,
    settings: Mapping[str, Any] | Sequence[str] = (),
    report: Callable[[Finding], None] = lambda _: None,
) -> list[Finding]:
    """Check a predictor in a process of its own.

    Args:
        predictor: name of one of the project, or a file that binds PREDICTOR; the file is run.
        data: folder that holds `tables/`; None for the data folder.
        settings: options of the training, as `{"epochs": 3}` or `["epochs=3"]`.
        report: gets each finding as its check ends.

    Raises: FoundryError: no such file, it binds no predictor, or it ends the process. PredictorError: no such
            name. DatasetError: the tables cannot be trained on.
    """
    if data is not None and not data.is_dir():
        raise FoundryError(f"no such folder: {data} (--data); accepted: a folder with tables/")
    _require_predictor(predictor)
    child = ChildProcess(
        _serve,
        _Request(
            predictor=predictor,
            data_dir=data or find_deployment().data_dir,
            settings=settings,
            shows_tracebacks=is_debugging(),
        ),
        leads_group=True,
    )
    try:
        return _collect(child, predictor, report)
    finally:
        child.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    predictor: str
    data_dir: Path
    settings: Mapping[str, Any] | Sequence[str]
    shows_tracebacks: bool


def _require_predictor(predictor: str) -> None:
    """Refuse what is neither a file of Python nor the name of a predictor."""
    if predictor.endswith(".py"):
        if not Path(predictor).is_file():
            raise FoundryError(f"no such file: {predictor}; accepted: FILE.py, or the name of a predictor")
    elif Path(predictor).exists() or "/" in predictor:
        raise FoundryError(f"no file of Python: {predictor}; accepted: FILE.py, or the name of a predictor")
    else:
        predictor_named(predictor)


def _collect(child: ChildProcess, predictor: str, report: Callable[[Finding], None]) -> list[Finding]:
    """Return the findings that the process of the checks sends; its end without a word is a finding."""
    findings: list[Finding] = []

    def add(check: str, problem: str) -> None:
        findings.append(Finding(check=check, problem=problem))
        report(findings[-1])

    running = ""
    while True:
        try:
            word, *values = child.receive()
        except MachineFault as error:
            problem = f"the process {child.ending()}"
            if not running:
                raise FoundryError(f"{problem} when the file was run ({predictor})") from error
            add(running, f"{problem}; accepted: a return, or an exception")
            return findings
        if word == "error":
            raise _ERRORS[values[0]](values[1])
        if word == "end":
            return findings
        if word == "begin":
            running = values[0]
        else:
            add(values[0], values[1])


# ---- the process of the checks -------------------------------------------------------------------------


def _serve(connection: Connection, request: _Request) -> None:
    """Run the checks, and send their names as they begin and their findings as they end."""
    begin_worker()
    lead_group()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # an exception would be a finding, and the next check begin
    os.dup2(sys.stderr.fileno(), 1)  # the answer stands there alone
    sys.stdout = sys.stderr
    process = os.getpid()

    def send(*words: str) -> None:
        if os.getpid() != process:  # a copy that a predictor made by os.fork, and did not end
            os._exit(1)
        connection.send(words)

    def show(error: BaseException) -> None:
        if request.shows_tracebacks:
            traceback.print_exception(error)

    spec: PredictorSpec[Any] | None = None
    try:
        path = request.predictor
        spec = predictor_of_file(Path(path), show) if path.endswith(".py") else predictor_named(path)
        is_declared = not declaration_problem(spec)  # otherwise the first check ends the checks
        settings = training_settings(spec, request.settings, request.data_dir) if is_declared else {}
        for finding in findings_of(
            spec, request.data_dir, settings, on_begin=lambda name: send("begin", name), on_error=show
        ):
            send("finding", finding.check, _with_field(finding, path))
    except (FoundryError, DatasetError, PredictorError) as error:
        kind = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
        place = place_of_error(error, None if spec is None else file_of(spec))
        send("error", kind, f"{error} ({place})" if place else str(error))
    else:
        send("end")


def _with_field(finding: Finding, path: str) -> str:
    """Return the problem of a finding; one of a declared field gets the line of the field."""
    field, colon, _ = finding.problem.partition(":")
    if finding.check != "declaration" or not colon or not path.endswith(".py"):
        return finding.problem
    return f"{finding.problem} ({Path(path).name}:{line_of(Path(path), field)})"


# ---- the answer ----------------------------------------------------------------------------------------


def finding_text(finding: Finding) -> str:
    """Return one line."""
    return f"{finding.check}: {finding.problem or 'ok'}"


def unchecked(findings: Sequence[Finding]) -> list[str]:
    """Return the names of the checks that did not run, because an earlier one failed."""
    return list(CHECKS)[len(findings) :]
