"""Command mcp: other commands as tools."""

from __future__ import annotations

import click

from simfoundry.cli.options import as_json_option, explained, listed
from simfoundry.questions import (
    LabelQuestion,
    NetworkQuestion,
    PlaceQuestion,
    PowerQuestion,
    PragmaQuestion,
    PredictQuestion,
    SqlQuestion,
)

TOOLS = {
    "label": LabelQuestion,
    "predict": PredictQuestion,
    "pragmas": PragmaQuestion,
    "network": NetworkQuestion,
    "power": PowerQuestion,
    "place": PlaceQuestion,
    "sql": SqlQuestion,
}
"""Commands that are tools, and what they ask."""


@listed("Tools for language models", memory_gib=None)
@click.command()
@click.option("--port", type=int, help="Serve HTTP on this port of this machine instead of standard streams.")
@click.option("--write", "writes", is_flag=True, help="Let calls write into the cache and into files.")
@as_json_option
@explained
def mcp(port: int | None, writes: bool, as_json: bool) -> None:
    """Serve label, predict, pragmas, network, power, place and sql over the Model Context Protocol.

    A call is the command of its name, with its limits and refusals. The server ends with its standard input,
    or by Ctrl-C where it has a port.
    """
    from simfoundry.commands.mcp_server import serve_tools
    from simfoundry.commands.mcp_tools import tool_of

    group = click.get_current_context().find_root().command
    if not isinstance(group, click.Group):
        raise click.UsageError("mcp needs the other commands; accepted: simfoundry mcp")
    tools = [tool_of(group.commands[name], question, writes=writes) for name, question in TOOLS.items()]
    serve_tools(tools, writes=writes, port=port, as_json=as_json)
