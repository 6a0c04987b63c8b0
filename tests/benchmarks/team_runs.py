"""Two people and the nightly run at once, against one PostgreSQL, object store, registry and Dagster.

    python -m tests.benchmarks.team_runs               starts `simfoundry team` in a temporary folder
    python -m tests.benchmarks.team_runs --record      rows of docs/results/figures.jsonl besides

Each has a project, a data folder, a configuration and a set of tables of its own. Then each configuration is
run alone, with files only and an empty cache. The tables must be equal byte for byte, those in the catalogue
too, the three runs must end well, and the registry must have one champion per model.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assets.figures import Figure
from tests.benchmarks.harness import ROOT, options_parser, print_header, print_machine, print_row
from tests.benchmarks.recording import add_record_option, record
from tests.support.servers import end, free_port

PORTS = ("--port", "--mlflow-port", "--postgres-port", "--store-port", "--code-port")
PROJECT_FILES = ("dvc.yaml", "workspace.yaml", "tools.yaml")
COMMON = (
    *("scale=smoke", "programs.suites=[stencil]", "hls.pipeline=[false]", "models.trained=[tenset-mlp]"),
    "simulations.groups.small.engines=[reuse]",
)
RUNS: Mapping[str, tuple[str, ...]] = {
    "alice": ("hls.memory_delay=[2]",),
    "bob": ("hls.memory_delay=[5]",),
    "main": ("hls.memory_delay=[2,5]",),
}
"""Overrides by set of tables; the nightly run has the set `main`."""
NOT_EQUAL = ("predictor_costs", "promotions", "leaderboard", "workload_errors")
"""Tables with times, or with versions of the registry that three share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run that has ended."""

    status: int
    wall_s: float
    hashes: Mapping[str, str]
    last: str


def variables_of(file: Path, own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a shell that has set variables of its own and sourced a file."""
    words = ["sh", "-c", '. "$0"; exec env -0', str(file)]
    done = subprocess.run(words, env={**os.environ, **own}, capture_output=True, check=True)
    pairs = [pair.partition("=") for pair in done.stdout.decode().split("\0") if pair]
    return {name: value for name, _, value in pairs}


def run_person(folder: Path, overrides: tuple[str, ...], variables: Mapping[str, str]) -> Ended:
    """Run the main job in a project of its own."""
    folder.mkdir(parents=True)
    for name in PROJECT_FILES:
        shutil.copy(ROOT / name, folder / name)
    environment = {**variables, "SIMFOUNDRY_PROJECT": str(folder), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "simfoundry.cli", "run", *COMMON, *overrides]
    started = time.perf_counter()
    with (folder / "log").open("wb") as log:
        done = subprocess.run(words, env=environment, cwd=folder, stdout=log, stderr=log, check=False)
    return Ended(
        status=done.returncode,
        wall_s=time.perf_counter() - started,
        hashes=hashes_of(folder / "data" / "tables"),
        last="\n".join((folder / "log").read_text().splitlines()[-5:]),
    )


def hashes_of(tables: Path) -> dict[str, str]:
    """Return content hashes by file of the tables that follow from the configuration alone."""
    return {
        str(path.relative_to(tables)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(tables.rglob("*.parquet"))
        if path.parent.name not in NOT_EQUAL
    }


@contextmanager
def team(folder: Path) -> Iterator[Path]:
    """Serve a team; yields the file of its variables."""
    words = [word for name in PORTS for word in (name, str(free_port()))]
    command = [sys.executable, "-m", "simfoundry.cli", "team", "--folder", str(folder), "--json", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Path(json.loads(process.stdout.readline())["environment"])
        finally:
            end(process, signal.SIGTERM)  # type: ignore[arg-type]


def published(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the content hashes by file of a person's set of tables, as the catalogue has them."""
    script = (
        "import json; from assets.deployments import find_deployment as f;"
        "from assets.shared_tables import open_catalogue as o;"
        "print(json.dumps({f'{t}/{s}.parquet': h for t, own in o(f()).states().items()"
        " for s, h in own.shards.items()}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**variables, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    content = json.loads(done.stdout)
    return {name: sha for name, sha in content.items() if name.partition("/")[0] not in NOT_EQUAL}


def main() -> None:
    parser = options_parser(__doc__)
    add_record_option(parser)
    options = parser.parse_args()
    print_machine()
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="team-") as name:
        base = Path(name)
        base.chmod(0o755)
        with team(base / "team") as file:
            people = {
                person: variables_of(
                    file,
                    {
                        "SIMFOUNDRY_TABLES": person,
                        "SIMFOUNDRY_DATA_DIR": str(base / person / "data"),
                        "SIMFOUNDRY_CACHE_DIR": str(base / person / "cache"),
                    },
                )
                for person in RUNS
            }
            with ThreadPoolExecutor(len(RUNS)) as pool:
                runs = pool.map(lambda p: run_person(base / p, RUNS[p], people[p]), RUNS)
                together = dict(zip(RUNS, runs, strict=True))
            shards = {person: published(variables) for person, variables in people.items()}
        print_header("run", "wall s at once", "wall s alone", "files", "problems")
        for person, ended in together.items():
            alone = run_person(base / "alone" / person, RUNS[person], os.environ)
            own = [f"status {ended.status}: {ended.last}"] * bool(ended.status)
            own += ["other tables than alone"] * (ended.hashes != alone.hashes)
            own += ["other files in the catalogue"] * (shards[person] != ended.hashes)
            problems += own
            print_row(
                person,
                f"{ended.wall_s:.0f}",
                f"{alone.wall_s:.0f}",
                len(ended.hashes),
                "; ".join(own) or "none",
            )
            if options.record:
                values = {
                    "at once (s)": round(ended.wall_s),
                    "alone, empty cache (s)": round(alone.wall_s),
                    "equal files": len(ended.hashes),
                    "problems": len(own),
                }
                record(
                    "cluster", f"run of {person}", values, missed=bool(own), new=_figure(f"run of {person}")
                )
    if problems:
        sys.exit("a run was disturbed")


def _figure(name: str) -> Figure:
    return Figure(
        figure=name,
        area="cluster",
        section="Two people and the nightly run at once",
        value=0.0,
        goal="tables equal those of a run alone",
        command="python -m tests.benchmarks.team_runs",
        commit="",
        engines={},
        machine="",
        date="",
    )


if __name__ == "__main__":
    main()
