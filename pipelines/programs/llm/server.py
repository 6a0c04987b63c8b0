"""A language model behind a server that speaks OpenAI's chat completions: vLLM, llama.cpp, Ollama and others.

The client is httpx without redirects, .netrc, proxies or other settings of the environment. One clock bounds
a whole exchange, however slowly a server sends: it cancels the exchange. tenacity repeats a request while the
server is busy. A key is sent to the configured address only, and is in no message, row or identity.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.base.identity import canonical_json
from pipelines.base.tools import stopwatch
from pipelines.programs.errors import ProgramError
from pipelines.programs.llm.provider import Prices, ProviderError, Reply

if TYPE_CHECKING:
    from tenacity import RetryCallState

RETRIED = (408, 425, 429, 500, 502, 503, 504)
"""Statuses of answers after which a request is repeated."""
LONGEST_PAUSE_S = 60.0
EXCERPT_CHARACTERS = 200
_KEY = re.compile(r"[\x21-\x7e]{1,4096}")
_FREE = Prices()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """A server and how it is asked.

    Attributes:
        url: of the API, for example http://localhost:11434/v1; `/chat/completions` is added.
        model: name that the server knows.
        key_variable: name of the environment variable that holds the key, if there is one.
        temperature, most_tokens: of the reply.
        timeout_s: of one exchange from the connection to the last byte, wall clock in seconds.
        most_reply_bytes: of one answer; a longer one is cut off.
        tries: times that a prompt is sent when the server is busy or cannot be reached.
        pause_s: before the second try; it doubles each time.
        requests_a_minute: most requests; None = unlimited.

    Raises: ProgramError: a value outside its range.
    """

    url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    temperature: float = 0.8
    most_tokens: int = 4096
    timeout_s: float = 120.0
    most_reply_bytes: int = 1 << 20
    tries: int = 4
    pause_s: float = 1.0
    requests_a_minute: float | None = None

    def __post_init__(self) -> None:
        rule = "a server's url must be http or https with a host and no user or query"
        try:
            parts = urlsplit(self.url)
            place = f"{parts.scheme}://{parts.hostname}:{parts.port}{parts.path}"  # without what is secret
        except ValueError as error:
            raise ProgramError(f"{rule}, got another text: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise ProgramError(f"{rule}, got {place[:EXCERPT_CHARACTERS]} with a user or a query, or no host")
        _require(bool(self.model), "a server's model must have a name", self.model)
        _require(0 <= self.temperature <= 5, "temperature must be 0 .. 5", self.temperature)
        _require(self.pause_s >= 0, "pause_s must be at least 0", self.pause_s)
        for name in ("most_tokens", "timeout_s", "most_reply_bytes", "tries"):
            _require(getattr(self, name) > 0, f"{name} must be above 0", getattr(self, name))
        rate = self.requests_a_minute
        _require(rate is None or rate > 0, "requests_a_minute must be above 0", rate)


def _require(holds: bool, rule: str, value: object) -> None:
    if not holds:
        raise ProgramError(f"{rule}, got {value!r}")


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    content: str


class _Choice(BaseModel):
    model_config = ConfigDict(extra="ignore")

    message: _Message


_TokenCount = Annotated[int, Field(ge=0, le=2**31 - 1)]


class _Usage(BaseModel):
    model_config = ConfigDict(extra="ignore")

    prompt_tokens: _TokenCount
    completion_tokens: _TokenCount


class _Completion(BaseModel):
    """The part of an answer that matters; servers add more."""

    model_config = ConfigDict(extra="ignore")

    choices: list[_Choice]
    model: str | None = None
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int
    content_type: str
    retry_after_s: float | None
    body: bytes


class _Busy(Exception):
    """Asking again may help."""

    def __init__(self, reason: str, pause_s: float | None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


def _wait(seconds: float) -> None:
    Event().wait(seconds)


class ServerProvider:
    """A model behind a server.

    Args:
        options: the server and how it is asked.
        key: sent as a bearer token; None for a server without one.
        prices: of tokens. wait: sleeps for some seconds.

    Raises: ProgramError: the key cannot stand in a header.
    """

    def __init__(
        self,
        options: ServerOptions,
        *,
        key: str | None = None,
        prices: Prices = _FREE,
        wait: Callable[[float], None] = _wait,
    ) -> None:
        if key is not None and not _KEY.fullmatch(key):
            raise ProgramError("a key must be visible ASCII characters without spaces, got others")
        self._options = options
        self._key = key
        self.prices = prices
        self._wait = wait
        self._next_at_s = 0.0

    @property
    def identity(self) -> str:
        """Address, model and what is asked of it."""
        options = self._options
        return canonical_json(
            ["server", options.url, options.model, options.temperature, options.most_tokens]
        )

    @property
    def model(self) -> str:
        """The name that the server knows."""
        return self._options.model

    def complete(self, prompt: str, *, seed: int) -> Reply:
        """Return the server's reply.

        Raises: ProviderError: no answer in time, an answer that is too long or no completion, or a refusal.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt  # lazy: takes 0.2 s

        retrying = Retrying(
            stop=stop_after_attempt(self._options.tries),
            wait=self._pause_s,
            retry=retry_if_exception_type(_Busy),
            before=self._keep_pace,
            sleep=self._wait,
            reraise=True,
        )
        try:
            return retrying(lambda: self._reply(self._exchange(self._request(prompt, seed))))
        except _Busy as busy:
            raise ProviderError(f"{busy}, {self._options.tries} times") from None

    # ---- asking ----

    def _request(self, prompt: str, seed: int) -> bytes:
        body = {
            "model": self._options.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self._options.temperature,
            "max_tokens": self._options.most_tokens,
            "seed": seed,
            "stream": False,
        }
        return json.dumps(body).encode()

    def _pause_s(self, state: RetryCallState) -> float:
        """Return the seconds before the next try: those that the server asked for, else doubled each time."""
        error = state.outcome.exception() if state.outcome is not None else None
        asked_s = error.pause_s if isinstance(error, _Busy) else None
        doubled_s = self._options.pause_s * 2 ** (state.attempt_number - 1)
        return min(LONGEST_PAUSE_S, doubled_s if asked_s is None else asked_s)

    def _keep_pace(self, state: RetryCallState) -> None:
        """Wait until the rate allows the next request."""
        del state
        if self._options.requests_a_minute is None:
            return
        now = stopwatch()
        if now < self._next_at_s:
            self._wait(self._next_at_s - now)
        self._next_at_s = max(now, self._next_at_s) + 60.0 / self._options.requests_a_minute

    def _exchange(self, body: bytes) -> _Answer:
        """Send one request and read its answer, all within the time limit.

        Raises: ProviderError, _Busy.
        """
        import httpx  # lazy: takes 0.4 s, and every command imports this module

        try:
            return asyncio.run(self._answer(body))
        except TimeoutError:
            rule = f"a server must answer within {self._options.timeout_s:g} s"
            raise ProviderError(f"{rule}, got no end of an answer", timed_out=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            text = " ".join(self._without_key(f"{type(error).__name__}: {error}").split())
            raise _Busy(f"a server must answer, got {text[:EXCERPT_CHARACTERS]}", None) from None

    async def _answer(self, body: bytes) -> _Answer:
        """Return the answer to one request.

        Raises: TimeoutError; httpx.HTTPError; ProviderError: the answer is too long.
        """
        import httpx

        options, content = self._options, bytearray()
        url = options.url.rstrip("/") + "/chat/completions"
        client = httpx.AsyncClient(
            timeout=None,  # noqa: S113 (the deadline below is of the whole exchange)
            trust_env=False,
            verify=ssl.create_default_context(),
        )
        async with (
            asyncio.timeout(options.timeout_s),
            client,
            client.stream("POST", url, content=body, headers=self._headers()) as response,
        ):
            async for piece in response.aiter_raw():
                content += piece
                if len(content) > options.most_reply_bytes:
                    raise ProviderError(
                        f"a reply must be at most {options.most_reply_bytes} bytes, got more",
                        reply_excerpt=self._excerpt(bytes(content)),
                    )
            return _Answer(
                status=response.status_code,
                content_type=response.headers.get("Content-Type", "nothing").split(";")[0],
                retry_after_s=_seconds(response.headers.get("Retry-After")),
                body=bytes(content),
            )

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
        }
        return headers if self._key is None else headers | {"Authorization": f"Bearer {self._key}"}

    # ---- understanding ----

    def _reply(self, answer: _Answer) -> Reply:
        excerpt = self._excerpt(answer.body)
        if answer.status in RETRIED:
            raise _Busy(f"a server must answer 200, got {answer.status}", answer.retry_after_s)
        if answer.status != 200:
            raise ProviderError(f"a server must answer 200, got {answer.status}", reply_excerpt=excerpt)
        try:
            content: Any = json.loads(answer.body)
            completion = _Completion.model_validate(content)
        except (ValueError, RecursionError) as error:
            got = "another form" if isinstance(error, ValidationError) else answer.content_type
            rule = "an answer must be a chat completion in JSON"
            raise ProviderError(f"{rule}, got {got}", reply_excerpt=excerpt) from None
        if not completion.choices:
            raise ProviderError("an answer must have a choice, got none", reply_excerpt=excerpt)
        usage = completion.usage
        counts = (usage.prompt_tokens, usage.completion_tokens) if usage is not None else (None, None)
        return Reply(
            text=self._without_key(completion.choices[0].message.content),
            model=self._without_key(_one_line(_encodable(completion.model or self._options.model))),
            prompt_tokens=counts[0],
            completion_tokens=counts[1],
            cost=self.prices.cost(*counts),
        )

    def _excerpt(self, content: bytes) -> str:
        text = self._without_key(content.decode("utf-8", errors="replace"))
        return _one_line(text)[:EXCERPT_CHARACTERS]

    def _without_key(self, text: str) -> str:
        """Return a text that a server may have put the key into."""
        return text if self._key is None else text.replace(self._key, "(key)")


def _one_line(text: str) -> str:
    return " ".join(text[: 64 * EXCERPT_CHARACTERS].split())[: 2 * EXCERPT_CHARACTERS]


def _encodable(text: str) -> str:
    """Return a text with question marks for halves of characters, which no table can hold."""
    return text.encode("utf-8", errors="replace").decode()


def _seconds(text: str | None) -> float | None:
    """Return the seconds that Retry-After asks for; None for a date or no number."""
    return float(text) if text is not None and text.isdecimal() and len(text) < 6 else None
