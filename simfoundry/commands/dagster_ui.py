"""The process of the Dagster UI: dagster-webserver behind a check of who asks.

A page from anywhere can make a browser send requests to 127.0.0.1, also under the page's own host name (DNS
rebinding), and Dagster would answer and obey.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Mapping

import dagster as dg
import uvicorn
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster_webserver.app import create_app_from_workspace_process_context
from dagster_webserver.version import __version__
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

POLL_MS = 2000  # how often pages ask for news of assets; the default of dagster-webserver
_OWN_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")


class OwnPages:
    """Answer requests of our own pages, and refuse the others, WebSockets too, with status 403."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not _is_own(Headers(scope=scope)):
            refusal = PlainTextResponse("refused: not a request of this machine's own pages", 403)
            await refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _is_own(headers: Mapping[str, str]) -> bool:
    """Whether a request names this machine, under any port for tunnels, and no foreign page sends it.

    Browsers send Origin with forms and scripts, but not with images; Dagster executes mutations of these too.
    """
    host = headers.get("host", "")
    is_of_other_page = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    is_embedded = is_of_other_page and headers.get("sec-fetch-mode") != "navigate"
    is_same_origin = headers.get("origin", f"http://{host}") == f"http://{host}"
    return _OWN_HOST.fullmatch(host) is not None and is_same_origin and not is_embedded


def serve_dagster(workspace: str, host: str, port: int) -> None:
    """Serve the instance of DAGSTER_HOME until SIGINT or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the code server is ended too
    target = WorkspaceFileTarget([workspace])
    with (
        dg.DagsterInstance.get() as instance,
        WorkspaceProcessContext(instance, target, __version__) as context,
    ):
        app = create_app_from_workspace_process_context(context, live_data_poll_rate=POLL_MS)
        app.add_middleware(OwnPages)
        uvicorn.run(app, host=host, port=port, log_level="warning")


if __name__ == "__main__":
    serve_dagster(sys.argv[1], sys.argv[2], int(sys.argv[3]))
