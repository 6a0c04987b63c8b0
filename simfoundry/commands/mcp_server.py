"""`simfoundry mcp`: commands as tools of the Model Context Protocol, on standard streams or loopback HTTP.

A call is the command in a process of its own, with the command's limits and refusals; the server goes on
after any failure of it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio
import click
from anyio.abc import ByteReceiveStream, Process
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolDescription

from assets.deployments import SCRATCH_VARIABLE, copy_registry, find_deployment
from assets.errors import FoundryError, explain
from pipelines.base.limited import GRACE_S
from pipelines.base.tools import find_tool
from simfoundry.commands.mcp_tools import Tool
from simfoundry.commands.supervision import HOST, require_free

PATH = "/mcp"
ANSWER_BYTES = 4 << 20
"""What a call answers at most; a client holds it in its context."""
CALLS = os.cpu_count() or 1
"""Calls at a time; others wait."""
INSTRUCTIONS = (
    "Cost of hardware and networks. predict answers in seconds, label runs synthesis and simulation. "
    "Paths are those of the server's machine."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Answers calls of tools.

    Attributes: scratch: folder that takes what calls write; None where they write into the project.
    """

    tools: Mapping[str, Tool]
    scratch: Path | None
    slots: anyio.Semaphore

    def described(self) -> list[ToolDescription]:
        """Return the tools as the protocol lists them."""
        writes = self.scratch is None
        hints = ToolAnnotations(read_only_hint=not writes, destructive_hint=writes, open_world_hint=False)
        return [
            ToolDescription(
                name=tool.name,
                description=tool.description,
                input_schema=tool.arguments.model_json_schema(),
                annotations=hints,
            )
            for tool in self.tools.values()
        ]

    async def answer(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Run the command of a tool; a problem is an error result of one line."""
        try:
            tool = self._named(name)
            with tempfile.TemporaryDirectory(prefix="simfoundry-") as folder:
                words = tool.words(arguments, Path(folder))
                async with self.slots:
                    return _result(await _run(words, self._environment()))
        except (FoundryError, OSError) as error:
            return _refused(explain(error))

    def _named(self, name: str) -> Tool:
        if name not in self.tools:
            raise FoundryError(f"unknown tool: {name}; accepted: {', '.join(self.tools)}")
        return self.tools[name]

    def _environment(self) -> dict[str, str]:
        if self.scratch is None:
            return dict(os.environ)
        copy_registry(find_deployment(), self.scratch)
        return {**os.environ, SCRATCH_VARIABLE: str(self.scratch)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """A command that has ended; `is_whole` unless its answer was too long."""

    status: int
    stdout: bytes
    stderr: bytes
    is_whole: bool


def serve_tools(tools: Sequence[Tool], *, writes: bool, port: int | None, as_json: bool = False) -> None:
    """Serve tools until the client closes the standard input, or on a port of this machine until Ctrl-C.

    Args:   writes: calls write into the cache, the registry and the files that they name.
    Raises: FoundryError: the port is taken.
    """
    with tempfile.TemporaryDirectory(prefix="simfoundry-mcp-") as folder:
        calls = Calls(
            tools={tool.name: tool for tool in tools},
            scratch=None if writes else Path(folder),
            slots=anyio.Semaphore(CALLS),
        )
        if port is None:
            anyio.run(_serve_streams, _server(calls))
        else:
            _serve_port(_server(calls), port, as_json=as_json)


async def _serve_streams(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _serve_port(server: Server[Any], port: int, *, as_json: bool) -> None:
    from simfoundry.commands.loopback import serve_loopback

    require_free({"--port": port})
    address = f"http://{HOST}:{port}{PATH}"
    said = json.dumps({"address": address}) if as_json else f"ready: {address}"
    app = server.streamable_http_app(streamable_http_path=PATH, host=HOST)
    serve_loopback(app, port=port, on_ready=lambda: click.echo(said))


def _server(calls: Calls) -> Server[Any]:
    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        del context, params
        return ListToolsResult(tools=calls.described())

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        del context
        return await calls.answer(params.name, params.arguments or {})

    return Server(
        "simfoundry",
        version=version("simfoundry"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


# ---- one call ------------------------------------------------------------------------------------------


async def _run(words: Sequence[str], environment: Mapping[str, str]) -> _Ended:
    """Run a command to its end; a call that is cancelled ends it with its tools."""
    ending = [find_tool("setpriv", "util-linux"), "--pdeathsig", "TERM", "--"]
    argv = [*ending, sys.executable, "-m", "simfoundry.cli", *words]
    process = await anyio.open_process(argv, stdin=DEVNULL, env=environment)
    try:
        outputs: list[bytes] = [b"", b""]
        async with anyio.create_task_group() as group:
            for index, stream in enumerate((process.stdout, process.stderr)):
                group.start_soon(_read, process, stream, outputs, index)
        status = await process.wait()
        is_whole = len(outputs[0]) <= ANSWER_BYTES
        return _Ended(status=status, stdout=outputs[0], stderr=outputs[1], is_whole=is_whole)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _read(process: Process, stream: ByteReceiveStream | None, outputs: list[bytes], index: int) -> None:
    """Read a stream to its end, or to one byte more than the limit, past which the command is ended."""
    if stream is None:
        return
    async for chunk in stream:
        outputs[index] = (outputs[index] + chunk)[: ANSWER_BYTES + 1]
        if len(outputs[index]) > ANSWER_BYTES and process.returncode is None:
            process.send_signal(signal.SIGTERM)


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
        with anyio.move_on_after(GRACE_S + 1):
            await process.wait()
    if process.returncode is None:
        process.kill()
    await process.aclose()


def _result(ended: _Ended) -> CallToolResult:
    """Return the answer of a command; rows of failed attempts stand beside the problem."""
    if not ended.is_whole:
        return _refused(f"an answer of more than {ANSWER_BYTES >> 20} MiB; accepted: a question about less")
    answer = json.loads(ended.stdout) if ended.stdout.strip() else None
    structured = answer if isinstance(answer, dict) or answer is None else {"rows": answer}
    if ended.status:
        return _refused(_problem(ended), structured)
    text = ended.stdout.decode(errors="replace").strip()
    return CallToolResult(content=[TextContent(text=text)], structured_content=structured)


def _refused(problem: str, answer: Mapping[str, Any] | None = None) -> CallToolResult:
    texts = [problem] if answer is None else [problem, json.dumps(answer, indent=2)]
    content: list[ContentBlock] = [TextContent(text=text) for text in texts]
    return CallToolResult(content=content, structured_content=answer, is_error=True)


def _problem(ended: _Ended) -> str:
    """Return the line that a command said about its failure; `--json` makes it an object on the last line."""
    lines = ended.stderr.decode(errors="replace").strip().splitlines() or [f"status {ended.status}"]
    try:
        return str(json.loads(lines[-1])["error"])
    except (ValueError, TypeError, KeyError):
        return lines[-1].removeprefix("simfoundry: ")
