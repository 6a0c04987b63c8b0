"""A model behind a server: what is sent, what is understood, and servers that misbehave, each on loopback."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from llm_support import GOOD, answering, fenced, respond, variants

from pipelines.programs import ProgramError
from pipelines.programs.llm import Prices, ProviderError, ServerOptions, ServerProvider

KEY = "sk-secret-1234"


def _completion(text: str, **more: object) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}], **more}).encode()


def _provider(
    url: str, *, key: str | None = KEY, prices: Prices | None = None, **options: object
) -> ServerProvider:
    settings = {"url": url, "model": "m", "timeout_s": 20.0, "pause_s": 0.25, "tries": 3, **options}
    return ServerProvider(ServerOptions(**settings), key=key, prices=prices or Prices(), wait=WAITS.append)


WAITS: list[float] = []


@pytest.fixture(autouse=True)
def _no_waits() -> None:
    WAITS.clear()


def test_request_has_model_prompt_seed_and_key() -> None:
    seen: list[bytes] = []

    def answer(connection: socket.socket, request: bytes) -> None:
        seen.append(request)
        respond(
            connection, _completion("hello", model="m-1", usage={"prompt_tokens": 7, "completion_tokens": 2})
        )

    prices = Prices(prompt_million=1.0, completion_million=10.0)
    with answering(answer) as url:
        reply = _provider(url, prices=prices, temperature=0.5).complete("say hello", seed=3)
    assert (reply.text, reply.model, reply.prompt_tokens, reply.completion_tokens) == ("hello", "m-1", 7, 2)
    assert reply.cost == pytest.approx(27e-6)
    head, _, body = seen[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1")
    assert f"Authorization: Bearer {KEY}".encode() in head
    sent = json.loads(body)
    assert sent["messages"] == [{"role": "user", "content": "say hello"}]
    assert (sent["model"], sent["seed"], sent["temperature"]) == ("m", 3, 0.5)


def test_request_without_a_key_has_no_authorisation() -> None:
    seen: list[bytes] = []

    def answer(connection: socket.socket, request: bytes) -> None:
        seen.append(request)
        respond(connection, _completion("hello"))

    with answering(answer) as url:
        reply = _provider(url, key=None).complete("x", seed=0)
    assert b"authorization" not in seen[0].lower()
    assert (reply.model, reply.prompt_tokens, reply.cost) == ("m", None, None)


def test_busy_server_is_asked_again_with_longer_pauses() -> None:
    answers = ["503 Service Unavailable", "429 Too Many Requests", "200 OK"]

    def answer(connection: socket.socket, request: bytes) -> None:
        respond(connection, _completion("late"), status=answers.pop(0))

    with answering(answer) as url:
        assert _provider(url).complete("x", seed=0).text == "late"
    assert WAITS == [0.25, 0.5]


def test_server_says_when_to_ask_again_within_reason() -> None:
    headers = ["Retry-After: 7\r\n", "Retry-After: 90000\r\n", ""]

    def answer(connection: socket.socket, request: bytes) -> None:
        header = headers.pop(0)
        status = "429 Too Many Requests" if header else "200 OK"
        respond(connection, _completion("late"), status=status, headers=header)

    with answering(answer) as url:
        assert _provider(url).complete("x", seed=0).text == "late"
    assert WAITS == [7.0, 60.0]


def test_rate_is_kept() -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        respond(connection, _completion("x"))

    with answering(answer) as url:
        provider = _provider(url, requests_a_minute=0.5)
        provider.complete("x", seed=0)
        provider.complete("x", seed=1)
    assert len(WAITS) == 1
    assert 60 < WAITS[0] <= 120


def test_nobody_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ProviderError, match=r"a server must answer, got ConnectError.*, 3 times"):
        _provider(f"http://127.0.0.1:{port}/v1").complete("x", seed=0)


def _html(connection: socket.socket, request: bytes) -> None:
    respond(connection, b"<html><body>Sign in</body></html>", kind="text/html; charset=utf-8")


def _malformed(connection: socket.socket, request: bytes) -> None:
    respond(connection, b'{"choices": [{"message": {"content": "int')


def _other_form(connection: socket.socket, request: bytes) -> None:
    respond(connection, b'{"choices": [{"text": "int"}]}')


def _no_choice(connection: socket.socket, request: bytes) -> None:
    respond(connection, b'{"choices": []}')


def _deep_json(connection: socket.socket, request: bytes) -> None:
    respond(connection, b"[" * 200_000)


def _refusal(connection: socket.socket, request: bytes) -> None:
    respond(connection, b'{"error": "no such key: ' + KEY.encode() + b'"}', status="401 Unauthorized")


def _redirect(connection: socket.socket, request: bytes) -> None:
    respond(connection, b"", status="302 Found", headers="Location: http://127.0.0.1:9/\r\n")


def _gigabyte(connection: socket.socket, request: bytes) -> None:
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n"
    )
    connection.sendall(b'{"choices": [{"message": {"content": "')
    for _ in range(16_384):
        connection.sendall(b"x" * 65_536)


def _gigabyte_in_chunks(connection: socket.socket, request: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(16_384):
        connection.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")


def _not_http(connection: socket.socket, request: bytes) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def _cut_off(connection: socket.socket, request: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{}")


HOSTILE = {
    "html": (_html, "an answer must be a chat completion in JSON, got text/html", "<html><body>Sign in"),
    "malformed JSON": (_malformed, "must be a chat completion in JSON, got application/json", '{"choices"'),
    "another form": (_other_form, "must be a chat completion in JSON, got another form", '{"choices"'),
    "no choice": (_no_choice, "must have a choice, got none", '{"choices": []}'),
    "deep JSON": (_deep_json, "must be a chat completion in JSON", "[[["),
    "a refusal": (_refusal, "a server must answer 200, got 401", "no such key: (key)"),
    "a redirect": (_redirect, "a server must answer 200, got 302", ""),
    "a gigabyte": (_gigabyte, "a reply must be at most 1048576 bytes, got more", '{"choices"'),
    "a gigabyte in chunks": (_gigabyte_in_chunks, "a reply must be at most 1048576 bytes, got more", "xxx"),
    "another protocol": (_not_http, "a server must answer, got RemoteProtocolError.*, 3 times", ""),
    "an answer that is cut off": (_cut_off, "a server must answer, got RemoteProtocolError.*, 3 times", ""),
}


@pytest.mark.parametrize(("answer", "message", "excerpt"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_server_is_a_failure(answer, message: str, excerpt: str) -> None:
    with answering(answer) as url, pytest.raises(ProviderError, match=message) as caught:
        _provider(url).complete("x", seed=0)
    assert excerpt in caught.value.reply_excerpt
    assert KEY not in str(caught.value) + caught.value.reply_excerpt + repr(caught.value)
    assert not caught.value.timed_out


def _hangs(connection: socket.socket, request: bytes) -> None:
    connection.recv(1)


def _drips(connection: socket.socket, request: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    connection.settimeout(0.02)
    while True:
        connection.sendall(b" ")
        try:
            if not connection.recv(1):
                return
        except TimeoutError:
            continue


def _drips_its_head(connection: socket.socket, request: bytes) -> None:
    connection.settimeout(0.02)
    while True:
        connection.sendall(b"H")
        try:
            if not connection.recv(1):
                return
        except TimeoutError:
            continue


@pytest.mark.parametrize("answer", [_hangs, _drips, _drips_its_head])
def test_server_that_does_not_end_is_left(answer) -> None:
    with answering(answer) as url, pytest.raises(ProviderError, match=r"answer within 0\.3 s") as caught:
        _provider(url, timeout_s=0.3).complete("x", seed=0)
    assert caught.value.timed_out


@pytest.mark.slow
def test_hostile_servers_are_rows_and_the_run_goes_on(tmp_path: Path) -> None:
    answers = [_hangs, _html, _gigabyte, _malformed]

    def answer(connection: socket.socket, request: bytes) -> None:
        if answers:
            answers.pop(0)(connection, request)
        else:
            respond(connection, _completion(fenced(GOOD)))

    with answering(answer) as url:
        made = variants(_provider(url, timeout_s=4.0), tmp_path, count=1, attempts=5, most_failures=9)
    assert [row.status for row in made.rows] == ["timeout", "tool_error", "tool_error", "tool_error", "ok"]
    assert all(KEY not in repr(row) for row in made.rows)
    stored = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert KEY.encode() not in stored


def test_identity_has_the_server_and_no_key() -> None:
    provider = _provider("http://localhost:1/v1")
    assert "http://localhost:1/v1" in provider.identity
    assert KEY not in provider.identity + repr(provider) + str(vars(provider).keys())


WRONG = {
    "a file": ({"url": "file:///etc/passwd"}, "must be http or https"),
    "a user in the address": ({"url": "http://me:pw@localhost/v1"}, "no user or query"),
    "no model": ({"url": "http://localhost/v1", "model": ""}, "must have a name"),
    "no tries": ({"url": "http://localhost/v1", "tries": 0}, "tries must be above 0, got 0"),
    "no time": ({"url": "http://localhost/v1", "timeout_s": 0}, "timeout_s must be above 0, got 0"),
    "no rate": (
        {"url": "http://localhost/v1", "requests_a_minute": 0.0},
        "requests_a_minute must be above 0",
    ),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG.keys())
def test_server_rejects_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        _provider(**options)  # type: ignore[arg-type]


def test_a_key_in_an_answer_is_in_no_reply() -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        respond(connection, _completion(f"int main; // {KEY}", model=f"m {KEY}\ud800"))

    with answering(answer) as url:
        reply = _provider(url).complete("x", seed=0)
    assert (reply.text, reply.model) == ("int main; // (key)", "m (key)?")


def test_a_key_across_the_end_of_an_excerpt_is_not_cut_and_shown() -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        respond(connection, b"x" * 190 + KEY.encode() + b"y" * 4000)

    with answering(answer) as url, pytest.raises(ProviderError, match="at most 1000 bytes") as caught:
        _provider(url, most_reply_bytes=1000).complete("x", seed=0)
    assert "sk-" not in caught.value.reply_excerpt


@pytest.mark.parametrize("tokens", [-5, 10**20, int("1" + 400 * "0")])
def test_token_counts_that_no_model_has_are_another_form(tokens: int) -> None:
    def answer(connection: socket.socket, request: bytes) -> None:
        respond(connection, _completion("x", usage={"prompt_tokens": tokens, "completion_tokens": 1}))

    with (
        answering(answer) as url,
        pytest.raises(ProviderError, match="in JSON, got another form"),
    ):
        _provider(url).complete("x", seed=0)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:99999/v1",
        "http://localhost:abc/v1",
        "http://[::1/v1",
        "http://:hidden@localhost/v1",
        "http://localhost/v1?key=hidden",
    ],
)
def test_server_rejects_urls_and_repeats_no_secret(url: str) -> None:
    with pytest.raises(ProgramError, match="a server's url must be http or https") as caught:
        _provider(url)
    assert "hidden" not in str(caught.value)


def test_server_rejects_a_key_that_is_no_header() -> None:
    with pytest.raises(ProgramError, match="visible ASCII characters without spaces, got others") as caught:
        _provider("http://localhost/v1", key="a\r\nHost: b")
    assert "Host" not in str(caught.value)
