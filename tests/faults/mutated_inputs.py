"""Parsers of foreign files on many mutated inputs, in a worker whose memory is watched.

    python tests/faults/mutated_inputs.py c liberty --count 1000 --seed 0

A worker that dies, takes more memory or hangs is started again behind the input, which is a fault. Prints a
JSON object per parser: outcomes (accepted, or the class of the error), faults (anything but a documented
error), peak_mb (of the worker and its tools), slowest_s (processor time of one input, tools included).
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO, Any

from pipelines.base.processes import processor_s, resident_bytes

ROOT = Path(__file__).resolve().parents[2]
MEMORY_LIMIT_BYTES = 10**9
"""Of the worker and its tools."""
POLL_S = 0.05
WORKER = Path(__file__)
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
VERILOG = (
    """module inner #(parameter W = 8) (input clk, input [W-1:0] d, output reg [W-1:0] q);
  always @(posedge clk) q <= d;
endmodule
module top(input clk, input rst, input [7:0] a, output [7:0] y);
  wire [7:0] s; reg [7:0] m [0:15];
  inner #(.W(8)) u(.clk(clk), .d(a + s), .q(s));
  always @(posedge clk) if (rst) m[0] <= 0; else m[a[3:0]] <= s * a;
  assign y = m[s[3:0]] ^ {s[3:0], 4'b1010};
endmodule
""",
    """module top(input clk, input [7:0] a, output reg [7:0] y);
  function [7:0] turned(input [7:0] v); turned = {v[0], v[7:1]}; endfunction
  genvar i; wire [7:0] w [0:4]; assign w[0] = a;
  generate for (i = 0; i < 4; i = i + 1) begin : g assign w[i+1] = turned(w[i]); end endgenerate
  always @(posedge clk) case (a[1:0]) 0: y <= w[4]; 1, 2: y <= y + 1; default: y <= ~y; endcase
endmodule
""",
)
SYSTEMVERILOG = (
    """package p; typedef struct packed { logic [3:0] x; logic [3:0] z; } pair_t; endpackage
module top import p::*; (input logic clk, input pair_t a, output pair_t y);
  typedef enum logic [1:0] {IDLE, BUSY, DONE} state_t; state_t state; pair_t m [4];
  always_ff @(posedge clk) begin m[a.x[1:0]] <= a; y <= m[a.z[1:0]];
    unique case (state) IDLE: state <= BUSY; BUSY: state <= DONE; default: state <= IDLE; endcase end
endmodule
""",
)
FIRRTL = (
    """circuit top :
  module inner :
    input clock : Clock
    input a : UInt<8>
    output y : UInt<8>
    reg r : UInt<8>, clock
    r <= tail(add(r, a), 1)
    y <= r
  module top :
    input clock : Clock
    input reset : UInt<1>
    input a : { x : UInt<8>, flip z : UInt<8> }
    output y : UInt<8>[2]
    inst i of inner
    i.clock <= clock
    i.a <= a.x
    a.z <= i.y
    cmem m : UInt<8>[16]
    infer mport p = m[bits(a.x, 3, 0)], clock
    when orr(a.x) :
      p <= i.y
    y[0] <= mux(reset, UInt<8>("h2a"), i.y)
    y[1] <= not(i.y)
""",
)
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
_YAML = (
    "{ } [ ] : , - # & * &a *a <<: !!python/object | > ' \" .nan .inf -1 0 1e999 99999999999999999999 null "
    "true ~ \n"
)
_JSON = '{ } [ ] : , " nan NaN Infinity 1e999 -1 0 null true 99999999999999999999'
_VERILOG = (
    "module endmodule begin end generate endgenerate for if else case endcase always @(posedge assign wire "
    "reg [1<<30:0] [99999999:0] ; , ( ) # -1 'bx 64'hffffffffffffffff `include `define $readmemh /* */ "
    '" top inner initial function while forever ** << ? :'
)
TOKENS = {
    "verilog": _VERILOG,
    "systemverilog": _VERILOG
    + " typedef struct packed enum logic always_ff always_comb interface package ::*",
    "firrtl": "circuit module inst of wire reg mem cmem smem when else : <= is invalid UInt<8> SInt "
    'UInt<99999999> [99999999] mux( add( cat( dshl( ( ) { } flip -1 \n  " UInt<1>(',
    "stimulus": ', \n " nan -1 1e999 0x 0xffffffffffffffffffffffff rst a é',
    "file_list": '-f -F l.f -y -v .. / ~ $HOME ${X} +incdir+ +define+ -GW= -D " \\" /* */ // # é a.v \n',
    "memory_image": "\n @ @ffffffff x z _ // /* -1 0x é ffffffffffffffffffff",
    "questions": ', \n " "" nan inf -1 1e999 source top é [ ] { } pipeline 99999999999999999999',
    "labelled": ', \n " "" nan inf -1 1e999 source top é [ ] { } pipeline 99999999999999999999',
    **dict.fromkeys(("data", "directives", "graph", "request"), _JSON),
    **dict.fromkeys(("hardware", "hls_config", "fabric", "parameters"), _YAML),
    "c": "{ } ( ) [ ] ; , * & -> . sizeof struct union typedef enum static for while if else return int "
    "char float double void 0 -1 1e999 0xffffffffffffffff 'a' \"s\" "
    "#define #include #if #pragma __attribute__ ? : "
    "... \\\n",
    "liberty": '{ } ( ) ; : , " nan inf -1 1e999 -0.0 cell pin area capacitance values index_1 ff when /* */ '
    "\\\n",
    "topology_json": '{ } [ ] : , " nan NaN Infinity 1e999 -1 null true 99999999999999999999 nodes links',
    "topology_graphml": "< > </ /> & &lt; <!DOCTYPE <!ENTITY node edge data key 1e999 -1 nan \" ' =",
    **dict.fromkeys(
        ("trace", "traffic_matrix"), ', \n " nan inf -1 1e999 99999999999999999999 time_s é 0x10'
    ),
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
    from pipelines.c import HlsError, read_function
    from pipelines.c.text.preprocess import default_top
    from pipelines.schemas import read_arrow

    del folder
    tables = (ROOT / "releases" / "v1" / "tables" / "programs").glob("*-0000.parquet")
    rows = [row for path in sorted(tables) for row in read_arrow(path).slice(0, 10).to_pylist()]

    def parse(content: bytes) -> object:
        source = content.decode("utf-8", "surrogateescape")
        return read_function(source, top=default_top(source, "program"))

    return Parser(seeds=[row["source"].encode() for row in rows], parse=parse, errors=(HlsError,))


def _liberty(folder: Path) -> Parser:
    from pipelines.silicon.synthesis import SynthesisError, load_liberty

    text = LIBERTY.read_text()
    head, *cells = text.split("\ncell (")
    groups = (cells[k : k + 3] for k in range(0, 12, 3))
    seeds = [(head + "".join(f"\ncell ({c}" for c in group) + "\n}\n").encode() for group in groups]
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


def _traffic_matrix(folder: Path) -> Parser:
    from pipelines.network.errors import NetworkError
    from pipelines.network.topology import FatTree, fat_tree
    from pipelines.network.traffic import read_matrix

    topology = fat_tree(FatTree(pods=4))
    parse = _written(folder, "a.csv", lambda path: read_matrix(path, topology))
    seed = b"source,destination,rate_per_s,variation,packet_bytes\n0,5,4000,1,470\n1,5,20.5,4.5,970\n"
    return Parser(seeds=[seed], parse=parse, errors=(NetworkError,))


def _csynth(folder: Path) -> Parser:
    from pipelines.dataset.vendor import VendorError, read_csynth

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
    from pipelines.dataset.releases import ReleaseError, open_release
    from pipelines.schemas import SchemaError

    copy = folder / "v1"
    shutil.copytree(ROOT / "releases" / "network-long-v1", copy)
    files = sorted(p for p in copy.rglob("*") if p.is_file())
    whole = {p: p.read_bytes() for p in files}
    turn = iter(range(1 << 30))

    def parse(content: bytes) -> object:
        path = files[next(turn) % len(files)]
        draw = random.Random(len(content))
        tokens = [b"{", b"}", b"null", b"-1", b"1e999", content[:64]]
        path.write_bytes(whole[path] if content == seeds[0] else mutated(draw, [whole[path]], tokens))
        try:
            return open_release(copy)
        finally:
            path.write_bytes(whole[path])

    seeds = [whole[copy / "manifest.json"]]
    return Parser(seeds=seeds, parse=parse, errors=(ReleaseError, SchemaError, FoundryError))


def _design(suffix: str, seeds: Sequence[str]) -> Callable[[Path], Parser]:
    def make(folder: Path) -> Parser:
        from pipelines.base.files import read_text
        from pipelines.rtl.reuse.building import read_design
        from pipelines.rtl.reuse.errors import RtlError
        from pipelines.rtl.reuse.languages import LANGUAGES

        def read(path: Path) -> object:
            text = read_text(path, what="design", most_bytes=1 << 20, error=RtlError)
            return read_design(text, top="top", language=LANGUAGES[suffix], timeout_s=LIMIT_S)

        parse = _written(folder, f"a{suffix}", read)
        return Parser(seeds=[seed.encode() for seed in seeds], parse=parse, errors=(RtlError,))

    return make


def _parquet(folder: Path, rows: Sequence[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "seed.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path.read_bytes()


def _csv_or_parquet(folder: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    def parse(content: bytes) -> object:
        return _written(folder, "a.parquet" if content[:3] == b"PAR" else "a.csv", read)(content)

    return parse


def _stimulus(folder: Path) -> Parser:
    from pipelines.rtl.reuse.errors import RtlError
    from pipelines.rtl.reuse.simulator import Ports
    from pipelines.rtl.reuse.stimulus import read_stimulus

    ports = Ports(inputs={"rst": 1, "a": 8, "wide": 100}, outputs={"y": 8}, clock="clk")
    rows = [{"rst": int(k < 2), "a": k, "wide": hex(k << 70)} for k in range(9)]
    text = "rst,a,wide\n" + "".join(f"{r['rst']},{r['a']},{r['wide']}\n" for r in rows)
    parse = _csv_or_parquet(folder, lambda path: read_stimulus(path, ports, 8))
    return Parser(seeds=[text.encode(), _parquet(folder, rows)], parse=parse, errors=(RtlError,))


def _file_list(folder: Path) -> Parser:
    from pipelines.rtl.reuse.errors import RtlError
    from pipelines.rtl.reuse.projects import ProjectFiles, read_project

    (folder / "a.v").write_text(
        '`include "b.vh"\nmodule a #(parameter W = 1) (output y); b u (y); endmodule\n'
    )
    (folder / "b.vh").write_text("`ifdef X\n`define Y 1\n`endif\n")
    (folder / "b.v").write_text("module b (output y); assign y = 1; endmodule\n")

    def read(path: Path) -> object:
        return read_project(ProjectFiles(files=(), near_lists=[path], root=folder))

    text = "# list\n+incdir+. -y . +libext+.v /* c */ +define+X=1+Z\na.v -GW=3 // end\n-Wno-lint --top a\n"
    return Parser(seeds=[text.encode()], parse=_written(folder, "l.f", read), errors=(RtlError,))


def _memory_image(folder: Path) -> Parser:
    from pipelines.rtl.reuse.errors import RtlError
    from pipelines.rtl.reuse.state import read_image

    seed = "".join(f"{k:08x}\n" for k in range(64)).encode()
    return Parser(seeds=[seed], parse=_written(folder, "a.hex", read_image), errors=(RtlError,))


def _labelled(folder: Path) -> Parser:
    from pipelines.c import HlsError, parse_directives
    from pipelines.dataset.vendor import VendorError
    from pipelines.dataset.vendor.labelled import read_labelled_table

    rows = [
        {
            "source": "void f(int a[4]) { a[0] = 1; }",
            "top": "f",
            "tool": "mine 1.0",
            "directives": '[{"kind": "pipeline", "loop": "L0"}]',
            "clock_period_ns": 5.0,
            "latency_cycles": k,
        }
        for k in range(1, 4)
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)

    def read(path: Path) -> object:
        return [parse_directives(label.directives) for label in read_labelled_table(path)]

    return Parser(
        seeds=[text.getvalue().encode(), _parquet(folder, rows)],
        parse=_csv_or_parquet(folder, read),
        errors=(VendorError, HlsError),
    )


def _questions(folder: Path) -> Parser:
    from assets.errors import FoundryError
    from models.catalogue import predictor_named
    from simfoundry.commands.score import read_questions

    spec = predictor_named("lightgbm-static")
    rows = [{column.name: column.example for column in spec.task.question}] * 3
    parse = _written(folder, "a.parquet", lambda path: read_questions(path, spec))
    return Parser(seeds=[_parquet(folder, rows)], parse=parse, errors=(FoundryError,))


def _request(folder: Path) -> Parser:
    from models.catalogue import predictor_named
    from models.limits import LimitError, Limits
    from simfoundry.commands.serve import Refusal, rows_of

    del folder
    columns = predictor_named("lightgbm-static").task.question
    row = {column.name: column.example for column in columns}

    def parse(content: bytes) -> None:
        Limits().check_rows(rows_of(content), columns)

    seed = json.dumps({"dataframe_records": [row, row]}).encode()
    return Parser(seeds=[seed], parse=parse, errors=(Refusal, LimitError))


def _data(folder: Path) -> Parser:
    from pipelines.c import read_interface
    from pipelines.programs import ProgramError, load_data

    interface = read_interface("void f(int a[4], float b, char c[2][2]) { a[0] = b + c[0][0]; }", "f")
    seed = json.dumps({"a": [1, -2, 3, 4], "b": 0.5, "c": [[1, 2], [3, 4]]}).encode()

    def read(path: Path) -> object:
        return load_data(path, interface)

    return Parser(seeds=[seed], parse=_written(folder, "a.json", read), errors=(ProgramError,))


def _directives(folder: Path) -> Parser:
    from assets.errors import FoundryError
    from assets.user_programs import read_directives
    from pipelines.c import HlsError

    rows = [{"kind": "pipeline", "loop": "L0", "value": 2}, {"kind": "unroll", "loop": "L1", "value": 4}]
    parse = _written(folder, "a.json", read_directives)
    return Parser(seeds=[json.dumps(rows).encode()], parse=parse, errors=(FoundryError, HlsError))


def _labels(folder: Path) -> Parser:
    from assets.errors import FoundryError
    from models.query import ALL_TARGETS
    from simfoundry.commands.adapt import read_labels

    (folder / "p.c").write_text("void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] += 1; }\n")
    seed = (
        b"file,top,directives,memory_delay,clock_ns,area_um2,power_mw\n"
        b'p.c,f,"[{""kind"": ""pipeline"", ""loop"": ""L0""}]",2,10.0,120.5,\n'
        b"p.c,f,,,,99,0.25\n"
    )

    def read(path: Path) -> object:
        return read_labels(path, ALL_TARGETS)

    return Parser(seeds=[seed], parse=_written(folder, "a.csv", read), errors=(FoundryError,))


def _hardware(folder: Path) -> Parser:
    from pipelines.accelerators import AcceleratorError, read_hardware

    seed = (
        b"rows: 8\ncolumns: 8\ndataflow: output\nscratchpad_rows: 256\nclock_period_ns: 5.0\npooling: true\n"
    )
    parse = _written(folder, "a.yaml", read_hardware)
    return Parser(seeds=[seed], parse=parse, errors=(AcceleratorError,))


def _hls_config(folder: Path) -> Parser:
    from pipelines.accelerators import AcceleratorError
    from pipelines.accelerators.fixed.description import read_configuration

    seed = (
        b"HLSConfig:\n  Model: {Precision: 'ap_fixed<8,3>', ReuseFactor: 3, Strategy: Latency}\n"
        b"  LayerName: {dense: {Precision: {accum: auto}, ReuseFactor: 3}}\n"
    )
    parse = _written(folder, "a.yaml", read_configuration)
    return Parser(seeds=[seed], parse=parse, errors=(AcceleratorError,))


def _fabric(folder: Path) -> Parser:
    from pipelines.fabric import read_fabric
    from pipelines.fabric.errors import FabricError

    seeds = [path.read_bytes() for path in sorted((ROOT / "conf" / "fabric").glob("*.yaml"))]
    return Parser(seeds=seeds, parse=_written(folder, "a.yaml", read_fabric), errors=(FabricError,))


def _graph(folder: Path) -> Parser:
    from pipelines.fabric import read_graph
    from pipelines.fabric.errors import FabricError

    nodes = [{"name": f"n{k}", "kind": "gemm", "stage": k, "work": 1e6} for k in range(4)]
    edges = [{"source": f"n{k}", "target": f"n{k + 1}", "words": 100} for k in range(3)]
    seed = json.dumps({"name": "chain", "nodes": nodes, "edges": edges}).encode()
    return Parser(seeds=[seed], parse=_written(folder, "a.json", read_graph), errors=(FabricError,))


def _onnx(folder: Path) -> Parser:
    """Both lowerings of a network: that of accelerators, with and without data, and that of fabrics."""
    from pipelines.accelerators import AcceleratorError, read_network
    from pipelines.fabric.errors import FabricError
    from pipelines.fabric.onnx_graphs import read_onnx

    turn = itertools.cycle((partial(read_network, has_data=True), read_onnx, read_network))
    parse = _written(folder, "a.onnx", lambda path: next(turn)(path))
    seeds = [(ROOT / "examples" / name).read_bytes() for name in ("mlp.onnx", "cnn_int8.onnx")]
    return Parser(seeds=seeds, parse=parse, errors=(AcceleratorError, FabricError))


def _parameters(folder: Path) -> Parser:
    from assets.configuration import compose_configuration, read_parameters_file, write_parameters
    from assets.errors import FoundryError

    write_parameters(folder, compose_configuration([]))
    [written] = folder.iterdir()
    parse = _written(folder, "a.yaml", read_parameters_file)
    return Parser(seeds=[written.read_bytes()], parse=parse, errors=(FoundryError,))


PARSERS: dict[str, Callable[[Path], Parser]] = {
    "c": _c,
    "liberty": _liberty,
    "topology_json": _topology_json,
    "topology_graphml": _topology_graphml,
    "trace": _trace,
    "traffic_matrix": _traffic_matrix,
    "csynth": _csynth,
    "release": _release,
    "sql": _sql,
    "verilog": _design(".v", VERILOG),
    "systemverilog": _design(".sv", SYSTEMVERILOG),
    "firrtl": _design(".fir", FIRRTL),
    "stimulus": _stimulus,
    "memory_image": _memory_image,
    "file_list": _file_list,
    "labelled": _labelled,
    "data": _data,
    "directives": _directives,
    "labels": _labels,
    "hardware": _hardware,
    "hls_config": _hls_config,
    "fabric": _fabric,
    "graph": _graph,
    "onnx": _onnx,
    "parameters": _parameters,
    "questions": _questions,
    "request": _request,
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "label": ("c", "data", "directives", "liberty"),
    "predict": ("c", "data", "directives"),
    "calibrate": ("c", "directives"),
    "adapt": ("c", "labels"),
    "pragmas": ("c", "liberty"),
    "network": ("topology_json", "topology_graphml", "trace", "traffic_matrix"),
    "collective": ("topology_json",),
    "power": ("onnx", "hardware", "hls_config"),
    "explore": ("onnx", "liberty"),
    "place": ("onnx", "graph", "fabric"),
    "simulate": ("verilog", "systemverilog", "firrtl", "stimulus", "memory_image", "file_list"),
    "verilate": ("verilog", "systemverilog", "firrtl", "file_list"),
    "release": ("release", "parameters"),
    "import": ("release", "labelled", "csynth", "c"),
    "sql": ("sql",),
    "score": ("questions",),
    "serve": ("request",),
    "mcp": (),  # each call is another command
    "check": (),  # code of the user, in a process of its own
}
"""Parsers of the foreign files of each command."""


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang


def _processor_s() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


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


def _inputs(name: str, parser: Parser, count: int, seed: int) -> Iterator[bytes]:
    draw = random.Random(f"{name} {seed}")
    tokens = [t.encode() for t in TOKENS.get(name, "{ } 1e999").split(" ")]
    yield parser.seeds[0]  # unchanged: must be accepted
    for _ in range(count - 1):
        yield mutated(draw, parser.seeds, tokens)


def work(names: Sequence[str], count: int, seed: int, first: int) -> None:
    """Parse inputs in this process, the first parser's from input `first` on; a line of JSON for each."""
    with os.fdopen(os.dup(1), "w", buffering=1) as lines:
        os.dup2(2, 1)  # what a parser prints
        _work(names, count, seed, first, lines)


def _work(names: Sequence[str], count: int, seed: int, first: int, lines: IO[str]) -> None:
    signal.signal(signal.SIGPROF, _hang)
    warnings.simplefilter("error")  # a user would see them
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            parser = PARSERS[name](Path(scratch))
            for number, content in enumerate(_inputs(name, parser, count, seed)):
                if number < first:
                    continue
                print(json.dumps({"begun": [name, number, content.decode("latin-1")]}), file=lines)
                start = _processor_s()
                outcome, fault = _outcome(parser, content)
                print(json.dumps([outcome, fault, _processor_s() - start]), file=lines)
        first = 0


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What became of a parser's inputs so far."""

    outcomes: Counter[str] = field(default_factory=Counter[str])
    faults: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    peak_bytes: int = 0
    slowest_s: float = 0.0


def campaign(names: Sequence[str], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Outcomes of parsers on mutated inputs, which go through a worker that is started again when it dies."""
    tallies = {name: _Tally() for name in names}
    rest, first = list(names), 0
    while rest:
        reached = _watched_worker(rest, count, seed, first, tallies)
        if reached is None:
            break
        name, number = reached
        rest, first = rest[rest.index(name) :], number + 1
    for name, tally in tallies.items():
        yield {
            "parser": name,
            "inputs": count,
            "outcomes": dict(tally.outcomes.most_common()),
            "faults": tally.faults,
            "peak_mb": round(tally.peak_bytes / 2**20),
            "slowest_s": round(tally.slowest_s, 2),
        }


def _watched_worker(
    names: Sequence[str], count: int, seed: int, first: int, tallies: dict[str, _Tally]
) -> tuple[str, int] | None:
    """Run a worker; None when it did all, else the input at which it ended, which is counted as a fault."""
    options = {"--count": count, "--seed": seed, "--worker": first}
    argv = [sys.executable, str(WORKER), *names, *(str(part) for pair in options.items() for part in pair)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        return _watch(process, names[0], first, tallies)


def _watch(
    process: subprocess.Popen[bytes], name: str, number: int, tallies: dict[str, _Tally]
) -> tuple[str, int] | None:
    """Count what a worker says, and end it past a limit; returns as `_watched_worker`."""
    assert process.stdout is not None
    content, ended = "", ""
    is_open, since, pending = False, 0.0, b""
    while True:
        ready, _, _ = select.select([process.stdout], [], [], POLL_S)
        chunk = os.read(process.stdout.fileno(), 1 << 20) if ready else None
        if chunk == b"":
            break
        *lines, pending = (pending + (chunk or b"")).split(b"\n")
        for line in map(json.loads, lines):
            if isinstance(line, dict):
                name, number, content = line["begun"]
                is_open, since = True, processor_s(process.pid)
            else:
                outcome, fault, spent_s = line
                is_open = False
                tallies[name].outcomes[outcome] += 1
                tallies[name].slowest_s = max(tallies[name].slowest_s, spent_s)
                if fault is not None:
                    tallies[name].faults.append({"fault": fault, "input": content})
        resident = resident_bytes(process.pid)
        tallies[name].peak_bytes = max(tallies[name].peak_bytes, resident)
        if resident > MEMORY_LIMIT_BYTES:
            ended = f"more than {MEMORY_LIMIT_BYTES >> 20} MiB of memory"
        elif is_open and processor_s(process.pid) - since > 2 * LIMIT_S:
            ended = f"more than {2 * LIMIT_S:g} s of processor time"
        if ended:
            process.kill()
    status = process.wait()
    if status == 0:
        return None
    tallies[name].outcomes["ended"] += 1
    fault = ended or f"the worker ended with status {status}"
    tallies[name].faults.append({"fault": fault, "input": content})
    return name, number


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("parsers", nargs="*", default=[], help="all of them by default", metavar="PARSER")
    arguments.add_argument("--count", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--worker", type=int, help="the first input: parse in this process")
    chosen = arguments.parse_args()
    names = chosen.parsers or sorted(PARSERS)
    if chosen.worker is not None:
        work(names, chosen.count, chosen.seed, chosen.worker)
        return
    for answer in campaign(names, chosen.count, chosen.seed):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
