"""How long the steps `designs` and `labels` take when all their designs are in the cache.

    python -m tests.benchmarks.cluster_resume [--designs 100000] [--suite-designs 2000] [--local] [--record]

Programs of a release are repeated under other ids with all their designs, labels, runs, inputs and loops:
entries have the true size. Suites of some thousand designs are resumed one after the other, as steps do it,
in a process of its own: from the folder, from an object store with an empty folder, and once more with the
folder that this filled. Nothing may be computed. With `--latency-ms` requests to the store take
longer, as to a farther one.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from assets.figures import Figure
from assets.stores import open_sealed
from pipelines.base.cache import ContentCache, json_value
from pipelines.base.identity import canonical_json
from pipelines.base.sealing import SealedStore
from pipelines.base.workers import Progress
from pipelines.c.directives import directives_json
from pipelines.dataset.labelling import (
    LabelContext,
    LabelTables,
    label_designs,
    plan_designs,
)
from pipelines.dataset.labelling.cache import KIND, LabelCache, label_cache
from pipelines.dataset.labelling.configurations import configurations_key, program_configurations
from pipelines.dataset.labelling.flows import HlsRows
from pipelines.dataset.releases import Release, open_release
from pipelines.hls import TOOL, design_id, options_of
from pipelines.schemas import DesignRow, ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty
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
from tests.support.labelling import configuration_space, label_options

LIBERTY = "osu018"
SPACE = configuration_space()
SECTION = "Cached designs resumed"
COMMAND = "python -m tests.benchmarks.cluster_resume"
Suites = Sequence[Sequence[ProgramRow]]


@dataclass(frozen=True, slots=True)
class _Model:
    """A program of a release with the rows of its designs, labels as JSON; no two mappings are equal."""

    program: ProgramRow
    mappings: Sequence[dict[str, Any]]
    designs: Sequence[DesignRow]
    outcomes: Sequence[tuple[Any, ...]]
    labels: str


@dataclass(frozen=True, slots=True)
class Delayed:
    """A sealed store whose reads take longer by a time."""

    store: SealedStore
    latency_s: float

    def read(self, name: str) -> bytes | None:
        """Read an entry after a wait."""
        time.sleep(self.latency_s)
        return self.store.read(name)

    def write(self, name: str, content: bytes, *, replace: bool = False) -> None:
        """Write an entry."""
        self.store.write(name, content, replace=replace)


def context_of(cache: ContentCache) -> LabelContext:
    """Return the options of the labels: the same in every process."""
    target = Target(liberty=find_liberty(LIBERTY), clock_period_ns=10.0)
    return LabelContext(target=target, cache=cache, options=label_options())


def read_models(release: Path, least: int) -> list[_Model]:
    """Return programs of some suites of a release, until they have so many designs."""
    reader, models = open_release(release), list[_Model]()
    parts = reader.partitions("designs")
    for part in parts[:: max(1, len(parts) // 10)]:
        if sum(len(model.designs) for model in models) < least:
            models += read_suite(reader, part)
    return models


def read_suite(reader: Release, part: str) -> Iterator[_Model]:
    """Yield the programs of a suite that have designs of the project's own engine."""
    names = ("labels", "runs", "loop_runs", "directive_outcomes")
    tables = {name: _grouped(reader.rows(name, part), "design_id") for name in names}
    inputs = _grouped(reader.rows("inputs", part), "data_id")
    designs = _grouped(reader.rows("designs", part), "program_id")
    for program in reader.rows("programs", part):
        own = {canonical_json(_mapping(d)): d for d in designs[program.program_id] if d.tool == TOOL}
        rows = {n: [row for d in own.values() for row in tables[n][d.design_id]] for n in names[:3]}
        data = dict.fromkeys(run.data_id for run in rows["runs"])
        labels = LabelTables(**rows, inputs=[row for one in data for row in inputs[one]])
        if own:
            yield _Model(
                program=program,
                mappings=[_mapping(design) for design in own.values()],
                designs=list(own.values()),
                outcomes=[tuple(tables["directive_outcomes"][d.design_id]) for d in own.values()],
                labels=json.dumps(asdict(labels)),
            )


def _grouped(rows: Iterable[Any], column: str) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, column)].append(row)
    return groups


def _mapping(design: DesignRow) -> dict[str, Any]:
    options = options_of(design)
    return {
        "read_delay_cycles": options.memory_read_delay_cycles,
        "write_delay_cycles": options.memory_write_delay_cycles,
        "clock_period_ns": options.clock_period_ns,
        "directives": directives_json(options.directives),
    }


def program_like(model: _Model, number: int) -> ProgramRow:
    """Return the program of a model under another id."""
    return replace(model.program, program_id=f"{number:08x}{model.program.program_id[8:]}")


def write_entries(model: _Model, program: ProgramRow, entries: LabelCache) -> None:
    """Store what the steps store of a program that is like a model."""
    cache = entries.cache
    cache.put("configurations", configurations_key(program, SPACE), model.mappings)
    configurations = program_configurations(program, SPACE, liberty=LIBERTY, cache=cache)
    assert isinstance(configurations, list)
    designs, labels = list[DesignRow](), model.labels
    for configuration, like, outcomes in zip(configurations, model.designs, model.outcomes, strict=True):
        name = design_id(program, configuration)
        design = replace(like, design_id=name, program_id=program.program_id)
        rows = HlsRows(design=design, outcomes=tuple(replace(row, design_id=name) for row in outcomes))
        cache.put("hls", name, json_value(rows))
        designs.append(design)
        labels = labels.replace(like.design_id, name)
    cache.put(KIND, entries.key(program, designs), json.loads(labels))


def write_cache(folder: Path, designs: int, suite_designs: int, release: Path) -> Suites:
    """Fill a cache, unless an earlier run filled it likewise. Returns: programs by suite."""
    whole = folder / f"whole-{designs}-{suite_designs}"
    models = read_models(release, suite_designs)
    entries = label_cache(models[0].designs, context_of(ContentCache(folder=folder)))
    suites: list[list[ProgramRow]] = []
    count = in_suite = 0
    for number, model in enumerate(cycle(models)):
        if count >= designs:
            break
        if not suites or in_suite >= suite_designs:
            suites.append([])
            in_suite = 0
        suites[-1].append(program_like(model, number))
        if not whole.exists():
            write_entries(model, suites[-1][-1], entries)
        in_suite += len(model.designs)
        count += len(model.designs)
    whole.touch()
    return suites


def resume(suites: Suites, folder: Path, store: str | None, latency_s: float) -> tuple[int, int]:
    """Ask for designs and labels of suites as the steps do. Returns: their numbers."""
    shared = None if store is None else open_sealed(f"{store}/cache")
    if shared is not None and latency_s:
        shared = Delayed(shared, latency_s)
    context = context_of(ContentCache(folder=folder, shared=shared))
    counts = [0, 0]
    for programs in suites:
        tables = plan_designs(programs, SPACE, context, on_progress=_refuse)
        labels = label_designs(programs, tables.designs, context, on_progress=_refuse)
        counts = [counts[0] + len(tables.designs), counts[1] + len(labels.labels)]
    return counts[0], counts[1]


def _refuse(progress: Progress) -> None:
    raise RuntimeError(f"not in the cache: {progress.latest} of step {progress.step}")


def link_entries(cache: Path, target: Path) -> tuple[int, int]:
    """Make a cache's entries the objects of a store, which have the same names and bytes.

    Returns: number of entries and bytes.
    """
    sizes = []
    for path in _entries(cache):
        place = target / path.relative_to(cache)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, place)
        sizes.append(path.stat().st_size)
    return len(sizes), sum(sizes)


def _entries(cache: Path) -> Iterator[Path]:
    for kind in ("configurations", "hls", "labels"):
        yield from (cache / kind).rglob("*.json")


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--designs", type=int, default=100_000)
    parser.add_argument("--suite-designs", type=int, default=2_000)
    parser.add_argument("--release", type=Path, default=ROOT / "releases" / "v2")
    parser.add_argument("--cache", type=Path, help="folder that keeps the entries for a repetition")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--local", action="store_true", help="a folder instead of an S3 server")
    parser.add_argument("--timeout-s", type=float, default=1200.0, help="of each way")
    add_record_option(parser)
    options = parser.parse_args()
    print_machine()
    with tempfile.TemporaryDirectory(prefix="resume-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL's own user reads its folder
        cache = options.cache or folder / "cache"
        suites = write_cache(cache, options.designs, options.suite_designs, options.release)
        with places(folder, is_local=options.local) as place:
            store, _ = place("resume")
            buckets = folder / ("resume/store" if options.local else "s3/buckets/foundry/resume")
            entries, size = link_entries(cache, buckets / "cache")
            print(f"{entries:,} entries, {size / 2**20:.0f} MiB, {len(suites)} suites.\n")
            ways = {
                "folder": (cache, None),
                "store, folder empty": (folder / "cold", store),
                "store, folder filled": (folder / "cold", store),
            }
            print_header("cache", "s", "processor s", "peak MiB", "entries per s", "designs, labels")
            results = dict[str, Apart]()
            for way, (own, url) in ways.items():
                one = run_apart(
                    partial(resume, suites, own, url, options.latency_ms / 1000), timeout_s=options.timeout_s
                )
                results[way] = one
                rate = f"{entries / one.wall_s:.0f}"
                print_row(
                    way,
                    f"{one.wall_s:.1f}",
                    f"{one.processor_s:.1f}",
                    f"{one.peak_mib:.0f}",
                    rate,
                    one.result,
                )
    if options.record and not options.local:
        _record(
            "entries of designs, labels and configurations",
            {"designs": results["folder"].result[0], "entries": entries, "bytes": size},
        )
        for way, one in results.items():
            _record(way, {**one.values, "entries per s": round(entries / one.wall_s)})


def _record(name: str, value: Any) -> None:
    new = Figure(
        figure=name, area="cluster", section=SECTION, value=0, command=COMMAND, commit="", machine="", date=""
    )
    record("cluster", name, value, new=new)


if __name__ == "__main__":
    main()
