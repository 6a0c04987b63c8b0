"""The embedded model behind OpenAI's protocol: `python -m models.program_lm.server`.

It is for trying the path that any other server takes, and for programs that speak this protocol; it serves
loopback unless told otherwise, and is no server for the open network.
"""

from __future__ import annotations

import hmac
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import click

from models.program_lm import TrainingOptions
from models.program_lm.provider import EmbeddedProvider
from pipelines.base.cache import ContentCache
from pipelines.programs.llm import Provider, ProviderError, Reply

COMPLETIONS, MODELS = "/v1/chat/completions", "/v1/models"
MOST_REQUEST_BYTES = 1 << 20
TIMEOUT_S = 30.0
"""Time limit for a client that stops sending."""


class _Refused(Exception):
    """A request cannot be answered."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class ModelServer(ThreadingHTTPServer):
    """A server of one provider.

    Args:
        provider: answers, one request at a time.
        key: bearer token that requests must have; None for none.
        most_requests: completions after which the server ends itself; None for no end.
    """

    daemon_threads = True

    def __init__(
        self,
        address: tuple[str, int],
        provider: Provider,
        *,
        key: str | None = None,
        most_requests: int | None = None,
    ) -> None:
        super().__init__(address, _Handler)
        self.provider = provider
        self.key = key
        self.most_requests = most_requests
        self._answered = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where clients find the API."""
        host, port = self.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}/v1"

    def answer(self, prompt: str, seed: int) -> Reply:
        """Return the provider's reply; requests wait for each other."""
        with self._lock:
            return self.provider.complete(prompt, seed=seed)

    def count_answer(self) -> None:
        """Count a sent completion; stop the server after the last one."""
        with self._lock:
            self._answered += 1
            if self._answered == self.most_requests:
                threading.Thread(target=self.shutdown, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    timeout = TIMEOUT_S
    protocol_version = "HTTP/1.1"

    @property
    def models(self) -> ModelServer:
        """The server that this request came to."""
        return cast(ModelServer, self.server)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: a request may hold what nobody wants in a log."""
        del format, args

    def do_GET(self) -> None:
        name = self.models.provider.model
        with self._answering():
            self._require_key()
            if self.path != MODELS:
                raise _Refused(HTTPStatus.NOT_FOUND, f"a path must be {MODELS} or {COMPLETIONS}")
            self._send(HTTPStatus.OK, {"object": "list", "data": [{"id": name, "object": "model"}]})

    def do_POST(self) -> None:
        with self._answering():
            self._require_key()
            if self.path != COMPLETIONS:
                raise _Refused(HTTPStatus.NOT_FOUND, f"a path must be {COMPLETIONS}")
            prompt, seed = _question(self._body())
            try:
                reply = self.models.answer(prompt, seed)
            except ProviderError as error:
                raise _Refused(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from error
            self._send(HTTPStatus.OK, _completion(reply))
            self.models.count_answer()

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except _Refused as refused:
            self.close_connection = True
            self._send(refused.status, {"error": {"message": str(refused), "type": "invalid_request_error"}})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _require_key(self) -> None:
        if self.models.key is None:
            return
        authorization = self.headers.get("Authorization", "")
        if not hmac.compare_digest(authorization.encode(), f"Bearer {self.models.key}".encode()):
            raise _Refused(HTTPStatus.UNAUTHORIZED, "a request must have the server's key")

    def _body(self) -> Any:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_REQUEST_BYTES:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request must have at most {MOST_REQUEST_BYTES} bytes"
            )
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise _Refused(HTTPStatus.BAD_REQUEST, "a request must be JSON") from None

    def _send(self, status: HTTPStatus, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _question(body: Any) -> tuple[str, int]:
    """Return the last message of the user, and the seed."""
    try:
        texts = [m["content"] for m in body["messages"] if m["role"] == "user"]
        seed = body.get("seed") or 0
    except (KeyError, TypeError, AttributeError):
        texts, seed = [], 0
    if not texts or not isinstance(texts[-1], str) or not isinstance(seed, int):
        raise _Refused(HTTPStatus.BAD_REQUEST, "a request must have messages of a user and an integer seed")
    return texts[-1], seed


def _completion(reply: Reply) -> dict[str, Any]:
    prompt_tokens, completion_tokens = reply.prompt_tokens or 0, reply.completion_tokens or 0
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, help="Port; 0 for a free one.")
@click.option("--cache", type=click.Path(path_type=Path), default=Path("data/cache"), show_default=True)
@click.option("--seed", default=0, show_default=True, help="Of the training.")
@click.option("--programs", default=TrainingOptions().programs, show_default=True, help="Of the corpus.")
@click.option("--steps", default=TrainingOptions().steps, show_default=True, help="Of the training.")
@click.option("--key-variable", help="Environment variable with the key that requests must have.")
@click.option("--requests", type=int, help="Completions after which the server ends.")
def main(
    host: str,
    port: int,
    cache: Path,
    seed: int,
    programs: int,
    steps: int,
    key_variable: str | None,
    requests: int | None,
) -> None:
    """Serve the project's own language model with OpenAI's protocol until Ctrl-C.

    It is trained first when the cache does not have it. The first line of output is the URL for
    llm.server.url.
    """
    key = None if key_variable is None else os.environ.get(key_variable)
    if key_variable is not None and not key:
        raise click.UsageError(f"environment variable {key_variable} is not set")
    provider = EmbeddedProvider(
        cache=ContentCache(folder=cache),
        training=TrainingOptions(programs=programs, steps=steps),
        seed=seed,
        on_step=_told,
    )
    provider.trained()
    with ModelServer((host, port), provider, key=key, most_requests=requests) as server:
        click.echo(server.url)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            click.echo("ended", err=True)


def _told(step: int, steps: int, loss: float) -> None:
    if step % 100 == 0 or step == steps:
        click.echo(f"training: step {step} of {steps}, loss {loss:.3f}", err=True)


if __name__ == "__main__":
    main()
