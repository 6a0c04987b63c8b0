"""Racers that publish the same shards at once: none is doubled, none is lost, also when one is killed.

    python -m tests.benchmarks.publication_race                    PostgreSQL and an S3 server on loopback
    python -m tests.benchmarks.publication_race --local            SQLite and a folder
    python -m tests.benchmarks.publication_race --rates --record   commits, puts and gets per second besides

Every racer publishes every shard, in an order of its own. The first racer is killed when it has put a file
and has not committed it, and is started again. Then the table must have every shard once and its rows, with
the hashes of the files. With `--changes` the shards have other rows in each round, and files replace files.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assets.catalogue import Catalogue
from assets.figures import Figure
from assets.iceberg_tables import SHARD
from assets.shared_tables import file_hash
from assets.stores import ENDPOINT_VARIABLE, KEY_VARIABLE, REGION_VARIABLE, SECRET_VARIABLE, open_sealed
from pipelines.schemas import SplitRow, table_path, table_spec, write_table
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, timed
from tests.benchmarks.recording import add_record_option, record
from tests.support.servers import serve_postgres, serve_s3

TABLE = "splits"
RACE = "shards doubled or lost in races of publications, one racer killed"
KILLED = 0
"""The racer that is killed between a put and its commit."""
CONTEXT = multiprocessing.get_context("forkserver")  # libraries are loaded once for all racers
CONTEXT.set_forkserver_preload(["assets.catalogue", "assets.figures", "tests.support.servers"])
STORE_VARIABLES = (KEY_VARIABLE, SECRET_VARIABLE, ENDPOINT_VARIABLE, REGION_VARIABLE)


def store_variables() -> dict[str, str]:
    """Return the variables of the store: a process of a fork server has those of its server."""
    return {name: os.environ[name] for name in STORE_VARIABLES if name in os.environ}


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """Where the racers publish, and what."""

    store: str
    database: str
    folder: Path
    racers: int = 3
    shards: int = 15
    rows: int = 1000
    rounds: int = 1
    kills: bool = True
    variables: Mapping[str, str] = field(default_factory=store_variables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the table has after a race: files and rows by shard, and what racers did."""

    files: Mapping[str, int]
    rows: Mapping[str, int]
    hashes: Mapping[str, str]
    expected: Mapping[str, str]
    commits: int
    calls: int
    snapshots: int
    exit_codes: Sequence[int | None]
    wall_s: float

    def problems(self, race: Race) -> list[str]:
        """Return what is wrong; nothing when every shard is there once with its rows."""
        lines = [f"shard {s}: {n} files" for s, n in self.files.items() if n != 1]
        lines += [f"shard {s}: {n} rows" for s, n in self.rows.items() if n != race.rows]
        lines += [f"shard {s}: another file" for s in self.expected if self.hashes.get(s) != self.expected[s]]
        lines += [f"shard {s} is not there" for s in self.expected.keys() - self.files.keys()]
        if race.kills and self.exit_codes[KILLED] != -signal.SIGKILL:
            lines.append(f"the racer was not killed: {self.exit_codes[KILLED]}")
        lines += [f"racer {k}: status {code}" for k, code in enumerate(self.exit_codes[1:], 1) if code]
        return lines


def write_shards(race: Race, round_: int) -> dict[str, Path]:
    """Write the files of a round; every racer has the same ones."""
    spec, paths = table_spec(TABLE), {}
    for number in range(race.shards):
        rows = [
            SplitRow(split=f"s{number}", program_id=f"p{row}", group=f"{round_}", part="train")
            for row in range(race.rows)
        ]
        data_dir = race.folder / f"round-{round_}"
        write_table(data_dir, spec, rows, f"s{number}")
        paths[f"s{number}"] = table_path(data_dir, spec, f"s{number}")
    return paths


class KilledBetween(Catalogue):
    """A catalogue whose process is killed when it has put its third file and not committed it."""

    puts = 0

    def _commit(self, change: Any) -> bool:
        KilledBetween.puts += 1
        if KilledBetween.puts == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return Catalogue._commit(self, change)


def run_racer(race: Race, number: int, is_killed: bool, said: Any) -> None:
    """Publish every shard in an order of this racer's own."""
    os.environ.update(race.variables)
    catalogue = (KilledBetween if is_killed else Catalogue)(race.store, race.database)
    draw = random.Random(number)
    for round_ in range(race.rounds):
        paths = sorted((race.folder / f"round-{round_}" / "tables" / TABLE).glob("*.parquet"))
        draw.shuffle(paths)
        for path in paths:
            said.put(catalogue.publish(table_spec(TABLE), path.stem, path))
    said.put(None)


def run_race(race: Race) -> Outcome:
    """Let racers publish the same shards at once; one is killed and started again."""
    paths = [write_shards(race, round_) for round_ in range(race.rounds)]
    said = [CONTEXT.Queue() for _ in range(race.racers + race.kills)]
    processes = [
        CONTEXT.Process(target=run_racer, args=(race, k, race.kills and k == KILLED, said[k]))
        for k in range(race.racers)
    ]
    started = time.perf_counter()
    for process in processes:
        process.start()
    if race.kills:
        processes[KILLED].join()
        again = CONTEXT.Process(target=run_racer, args=(race, KILLED, False, said[-1]))
        again.start()
        processes.append(again)
    answers = [
        answer
        for k, queue in enumerate(said)
        if not (race.kills and k == KILLED)
        for answer in iter(queue.get, None)
    ]
    for process in processes:
        process.join()
    wall_s = time.perf_counter() - started
    catalogue = Catalogue(race.store, race.database)
    return read_outcome(catalogue, paths[-1], answers, [p.exitcode for p in processes], wall_s)


def read_outcome(
    catalogue: Catalogue,
    paths: Mapping[str, Path],
    answers: Sequence[bool],
    exit_codes: Sequence[int | None],
    wall_s: float,
) -> Outcome:
    """Read files, rows and hashes of every shard with PyIceberg's own scan."""
    table = catalogue.table(TABLE)
    assert table is not None
    files = Counter(str(task.file.partition[0]) for task in table.scan().plan_files())
    rows = Counter(table.scan(selected_fields=(SHARD,)).to_arrow()[SHARD].to_pylist())
    return Outcome(
        files=files,
        rows=rows,
        hashes=catalogue.state(TABLE).shards,
        expected={shard: str(file_hash(path)) for shard, path in paths.items()},
        commits=sum(answers),
        calls=len(answers),
        snapshots=len(table.metadata.snapshots),
        exit_codes=exit_codes,
        wall_s=wall_s,
    )


@contextmanager
def places(folder: Path, *, is_local: bool) -> Iterator[Callable[[str], tuple[str, str]]]:
    """Serve stores and databases. Yields: their URLs by name; the variables of the stores are set."""
    if is_local:
        yield lambda name: (f"file://{folder}/{name}/store", f"sqlite:///{folder}/{name}.db")
        return
    with serve_postgres(folder / "postgres") as database, serve_s3(folder / "s3") as s3:
        os.environ.update(s3.variables)
        yield lambda name: (f"s3://foundry/{name}", database.database(name))


# ---- rates -----------------------------------------------------------------------------------------------


def commits_per_s(store: str, database: str, folder: Path, count: int) -> float:
    """Return publications per second of one process, each of another shard of one table."""
    race = Race(store=store, database=database, folder=folder / "rates", shards=count, rows=100)
    paths = write_shards(race, 0)
    catalogue = Catalogue(race.store, race.database)
    spec = table_spec(TABLE)
    catalogue.publish(spec, "s0", paths.pop("s0"))
    _, spent = timed(lambda: [catalogue.publish(spec, shard, path) for shard, path in paths.items()])
    return len(paths) / spent.wall_s


def requests_per_s(store: str, count: int, threads: int) -> tuple[float, float]:
    """Return puts and gets per second of entries of 2 kB of the sealed cache."""
    sealed, content = open_sealed(f"{store}/cache"), random.Random(0).randbytes(2000)
    names = [f"rate/{number % 97:02}/rate-{number}.json" for number in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        _, puts = timed(lambda: list(pool.map(lambda name: sealed.write(name, content), names)))
        _, gets = timed(lambda: list(pool.map(sealed.read, names)))
    return count / puts.wall_s, count / gets.wall_s


def figure(name: str, unit: str) -> Figure:
    """Return what a row says of a rate when there is none yet."""
    return Figure(
        figure=name,
        area="cluster",
        section="Store and catalogue",
        value="",
        unit=unit,
        interval="",
        goal="",
        missed=False,
        paper="",
        command="python -m tests.benchmarks.publication_race --rates",
        commit="",
        engines={},
        machine="",
        date="",
        summary="",
    )


def measure_rates(options: Namespace, store: str, database: str, folder: Path) -> None:
    """Print commits, puts and gets per second, and record them."""
    puts, gets = requests_per_s(store, options.objects, options.threads)
    rates = {
        "commits of shards per second, PostgreSQL": commits_per_s(store, database, folder, options.commits),
        "puts of 2 kB per second": puts,
        "gets of 2 kB per second": gets,
    }
    print()
    print_header("rate", "per second")
    for name, value in rates.items():
        print_row(name, f"{value:.1f}")
        if options.record:
            record("cluster", name, float(f"{value:.3g}"), new=figure(name, "1/s"))


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--local", action="store_true", help="SQLite and a folder, no servers")
    parser.add_argument("--racers", type=int, default=3)
    parser.add_argument("--shards", type=int, default=15)
    parser.add_argument("--changes", type=int, default=1, help="rounds; in each the shards have other rows")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rates", action="store_true")
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--objects", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=8)
    add_record_option(parser)
    options = parser.parse_args()
    print_machine()
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="race-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL's own user reads its folder
        with places(folder, is_local=options.local) as place:
            print_header("race", "publications", "commits", "snapshots", "rows", "problems", "s")
            for repeat in range(options.repeats):
                store, database = place(f"race{repeat}")
                race = Race(
                    store=store,
                    database=database,
                    folder=folder / f"files-{repeat}",
                    racers=options.racers,
                    shards=options.shards,
                    rounds=options.changes,
                )
                outcome = run_race(race)
                own = outcome.problems(race)
                problems += own
                print_row(
                    repeat,
                    outcome.calls,
                    outcome.commits,
                    outcome.snapshots,
                    sum(outcome.rows.values()),
                    "; ".join(own) or "none",
                    f"{outcome.wall_s:.1f}",
                )
            if options.rates:
                measure_rates(options, *place("rates"), folder)
    if options.record and not options.local:
        record(
            "cluster", RACE, f"{len(problems)} of {options.repeats * options.shards}", new=figure(RACE, "")
        )
    if problems:
        sys.exit("a shard was doubled or lost")


if __name__ == "__main__":
    main()
