"""Load of served models on loopback: requests per second, median and 99th percentile, and bad input.

    python -m tests.benchmarks.serving_load                   lightgbm-static and tenset-mlp, their champions
    python -m tests.benchmarks.serving_load --record          rows of docs/results/figures.jsonl besides
    python -m tests.benchmarks.serving_load --seconds 2 --models tenset-mlp@champion

Each model is served by `simfoundry serve` from a registry of its own with the weights that come with the
project. Clients keep their connections and ask again as soon as they are answered; every request is one
design, of a program that the server has not seen in this run or has. Then each bad input is sent; every
answer must have a status 4xx and one line.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from assets.figures import Figure
from pipelines.programs import kernel_programs
from tests.benchmarks.harness import ROOT, options_parser, print_header, print_machine, print_row, split_names
from tests.benchmarks.recording import add_record_option, record
from tests.support.servers import end, free_port

MODELS = ("lightgbm-static@champion", "tenset-mlp@champion")
READY_S = 300.0
PROJECT_FILES = ("dvc.yaml", "workspace.yaml", "tools.yaml")
JSON = {"Content-Type": "application/json"}
GOOD: Mapping[str, Any] = {
    "source": "void scale(int x[8]) { for (int i = 0; i < 8; i++) x[i] = 3 * x[i]; }\n",
    "top": "scale",
    "memory_read_delay_cycles": 2,
    "memory_write_delay_cycles": 2,
    "clock_period_ns": 10.0,
    "directives": "[]",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What clients measured: seconds of every answered request, and other statuses by count."""

    seconds: Sequence[float]
    wall_s: float
    others: Mapping[int, int]

    @property
    def per_s(self) -> float:
        """Answered requests per second."""
        return len(self.seconds) / self.wall_s

    def quantile_ms(self, share: float) -> float:
        """Return a quantile of the times, in ms."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@contextmanager
def served(model: str, folder: Path, *options: str) -> Iterator[int]:
    """Serve a model from a project of its own; yields the port."""
    for name in PROJECT_FILES:
        (folder / name).write_bytes((ROOT / name).read_bytes())
    port = free_port()
    environment = {**os.environ, "SIMFOUNDRY_PROJECT": str(folder), "PYTHONPATH": str(ROOT)}
    for name in ("SIMFOUNDRY_DEPLOYMENT", "MLFLOW_TRACKING_URI"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "simfoundry.cli", "serve", model, "--port", str(port), *options]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        _wait(process, port, folder / "server.log")
        yield port
    finally:
        end(process, signal.SIGTERM)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end_s = time.monotonic() + READY_S
    while time.monotonic() < end_s and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the server does not start: {log.read_text()[-500:]}")


def ask(connection: HTTPConnection, body: bytes, headers: Mapping[str, str] = JSON) -> tuple[int, bytes]:
    """Send a request. Returns: status and answer."""
    connection.request("POST", "/invocations", body=body, headers=dict(headers))
    answer = connection.getresponse()
    return answer.status, answer.read()


def questions() -> list[dict[str, Any]]:
    """Return designs of the kernels: every program under several delays and clocks."""
    rows = kernel_programs(suites=("linear_algebra", "stencil"), sizes=("small",))
    return [
        {
            **GOOD,
            "source": row.source,
            "top": row.top,
            "memory_read_delay_cycles": delay,
            "clock_period_ns": clock,
        }
        for row in rows
        for delay in (1, 2, 5, 10)
        for clock in (5.0, 10.0)
    ]


def measure_load(port: int, rows: Sequence[Mapping[str, Any]], *, clients: int, seconds: float) -> Load:
    """Ask with several clients at once."""
    bodies = [json.dumps({"dataframe_records": [row]}).encode() for row in rows]

    def work(client: int) -> tuple[list[float], dict[int, int]]:
        draw, times, others = random.Random(client), [], {}
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        while time.perf_counter() < end_s:
            body, begun = draw.choice(bodies), time.perf_counter()
            status, _ = ask(connection, body)
            if status == 200:
                times.append(time.perf_counter() - begun)
            else:
                others[status] = others.get(status, 0) + 1
        connection.close()
        return times, others

    started = time.perf_counter()
    end_s = started + seconds
    with ThreadPoolExecutor(clients) as pool:
        results = list(pool.map(work, range(clients)))
    wall_s = time.perf_counter() - started
    others: dict[int, int] = {}
    for _, own in results:
        for status, count in own.items():
            others[status] = others.get(status, 0) + count
    return Load(seconds=[s for times, _ in results for s in times], wall_s=wall_s, others=others)


def bad_inputs() -> list[tuple[str, bytes, dict[str, str]]]:
    """Return names, bodies and headers of requests that no model can answer."""

    def one(**changes: Any) -> bytes:
        row = {name: value for name, value in {**GOOD, **changes}.items() if value is not ...}
        return json.dumps({"dataframe_records": [row]}).encode()

    nested = "void f(int x[8]) { x[0] = " + "(" * 5000 + "1" + ")" * 5000 + "; }"
    rows: dict[str, bytes] = {
        "empty body": b"",
        "no JSON": b"{",
        "not UTF-8": b"\xff\xfe\x00",
        "JSON, no table": b"[1, 2]",
        "null": b"null",
        "another key": b'{"instances": []}',
        "two keys": b'{"dataframe_records": [], "params": {}}',
        "no rows": b'{"dataframe_records": []}',
        "too many rows": json.dumps({"dataframe_records": [dict(GOOD)] * 300}).encode(),
        "row is no object": b'{"dataframe_records": [1]}',
        "split without data": b'{"dataframe_split": {"columns": ["a"]}}',
        "split of other width": b'{"dataframe_split": {"columns": ["a"], "data": [[1, 2]]}}',
        "split with a column twice": b'{"dataframe_split": {"columns": ["a", "a"], "data": [[1, 2]]}}',
        "deep JSON": b'{"dataframe_records": ' + b"[" * 100_000,
        "unknown column": one(color="red"),
        "missing column": one(top=...),
        "null column": one(top=None),
        "long text": one(source="x" * 70_000),
        "large body": one(source="x" * (5 << 20)),
        "text as number": one(memory_read_delay_cycles="2"),
        "number as text": one(source=7),
        "bool as number": one(memory_read_delay_cycles=True),
        "list as number": one(clock_period_ns=[1]),
        "delay 0": one(memory_read_delay_cycles=0),
        "delay 1.5": one(memory_read_delay_cycles=1.5),
        "delay of 300 digits": one(memory_read_delay_cycles=10**300),
        "digits beyond Python's limit": one().replace(b": 10.0", b": " + b"9" * 5000),
        "clock negative": one(clock_period_ns=-1.0),
        "clock 1e308": one(clock_period_ns=1e308),
        "clock 1e999": one().replace(b": 10.0", b": 1e999"),
        "NaN": one().replace(b": 10.0", b": NaN"),
        "Infinity": one().replace(b": 10.0", b": Infinity"),
        "NUL": one(source="a\0b"),
        "half a surrogate": one().replace(b"void scale", b"\\ud800 scale"),
        "empty source": one(source=""),
        "empty top": one(top=""),
        "unknown top": one(top="nothing"),
        "syntax error": one(source="void scale(int x[8]) { for"),
        "nested text": one(source=nested, top="f"),
        "unfinished comment": one(source="/*"),
        "includes a file": one(source='#include "/etc/passwd"\n'),
        "directives, no JSON": one(directives="["),
        "directives, no list": one(directives='{"a": 1}'),
        "directives of numbers": one(directives="[1, 2]"),
        "directive of another kind": one(directives='[{"kind": "paint", "loop": "a"}]'),
        "deep directives": one(directives="[" * 20_000 + "]" * 20_000),
        "data, no JSON": one(data="{"),
        "data, no object": one(data="[1]"),
        "trips, no JSON": one(trips="{"),
        "trips of text": one(trips='{"L0": "many"}'),
        "unsafe_math 2": one(unsafe_math=2),
    }
    cases = [(name, body, JSON) for name, body in rows.items()]
    cases.append(("CSV", b"a,b\n1,2\n", {"Content-Type": "text/csv"}))
    cases.append(("no content type", one(), {}))
    cases.append(("wrong length", b"", {**JSON, "Content-Length": "99999999999"}))
    return [(name, body, dict(headers)) for name, body, headers in cases]


def refused_share(port: int) -> tuple[float, list[str]]:
    """Send every bad input. Returns: share of answers 4xx with one line, and what else came."""
    wrong: list[str] = []
    cases = bad_inputs()
    for name, body, headers in cases:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            status, answer = ask(connection, body, headers)
            line = json.loads(answer)["error"]
            if not 400 <= status < 500 or not line or "\n" in line or "Traceback" in line:
                wrong.append(f"{name}: status {status}: {line[:200]}")
        except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
            wrong.append(f"{name}: {error!r}")
        finally:
            connection.close()
    return 1 - len(wrong) / len(cases), wrong


def _figure(name: str, unit: str, goal: str = "") -> Figure:
    return Figure(
        figure=name,
        area="cluster",
        section="Serving",
        value=0.0,
        unit=unit,
        goal=goal,
        command="python -m tests.benchmarks.serving_load",
        commit="",
        engines={},
        machine="",
        date="",
    )


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--models", type=split_names, default=list(MODELS))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--clients", type=int, default=4)
    add_record_option(parser)
    options = parser.parse_args()
    print_machine()
    rows, failures = questions(), []
    print_header("model", "clients", "requests/s", "p50 ms", "p99 ms", "other statuses", "4xx of bad input")
    for model in options.models:
        with tempfile.TemporaryDirectory(prefix="serving-") as name, served(model, Path(name)) as port:
            measure_load(port, rows, clients=1, seconds=2.0)
            load = measure_load(port, rows, clients=options.clients, seconds=options.seconds)
            share, wrong = refused_share(port)
        p50, p99 = 1000 * statistics.median(load.seconds), load.quantile_ms(0.99)
        print_row(
            model,
            options.clients,
            f"{load.per_s:.1f}",
            f"{p50:.1f}",
            f"{p99:.1f}",
            load.others or 0,
            f"{share:.1%}",
        )
        for line in wrong:
            print(f"  {line}")
        failures += wrong
        if options.record:
            values = {
                "requests per second": round(load.per_s, 1),
                "p50 (ms)": round(p50, 1),
                "p99 (ms)": round(p99, 1),
                "4xx of bad input (%)": round(100 * share, 1),
            }
            name = f"{model.partition('@')[0]}, {options.clients} clients"
            record("cluster", name, values, missed=share < 1, new=_figure(name, "", "bad input: 100 % 4xx"))
    if failures:
        sys.exit("bad input was not refused with 4xx and one line")


if __name__ == "__main__":
    main()
