"""Commands of a team: its servers, and the object store and the catalogue that several machines share."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from simfoundry.cli.options import (
    OUTPUT_FOLDER,
    Commands,
    Finite,
    answer_json,
    as_json_option,
    explained,
    listed,
    options_of,
)
from simfoundry.questions import NodeQuestion

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


@listed("Tables", memory_gib=None)
@click.command()
@click.option(
    "--folder", type=OUTPUT_FOLDER, default=Path("team"), show_default=True, help="Folder of all data."
)
@click.option("--port", default=3000, show_default=True, help="Port of the Dagster UI.")
@click.option("--mlflow-port", default=5000, show_default=True, help="Port of the MLflow server.")
@click.option("--postgres-port", default=5433, show_default=True, help="Port of PostgreSQL.")
@click.option("--store-port", default=9000, show_default=True, help="Port of the object store.")
@click.option("--code-port", default=4266, show_default=True, help="Port of Dagster's code server.")
@click.option("--nightly", is_flag=True, help="Run everything at scale nightly at the hour of run.nightly.")
@as_json_option
@explained
def team(
    folder: Path,
    port: int,
    mlflow_port: int,
    postgres_port: int,
    store_port: int,
    code_port: int,
    nightly: bool,
    as_json: bool,
) -> None:
    """Serve Dagster, MLflow, PostgreSQL and an object store for a team until Ctrl-C.

    They listen on this machine only. FOLDER/environment has the variables by which `simfoundry run` in
    another shell uses them. Starting again resumes with the same data.
    """
    from simfoundry.commands.team import Ports, serve_team

    ports = Ports(dagster=port, mlflow=mlflow_port, postgres=postgres_port, store=store_port, code=code_port)
    serve_team(folder, ports, nightly=nightly, as_json=as_json)


@listed("Tables", memory_gib=None)
@click.command()
@options_of(NodeQuestion)
@as_json_option
@explained
def node(as_json: bool, **options: Any) -> None:
    """Make this machine the head or a node of a Ray cluster until Ctrl-C.

    `simfoundry run cluster=ray cluster.address=HOST:PORT` works on all of them.
    """
    from simfoundry.commands.node import serve_node

    serve_node(NodeQuestion(**options), as_json=as_json)
