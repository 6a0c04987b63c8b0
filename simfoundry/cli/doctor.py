"""Command doctor: what is installed."""

from __future__ import annotations

import click

from simfoundry.cli.options import answer_json, as_json_option, explained, fail, listed


@listed("This machine", memory_gib=None)
@click.command()
@as_json_option
@explained
def doctor(as_json: bool) -> None:
    """Show what this machine has of what Simfoundry needs.

    Python and its packages, tools and their versions, whether the sandbox works, free ports, disk and memory.
    The exit status is 1 where something required is missing; the line says what mends it.
    """
    from assets.deployments import find_deployment
    from simfoundry.commands.doctor import examination_json, examination_text, examine, in_the_way

    checks = examine(find_deployment(), _ports(click.get_current_context().find_root().command))
    if as_json:
        answer_json(examination_json(checks))
    else:
        click.echo(examination_text(checks))
    if problem := in_the_way(checks):
        fail(problem)


def _ports(command: click.Command) -> dict[str, int]:
    """Return the usual ports of servers, each by the commands and options that choose it."""
    names: dict[int, list[str]] = {}
    for own in command.commands.values() if isinstance(command, click.Group) else ():
        for option in own.params:
            if str(option.name).endswith("port") and isinstance(option.default, int):
                names.setdefault(option.default, []).append(f"{own.name} {option.opts[0]}")
    return {", ".join(sorted(own)): port for port, own in sorted(names.items())}
