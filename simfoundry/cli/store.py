"""Commands on the object store and the catalogue that several machines share."""

from __future__ import annotations

from dataclasses import asdict

import click

from simfoundry.cli.options import Commands, Finite, answer_json, as_json_option, explained, listed

HOURS = 24.0


@listed("Tables", memory_gib=None)
@click.group(cls=Commands)
def store() -> None:
    """Look at the tables of the catalogue that several machines share, and sweep its object store."""


@store.command()
@as_json_option
@explained
def status(as_json: bool) -> None:
    """List tables, shards and rows of the catalogue, and its version."""
    from simfoundry.commands.store import store_status

    answer = store_status()
    if as_json:
        answer_json(answer.as_json())
    else:
        click.echo("\n".join(answer.lines()))


@store.command()
@click.option("--delete", is_flag=True, help="Delete the objects; without it they are listed.")
@click.option(
    "--hours",
    type=Finite(min=1),
    default=HOURS,
    show_default=True,
    help="Age of the youngest object and the youngest former state of a table that are swept.",
)
@as_json_option
@explained
def sweep(delete: bool, hours: float, as_json: bool) -> None:
    """List objects of tables that no present or recent state of a table references.

    They stay when a publication is killed or replaced. With --delete, former states of tables older than the
    age are dropped too; the cache is not swept.
    """
    from simfoundry.commands.store import sweep_store

    answer = sweep_store(hours=hours, delete=delete)
    if as_json:
        answer_json(asdict(answer))
    else:
        click.echo("\n".join(answer.lines()))
