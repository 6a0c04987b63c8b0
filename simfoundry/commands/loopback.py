"""A web app on the loopback interface of this machine, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn

from simfoundry.commands.dagster_ui import OwnPages
from simfoundry.commands.supervision import HOST

GRACE_S = 5
"""How long requests in progress may take when the server ends; uvicorn takes whole seconds."""


def serve_loopback(app: Any, *, port: int, on_ready: Callable[[], None]) -> None:
    """Serve an app to this machine's own pages and programs; foreign pages have status 403.

    Args: app: ASGI. on_ready: called when the port is open.
    """

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                on_ready()

    settings = uvicorn.Config(
        OwnPages(app),
        host=HOST,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE_S,
    )
    Server(settings).run()
