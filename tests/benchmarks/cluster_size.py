"""Ten million rows of `labels` published in a catalogue and queried: seconds and memory.

    python -m tests.benchmarks.cluster_size [--rows 10000000] [--shard-rows 100000] [--local] [--record]

Labels of a release are repeated under random ids, in files of the data folder. Each step is a process of its
own: publication, shard by shard as steps publish, then all at once in another catalogue; queries as
`simfoundry sql` answers them, from a project with an empty data folder; a fetch of all files into it.
Servers are PostgreSQL and an S3 server on loopback, whose own processor time is not counted.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads

from assets.deployments import CATALOGUE_VARIABLE, PROJECT_VARIABLE, STORE_VARIABLE, find_deployment
from assets.figures import Figure
from assets.shared_tables import publish_shards, pull_tables
from pipelines.schemas import table_spec, write_arrow
from simfoundry.commands.sql import answer_query
from tests.benchmarks.harness import (
    ROOT,
    Apart,
    options_parser,
    print_header,
    print_machine,
    print_row,
    run_apart,
)
from tests.benchmarks.publication_race import places
from tests.benchmarks.recording import add_record_option, record

TABLE = "labels"
SECTION = "Ten million rows"
COMMAND = "python -m tests.benchmarks.cluster_size"
QUERIES: Mapping[str, str] = {
    "count": f"SELECT count(*) FROM {TABLE}",
    "group by": f"SELECT suite, status, count(*), avg(area_um2) FROM {TABLE} GROUP BY ALL ORDER BY ALL",
    "one column": f"SELECT sum(delay_ns) FROM {TABLE}",
    "filter by key": f"SELECT * FROM {TABLE} WHERE design_id = 'KEY'",
    "wall-clock column": f"SELECT sum(synthesis_wall_s) FROM {TABLE}",
}


def write_project(folder: Path) -> Path:
    """Write the files by which a project is known."""
    folder.mkdir(parents=True)
    for name in ("dvc.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, folder)
    return folder


def write_rows(folder: Path, rows: int, shard_rows: int, release: Path) -> tuple[list[str], str]:
    """Write shards of labels. Returns: their names, and the design of one row."""
    spec, draw = table_spec(TABLE), np.random.default_rng(0)
    content, measured = (
        pads.dataset(str(release / room / TABLE)).to_table(columns=spec.schema(measured=own).names)
        for room, own in (("tables", False), ("measured", True))
    )
    names: list[str] = []
    key = ""
    for number in range(-(-rows // shard_rows)):
        count = min(shard_rows, rows - number * shard_rows)
        names.append(f"rows-{number:05}")
        digits = draw.bytes(16 * count).hex()
        own_ids = sorted(digits[place : place + 32] for place in range(0, len(digits), 32))
        ids, key = pa.array(own_ids), own_ids[count // 2]
        taken = draw.integers(0, content.num_rows, count)
        tools = content["tool"].take(taken)
        for table, own in ((content, False), (measured, True)):
            schema = spec.schema(measured=own)
            columns = {"design_id": ids, "tool": tools}
            drawn = [columns.get(name, table[name].take(taken % table.num_rows)) for name in schema.names]
            one = pa.table(drawn, names=schema.names).cast(schema)
            write_arrow(folder / "data", spec, one, names[-1], measured=own)
    return names, key


def publish(names: Sequence[str], at_once: bool) -> int:
    """Publish shards of this process's project, each in a transaction or all in one."""
    groups = [names] if at_once else [[name] for name in names]
    return sum(publish_shards(find_deployment(), {TABLE: group}) for group in groups)


def ask(query: str) -> str:
    """Answer a query as `simfoundry sql` does."""
    return answer_query(query, as_json=False)


def fetch() -> int:
    """Fetch all files of the catalogue into the data folder."""
    return pull_tables(find_deployment(), [TABLE])


def measure(
    options: Namespace, folder: Path, place: Callable[[str], tuple[str, str]], names: Sequence[str], key: str
) -> dict[str, Apart]:
    """Publish, query and fetch, each in a process of its own."""
    results: dict[str, Apart] = {}
    reader = write_project(folder / "reader")

    def step(name: str, work: Callable[[], object], project: Path, server: tuple[str, str]) -> None:
        os.environ[PROJECT_VARIABLE] = str(project)
        os.environ[STORE_VARIABLE], os.environ[CATALOGUE_VARIABLE] = server
        try:
            one = results[name] = run_apart(work, timeout_s=options.timeout_s)
        except (EOFError, TimeoutError) as error:
            print_row(name, "", "", "", f"failed: {type(error).__name__}")
            return
        answer = " ".join(str(one.result).split())[-60:]
        print_row(name, f"{one.wall_s:.2f}", f"{one.processor_s:.2f}", f"{one.peak_mib:.0f}", answer)

    print_header("step", "s", "processor s", "peak MiB", "answer")
    servers = place("each"), place("whole")
    step(
        "publication, a transaction per shard", partial(publish, names, False), folder / "writer", servers[0]
    )
    step("publication, one transaction", partial(publish, names, True), folder / "writer", servers[1])
    for name, query in QUERIES.items():
        step(f"query: {name}", partial(ask, query.replace("KEY", key)), reader, servers[0])
    step("fetch of all files", fetch, reader, servers[0])
    return results


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--shard-rows", type=int, default=100_000)
    parser.add_argument("--release", type=Path, default=ROOT / "releases" / "v2")
    parser.add_argument("--local", action="store_true", help="SQLite and a folder, no servers")
    parser.add_argument("--timeout-s", type=float, default=600.0, help="of each step")
    add_record_option(parser)
    options = parser.parse_args()
    print_machine()
    with tempfile.TemporaryDirectory(prefix="size-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL's own user reads its folder
        writer = write_project(folder / "writer")
        names, key = write_rows(writer, options.rows, options.shard_rows, options.release)
        size = sum(path.stat().st_size for path in writer.rglob("*.parquet"))
        print(f"{options.rows:,} rows, {len(names)} shards, {size / 2**20:.0f} MiB of files.\n")
        with places(folder, is_local=options.local) as place:
            results = measure(options, folder, place, names, key)
    if len(results) < len(QUERIES) + 3:
        raise SystemExit("a step failed")
    if options.record and not options.local:
        values = {"rows": options.rows, "shards": len(names), "bytes of a row": round(size / options.rows, 1)}
        _record("synthetic rows of `labels`", values)
        for name, one in results.items():
            _record(name, one.values)


def _record(name: str, value: Mapping[str, float | int]) -> None:
    new = Figure(
        figure=name, area="cluster", section=SECTION, value=0, command=COMMAND, commit="", machine="", date=""
    )
    record("cluster", name, value, new=new)


if __name__ == "__main__":
    main()
