"""Notices of failed nightly runs: a file, and a message to a webhook on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.deployments import Deployment
from assets.nightly import everything, nightly_failed
from assets.notices import WEBHOOK_VARIABLE, Notice, send_notice
from assets.resources import ProgressResource

SECRET = "T0K3N-of-the-chat"


@dataclass
class Webhook:
    """A server of this machine: what it was sent, and what it answers."""

    status: int = 200
    never_ends: bool = False
    address: str = ""
    received: list[tuple[str, Any]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def _served(webhook: Webhook) -> Iterator[Webhook]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            webhook.received.append((self.path, json.loads(content)))
            if webhook.never_ends:
                self.wfile.write(b"HTTP/1.0 200 OK\r\nX: ")
                while not webhook.released.wait(0.02):
                    with suppress(OSError):  # the sender has left
                        self.wfile.write(b"x")
            self.send_response(webhook.status)
            self.send_header("Location", f"{webhook.address}/elsewhere")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        webhook.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield webhook
        finally:
            webhook.released.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    with _served(Webhook()) as served:
        monkeypatch.setenv(WEBHOOK_VARIABLE, f"{served.address}/{SECRET}")
        yield served


def _notices(deployment: Deployment) -> list[Path]:
    return sorted((deployment.data_dir / "notices").glob("*"))


def _fail_a_night(instance: dg.DagsterInstance) -> dg.DagsterRun:
    """A nightly run that fails, and the sensor that sees it."""
    config = {"ops": {"choose_programs": {"config": {"scale": "huge"}}}}
    result = everything.execute_in_process(
        instance=instance,
        run_config=config,
        resources={"progress": ProgressResource()},
        raise_on_error=False,
    )
    assert not result.success
    context = dg.build_run_status_sensor_context(
        sensor_name="nightly_failed",
        dagster_instance=instance,
        dagster_run=result.dagster_run,
        dagster_event=result.get_run_failure_event(),
    ).for_run_failure()
    nightly_failed(context)
    return result.dagster_run


def test_a_failed_night_is_a_file_and_a_message(deployment: Deployment, webhook: Webhook) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        run = _fail_a_night(instance)
    [path] = _notices(deployment)
    first, second, *_ = path.read_text().splitlines()
    assert first.startswith("The nightly run failed: override not accepted: scale=huge")
    assert second == f"Dagster run: {run.run_id}"
    [(address, message)] = webhook.received
    assert address == f"/{SECRET}"
    assert message["text"] == f"{first}\n{second}"
    assert message["run"] == run.run_id


def test_a_webhook_that_fails_is_noted_without_its_address(
    deployment: Deployment, webhook: Webhook, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    webhook.status = 500
    with dg.DagsterInstance.ephemeral() as instance:
        _fail_a_night(instance)
    [path] = _notices(deployment)
    assert path.read_text().endswith("\nWebhook: status 500\n")
    said = caplog.text + "".join(capfd.readouterr()) + path.read_text()
    assert "webhook: status 500" in said
    assert SECRET not in said


def test_without_a_webhook_there_is_the_file_alone(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(WEBHOOK_VARIABLE, raising=False)
    with dg.DagsterInstance.ephemeral() as instance:
        _fail_a_night(instance)
    [path] = _notices(deployment)
    assert "Webhook" not in path.read_text()


def test_a_redirection_is_not_followed(webhook: Webhook) -> None:
    webhook.status = 302
    assert send_notice(Notice(run="r", cause="c")) == "status 302"
    assert [path for path, _ in webhook.received] == [f"/{SECRET}"]


def test_a_webhook_whose_answer_never_ends_is_left(webhook: Webhook) -> None:
    webhook.never_ends = True
    assert send_notice(Notice(run="r", cause="c"), limit_s=0.2) == "no answer in 0.2 s"


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("file:///etc/passwd", f"not an address: {WEBHOOK_VARIABLE}; accepted: one that begins with http"),
        ("http://127.0.0.1:1/" + SECRET, "not reached (ConnectionRefusedError)"),
        ("http://127.0.0.1:port/" + SECRET, "not reached (InvalidURL)"),
        ("http://127.0.0.1:1/a b" + SECRET, "not reached ("),
    ],
)
def test_send_notice_rejects_an_address(address: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WEBHOOK_VARIABLE, address)
    said = send_notice(Notice(run="r", cause="c"))
    assert str(said).startswith(problem)
    assert SECRET not in str(said)
