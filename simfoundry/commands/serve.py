"""`simfoundry serve`: a registered model over HTTP, MLflow's scoring server behind limits on what is asked.

Every request is read and checked before MLflow sees it, and every refusal is one line of JSON. The interface
is that of `mlflow models serve`: POST /invocations, GET /ping, /health and /version.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

import click

from assets.errors import explain
from models.base import PredictorError
from models.limits import LimitError, Limits
from models.tasks import Column
from simfoundry.commands.predict import _named, registered_model
from simfoundry.commands.supervision import HOST, require_free

PATHS = {"/invocations": "POST", "/ping": "GET", "/health": "GET", "/version": "GET"}
TIMEOUT_S = 60
"""MLflow's variable takes whole seconds."""
BODY_TIMEOUT_S = 20.0
DISCARDED = 8
"""A body of so many times the limit is read, and not kept."""
_DIGITS = 18
_MOST_SHOWN = 500
_LOG = logging.getLogger(__name__)


class Refusal(Exception):
    """A request that is not answered, with its status and one line."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def serve_model(model: str, *, port: int, limits: Limits, as_json: bool = False) -> None:
    """Serve a registered model on the loopback interface until Ctrl-C.

    Args:   model: NAME@ALIAS.
    Raises: FoundryError: no such model, or the port is taken.
    """
    require_free({"--port": port})
    with registered_model(*_named(model)) as loaded:
        app = served_app(loaded, limits)
    from simfoundry.commands.loopback import serve_loopback  # lazy import: uvicorn takes 0.2 s

    address = f"http://{HOST}:{port}/invocations"
    answer = {"model": model, "address": address}
    said = json.dumps(answer) if as_json else f"ready: {model} at {address}"
    serve_loopback(app, port=port, on_ready=lambda: click.echo(said))


def served_app(loaded: Any, limits: Limits) -> CheckedQuestions:
    """Return the app of a model that MLflow loaded, behind the limits."""
    os.environ["MLFLOW_SCORING_SERVER_REQUEST_TIMEOUT"] = str(TIMEOUT_S)
    from mlflow.pyfunc import scoring_server  # lazy import: takes seconds

    columns = loaded.unwrap_python_model().spec.task.question
    return CheckedQuestions(scoring_server.init(_Explained(loaded)), columns, limits)


class _Explained:
    """A loaded model whose refusals MLflow answers with status 400 and their message."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.metadata = model.metadata

    def predict(self, data: Any) -> Any:
        """Answer a DataFrame. Raises: MlflowException: a row cannot be answered."""
        from mlflow.exceptions import MlflowException

        try:
            return self._model.predict(data)
        except (PredictorError, RecursionError) as error:
            nested = "the text is nested too deeply" if isinstance(error, RecursionError) else explain(error)
            raise MlflowException.invalid_parameter_value(nested) from error
        except MlflowException:
            raise
        except Exception:
            _LOG.exception("the model failed")
            raise


class CheckedQuestions:
    """An ASGI app that passes on questions within limits, and answers others with status 4xx and one line."""

    def __init__(self, app: Any, columns: Sequence[Column], limits: Limits) -> None:
        self.app = app
        self.columns = columns
        self.limits = limits

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            _require_path(scope)
            body = await self._checked_body(scope, receive) if scope["method"] == "POST" else b""
            status, content = await self._ask(scope, body)
        except Refusal as refusal:
            status, content = refusal.status, json.dumps({"error": str(refusal)}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or status == HTTPStatus.REQUEST_TIMEOUT:
            headers.append((b"connection", b"close"))  # the rest of the body is not read
        await send({"type": "http.response.start", "status": int(status), "headers": headers})
        await send({"type": "http.response.body", "body": content})

    async def _checked_body(self, scope: Any, receive: Any) -> bytes:
        """Return the question as MLflow reads it. Raises: Refusal: it exceeds a limit, or cannot be read."""
        import asyncio

        headers = {name.lower(): value for name, value in scope["headers"]}
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind != b"application/json":
            raise Refusal(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"content type {kind.decode('latin-1')[:80]!r}; accepted: application/json",
            )
        try:
            body = await asyncio.wait_for(self._read(headers, receive), BODY_TIMEOUT_S)
        except TimeoutError:
            raise Refusal(
                HTTPStatus.REQUEST_TIMEOUT, f"the request did not arrive within {BODY_TIMEOUT_S:g} s"
            ) from None
        rows = rows_of(body)
        try:
            self.limits.check_rows(rows, self.columns)
        except LimitError as error:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
        names = [column.name for column in self.columns]
        present = [name for name in names if any(row.get(name) is not None for row in rows)]
        complete = [{name: self._value(row, name) for name in present} for row in rows]
        return json.dumps({"dataframe_records": complete}).encode()

    def _value(self, row: Mapping[str, Any], name: str) -> Any:
        """Return a value as its kind; text is empty where an optional column has none."""
        kind = next(column.kind for column in self.columns if column.name == name)
        value = row.get(name)
        if value is None:
            return "" if kind == "string" else 0
        return {"string": str, "long": int, "double": float}[kind](value)

    async def _read(self, headers: Mapping[bytes, bytes], receive: Any) -> bytes:
        most = self.limits.body_bytes
        too_large = Refusal(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body of more than {most:,} bytes; accepted: at most that"
        )
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > _DIGITS or int(length) > DISCARDED * most:
            raise too_large
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Refusal(HTTPStatus.BAD_REQUEST, "the request ended early")
            size += len(message.get("body", b""))
            if size <= most:
                parts.append(message.get("body", b""))
            # What is somewhat too large is read to its end: a client that still sends sees no answer.
            is_read = not message.get("more_body") or size > DISCARDED * most
            if is_read and size > most:
                raise too_large
            if is_read:
                return b"".join(parts)

    async def _ask(self, scope: Any, body: bytes) -> tuple[int, bytes]:
        """Return the status and the answer of MLflow; an error of it is one line."""
        parts: list[bytes] = []
        status = 0

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                parts.append(message.get("body", b""))

        kept = [pair for pair in scope["headers"] if pair[0].lower() not in _REPLACED]
        own = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self.app({**scope, "headers": [*kept, *own]}, receive, send)
        content = b"".join(parts)
        if status < HTTPStatus.BAD_REQUEST:
            return status, content
        if status == HTTPStatus.GATEWAY_TIMEOUT:
            raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, f"no answer within {TIMEOUT_S} s; accepted: less")
        error = _error_of(content)
        if error.get("stack_trace"):  # not a refusal: the model failed
            raise Refusal(
                HTTPStatus.INTERNAL_SERVER_ERROR, "the model failed; the log of the server says why"
            )
        line = str(error.get("message", "")).rpartition("\nError: ")[2]
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, " ".join(line.split())[:_MOST_SHOWN] or "refused")


_REPLACED = (b"content-type", b"content-length", b"transfer-encoding", b"content-encoding")


def _error_of(content: bytes) -> Mapping[str, Any]:
    try:
        error = json.loads(content)
    except ValueError:
        error = None
    return error if isinstance(error, dict) else {"message": content.decode(errors="replace")}


def _require_path(scope: Any) -> None:
    method = PATHS.get(scope["path"])
    if method is None:
        raise Refusal(HTTPStatus.NOT_FOUND, f"no such path; accepted: {', '.join(PATHS)}")
    if scope["method"] != method:
        raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED, f"method {scope['method'][:10]}; accepted: {method}")


def rows_of(body: bytes) -> list[Any]:
    """Return the rows of a request in one of MLflow's two formats of tables.

    Raises: Refusal: it is neither.
    """
    try:
        content = json.loads(body, parse_constant=_refuse_constant)
    except RecursionError:
        raise Refusal(HTTPStatus.BAD_REQUEST, "JSON that is nested too deeply") from None
    except ValueError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"not JSON: {' '.join(str(error).split())[:200]}") from None
    accepted = (
        'accepted: {"dataframe_records": [...]} or {"dataframe_split": {"columns": [...], "data": [...]}}'
    )
    if not isinstance(content, dict) or len(content) != 1:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"not one table; {accepted}")
    [(name, table)] = content.items()
    if name == "dataframe_records" and isinstance(table, list):
        return table
    if name == "dataframe_split" and isinstance(table, dict):
        rows = _split_rows(cast(dict[str, Any], table))
        if rows is not None:
            return rows
    raise Refusal(HTTPStatus.BAD_REQUEST, f"not a table: {name[:40]!r}; {accepted}")


def _split_rows(table: Mapping[str, Any]) -> list[Any] | None:
    """Return the rows of columns and data; None where it is no such table.

    Raises: Refusal: a row has another number of values.
    """
    columns, data = table.get("columns"), table.get("data")
    if table.keys() - {"columns", "data", "index"}:
        return None
    if not isinstance(columns, list) or not isinstance(data, list):
        return None
    names, lines = cast(list[Any], columns), cast(list[Any], data)
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        return None
    if not all(isinstance(line, list) and len(cast(list[Any], line)) == len(names) for line in lines):
        raise Refusal(HTTPStatus.BAD_REQUEST, "a row with another number of values than columns")
    return [dict(zip(names, line, strict=True)) for line in lines]


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
