"""Runs on clusters of several sizes and runs that meet a fault: their tables are those of one machine.

    python -m tests.benchmarks.cluster_faults [--only CASE,...] [--outage-s 60] [--record]

A small `simfoundry run` is made by one machine without servers. Every case makes it again with an empty
cache, a catalogue in PostgreSQL and a store on S3 of its own: on clusters without faults, then with one. A
fault comes when items of the labels are under way. Then the content hashes of all tables are compared, in the
catalogue and of the files; the fault must be named in a line; no process may be left.

The case `hosts` has every node in a network namespace with an empty data folder; it needs root.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from assets.figures import Figure
from simfoundry.commands.supervision import HOST
from tests.benchmarks.harness import ROOT, options_parser, print_header, print_machine, print_row, split_names
from tests.benchmarks.recording import add_record_option, record
from tests.support.faulted_run import COMMIT, PUT, Plan
from tests.support.hosts import address, can_make_hosts, hosts, on_host
from tests.support.servers import PostgresServer, S3Server, end, serve_postgres, serve_s3

sys.path.insert(0, str(ROOT / "tests" / "cluster"))
sys.path.insert(0, str(ROOT / "tests" / "faults"))
from interrupted_runs import OVERRIDES, make_project, processes_left
from ray_nodes import add_node, kill_node, ray_cluster

GROUPS = (
    "~simulations.groups.small",
    "~accelerators.groups.labelled",
    "~placements.groups.blocks-present",
    "models.trained=[loop-rules]",
    "+models.loop_rules.rounds=2",
    "+models.loop_rules.bootstrap_resamples=10",
)
DESIGNS = ("hls.memory_delay=[2,5]", "hls.pipeline=[false,true]")
"""Designs of two programs of the suite stencil."""
MEMORY_GIB = 0.5
RAY_FOLDER = "/tmp/ray"
PAUSE_S = 2.0
"""That an item of the labels takes longer, so that a fault meets it."""
BEGINS_WITHIN_S = 300.0
ENDS_WITHIN_S = 900.0
ORPHANS_S = 30.0
"""In which the tools of a killed driver end on all nodes."""
TOKEN = "SIMFOUNDRY_FAULTS"
"""Variable of every process of a case, by which those that are left are told."""
HEAD, INSIDE = "SIMFOUNDRY_FAULTS_HEAD", "SIMFOUNDRY_FAULTS_HOSTS"


def overrides() -> tuple[str, ...]:
    """Return the overrides of the small run."""
    replaced = ("hls.", "models.")
    return (*(o for o in OVERRIDES if not o.startswith(replaced)), *DESIGNS, *GROUPS)


# ---- servers ---------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Servers:
    """PostgreSQL and S3, which a case may end and start again."""

    databases: PostgresServer
    s3: S3Server
    again: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    def place(self, name: str) -> Mapping[str, str]:
        """Return the variables of a new catalogue and a new store."""
        own = {
            "SIMFOUNDRY_STORE": f"s3://foundry/{name}",
            "SIMFOUNDRY_CATALOGUE": self.databases.database(name),
        }
        return {**self.s3.variables, **own}

    def stop_store(self) -> None:
        """End the store as a crash does."""
        end(self.s3.process, signal.SIGKILL)

    def start_store(self) -> None:
        """Serve the same objects at the same address."""
        self.again.append(self.s3.started_again().process)

    def stop_database(self) -> None:
        """End PostgreSQL as a crash does."""
        end(self.databases.process, signal.SIGQUIT)

    def start_database(self) -> None:
        """Serve the same databases at the same address."""
        self.again.append(self.databases.started_again().process)


@contextmanager
def servers(folder: Path, host: str = HOST) -> Iterator[Servers]:
    """Serve PostgreSQL and S3 from a folder."""
    folder.mkdir()
    folder.chmod(0o755)  # PostgreSQL's own user reads its folder
    with serve_postgres(folder / "postgres", host) as databases, serve_s3(folder / "s3", host) as s3:
        own = Servers(databases=databases, s3=s3)
        try:
            yield own
        finally:
            for process in own.again:
                end(process, signal.SIGINT)


# ---- runs ------------------------------------------------------------------------------------------------

Hashes = Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Run:
    """A `simfoundry run` of a project in a process of its own."""

    project: Path
    marks: Path
    process: subprocess.Popen[bytes]
    errors: Path

    def wait_for_items(self, count: int) -> list[int]:
        """Wait until so many items have begun. Returns: process ids, of the worker or its tool."""
        deadline = time.monotonic() + BEGINS_WITHIN_S
        while time.monotonic() < deadline and self.process.poll() is None:
            texts = [text for mark in sorted(self.marks.iterdir()) if (text := mark.read_text())]
            if len(texts) >= count:
                return [int(text) for text in texts]
            time.sleep(0.05)
        raise AssertionError(f"fewer than {count} items have begun: {self.said()[-1000:]}")

    def finish(self) -> int:
        """Wait for the end. Returns: the status."""
        try:
            return self.process.wait(ENDS_WITHIN_S)
        finally:
            self.process.kill()
            self.process.wait()

    def said(self) -> str:
        """Return what it said on standard error."""
        return self.errors.read_text(errors="replace")


def start_run(
    project: Path, variables: Mapping[str, str], cluster: str | None, plan: Plan | None = None
) -> Run:
    """Start the small run on a cluster, or on this machine."""
    marks = Path(plan.marks) if plan else project.with_name(f"{project.name}-marks")
    marks.mkdir(exist_ok=True)
    plan = plan or Plan(marks=str(marks))
    arguments = ["run", *overrides()]
    if cluster is not None:
        arguments += ["cluster=ray", f"cluster.address={cluster}", f"cluster.memory_gib={MEMORY_GIB}"]
        arguments += ["cluster.batch_s=1"]
    errors = project.with_name(f"{project.name}-{time.monotonic_ns()}-errors")
    with errors.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.faulted_run", plan.text(), *arguments],
            cwd=project.parent,
            env={**os.environ, **variables, "SIMFOUNDRY_PROJECT": str(project), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )
    return Run(project=project, marks=marks, process=process, errors=errors)


def files_of(project: Path) -> Hashes:
    """Return the content hash of every file of a table, by table and shard."""
    paths = sorted((project / "data" / "tables").glob("*/*.parquet"))
    return {f"{p.parent.name}/{p.stem}": hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def catalogue_of(project: Path) -> Hashes:
    """Return the content hash of every shard of the catalogue after a run."""
    tables = json.loads((project / "data" / "catalogue.json").read_text())["tables"]
    return {
        f"{table}/{shard}": sha256 for table, shards in tables.items() for shard, sha256 in shards.items()
    }


def differences(project: Path, expected: Hashes) -> list[str]:
    """Return tables and shards whose content is not the expected one, in the files or the catalogue."""
    lines: list[str] = []
    for where, own in (("file", files_of(project)), ("catalogue", catalogue_of(project))):
        names = sorted({*own, *expected})
        lines += [f"{where} {name}" for name in names if own.get(name) != expected.get(name)]
    return lines


# ---- cases -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a case gets.

    Attributes:
        folder: of the case. expected: hashes of the tables. outage_s: that the store is gone.
    """

    folder: Path
    servers: Servers
    variables: Mapping[str, str]
    expected: Hashes
    outage_s: float

    def project(self, name: str = "project") -> Path:
        """Make a project without tables."""
        return make_project(self.folder / name)

    def plan(self, **options: Any) -> Plan:
        """Return a plan with a folder of marks of this case."""
        return Plan(marks=str(self.folder / "marks"), **{"pause_s": PAUSE_S, **options})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a case came to: problems, the line that names the fault, seconds."""

    problems: Sequence[str]
    named: str
    wall_s: float


Case = Callable[[Bench], tuple[list[str], str]]
"""Returns problems, and what named the fault."""


def compare(bench: Bench, run: Run, pattern: str = "") -> tuple[list[str], str]:
    """Wait for the end of a run and compare its tables. Returns: problems, the line that names the fault."""
    status = run.finish()
    problems = (
        [f"status {status}: {run.said()[-600:]}"] if status else differences(run.project, bench.expected)
    )
    problems += ["a traceback"] if "Traceback" in run.said() else []
    line = next((line for line in run.said().splitlines() if re.search(pattern, line)), "") if pattern else ""
    problems += ["the fault is not named"] if pattern and not line else []
    left = processes_left(run.project)
    return [*problems, *(f"left: {process}" for process in left)], line.strip()


def run_local(bench: Bench) -> tuple[list[str], str]:
    """One machine with a catalogue and a store."""
    return compare(bench, start_run(bench.project(), bench.variables, None))


def run_nodes(count: int) -> Case:
    """Return the case of a cluster of so many nodes."""

    def case(bench: Bench) -> tuple[list[str], str]:
        with ray_cluster(count) as cluster:
            return compare(bench, start_run(bench.project(), bench.variables, cluster.address))

    return case


def kill_a_node(bench: Bench) -> tuple[list[str], str]:
    """One of two nodes ends as in a power cut."""
    with ray_cluster(1) as cluster:
        node = add_node(cluster)
        run = start_run(bench.project(), bench.variables, cluster.address, bench.plan())
        run.wait_for_items(2)
        kill_node(node)
        return compare(bench, run, r"labels: (a node|a worker|the node with a result) ended")


def kill_a_worker(bench: Bench) -> tuple[list[str], str]:
    """A worker is killed by the kernel."""
    with ray_cluster(2) as cluster:
        run = start_run(bench.project(), bench.variables, cluster.address, bench.plan())
        os.kill(run.wait_for_items(2)[-1], signal.SIGKILL)
        return compare(bench, run, r"labels: a worker ended")


def kill_the_driver(moment: str) -> Case:
    """Return the case of a driver that is killed in a publication, and run again."""

    def case(bench: Bench) -> tuple[list[str], str]:
        with ray_cluster(2) as cluster:
            first = start_run(
                bench.project(), bench.variables, cluster.address, bench.plan(killed=moment, pause_s=0.0)
            )
            status = first.finish()
            problems = [] if status == -signal.SIGKILL else [f"the driver was not killed: {status}"]
            problems += [f"left: {process}" for process in processes_left(first.project)]
            problems += [] if "labels/stencil" in files_of(first.project) else ["labels were not written"]
            own, _ = compare(bench, start_run(first.project, bench.variables, cluster.address))
            dead = dead_runs(first.project)
            problems += [] if dead else ["Dagster does not say that the first run ended"]
            return [*problems, *own], f"Dagster: {dead} run ended without an end"

    return case


def dead_runs(project: Path) -> int:
    """Return how many Dagster runs of a project failed or were cancelled."""
    import sqlite3

    database = next((project / ".dagster").rglob("runs.db"))
    with sqlite3.connect(database) as connection:
        query = "SELECT count(*) FROM runs WHERE status IN ('FAILURE', 'CANCELED')"
        return int(connection.execute(query).fetchone()[0])


def exhaust_memory(bench: Bench) -> tuple[list[str], str]:
    """An item needs more memory than its node has, once."""
    total, room = psutil.virtual_memory().total, 3 << 30
    limit = (total - psutil.virtual_memory().available + room) / total
    if limit > 0.93:
        return ["this machine has less than 3 GiB of free memory"], ""
    system = {"memory_usage_threshold": limit, "memory_monitor_refresh_ms": 50}
    with ray_cluster(2, system=system) as cluster:
        plan = bench.plan(needed_bytes=2 * room, pause_s=0.0)
        run = start_run(bench.project(), bench.variables, cluster.address, plan)
        return compare(bench, run, r"labels: a worker was ended because its node had no memory left")


def stop_a_worker(bench: Bench) -> tuple[list[str], str]:
    """A worker stands still for longer than the driver waits."""
    with ray_cluster(2) as cluster:
        run = start_run(bench.project(), bench.variables, cluster.address, bench.plan())
        worker = run.wait_for_items(3)[-1]
        os.kill(worker, signal.SIGSTOP)
        try:
            return compare(bench, run, r"labels: a batch is late and was handed over twice")
        finally:
            if psutil.pid_exists(worker):
                os.kill(worker, signal.SIGCONT)


def run_two(bench: Bench) -> tuple[list[str], str]:
    """Two drivers with data folders of their own publish to one catalogue at once."""
    with ray_cluster(2) as cluster:
        runs = [start_run(bench.project(name), bench.variables, cluster.address) for name in ("one", "other")]
        answers = [compare(bench, run) for run in runs]
    return [f"{k}: {line}" for k, (lines, _) in enumerate(answers) for line in lines], ""


def stop_the_store(bench: Bench) -> tuple[list[str], str]:
    """The object store is gone for a minute."""
    with ray_cluster(2) as cluster:
        run = start_run(bench.project(), bench.variables, cluster.address, bench.plan())
        run.wait_for_items(2)
        bench.servers.stop_store()
        time.sleep(bench.outage_s)
        bench.servers.start_store()
        problems, named = compare(bench, run, r"the object store answered after|trying again")
        return [*problems, *(["a step failed"] if "failed after" in run.said() else [])], named


def restart_the_database(bench: Bench) -> tuple[list[str], str]:
    """PostgreSQL ends, and starts again when the driver needs it."""
    with ray_cluster(2) as cluster:
        run = start_run(bench.project(), bench.variables, cluster.address, bench.plan())
        run.wait_for_items(8)
        bench.servers.stop_database()
        time.sleep(20.0)
        bench.servers.start_database()
        return compare(bench, run, r"catalogue of s3://.*trying again")


def orphan_tools(bench: Bench) -> tuple[list[str], str]:
    """The driver is killed while tools of items run on nodes."""
    with ray_cluster(2) as cluster:
        plan = bench.plan(tool_s=300.0)
        run = start_run(bench.project(), bench.variables, cluster.address, plan)
        tools = run.wait_for_items(2)
        run.process.kill()
        run.process.wait()
        began = time.monotonic()
        while any(map(psutil.pid_exists, tools)) and time.monotonic() - began < ORPHANS_S:
            time.sleep(0.1)
        ended_s = time.monotonic() - began
        problems = [f"left after {ORPHANS_S:g} s: {pid}" for pid in tools if psutil.pid_exists(pid)]
        own, _ = compare(bench, start_run(run.project, bench.variables, cluster.address))
        return [*problems, *own], f"tools ended after {ended_s:.1f} s"


def run_hosts(bench: Bench) -> tuple[list[str], str]:
    """Two nodes with a network and a data folder of their own; store and catalogue are shared."""
    names = os.environ[INSIDE].split(",")
    project = bench.project()
    (project / "data").mkdir(exist_ok=True)
    with ray_cluster(0, host=address(0)) as cluster:
        nodes: list[subprocess.Popen[bytes]] = []
        try:
            for number, name in enumerate(names[1:], 1):
                ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"]
                ray += [f"--address={cluster.address}", f"--node-ip-address={address(number)}"]
                ray += [f"--memory={1 << 30}", f"--object-store-memory={100 << 20}"]
                own = [str(project / "data"), RAY_FOLDER]
                hidden = [sys.executable, "-m", "tests.support.hosts", *own, "--", *ray]
                with (bench.folder / f"node-{number}").open("wb") as log:
                    nodes.append(
                        subprocess.Popen(
                            on_host(name, hidden),
                            stdout=log,
                            stderr=log,
                            cwd=ROOT,
                            env={**os.environ, **bench.variables, "SIMFOUNDRY_PROJECT": str(project)},
                        )
                    )
            wait_for_nodes(cluster, len(nodes) + 1)
            run = start_run(project, bench.variables, cluster.address)
            status = run.finish()
        finally:
            for node in nodes:
                end(node, signal.SIGTERM, ORPHANS_S)
    problems = [f"status {status}: {run.said()[-600:]}"] if status else differences(project, bench.expected)
    return [*problems, *(f"left: {process}" for process in processes_left(project))], ""


def wait_for_nodes(cluster: Any, count: int) -> None:
    """Wait until so many nodes have joined."""
    import ray

    ray.init(address=cluster.address, configure_logging=False, log_to_driver=False)
    try:
        deadline = time.monotonic() + 90
        while len([n for n in ray.nodes() if n["Alive"]]) < count:
            assert time.monotonic() < deadline, "nodes have not joined"
            time.sleep(0.2)
    finally:
        ray.shutdown()


CASES: Mapping[str, Case] = {
    "local": run_local,
    "one-node": run_nodes(1),
    "two-nodes": run_nodes(2),
    "four-nodes": run_nodes(4),
    "hosts": run_hosts,
    "node-killed": kill_a_node,
    "worker-killed": kill_a_worker,
    "driver-killed-before-commit": kill_the_driver(PUT),
    "driver-killed-after-commit": kill_the_driver(COMMIT),
    "out-of-memory": exhaust_memory,
    "straggler": stop_a_worker,
    "two-drivers": run_two,
    "store-gone": stop_the_store,
    "database-restarted": restart_the_database,
    "driver-killed-tools": orphan_tools,
}


def run_case(name: str, folder: Path, expected: Hashes, outage_s: float) -> Answer:
    """Make a case in a folder, with servers of its own."""
    folder.mkdir()
    folder.chmod(0o755)
    with servers(folder / "servers", os.environ.get(HEAD, HOST)) as own:
        token, variables = secrets.token_hex(8), own.place("case")
        bench = Bench(folder=folder, servers=own, variables=variables, expected=expected, outage_s=outage_s)
        before = dict(os.environ)
        os.environ.update({**own.s3.variables, TOKEN: token, "OMP_NUM_THREADS": "1"})
        started = time.perf_counter()
        try:
            problems, named = CASES[name](bench)
        except AssertionError as error:
            problems, named = [str(error)], ""
        finally:
            os.environ.clear()
            os.environ.update(before)
        wall_s = time.perf_counter() - started
    problems += [f"left: {line}" for line in marked_processes(token)]
    return Answer(problems=problems, named=named, wall_s=wall_s)


def marked_processes(token: str) -> list[str]:
    """Return the command lines of processes of a case, once they had time to end."""
    deadline = time.monotonic() + ORPHANS_S
    sign = f"{TOKEN}={token}".encode()
    while True:
        lines: list[str] = []
        for process in psutil.process_iter():
            try:
                variables = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
                if sign in variables and process.pid != os.getpid() and process.status() != "zombie":
                    lines.append(" ".join(process.cmdline())[:120])
            except (OSError, psutil.Error):
                continue  # it ended
        if not lines or time.monotonic() > deadline:
            return lines
        time.sleep(0.2)


def make_expected(folder: Path) -> Hashes:
    """Make the small run on this machine without servers. Returns: the hashes of its tables."""
    run = start_run(make_project(folder), {}, None)
    if status := run.finish():
        raise SystemExit(f"the run without servers ended with {status}: {run.said()[-1000:]}")
    return files_of(folder)


def run_on_hosts(folder: Path, expected: Hashes, outage_s: float) -> Answer:
    """Make the case `hosts` in a process whose network is the first host's."""
    if not can_make_hosts():
        return Answer(problems=["this user may not make network namespaces"], named="", wall_s=0.0)
    (folder.parent / "expected.json").write_text(json.dumps(expected))
    command = [sys.executable, "-m", "tests.benchmarks.cluster_faults", "--inside", str(folder)]
    with hosts(3) as names:
        done = subprocess.run(
            on_host(names[0], [*command, "--outage-s", str(outage_s)]),
            cwd=ROOT,
            env={**os.environ, HEAD: address(0), INSIDE: ",".join(names)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        return Answer(problems=[done.stderr[-1500:]], named="", wall_s=0.0)
    return Answer(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--only", type=split_names, default=list(CASES), help=", ".join(CASES))
    parser.add_argument("--outage-s", type=float, default=60.0, help="that the object store is gone")
    parser.add_argument("--inside", type=Path, help="folder of the case `hosts`, for the process of a host")
    add_record_option(parser)
    options = parser.parse_args()
    if options.inside:
        expected = json.loads((options.inside.parent / "expected.json").read_text())
        answer = run_case("hosts", options.inside, expected, options.outage_s)
        print(json.dumps({"problems": answer.problems, "named": answer.named, "wall_s": answer.wall_s}))
        return
    if unknown := set(options.only) - CASES.keys():
        raise SystemExit(f"unknown cases: {', '.join(unknown)}; accepted: {', '.join(CASES)}")
    print_machine()
    answers: dict[str, Answer] = {}
    with tempfile.TemporaryDirectory(prefix="cluster-faults-") as name:
        Path(name).chmod(0o755)  # PostgreSQL's own user reads its folder
        expected = make_expected(Path(name) / "expected")
        print(f"{len(expected)} shards of tables.\n")
        print_header("case", "tables equal, nothing left", "named by", "s")
        for case in options.only:
            run = run_on_hosts if case == "hosts" else lambda *own, of=case: run_case(of, *own)
            answers[case] = answer = run(Path(name) / case, expected, options.outage_s)
            verdict = "; ".join(answer.problems).replace("\n", " ") or "yes"
            print_row(case, verdict, answer.named, f"{answer.wall_s:.0f}")
    if options.record:
        _record(answers)
    if any(answer.problems for answer in answers.values()):
        sys.exit("a case has problems")


def _record(answers: Mapping[str, Answer]) -> None:
    """Record how many cases of all had the tables of one machine."""
    good = sum(not answer.problems for answer in answers.values())
    figure = "cases of clusters and faults with the tables of one machine, faults named, nothing left"
    new = Figure(
        figure=figure,
        area="cluster",
        section="Faults",
        value="",
        unit="",
        goal="all",
        command="python -m tests.benchmarks.cluster_faults",
        commit="",
        machine="",
        date="",
    )
    missed = good < len(answers)
    record("cluster", figure, f"{good} of {len(answers)}", missed=missed, new=new)


if __name__ == "__main__":
    main()
