"""One parser on many mutated inputs, in a process of its own whose memory is measured.

    python tests/faults/mutated_inputs.py c --count 1000 --seed 0

Prints one JSON object: outcomes (accepted, or the class of the error), faults (anything but a documented
error), peak_mb (of the process and its tools), slowest_s (processor time of one input, tools included).
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 30.0
"""Processor time of one input after which it counts as a hang."""
MESSAGE_CHARACTERS = 10_000
"""A command shows a message on one line; longer ones are no help."""

LIBERTY = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
TOPOLOGY = {
    "nodes": [{"id": f"h{k}", "host": True} for k in range(4)] + [{"id": "s", "tier": 1}],
    "links": [{"source": f"h{k}", "target": "s", "rate_bps": 10**8, "delay_ns": k} for k in range(4)],
}
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="h" for="node" attr.name="host" attr.type="boolean"/>
<key id="r" for="edge" attr.name="rate_bps" attr.type="long"/><graph edgedefault="undirected">
<node id="a"><data key="h">true</data></node><node id="b"><data key="h">true</data></node><node id="s"/>
<edge source="a" target="s"><data key="r">100000000</data></edge>
<edge source="b" target="s"><data key="r">100000000</data></edge></graph></graphml>"""
PACKETS = "".join(f"{k / 1000},{k % 4},{(k + 1) % 4},500\n" for k in range(40))
TRACE = f"time_s,source,destination,bytes\n{PACKETS}"
CSYNTH = """<profile><ReportVersion><Version>2023.1</Version></ReportVersion>
<UserAssignments><unit>ns</unit><Part>xc7z020clg484-1</Part><TopModelName>fir</TopModelName>
<TargetClockPeriod>10.00</TargetClockPeriod><ClockUncertainty>1.25</ClockUncertainty></UserAssignments>
<PerformanceEstimates><SummaryOfTimingAnalysis><EstimatedClockPeriod>8.419</EstimatedClockPeriod>
</SummaryOfTimingAnalysis><SummaryOfOverallLatency><Best-caseLatency>14</Best-caseLatency>
<Average-caseLatency>23</Average-caseLatency><Worst-caseLatency>32</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><Loop1><TripCount>4</TripCount><Latency>24</Latency><PipelineII>2</PipelineII></Loop1>
</SummaryOfLoopLatency></PerformanceEstimates><AreaEstimates>
<Resources><BRAM_18K>9</BRAM_18K><DSP48E>50</DSP48E><FF>1680</FF><LUT>4546</LUT></Resources></AreaEstimates></profile>"""
QUERIES = (
    "SELECT status, reason, count(*) AS n FROM labels GROUP BY ALL ORDER BY n DESC",
    "SELECT p.name, avg(area_um2) FROM designs d JOIN programs p USING (program_id) "
    "JOIN labels USING (design_id) GROUP BY ALL ORDER BY ALL",
    "EXPLAIN ANALYZE SELECT median(hls_wall_s) FROM designs",
    "WITH a AS (SELECT * FROM programs LIMIT 3) FROM a SELECT name, source_bytes * 2",
    "COPY (SELECT 1) TO 'data/tables/labels/ast-000.parquet' (FORMAT parquet)",
    "SELECT * FROM read_parquet('data/tables/labels/*.parquet')",
    "DESCRIBE labels",
    "SUMMARIZE programs",
)
TOKENS = {
    "c": "{ } ( ) [ ] ; , * & -> . sizeof struct union typedef enum static for while if else return int "
    "char float double void 0 -1 1e999 0xffffffffffffffff 'a' \"s\" "
    "#define #include #if #pragma __attribute__ ? : "
    "... \\\n",
    "liberty": '{ } ( ) ; : , " nan inf -1 1e999 -0.0 cell pin area capacitance values index_1 ff when /* */ '
    "\\\n",
    "topology_json": '{ } [ ] : , " nan NaN Infinity 1e999 -1 null true 99999999999999999999 nodes links',
    "topology_graphml": "< > </ /> & &lt; <!DOCTYPE <!ENTITY node edge data key 1e999 -1 nan \" ' =",
    "trace": ', \n " nan inf -1 1e999 99999999999999999999 time_s é 0x10',
    "csynth": "< > </ /> & &amp; <!DOCTYPE <!ENTITY undef ~ -1 nan 1e999 99999999999999999999 range min max",
    "sql": "COPY EXPLAIN ANALYZE TO '/etc/passwd' read_text( glob( ATTACH PRAGMA INSTALL LOAD SET ; -- /* */ "
    "( ) , * SELECT FROM WHERE UNION getenv('HOME') $$ ' \" 1e999 DROP CREATE INSERT UPDATE DELETE export",
}


class Hang(BaseException):
    """An input took longer than `LIMIT_S` of processor time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """A door for outside data.

    Attributes:
        seeds: valid inputs; parse: reads one; errors: what it may raise.
        after: a check of what must not change.
    """

    seeds: Sequence[bytes]
    parse: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    after: Callable[[], None] = field(default=lambda: None)


def mutated(draw: random.Random, seeds: Sequence[bytes], tokens: Sequence[bytes]) -> bytes:
    """A seed with changes of bytes, spans or tokens, mostly one or two."""
    content = bytearray(draw.choice(seeds))
    for _ in range(draw.choice((1, 1, 1, 2, 2, 8))):
        start = draw.randrange(len(content) + 1)
        end = min(len(content), start + int(draw.paretovariate(0.8)))
        kind = draw.randrange(7)
        if kind == 0 and content:
            content[min(start, len(content) - 1)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del content[start:end]
        elif kind == 2:
            content[start:start] = content[start:end] * draw.choice((1, 2, 50))
        elif kind == 3:
            content[start:start] = draw.choice(tokens)
        elif kind == 4:
            content[start:end] = draw.choice(tokens)
        elif kind == 5:
            other = draw.choice(seeds)
            begin = draw.randrange(len(other) + 1)
            content[start:start] = other[begin : begin + draw.randrange(1, 400)]
        else:
            content[start:start] = draw.choice(tokens) * draw.choice((3, 300))
    return bytes(content)


def _written(folder: Path, name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    def parse(content: bytes) -> object:
        path = folder / name
        path.write_bytes(content)
        return read(path)

    return parse


def _c(folder: Path) -> Parser:
    from pipelines.hls import HlsError, read_program
    from pipelines.hls.preprocess import default_top
    from pipelines.schemas import read_arrow

    del folder
    tables = (ROOT / "releases" / "v1" / "tables" / "programs").glob("*-0000.parquet")
    rows = [row for path in sorted(tables) for row in read_arrow(path).slice(0, 10).to_pylist()]

    def parse(content: bytes) -> object:
        source = content.decode("utf-8", "surrogateescape")
        return read_program(source, top=default_top(source, "program"))

    return Parser(seeds=[row["source"].encode() for row in rows], parse=parse, errors=(HlsError,))


def _liberty(folder: Path) -> Parser:
    from pipelines.synthesis import SynthesisError, load_liberty

    text = LIBERTY.read_text()
    head, *cells = text.split("\n  cell (")
    groups = (cells[k : k + 3] for k in range(0, 12, 3))
    seeds = [(head + "".join(f"\n  cell ({c}" for c in group) + "\n}\n").encode() for group in groups]
    return Parser(seeds=seeds, parse=_written(folder, "a.lib", load_liberty), errors=(SynthesisError,))


def _topology_json(folder: Path) -> Parser:
    from pipelines.network.errors import NetworkError
    from pipelines.network.topology import read_topology

    seeds = [json.dumps(TOPOLOGY).encode(), json.dumps(TOPOLOGY, indent=1).encode()]
    return Parser(seeds=seeds, parse=_written(folder, "a.json", read_topology), errors=(NetworkError,))


def _topology_graphml(folder: Path) -> Parser:
    from pipelines.network.errors import NetworkError
    from pipelines.network.topology import read_topology

    parse = _written(folder, "a.graphml", read_topology)
    return Parser(seeds=[GRAPHML.encode()], parse=parse, errors=(NetworkError,))


def _trace(folder: Path) -> Parser:
    from pipelines.network.errors import NetworkError
    from pipelines.network.traffic import read_trace, write_trace

    csv, parquet = folder / "seed.csv", folder / "seed.parquet"
    csv.write_text(TRACE)
    write_trace(read_trace(csv), parquet)

    def parse(content: bytes) -> object:
        name = "a.parquet" if content[:3] == b"PAR" else "a.csv"
        return _written(folder, name, read_trace)(content)

    return Parser(seeds=[TRACE.encode(), parquet.read_bytes()], parse=parse, errors=(NetworkError,))


def _csynth(folder: Path) -> Parser:
    from pipelines.vendor import VendorError, read_csynth

    return Parser(
        seeds=[CSYNTH.encode()], parse=_written(folder, "csynth.xml", read_csynth), errors=(VendorError,)
    )


def _sql(folder: Path) -> Parser:
    from assets.errors import FoundryError
    from simfoundry.commands.sql import run_query

    data = folder / "data"
    for table in ("programs", "designs", "labels"):
        target = data / "tables" / table / "ast-000.parquet"
        target.parent.mkdir(parents=True)
        shutil.copy(ROOT / "releases" / "v1" / "tables" / table / "ast-000-0000.parquet", target)
    before = _contents(folder)

    def unchanged() -> None:
        if _contents(folder) != before:
            raise AssertionError("a query changed a file")

    def parse(content: bytes) -> object:
        return run_query(data, content.decode("utf-8", "replace"))

    return Parser(seeds=[q.encode() for q in QUERIES], parse=parse, errors=(FoundryError,), after=unchanged)


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _release(folder: Path) -> Parser:
    """A mutation of any one file of a release, small files being as likely as large ones."""
    from assets.errors import FoundryError
    from pipelines.releases import ReleaseError, open_release
    from pipelines.schemas import SchemaError

    copy = folder / "v1"
    shutil.copytree(ROOT / "releases" / "network-long-v1", copy)
    files = sorted(p for p in copy.rglob("*") if p.is_file())
    whole = {p: p.read_bytes() for p in files}
    turn = iter(range(1 << 30))

    def parse(content: bytes) -> object:
        path = files[next(turn) % len(files)]
        draw = random.Random(len(content))
        path.write_bytes(mutated(draw, [whole[path]], [b"{", b"}", b"null", b"-1", b"1e999", content[:64]]))
        try:
            return open_release(copy)
        finally:
            path.write_bytes(whole[path])

    seeds = [whole[copy / "manifest.json"]]
    return Parser(seeds=seeds, parse=parse, errors=(ReleaseError, SchemaError, FoundryError))


PARSERS: dict[str, Callable[[Path], Parser]] = {
    "c": _c,
    "liberty": _liberty,
    "topology_json": _topology_json,
    "topology_graphml": _topology_graphml,
    "trace": _trace,
    "csynth": _csynth,
    "release": _release,
    "sql": _sql,
}


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang


def _processor_s() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _peak_kb() -> int:
    """Peak of this process alone; `ru_maxrss` begins with that of whoever started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def _outcome(parser: Parser, content: bytes) -> tuple[str, str | None]:
    """The outcome of one input, and what is wrong with it."""
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        parser.parse(content)
        parser.after()
    except parser.errors as error:
        length = len(str(error).strip())
        return type(
            error
        ).__name__, None if 0 < length < MESSAGE_CHARACTERS else f"a message of {length} characters"
    except Hang:
        return "Hang", f"more than {LIMIT_S:g} s of processor time"
    except Exception as error:  # what a user would see as a traceback
        return type(error).__name__, f"{type(error).__name__}: {error!s:.300}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "accepted", None


def campaign(name: str, count: int, seed: int) -> dict[str, Any]:
    """Outcomes of a parser on mutated inputs."""
    signal.signal(signal.SIGPROF, _hang)
    warnings.simplefilter("error")  # a user would see them
    draw, outcomes, faults, slowest = (
        random.Random(f"{name} {seed}"),
        Counter[str](),
        list[dict[str, str]](),
        0.0,
    )
    tokens = [t.encode() for t in TOKENS.get(name, "{ } 1e999").split(" ")]
    with tempfile.TemporaryDirectory() as scratch:
        parser = PARSERS[name](Path(scratch))
        for content in _inputs(draw, parser, tokens, count):
            start = _processor_s()
            outcome, fault = _outcome(parser, content)
            slowest = max(slowest, _processor_s() - start)
            outcomes[outcome] += 1
            if fault is not None:
                faults.append({"fault": fault, "input": content.decode("latin-1")})
    peak = max(_peak_kb(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return {
        "parser": name,
        "inputs": count,
        "outcomes": dict(outcomes.most_common()),
        "faults": faults,
        "peak_mb": round(peak / 1024),
        "slowest_s": round(slowest, 2),
    }


def _inputs(draw: random.Random, parser: Parser, tokens: Sequence[bytes], count: int) -> Iterator[bytes]:
    for _ in range(count):
        yield mutated(draw, parser.seeds, tokens)


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("parser", choices=sorted(PARSERS))
    arguments.add_argument("--count", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    started = time.perf_counter()
    answer = campaign(chosen.parser, chosen.count, chosen.seed)
    json.dump({**answer, "wall_s": round(time.perf_counter() - started, 1)}, sys.stdout)


if __name__ == "__main__":
    main()
