"""Notices of nightly runs that failed: a file each, and a message to a webhook where one is configured.

The address of the webhook comes from the environment alone: it may hold a secret, so it is in no file of the
configuration, in no log and in no notice.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from assets.deployments import Deployment
from pipelines.schemas import write_bytes_atomically

WEBHOOK_VARIABLE = "SIMFOUNDRY_NIGHTLY_WEBHOOK"
NOTICES_FOLDER = "notices"
WEBHOOK_LIMIT_S = 10.0
"""Longest wait for the webhook; the sensor that calls it has 60 s."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What a notice says.

    Attributes:
        run: id of the Dagster run that failed.
        cause: why, in one line.
        written: when the notice was written.
    """

    run: str
    cause: str
    written: datetime = field(default_factory=_now)

    @property
    def text(self) -> str:
        """The notice for people."""
        return f"The nightly run failed: {self.cause}\nDagster run: {self.run}"


def write_notice(deployment: Deployment, notice: Notice, *more: str) -> Path:
    """Write a notice into the data folder, with more lines below it; a notice of the same run is replaced.

    Returns: the file.
    Raises:  OSError: not writable.
    """
    path = deployment.data_dir / NOTICES_FOLDER / f"{notice.written:%Y-%m-%dT%H%M%SZ}-{notice.run[:8]}.txt"
    when = f"Written: {notice.written.isoformat(timespec='seconds')}"
    write_bytes_atomically(path, ("\n".join([notice.text, when, *more]) + "\n").encode())
    return path


def send_notice(notice: Notice, *, limit_s: float = WEBHOOK_LIMIT_S) -> str | None:
    """Send a notice to the webhook of the environment, as JSON; its key `text` is what chat services show.

    Args:    limit_s: longest wait for the answer, however slowly it comes.
    Returns: why it was not delivered; None when it was, or when no webhook is configured.
    """
    address = os.environ.get(WEBHOOK_VARIABLE)
    if not address:
        return None
    if not address.startswith(("http://", "https://")):
        return f"not an address: {WEBHOOK_VARIABLE}; accepted: one that begins with http:// or https://"
    problems: list[str | None] = []
    sender = threading.Thread(
        target=lambda: problems.append(_post(address, notice, limit_s)), name="webhook", daemon=True
    )
    sender.start()
    sender.join(limit_s)  # the limit of a socket holds for each read, not for all of them
    return problems[0] if problems else f"no answer in {limit_s:g} s"


class _NoRedirect(HTTPRedirectHandler):
    """Take a redirection for an error: the notice goes to the configured address alone."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        del req, fp, code, msg, headers, newurl


def _post(address: str, notice: Notice, limit_s: float) -> str | None:
    """Tell why the notice was not delivered, without the address, which the errors' messages may repeat."""
    content = {"text": notice.text, "run": notice.run, "cause": notice.cause}
    try:
        request = Request(  # noqa: S310 - the scheme was checked
            address, json.dumps(content).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        with build_opener(_NoRedirect).open(request, timeout=limit_s):
            return None
    except HTTPError as error:
        error.close()
        return f"status {error.code}"
    except (URLError, HTTPException, OSError, ValueError) as error:
        cause = error.reason if isinstance(error, URLError) else error
        return f"not reached ({type(cause).__name__})"
