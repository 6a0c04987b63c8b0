"""Servers and providers that misbehave, and a small parent, for the tests of the LLM stage."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipelines.base.cache import ContentCache
from pipelines.dataset.variants import check_variant
from pipelines.programs.llm import (
    CheckLimits,
    LlmOptions,
    LlmPrograms,
    ParentPool,
    Prices,
    Prompt,
    Provider,
    ProviderError,
    Reply,
    TextLimits,
    llm_programs,
)
from pipelines.programs.rows import program_row
from pipelines.schemas import ProgramRow

SOURCE = """#include <stdint.h>

#define N 6

void scale(int16_t gain, const int16_t x[N], int16_t out[N]) {
    for (int i = 0; i < N; i++) {
        out[i] = x[i] * gain;
    }
}
"""
GOOD = SOURCE.replace("x[i] * gain", "x[N - 1 - i] + gain")
PROMPT = Prompt(name="vary", text="A variant of\n```c\n{{source}}\n```\nof {{top}} for {{inputs}}.\n")
PARENT: ProgramRow = program_row(
    name="parent",
    suite="ast",
    stage="ast",
    size="custom",
    parameters={"N": 6},
    source=SOURCE,
    top="scale",
    inputs={
        "gain": {"kind": "uniform", "low": -4, "high": 5},
        "x": {"kind": "uniform", "low": -50, "high": 51},
    },
    operators=("multiply",),
)
POOL = ParentPool(name="ast", count=1, weight=1.0, program=lambda number: PARENT)


class Says:
    """A provider with given replies, one after another, the last again and again; an error is raised."""

    identity = "says"
    prices = Prices(prompt_million=15_000.0, completion_million=20_000.0)
    model = "says-1"

    def __init__(self, *replies: str | ProviderError) -> None:
        self.replies = replies
        self.prompts: list[tuple[str, int]] = []

    def complete(self, prompt: str, *, seed: int) -> Reply:
        said = self.replies[min(len(self.prompts), len(self.replies) - 1)]
        self.prompts.append((prompt, seed))
        if isinstance(said, ProviderError):
            raise said
        return Reply(text=said, model=self.model, prompt_tokens=10, completion_tokens=5, cost=0.25)


def fenced(source: str) -> str:
    """A reply with a program among prose."""
    return f"Here is a variant:\n\n```c\n{source}```\nIt differs.\n"


def variants(
    provider: Provider,
    folder: Path,
    *,
    count: int = 1,
    attempts: int = 1,
    most_failures: int = 5,
    check: CheckLimits | None = None,
    pools: Sequence[ParentPool] = (POOL,),
    known: Mapping[str, str] | None = None,
) -> LlmPrograms:
    """The stage on one parent."""
    options = LlmOptions(
        count=count,
        seed=0,
        attempts=attempts,
        most_failures=most_failures,
        text=TextLimits(),
        check=check or CheckLimits(timeout_s=5),
    )
    return llm_programs(
        options,
        provider=provider,
        prompts=[PROMPT],
        parents=pools,
        judge=check_variant,
        cache=ContentCache(folder=folder),
        known=known or {},
    )


@contextmanager
def answering(answer: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    """URL of a server on loopback that gives each connection to a function with the request it read."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ended = threading.Event()
        threads: list[threading.Thread] = []

        def work(connection: socket.socket) -> None:
            with connection:
                try:
                    answer(connection, read_request(connection))
                except OSError:
                    return

        def listen() -> None:
            while not ended.is_set():
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connection.settimeout(20)
                threads.append(threading.Thread(target=work, args=(connection,)))
                threads[-1].start()

        accepting = threading.Thread(target=listen)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def read_request(connection: socket.socket) -> bytes:
    """Head and body of a request."""
    content = b""
    while b"\r\n\r\n" not in content:
        content += connection.recv(65536)
    head, _, body = content.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def respond(
    connection: socket.socket,
    body: bytes,
    *,
    status: str = "200 OK",
    headers: str = "",
    kind: str = "application/json",
) -> None:
    """Send a whole answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    connection.sendall(head.encode() + body)
