"""All engines simulate one design: macros, asynchronous resets, memory files, texts that a reader refuses."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import simfoundry as sf
from pipelines.rtl.reuse import (
    ENGINES,
    FIRRTL,
    SYSTEMVERILOG,
    VERILOG,
    RtlError,
    Simulator,
    build_reuse,
    languages,
)
from pipelines.rtl.reuse.building import read_design
from pipelines.rtl.reuse.errors import MissingMemoryFile
from pipelines.rtl.reuse.languages import with_macros
from pipelines.rtl.reuse.memory_files import MemoryShape, words_beyond
from pipelines.silicon.synthesis import YosysFailed
from simfoundry.cli import simfoundry
from tests.rtlreuse.icarus_reference import first_difference
from tests.support.random_clocks import language_of, periods_of
from tests.support.random_designs import bundle
from tests.support.random_kinds import (
    BOUNDED_FROM,
    CLOCKED_FROM,
    CLOCKED_PER,
    FEATURED_FROM,
    FILES_PER,
)

CASES = Path(__file__).with_name("cases")
FAST = ("reuse", "cxxrtl")


def outputs(text: str, top: str, folder: Path, engine: str, **options: Any) -> list[int]:
    """Output words of 30 cycles with each of eight random inputs, as cycle 0 is another each time."""
    program = ENGINES[engine](text, top=top, folder=folder, **options)
    words: list[int] = []
    with closing(Simulator(program)) as simulator:
        for seed in range(8):
            simulator.reset()
            traced = simulator.run(30, seed=seed, reset_cycles=seed % 2, is_traced=True).outputs
            assert traced is not None
            words += traced.ravel().tolist()
    return words


# Resets of both levels, through inversions, gates and modules, and one that a register requests.
RESETS = """
module stage (input clk, input rn, input [31:0] a, output reg [31:0] c);
  always @(posedge clk or negedge rn) if (!rn) c <= 32'hdeadbeef; else c <= c ^ a;
endmodule
module resets (input clk, input clear, keep_n, input [3:0] many, input [31:0] a, output [31:0] x, y, z,
    output reg [7:0] q, w, v);
  wire r = many[0] | many[1];
  reg ask = 0;
  wire asked = ask | clear;
  stage low (clk, ~clear, a, x);
  stage high (clk, keep_n & ~many[2], ~a, y);
  stage last (clk, ~r, a ^ {32{r}}, z);
  initial begin q = 3; w = 7; v = 9; end
  always @(posedge clk) ask <= a[0] & a[1];
  always @(posedge clk or posedge r) if (r) q <= 5; else q <= q + a[7:0];
  always @(posedge clk or negedge keep_n) if (!keep_n) w <= 5; else if (a[3]) w <= w + a[7:0];
  always @(posedge clk or posedge asked) if (asked) v <= 5; else v <= v + a[7:0];
endmodule
"""

MEMORIES = """
module memories #(parameter FILE = "first.hex") (input clk, input [1:0] a, input we, output [7:0] y, z, w);
  reg [7:0] m [0:3], n [0:3], k [0:3];
  initial $readmemh(FILE, m);
  initial begin n[0] = 1; n[3] = 2; $readmemb("second.bin", n, 1, 2); end
  initial begin k[0] = 1; k[1] = 2; k[2] = 3; k[3] = 4; $readmemh("third.hex", k); end
  assign y = m[a], z = n[a], w = k[a];
  always @(posedge clk) if (we) begin m[a] <= y + 1; n[a] <= z ^ m[a]; k[a] <= k[a] + y; end
endmodule
"""
FILES = {
    "first.hex": b"11 22\n// c\n33 44\n",
    "second.bin": b"1010 1\n",
    "third.hex": b"@2 7f\n",
}

# First words have other addresses than 0, also beyond what the index can be.
BOUNDS = """
module bounds (input clk, input [2:0] a, input we, output [7:0] y, z, w, v);
  reg [7:0] m [1:7], n [6:3], k [2:5], l [6:9];
  integer i;
  initial $readmemh("bounds.hex", m);
  initial for (i = 3; i <= 6; i = i + 1) begin n[i] = i * 5; k[i - 1] = i * 3; l[i + 3] = i * 7; end
  assign y = m[a], z = n[a], w = k[a], v = l[a];
  always @(posedge clk) if (we) begin m[a] <= y + 1; n[a] <= z ^ y; k[a] <= w + 2; l[a] <= v + y + 1; end
endmodule
"""

# Resets that registers, which start active, hold for some cycles; Verilog leaves edges at time 0 open.
SYNCHRONISER = """
module behind (input clk, r, input [3:0] a, output reg [8:0] y);
  always @(posedge clk or posedge r) if (r) y <= 9'h55; else y <= y + a;
endmodule
module synchroniser (input clk, input sync_n, input [3:0] a, output reg [8:0] q, v, p, h, output [8:0] u);
  reg s1 = 0, s2 = 0, t1, t2, on;
  reg [1:0] w = 2'b10;
  initial begin on = 1; q = 3; v = 7; p = 9; h = 4; end
  always @(posedge clk) begin {s2, s1} <= {s1, 1'b1}; on <= a[0] & a[1]; w <= {w[0], a[2]}; end
  always @(posedge clk or negedge sync_n) if (!sync_n) {t2, t1} <= 0; else {t2, t1} <= {t1, 1'b1};
  always @(posedge clk or negedge s2) if (!s2) q <= 9'h155; else q <= q + a;
  always @(posedge clk or negedge t2) if (!t2) v <= 9'h155; else v <= v + a;
  always @(posedge clk or posedge on) if (on) p <= 9'h15; else p <= p + a;
  always @(posedge clk or posedge w[1]) if (w[1]) h <= 2; else h <= h + a;
  behind x (clk, ~s2, a, u);
endmodule
"""

TOGETHER = """
module together (input clk, input rst, clear, keep_n, we, sync_n, input [3:0] many, input [31:0] a,
    output [63:0] y, output [7:0] s, output [31:0] p, q, r, output [7:0] t, u, v, m, n, k,
    output [31:0] bounded, output [44:0] synchronised);
  async_reset one (clk, rst, a, y);
  synthesis_macro two (clk, rst, a[7:0], s);
  resets three (clk, clear, keep_n, many, a, p, q, r, t, u, v);
  memories four (clk, a[1:0], we, m, n, k);
  bounds five (clk, a[2:0], we, bounded[31:24], bounded[23:16], bounded[15:8], bounded[7:0]);
  synchroniser six (clk, sync_n, a[3:0], synchronised[44:36], synchronised[35:27], synchronised[26:18],
    synchronised[17:9], synchronised[8:0]);
endmodule
"""


@pytest.fixture(scope="module")
def together() -> str:
    cases = [(CASES / f"{name}.v").read_text() for name in ("async_reset", "synthesis_macro")]
    return "\n".join([*cases, RESETS, MEMORIES, BOUNDS, SYNCHRONISER, TOGETHER])


@pytest.mark.sample(2)
@pytest.mark.parametrize("engine", ["cxxrtl", "verilator"])
def test_engines_agree_from_cycle_0(engine: str, together: str, programs: Path) -> None:
    """CXXRTL as it is flattened: with modules it evaluates a second time anyway."""
    files = {**FILES, "bounds.hex": b"11 22 33 44 55 66 77\n"}
    expected = outputs(together, "together", programs, "reuse", files=files)
    is_quick = engine == "verilator"
    assert outputs(together, "together", programs, engine, files=files, is_quick=is_quick) == expected


def test_resets_equal_icarus(programs: Path, tmp_path: Path) -> None:
    program = build_reuse(RESETS, top="resets", folder=programs, is_quick=True)
    with closing(Simulator(program)) as simulator:
        result = simulator.run(300, seed=3, is_traced=True)
    assert first_difference(program, RESETS, "resets", result, tmp_path) is None


def test_registers_are_reset_in_cycle_0_by_registers_that_start_active(programs: Path) -> None:
    program = build_reuse(SYNCHRONISER, top="synchroniser", folder=programs, is_quick=True)
    with closing(Simulator(program)) as simulator:
        first = simulator.step()
        assert first == {"q": 0x155, "v": 0x155, "p": 0x15, "h": 2, "u": 0x55}


# Verilator cuts an index that is wider than the memory needs, so these accesses reach words there.
BEYOND = """
`define HIGH_OR_LOW (70'd1 << HIGH | 70'd3)
module beyond (input clk, input [3:0] a, b, input [69:0] wide, input we, output [7:0] w, x, y, z);
  reg [7:0] m [0:3], n [2:6], k [0:3], l [1000002:1000005];
  integer i;
  initial for (i = 0; i < 4; i = i + 1) begin m[i] = i; n[i + 2] = i + 9; k[i] = i; l[i + 1000002] = i; end
  initial n[6] = 5;
  assign w = m[b[1:0]], x = n[b], y = k[wide & `HIGH_OR_LOW], z = l[b + 1000000];
  always @(posedge clk) if (we) begin m[a] <= w + 16; n[a] <= x + 16; l[a] <= z + 16; end
  always @(posedge clk) if (we) k[wide & `HIGH_OR_LOW] <= y + 16;
endmodule
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize(("language", "high"), [(VERILOG, 30), (SYSTEMVERILOG, 69)])
def test_accesses_beyond_a_memory_read_0_and_write_nothing(
    language: str, high: int, programs: Path, tmp_path: Path
) -> None:
    """Icarus takes 32 bits of an index."""
    text = BEYOND.replace("HIGH |", f"{high} |")
    options: dict[str, Any] = {"top": "beyond", "folder": programs, "language": language, "is_quick": True}
    results = []
    programs_of_engines = [ENGINES[engine](text, **options) for engine in FAST]
    for program in programs_of_engines:
        with closing(Simulator(program)) as simulator:
            results.append(simulator.run(100, seed=3, is_traced=True))
    ours, theirs = (result.outputs for result in results)
    assert ours is not None
    assert theirs is not None
    assert ours.tolist() == theirs.tolist()
    if high < 32:
        assert first_difference(programs_of_engines[0], text, "beyond", results[0], tmp_path) is None


def test_a_memory_with_negative_addresses_is_rejected() -> None:
    text = """module top (input clk, input signed [2:0] a, input [7:0] d, output [7:0] y);
      reg [7:0] m [-2:1]; assign y = m[a]; always @(posedge clk) m[a] <= d; endmodule"""
    with pytest.raises(RtlError) as error:
        read_design(text, top="top", language=VERILOG, timeout_s=60)
    assert str(error.value) == "negative address of a memory: m in top; accepted: 0 and more"


@pytest.mark.slow
def test_engines_agree_on_members_that_two_blocks_write(programs: Path) -> None:
    """Verilator 5.006 refuses the design; then it says why."""
    text = (CASES / "packed_member_loop.sv").read_text()
    expected = outputs(text, "top", programs, "reuse", language=SYSTEMVERILOG)
    assert outputs(text, "top", programs, "cxxrtl", language=SYSTEMVERILOG) == expected
    try:
        assert outputs(text, "top", programs, "verilator", language=SYSTEMVERILOG) == expected
    except RtlError as error:
        assert str(error).startswith("verilator_bin failed: %Error-BLKANDNBLK: design.sv:4:9: Unsupported")  # noqa: PT017


# ---- macros ----------------------------------------------------------------------------------------------

MACROS = "\n".join(
    [
        "module macros (input clk, output [7:0] y, output [7:0] z);",
        *(
            f"`ifdef {name}\n  assign y[{i}] = 1;\n`else\n  assign y[{i}] = 0;\n`endif"
            for i, name in enumerate(
                (
                    "SYNTHESIS",
                    "VERILATOR",
                    "verilator",
                    "YOSYS",
                    "__slang__",
                    "SYSTEMVERILOG",
                    "FORMAL",
                    "MINE",
                )
            )
        ),
        "`ifndef MINE\n  `define MINE 8'd7\n`endif",
        "  assign z = `MINE;\nendmodule",
    ]
)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("define", "undefine", "y", "z"),
    [
        ((), (), 1, 7),
        (("MINE=8'd9", "VERILATOR"), ("SYNTHESIS",), 0x82, 9),
    ],
)
@pytest.mark.parametrize(
    ("engine", "language"),
    [("reuse", VERILOG), ("reuse", SYSTEMVERILOG), ("cxxrtl", VERILOG), ("verilator", VERILOG)],
)
def test_engines_see_the_same_macros(
    engine: str,
    language: str,
    define: tuple[str, ...],
    undefine: tuple[str, ...],
    y: int,
    z: int,
    programs: Path,
) -> None:
    if engine in ("cxxrtl", "verilator") and not define:
        pytest.skip("the test of all cases has it")
    text = with_macros(MACROS, language=language, define=define, undefine=undefine)
    program = ENGINES[engine](text, top="macros", folder=programs, language=language, is_quick=True)
    with closing(Simulator(program)) as simulator:
        assert simulator.step() == {"y": y, "z": z}


def test_simulate_defines_and_undefines_macros(tmp_path: Path) -> None:
    file = CASES / "synthesis_macro.v"
    changes: list[Any] = [{}, {"define": ["SYNTHESIS"]}, {"undefine": ["SYNTHESIS"]}]
    plain, defined, undefined = (
        sf.simulate(file, top="synthesis_macro", cycles=20, engine="reuse", **change)["digests"]
        for change in changes
    )
    assert plain == defined != undefined
    arguments = ["simulate", str(file), "--top", "synthesis_macro", "--cycles", "20", "-U", "SYNTHESIS"]
    answer = json.loads(CliRunner().invoke(simfoundry, [*arguments, "--engine", "cxxrtl", "--json"]).output)
    assert answer["digests"] == undefined


def test_errors_name_the_line_of_the_file() -> None:
    text = with_macros("module top;\n  nothing 5;\nendmodule", language=VERILOG, define=["A=1"], undefine=[])
    with pytest.raises(RtlError, match=r"^Yosys rejects the design: design\.sv:2: ERROR: syntax error"):
        read_design(text, top="top", language=VERILOG, timeout_s=60)


NO_NAME = "no name of a macro; accepted: [A-Za-z_][A-Za-z0-9_$]*, no directive"
NO_TEXT = "accepted: text with closed strings and without comments"


@pytest.mark.parametrize(
    ("define", "undefine", "language", "message"),
    [
        (["3=x"], [], VERILOG, f"-D '3': {NO_NAME}"),
        (["define=3"], [], VERILOG, f"-D 'define': {NO_NAME}"),
        ([], ["A B"], VERILOG, f"-U 'A B': {NO_NAME}"),
        (["A=1\nmodule"], [], VERILOG, "-D A='1\\nmodule'; accepted: one line that ends in no backslash"),
        (["A=1\\"], [], VERILOG, "-D A='1\\\\'; accepted: one line that ends in no backslash"),
        (["A="], [], VERILOG, "-D A= without a text; accepted: -D A, which is 1, or -D A=TEXT"),
        (['A="8'], [], VERILOG, f"-D A='\"8'; {NO_TEXT}"),
        (["A=8 // 9"], [], VERILOG, f"-D A='8 // 9'; {NO_TEXT}"),
        (
            ["A=`B+1", "B=`A"],
            [],
            VERILOG,
            "-D A='`B+1': the macro uses itself; accepted: text of other macros",
        ),
        (["A"], ["A"], VERILOG, "macro defined and undefined: A; accepted: one of both"),
        (["A"], [], FIRRTL, "macros of FIRRTL; accepted: of Verilog and SystemVerilog"),
    ],
)
def test_macros_reject(define: list[str], undefine: list[str], language: str, message: str) -> None:
    with pytest.raises(RtlError) as error:
        with_macros("", language=language, define=define, undefine=undefine)
    assert str(error.value) == message


# ---- memory files ------------------------------------------------------------------------------------------


def test_simulate_reads_memory_files_beside_the_design(tmp_path: Path) -> None:
    design = tmp_path / "memories.v"
    design.write_text(MEMORIES)
    arguments = ["simulate", str(design), "--top", "memories", "--cycles", "20", "--engine", "reuse"]
    for name, content in FILES.items():
        failed = CliRunner().invoke(simfoundry, arguments)
        assert failed.exit_code == 1
        assert name in failed.stderr
        (tmp_path / name).write_bytes(content)
    assert CliRunner().invoke(simfoundry, arguments).exit_code == 0


def of_words(kind: str) -> str:
    """The end of a message about a word."""
    return f"accepted: {kind} words, x, z and _ in them, addresses such as @1f, and comments"


ONE_MEMORY = """
module top (input clk, input [2:0] a, output [7:0] y);
  reg [7:0] m [2:5];
  initial $readmem%s("f.hex", m%s);
  assign y = m[a];
endmodule
"""
TO_5 = "accepted: 0x2 to 0x5"
OF_8_BITS = "accepted: at most 8 bits, 0 before them"


@pytest.mark.parametrize(
    ("base", "ends", "content", "message"),
    [
        ("h", "", b"1 2 3 4 5", f"memory file f.hex: word 5 for address 0x6 of memory m; {TO_5}"),
        ("h", ", 4", b"1 2 3", "memory file f.hex: word 3 for address 0x6 of memory m; accepted: 0x4 to 0x5"),
        (
            "b",
            ", 2, 3",
            b"1 0 1",
            "memory file f.hex: word 1 for address 0x4 of memory m; accepted: 0x2 to 0x3",
        ),
        ("h", "", b"@4 1 2 3", f"memory file f.hex: word 3 for address 0x6 of memory m; {TO_5}"),
        (
            "h",
            "",
            b"0ff 1ff",
            f"memory file f.hex: word 1ff for address 0x3 of memory m; {OF_8_BITS}",
        ),
        (
            "b",
            "",
            b"011111111 111111111",
            f"memory file f.hex: word 111111111 for address 0x3 of memory m; {OF_8_BITS}",
        ),
        ("h", "", b"1 @9 1", f"memory file f.hex: word 1 for address 0x9 of memory m; {TO_5}"),
        ("h", "", b"1\n/* 2\n*/ zoo", f"memory file f.hex:3: 'zoo'; {of_words('hexadecimal')}"),
        ("b", "", b"1 2", f"memory file f.hex:1: '2'; {of_words('binary')}"),
        ("h", "", b"\xff", f"memory file f.hex:1: '\\xff'; {of_words('hexadecimal')}"),
        ("h", "", None, str(MissingMemoryFile("f.hex", "design.sv:4"))),
        (
            "h",
            ", 5, 2",
            b"1",
            "$readmemh of memory m from address 5 down to 2; accepted: from a lower to a higher address",
        ),
    ],
)
def test_memory_files_reject(base: str, ends: str, content: bytes | None, message: str) -> None:
    files = {} if content is None else {"f.hex": content}
    with pytest.raises(RtlError) as error:
        read_design(ONE_MEMORY % (base, ends), top="top", language=VERILOG, timeout_s=60, files=files)
    assert str(error.value) == message


@pytest.mark.parametrize("engine", ["reuse", "verilator"])
def test_memory_files_have_undefined_digits_comments_and_no_last_newline(engine: str, programs: Path) -> None:
    """Verilator itself ends at `x` and reads other words behind such a comment."""
    content = b"1_0 x /* 7\n 8 */ 1? // 9\n@5 a"
    text = ONE_MEMORY % ("h", "")
    program = ENGINES[engine](text, top="top", folder=programs, files={"f.hex": content}, is_quick=True)
    with closing(Simulator(program)) as simulator:
        assert [simulator.step({"a": a})["y"] for a in range(2, 6)] == [0x10, 0, 0x10, 0xA]


def test_memory_files_that_the_design_does_not_read_may_hold_anything() -> None:
    text = ONE_MEMORY.replace("initial", "`ifdef NONE\n initial").replace(
        ";\n  assign", ";\n`endif\n  assign"
    )
    for content in (b"zoo", b"1 2 3 4 5 6"):
        read_design(text % ("h", ""), top="top", language=VERILOG, timeout_s=60, files={"f.hex": content})


# ---- what one reader refuses -------------------------------------------------------------------------------

# An assertion of Yosys' reader fails; slang reads it.
SIGNED_PORT = """
module child (input [7:0] a, output [7:0] y); assign y = a; endmodule
module top (input clk, input signed [3:0] s, output [7:0] y, z);
  child c (.a({s}), .y(y)); child d (.a(s), .y(z));
endmodule
"""

# A part of a word is assigned, so slang is asked first; it translates no `<=` of an initial block.
PART_OF_A_WORD = """
module top (input clk, input [1:0] a, input [7:0] d, output [7:0] q);
  reg [7:0] m [0:3]; reg [7:0] z;
  initial begin m[0] = 1; m[1] = 2; m[2] = 3; m[3] = 4; z <= 9; end
  always @(posedge clk) begin m[a][7:4] <= d[3:0]; z <= z + d; end
  assign q = m[a] ^ z;
endmodule
"""


def test_the_reason_of_the_second_reader_is_said_where_the_first_one_crashes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As of a macro of itself, with which Yosys' reader runs out of memory."""
    said = iter(
        ("yosys needs more than 9 MiB of memory", "design.sv:2: ERROR: expansion of macro is recursive")
    )

    def fail(*_: Any, **__: Any) -> None:
        raise YosysFailed("tool_error", next(said))

    monkeypatch.setattr(languages, "run_yosys", fail)
    with pytest.raises(RtlError, match=r"^Yosys rejects the design: design\.sv:2: ERROR: expansion"):
        read_design("module top; endmodule", top="top", language=VERILOG, timeout_s=60)


# Its loop compares by `<=`, which assigns nothing.
LOOP = """
module top (input clk, r, input [1:0] a, output reg [7:0] q);
  reg [7:0] m [0:3];
  integer i;
  initial for (i = 0; i <= 3; i = i + 1) m[i] = i;
  always @(posedge clk or posedge r) if (r) q <= 0; else q <= m[a];
endmodule
"""


def test_a_loop_is_no_assignment_of_its_variable() -> None:
    read_design(LOOP, top="top", language=SYSTEMVERILOG, timeout_s=60)


@pytest.mark.parametrize("engine", FAST)
def test_slang_reads_what_yosys_refuses(engine: str, programs: Path) -> None:
    with closing(
        Simulator(ENGINES[engine](SIGNED_PORT, top="top", folder=programs, is_quick=True))
    ) as simulator:
        assert simulator.step({"s": 9}) == {"y": 0x09, "z": 0xF9}


@pytest.mark.parametrize("language", [VERILOG, SYSTEMVERILOG])
def test_yosys_reads_what_slang_does_not_translate(language: str, programs: Path) -> None:
    program = build_reuse(PART_OF_A_WORD, top="top", folder=programs, language=language, is_quick=True)
    with closing(Simulator(program)) as simulator:
        simulator.step({"a": 1, "d": 0x35})
        assert simulator.step({"a": 1})["q"] == 0x52 ^ (9 + 0x35)


@pytest.mark.parametrize(
    ("old", "new"), [("d[3:0]", "$signed(d[1:0])"), ("m[0] = 1;", 'm[0] = 1; $readmemh("m.hex", m);')]
)
def test_yosys_is_not_asked_where_it_may_err(old: str, new: str) -> None:
    with pytest.raises(
        RtlError, match=r"ERROR: non-blocking assignments unsupported in design initialization"
    ):
        read_design(
            PART_OF_A_WORD.replace(old, new), top="top", language=VERILOG, timeout_s=60, files={"m.hex": b"1"}
        )


# Verilog waits for edges here where Yosys' cells follow levels, so engines differed.
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "always @(posedge clk or posedge r) if (r) q <= d; else q <= q + 1;",
            "asynchronous load of a signal: q in top; accepted: one reset to a constant",
        ),
        (
            "always @(posedge clk or posedge r or posedge s) if (r) q <= 0; else if (s) q <= 3; else q <= d;",
            "asynchronous set and reset by two signals: q in top; accepted: one reset to a constant",
        ),
    ],
)
def test_asynchronous_cells_that_follow_levels_are_rejected(text: str, message: str) -> None:
    design = f"module top (input clk, r, s, input [1:0] d, output reg [1:0] q); {text} endmodule"
    with pytest.raises(RtlError) as error:
        read_design(design, top="top", language=VERILOG, timeout_s=60)
    assert str(error.value) == message


PULSES = """
module ask (input clk, input rst, set, output reg q);
  always @(posedge clk or posedge rst) if (rst) q <= 0; else q <= set;
endmodule
module kept (input clk, input r, input [7:0] a, output reg [7:0] y);
  always @(posedge clk or posedge r) if (r) y <= 0; else y <= y + a;
endmodule
module top (input clk, g, rst, rst_n, input [7:0] a, output [7:0] y);
  reg [2:0] n; always @(posedge clk) n <= n + a;
  reg s1, s2;
  always @(posedge clk or negedge rst_n) if (!rst_n) {s2, s1} <= 0; else {s2, s1} <= {s1, 1'b1};
  wire t; ask u (clk, rst, a[0], t);
  kept v (clk, %s, a, y);
endmodule
"""


@pytest.mark.parametrize(
    "reset", ["rst & g", "n == 3", "g | n[1]", "~s2", "~s2 | rst", "t | rst", "t & n[0] | rst"]
)
def test_resets_of_registers_or_inputs_are_read(reset: str) -> None:
    read_design(PULSES % reset, top="top", language=VERILOG, timeout_s=60)


@pytest.mark.parametrize("reset", ["n[1] & g", "t", "t | g", "~s2 & g", "rst ? g : n[0]"])
def test_resets_that_may_be_pulses_between_edge_and_inputs_are_rejected(reset: str) -> None:
    with pytest.raises(RtlError) as error:
        read_design(PULSES % reset, top="top", language=VERILOG, timeout_s=60)
    expected = "asynchronous reset by registers and inputs together: y in kept; accepted: an OR of both"
    assert str(error.value) == expected


# Found by random designs 20033 and 20081: Yosys makes a latch of a register that only its reset changes.
CONSTANT = """
module constant (input clk, input clear, input [7:0] a, output reg [7:0] q, output [7:0] y);
  initial q = 3;
  always @(posedge clk or posedge clear) if (clear) q <= 8'hf0; else if (a[0]) q <= q | 8'h10;
  assign y = q + a;
endmodule
"""


# Found by random design 20146: slang makes a constant of a register that its reset alone assigns.
RESET_ALONE = """
module reset_alone #(parameter IS_ON = 0) (input clk, input init_n, input [7:0] a, output [7:0] y);
  reg [7:0] q = 0;
  always @(posedge clk or negedge init_n) if (!init_n) q <= 8'h69; else if (IS_ON) q <= a;
  assign y = q ^ a;
endmodule
"""


@pytest.mark.parametrize(("text", "top"), [(CONSTANT, "constant"), (RESET_ALONE, "reset_alone")])
@pytest.mark.parametrize("language", [VERILOG, SYSTEMVERILOG])
def test_a_register_that_its_reset_changes_equals_icarus(
    text: str, top: str, language: str, programs: Path, tmp_path: Path
) -> None:
    program = build_reuse(text, top=top, folder=programs, language=language, is_quick=True)
    with closing(Simulator(program)) as simulator:
        result = simulator.run(100, seed=3, is_traced=True)
    assert first_difference(program, text, top, result, tmp_path) is None


def test_a_lost_reset_is_rejected_where_yosys_may_err() -> None:
    text = RESET_ALONE.replace(
        "assign", 'reg m [0:1]; initial begin m[0] = 1; $readmemh("m.hex", m); end assign'
    )
    with pytest.raises(RtlError, match=r"unsupported by slang: an asynchronous reset .*: q in reset_alone$"):
        read_design(text, top="reset_alone", language=VERILOG, timeout_s=60, files={"m.hex": b"1"})


def test_a_lost_reset_is_the_reason_where_yosys_cannot_read_the_text() -> None:
    """Found by random design 40196, which has unpacked array ports."""
    text = RESET_ALONE.replace("input clk", "input clk, input b [0:1]")
    with pytest.raises(
        RtlError, match=r"^Yosys rejects the design: unsupported by slang: .*: q in reset_alo"
    ):
        read_design(text, top="reset_alone", language=SYSTEMVERILOG, timeout_s=60)


# ---- random designs ----------------------------------------------------------------------------------------


# Icarus sees a pulse of reset `clear & ~arst_n` of these designs when both inputs change at once.
PULSES_IN_ICARUS = {20020}


@pytest.mark.sample(99)
@pytest.mark.parametrize(
    "first",
    [n for n in range(FEATURED_FROM, FEATURED_FROM + 8 * FILES_PER, FILES_PER) if n not in PULSES_IN_ICARUS],
)
def test_random_designs_with_features_agree(first: int, programs: Path, tmp_path: Path) -> None:
    """Bundles of 3; `tests/benchmarks/rtl_fuzzing.py --first 20000` compares more by more engines."""
    design = bundle(range(first, first + 3))
    program = build_reuse(design.verilog, top=design.top, folder=programs, is_quick=True, files=design.files)
    with closing(Simulator(program)) as simulator:
        result = simulator.run(60, seed=first, is_traced=True)
    for name, content in design.files.items():
        (tmp_path / name).write_bytes(content)
    assert first_difference(program, design.verilog, design.top, result, tmp_path) is None


@pytest.mark.sample(99)
@pytest.mark.parametrize("first", range(BOUNDED_FROM, BOUNDED_FROM + 8 * FILES_PER, FILES_PER))
def test_random_designs_with_bounds_and_synchronisers_agree(first: int, programs: Path) -> None:
    """Icarus may see no edge of an initial value at time 0, so the other engine is CXXRTL."""
    design = bundle([first])
    options: dict[str, Any] = {"files": design.files, "is_quick": True}
    ours, theirs = (outputs(design.verilog, design.top, programs, engine, **options) for engine in FAST)
    assert ours == theirs


@pytest.mark.sample(99)
@pytest.mark.parametrize("first", range(CLOCKED_FROM, CLOCKED_FROM + 8 * CLOCKED_PER, CLOCKED_PER))
def test_random_designs_with_clocks_and_arrays_agree(first: int, programs: Path) -> None:
    """A run per kind of clocks, in Verilog and with array ports; CXXRTL refuses clock gates."""
    design, is_gated = bundle(range(first, first + 3)), "icg" in bundle([first]).verilog
    options: dict[str, Any] = {"files": design.files, "is_quick": True, "language": language_of(first)}
    options["clocks"] = periods_of(first)
    engines = ("reuse", "verilator" if is_gated else "cxxrtl")
    ours, theirs = (outputs(design.verilog, design.top, programs, engine, **options) for engine in engines)
    assert ours == theirs


def test_a_file_is_measured_by_the_memory_of_its_module() -> None:
    """A module that nothing instantiates may fill a larger memory of the same name."""
    text = 'module a; reg m [0:15]; initial $readmemh("w.hex", m); endmodule module b; reg m [0:7]; endmodule'
    files = {"w.hex": b"1\n" * 16}
    of_b = MemoryShape(module="\\b", name="m", first=0, size=8, width=1)
    assert list(words_beyond(text, files, [of_b])) == []
    [(name, _)] = words_beyond(text, files, [replace(of_b, module="$paramod$1f\\a")])
    assert name == "w.hex"


def test_a_part_that_begins_below_bit_0_is_written_as_far_as_it_exists(programs: Path) -> None:
    """Yosys' reader of Verilog loses the whole assignment; Icarus drops the bit below 0 alone."""
    text = """
module top (input clk, input [1:0] a, input [3:0] i, output reg [15:0] q);
  initial q = 0;
  always @(posedge clk) q[i -: 2] <= a;
endmodule
"""
    program = build_reuse(text, top="top", folder=programs, is_quick=True)
    with closing(Simulator(program)) as simulator:
        for a, i, expected in ((2, 0, 0), (0, 8, 1), (1, 0, 1), (0, 8, 0), (3, 0, 0), (0, 2, 1)):
            assert simulator.step({"a": a, "i": i})["q"] == expected
