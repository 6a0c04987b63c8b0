"""`simfoundry score`: the answers of a model to every row of a Parquet file, many rows at a time.

Batches of rows are the items of one `run_all`: processes of this machine, or the nodes of a cluster.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assets.cluster import fanout_of
from assets.configuration import compose_configuration
from assets.deployments import find_deployment
from assets.errors import FoundryError
from assets.settings import Settings
from models.base import Answering, PredictorError, TrainOutcome
from models.catalogue import PredictorSpec, predictor_named
from models.limits import Limits
from models.local_registry import find_local
from models.model_files import OUTCOME_FILE, read_model, read_outcome
from pipelines.base.files import open_regular
from pipelines.base.parquet_files import open_parquet
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.schemas import write_bytes_atomically
from simfoundry.commands.predict import _named, registered_model

ROW_LIMIT = 1_000_000
FILE_LIMIT_BYTES = 1 << 30
BATCH_ROWS = 128
OK, REFUSED = "ok", "refused"
_KINDS: Mapping[str, pa.DataType] = {"string": pa.string(), "long": pa.int64(), "double": pa.float64()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreAnswer:
    """What scoring a file gave: rows by status, and refused rows by reason."""

    model: str
    out: str
    rows: int
    statuses: Mapping[str, int]
    reasons: Mapping[str, int]

    def lines(self) -> Sequence[str]:
        """Return the answer as lines."""
        counts = ", ".join(f"{count:,} {status}" for status, count in sorted(self.statuses.items()))
        return [
            f"{self.rows:,} rows: {counts}",
            *(f"{count:,} refused: {reason}" for reason, count in self.reasons.items()),
            f"written: {self.out}",
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelContent:
    """The files of a predictor; they go to workers of other machines.

    Attributes: files: content by name. key: hash of them.
    """

    key: str
    files: Mapping[str, bytes] = field(repr=False, compare=False)

    @staticmethod
    def of(folder: Path) -> ModelContent:
        """Read the files of a predictor's folder. Raises: PredictorError: it holds none, or a damaged one."""
        read_model(folder)
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}
        digest = hashlib.sha256()
        for name, content in files.items():
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return ModelContent(key=digest.hexdigest(), files=files)

    def __hash__(self) -> int:
        return hash(self.key)


def score_file(
    file: Path,
    *,
    model: str,
    out: Path,
    overrides: Sequence[str] = (),
    on_progress: ProgressCallback = silent,
) -> ScoreAnswer:
    """Ask a model about every row of a Parquet file, and write rows and answers to another.

    A row that the model refuses has status `refused` and a reason.

    Args:   model: NAME@ALIAS, or a folder of a model. overrides: of the configuration, as `cluster=ray`.
    Raises: FoundryError: no such model, the file has not the columns of its question, or `out` has another
            ending than .parquet.
    """
    if out.suffix != ".parquet":
        raise FoundryError(f"--out {out} is no Parquet file; accepted: FILE.parquet")
    settings = Settings(configuration=compose_configuration(list(overrides)), deployment=find_deployment())
    with model_folder(model) as folder:
        content = ModelContent.of(folder)
        spec = predictor_named(read_model(folder)[0])
    rows = read_questions(file, spec)
    batches = [rows[start : start + BATCH_ROWS] for start in range(0, len(rows), BATCH_ROWS)]
    with fanout_of(settings):
        answered = run_all(
            "score",
            batches,
            partial(score_batch, content),
            workers=settings.configuration.run.workers or os.cpu_count() or 1,
            cost=len,
            on_progress=on_progress,
        )
    answers = [answer for batch in answered for answer in batch]
    write_bytes_atomically(out, _parquet(spec, rows, answers))
    return ScoreAnswer(
        model=model,
        out=str(out),
        rows=len(rows),
        statuses=Counter(answer["status"] for answer in answers),
        reasons=dict(Counter(a["reason"] for a in answers if a["reason"]).most_common(10)),
    )


def score_batch(content: ModelContent, rows: Sequence[Mapping[str, Any]]) -> Outcome[list[dict[str, Any]]]:
    """Answer the rows of a batch with status and reason; runs in any worker process."""
    spec, predictor, outcome = _loaded(content)
    problems = [Limits().row_problem(row, spec.task.question) for row in rows]
    good = [row for row, problem in zip(rows, problems, strict=True) if not problem]
    answers = iter(_answers(spec, predictor, outcome, good))
    results = [{"status": REFUSED, "reason": problem} if problem else next(answers) for problem in problems]
    failed = any(result["status"] != OK for result in results)
    return Outcome(result=results, failed=failed, name=f"{len(rows)} rows")


def _answers(
    spec: PredictorSpec[Any], predictor: Answering, outcome: TrainOutcome | None, rows: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return the answers to rows; where the predictor refuses some, each row is asked alone."""
    if not rows:
        return []
    try:
        answers = spec.answer(predictor, rows, outcome)
        return [{**answer, "status": OK, "reason": ""} for answer in answers]
    except (PredictorError, RecursionError) as error:
        if len(rows) == 1:
            nested = isinstance(error, RecursionError)
            reason = "the text is nested too deeply" if nested else " ".join(str(error).split())
            return [{"status": REFUSED, "reason": reason.removeprefix("row 0: ")}]
        return [answer for row in rows for answer in _answers(spec, predictor, outcome, [row])]


@lru_cache(maxsize=4)
def _loaded(content: ModelContent) -> tuple[PredictorSpec[Any], Answering, TrainOutcome | None]:
    """Load a predictor, once per process."""
    with tempfile.TemporaryDirectory(prefix="simfoundry-model-") as name:
        folder = Path(name)
        for file, data in content.files.items():
            (folder / file).write_bytes(data)
        spec = predictor_named(read_model(folder)[0])
        return spec, spec.load(folder), read_outcome(folder)


@contextmanager
def model_folder(model: str) -> Iterator[Path]:
    """Yield the folder of a model's files, fetched from the registry where it is on another machine.

    Raises: FoundryError: no such model. PredictorError: a damaged folder.
    """
    if Path(model).is_dir():
        yield Path(model)
        return
    name, alias = _named(model)
    local = find_local(find_deployment().tracking_uri, name, alias)
    if local is not None:
        yield local.folder
        return
    with registered_model(name, alias), tempfile.TemporaryDirectory(prefix="simfoundry-model-") as scratch:
        import mlflow.artifacts

        mlflow.artifacts.download_artifacts(f"models:/{name}@{alias}", dst_path=scratch)
        folders = [path.parent for path in Path(scratch).rglob(OUTCOME_FILE)]
        if len(folders) != 1:
            raise FoundryError(f"{model} has no files of one predictor")
        yield folders[0]


def read_questions(file: Path, spec: PredictorSpec[Any]) -> list[dict[str, Any]]:
    """Read the rows of a Parquet file with the columns of a predictor's question; others are left out.

    Raises: FoundryError: a column is missing or has values of another type, or the file is damaged or too
            large.
    """

    def refused(text: str) -> FoundryError:
        return FoundryError(f"not a table of questions: {file}: {text}")

    names = {column.name for column in spec.task.question}
    required = [column.name for column in spec.task.question if column.required]
    texts = [column.name for column in spec.task.question if column.kind == "string"]
    with open_regular(
        file, what="table of questions", most_bytes=FILE_LIMIT_BYTES, error=FoundryError
    ) as stream:
        opened = open_parquet(stream, columns=names, most_rows=ROW_LIMIT, error=refused, encoded=texts)
        present = set(opened.schema_arrow.names)
        if missing := [name for name in required if name not in present]:
            raise refused(f"no column {', '.join(missing)}; accepted: {', '.join(sorted(names))}")
        rows = opened.read(columns=sorted(names & present)).to_pylist()
    for column in spec.task.question:
        kind = _KINDS[column.kind]
        try:  # before the model is asked: the answers have these columns, too
            pa.array([row.get(column.name) for row in rows], kind, from_pandas=True)
        except (pa.ArrowException, OverflowError) as error:
            reason = " ".join(str(error).split())[:200]
            raise refused(f"column {column.name}: {reason}; accepted: {kind}") from error
    return rows


def _parquet(
    spec: PredictorSpec[Any], rows: Sequence[Mapping[str, Any]], answers: Sequence[Mapping[str, Any]]
) -> bytes:
    """Return questions and answers as a Parquet file; names of answers win."""
    asked = {column.name: _KINDS[column.kind] for column in spec.task.question}
    told = {column.name: _KINDS[column.kind] for column in spec.answer_columns}
    schema = pa.schema({**asked, **told, "status": pa.string(), "reason": pa.string()})
    merged = [{**row, **answer} for row, answer in zip(rows, answers, strict=True)]
    columns = [pa.array([row.get(f.name) for row in merged], f.type, from_pandas=True) for f in schema]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=schema), sink, write_page_checksum=True)
    return sink.getvalue().to_pybytes()
