"""The process of the Dagster UI: the command dagster-webserver behind a check of who asks.

A page from anywhere can make a browser send requests to 127.0.0.1, also under the page's own host name (DNS
rebinding), and Dagster would answer and obey.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import unquote_plus

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

COMMAND = "dagster-webserver"
_OWN_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")


class OwnPages:
    """Answer requests of our own pages, and refuse the others, WebSockets too, with status 403."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not _is_local_request(Headers(scope=scope)):
            refusal = PlainTextResponse("refused: not a request of this machine's own pages", 403)
            await refusal(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] != "POST" and _is_mutation(scope["query_string"]):
            refusal = PlainTextResponse("refused: a mutation by an address; accepted: POST", 403)
            await refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _is_local_request(headers: Mapping[str, str]) -> bool:
    """Tell whether a request names this machine, under any port for tunnels, and no foreign page sends it.

    Browsers send Origin with forms and scripts, but not with images; Dagster executes mutations of these too.
    """
    host = headers.get("host", "")
    is_of_other_page = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    is_embedded = is_of_other_page and headers.get("sec-fetch-mode") != "navigate"
    is_same_origin = headers.get("origin", f"http://{host}") == f"http://{host}"
    return _OWN_HOST.fullmatch(host) is not None and is_same_origin and not is_embedded


def _is_mutation(query: bytes) -> bool:
    """Tell whether an address's query may change something; GraphQL has no other spelling of the word."""
    return "mutation" in unquote_plus(query.decode("latin-1"))


def main() -> None:
    """Run dagster-webserver with the arguments of this process; whatever uvicorn serves here is checked.

    `simfoundry ui` asks as a foreign page before it says that the UI is ready: without this check it ends.
    """
    serve = uvicorn.run

    def serve_checked(app: Any, **options: Any) -> None:
        serve(OwnPages(app), **options)

    uvicorn.run = serve_checked
    [command] = entry_points(group="console_scripts", name=COMMAND)
    sys.argv[0] = COMMAND
    command.load()()


if __name__ == "__main__":
    main()
