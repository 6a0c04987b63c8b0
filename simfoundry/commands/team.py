"""`simfoundry team`: all servers of a team on this machine, with their data in one folder.

PostgreSQL keeps Dagster's history, MLflow's registry and the catalogue of tables; the object store keeps
tables, cache and models. Everything listens on the loopback interface alone.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import click

from assets.configuration import nightly_hour, read_parameters
from assets.deployments import (
    CATALOGUE_VARIABLE,
    DEPLOYMENT_VARIABLE,
    NIGHTLY_VARIABLE,
    STORE_VARIABLE,
    find_deployment,
    find_project,
    writing_to,
)
from assets.instance import open_instance, prepare_pools
from assets.steps import STEPS
from simfoundry.commands.supervision import HOST, Server, Servers, ask, is_open, require_free, supervised
from simfoundry.commands.team_servers import (
    BUCKET,
    Postgres,
    Secrets,
    require_installed,
    s3_server,
    store_variables,
    write_private,
)
from simfoundry.commands.ui import MLFLOW_HOSTS, environment_of, is_ready

DAGSTER_SETTINGS = Path(__file__).resolve().parents[2] / "deploy" / "dagster.yaml"
ENVIRONMENT_FILE = "environment"
SECRETS_FILE = "secrets"
PASSWORD_VARIABLE = "SIMFOUNDRY_POSTGRES_PASSWORD"  # noqa: S105
PORT_VARIABLE = "SIMFOUNDRY_POSTGRES_PORT"
HOST_VARIABLE = "SIMFOUNDRY_POSTGRES_HOST"
DATABASES = ("dagster", "mlflow", "catalogue")
CODE = "assets.definitions"
_WORKSPACE = """\
load_from:
  - grpc_server:
      host: {host}
      port: {port}
      location_name: simfoundry
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Ports of the servers."""

    dagster: int = 3000
    mlflow: int = 5000
    postgres: int = 5433
    store: int = 9000
    code: int = 4266

    @property
    def by_option(self) -> Mapping[str, int]:
        """Ports by the option that chooses them."""
        return {
            "--port": self.dagster,
            "--mlflow-port": self.mlflow,
            "--postgres-port": self.postgres,
            "--store-port": self.store,
            "--code-port": self.code,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The servers of a folder.

    Attributes: project: folder of the configuration and the code that Dagster serves.
    """

    folder: Path
    project: Path
    ports: Ports
    secrets: Secrets = field(repr=False)

    @property
    def home(self) -> Path:
        """DAGSTER_HOME."""
        return self.folder / "dagster"

    @property
    def postgres(self) -> Postgres:
        """PostgreSQL."""
        return Postgres(
            folder=self.folder / "postgres", port=self.ports.postgres, password=self.secrets.password
        )

    @property
    def mlflow_address(self) -> str:
        """Address of the tracking server."""
        return f"http://{HOST}:{self.ports.mlflow}"

    def log(self, name: str) -> Path:
        """Return the log file of a server."""
        return self.folder / "logs" / f"{name.lower().replace(' ', '-')}.log"

    @property
    def choices(self) -> Mapping[str, str]:
        """Variables that a person may have set otherwise: folders of one's own."""
        names = {"SIMFOUNDRY_DATA_DIR": "data", "SIMFOUNDRY_CACHE_DIR": "cache"}
        return {name: str(self.folder / folder) for name, folder in names.items()}

    @property
    def variables(self) -> Mapping[str, str]:
        """Variables by which any command works against the servers."""
        return {
            DEPLOYMENT_VARIABLE: "server",
            "DAGSTER_HOME": str(self.home),
            "MLFLOW_TRACKING_URI": self.mlflow_address,
            STORE_VARIABLE: f"s3://{BUCKET}/team",
            CATALOGUE_VARIABLE: self.postgres.url("catalogue"),
            HOST_VARIABLE: HOST,
            PORT_VARIABLE: str(self.ports.postgres),
            PASSWORD_VARIABLE: self.secrets.password,
            **store_variables(self.ports.store, self.secrets),
        }

    def write_files(self) -> None:
        """Write Dagster's settings, unless there are some, its workspace, and the variables to source."""
        self.home.mkdir(parents=True, exist_ok=True)
        if not (self.home / "dagster.yaml").exists():
            shutil.copyfile(DAGSTER_SETTINGS, self.home / "dagster.yaml")
        (self.home / "workspace.yaml").write_text(_WORKSPACE.format(host=HOST, port=self.ports.code))
        choices = [
            f'[ -n "${{{name}:-}}" ] || {name}={shlex.quote(value)}; export {name}'
            for name, value in self.choices.items()
        ]
        fixed = [f"export {name}={shlex.quote(value)}" for name, value in self.variables.items()]
        write_private(self.folder / ENVIRONMENT_FILE, "\n".join([*choices, *fixed, ""]))

    # ---- servers -----------------------------------------------------------------------------------------

    def start_stores(self, servers: Servers) -> None:
        """Start PostgreSQL and the object store, and wait until both answer.

        Raises: FoundryError: one ended, or the folder is of another team.
        """
        self.postgres.prepare()
        servers.start(self.postgres.server(self.log("PostgreSQL")))
        servers.start(
            s3_server(self.folder / "store", self.ports.store, self.secrets, self.log("object store"))
        )
        for _ in servers.polls():
            if self.postgres.is_ready() and is_open(self.ports.store):
                break
        self.postgres.require_databases(DATABASES)

    def start_services(self, servers: Servers) -> None:
        """Start MLflow and Dagster, and wait until their pages answer and the assets are loaded.

        Raises: FoundryError: one ended, or the assets cannot be loaded.
        """
        servers.start(self._mlflow())
        servers.start(self._code())
        for _ in servers.polls():
            answer = ask(self.ports.mlflow, "/health")
            if answer is not None and answer.status == HTTPStatus.OK and is_open(self.ports.code):
                break
        for server in self._dagster():
            servers.start(server)
        for _ in servers.polls():
            if is_ready(self.ports.dagster, self.ports.mlflow):
                return

    def _server(self, name: str, *command: str, **variables: str) -> Server:
        return Server(
            name=name,
            command=command,
            folder=self.project,
            log=self.log(name),
            variables={**environment_of(find_deployment()), **variables},
        )

    def _mlflow(self) -> Server:
        options = ["--host", HOST, "--port", str(self.ports.mlflow), "--workers", "1"]
        return self._server(
            "MLflow server",
            *(str(Path(sys.executable).parent / "mlflow"), "server", *options),
            *("--allowed-hosts", MLFLOW_HOSTS, "--app-name", "simfoundry"),
            # By the environment: a password among the words of a command is visible to every user.
            MLFLOW_BACKEND_STORE_URI=self.postgres.url("mlflow").replace("://", "+psycopg2://", 1),
            MLFLOW_ARTIFACTS_DESTINATION=f"s3://{BUCKET}/mlflow",
            MLFLOW_S3_ENDPOINT_URL=self.variables["AWS_ENDPOINT_URL"],
            AWS_DEFAULT_REGION=self.variables["AWS_REGION"],
        )

    def _code(self) -> Server:
        dagster = str(Path(sys.executable).parent / "dagster")
        place = ["--host", HOST, "--port", str(self.ports.code), "--location-name", "simfoundry"]
        return self._server(
            "code server", dagster, "code-server", "start", "-m", CODE, *place, "--log-level", "warning"
        )

    def _dagster(self) -> list[Server]:
        workspace = ("-w", str(self.home / "workspace.yaml"))
        page = ("--host", HOST, "--port", str(self.ports.dagster), "--dagster-log-level", "warning")
        daemon = str(Path(sys.executable).parent / "dagster-daemon")
        return [
            self._server(
                "Dagster UI", sys.executable, "-m", "simfoundry.commands.dagster_ui", *workspace, *page
            ),
            self._server("Dagster daemon", daemon, "run", *workspace, "--log-level", "warning"),
        ]

    # ---- answer ------------------------------------------------------------------------------------------

    @property
    def addresses(self) -> Mapping[str, str]:
        """Addresses of the servers, without secrets, and the file of variables."""
        return {
            "dagster": f"http://{HOST}:{self.ports.dagster}",
            "mlflow": self.mlflow_address,
            "postgres": f"{HOST}:{self.ports.postgres}",
            "store": self.variables["AWS_ENDPOINT_URL"],
            "environment": str(self.folder / ENVIRONMENT_FILE),
            "logs": str(self.folder / "logs"),
        }


def serve_team(folder: Path, ports: Ports, *, nightly: bool = False, as_json: bool = False) -> None:
    """Serve until Ctrl-C; addresses are printed when everything answers.

    Args:   folder: of all data; starting again resumes with it. nightly: whether the nightly run is on.
    Raises: FoundryError: a port is taken, a program is missing, another command serves the folder, a server
            ended. ExtraMissing: no extra `cluster`.
    """
    require_installed()
    project = find_project(os.environ, Path.cwd())
    read_parameters(project)
    nightly_hour()
    folder = folder.resolve()
    with writing_to(folder):
        require_free(ports.by_option)
        folder.chmod(0o711 if os.getuid() == 0 else 0o700)  # PostgreSQL's account passes through
        team = Team(folder=folder, project=project, ports=ports, secrets=Secrets.of(folder / SECRETS_FILE))
        team.write_files()
        os.environ.update({**team.choices, **team.variables, "SIMFOUNDRY_PROJECT": str(project)})
        if nightly:
            os.environ[NIGHTLY_VARIABLE] = "1"
        click.echo("simfoundry: starting PostgreSQL, the object store, Dagster and MLflow", err=True)
        with supervised() as servers:
            team.start_stores(servers)
            with open_instance(
                find_deployment()
            ) as instance:  # makes Dagster's tables, before its servers do
                prepare_pools(instance, (step.pool for step in STEPS if step.pool))
            team.start_services(servers)
            click.echo(_text(team, as_json=as_json))
            for _ in servers.polls():
                pass


def _text(team: Team, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(team.addresses)
    lines = [f"{name:<12}{address}" for name, address in team.addresses.items()]
    source = f". {shlex.quote(team.addresses['environment'])}"
    return "\n".join(["ready", *lines, f"In another shell: {source}; simfoundry run", "Ctrl-C ends all."])
