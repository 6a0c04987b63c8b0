"""Designs of several files: what they become, equal outputs of engines, and one line for bad input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from pipelines.rtl.reuse import ENGINES, RtlError, Simulator, build_reuse
from pipelines.rtl.reuse.projects import Project, ProjectFiles, read_project
from simfoundry.cli import simfoundry

PROJECTS = Path(__file__).with_name("projects")
CYCLES = 20_000
"""Random addresses reach every register of a project."""


def simulate(*arguments: str) -> Result:
    return CliRunner().invoke(simfoundry, ["simulate", *arguments, "--cycles", "20"])


def write(files: Mapping[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def digest(project: Project, engine: str, programs: Path) -> tuple[int, str]:
    """The digest of a run, and what read the design."""
    is_quick = {} if engine == "arc" else {"is_quick": True}
    program = ENGINES[engine](
        project.text,
        top=project.top,
        folder=programs,
        language=project.language,
        files=project.files,
        **is_quick,
    )
    with closing(Simulator(program)) as simulator:
        return int(simulator.run(CYCLES, seed=1).digests[0]), program.front_end


CASES = {
    "uart": ({"lists": [Path("uart.f")]}, "yosys"),
    "cache": ({"near_lists": [Path("lists/cache.f")]}, "slang"),
    "pair": ({"lists": [Path("pair.f")], "top": "counter"}, "slang"),
    "aes": ({"lists": [Path("aes.f")]}, "slang"),
    "plic": ({"lists": [Path("plic.f")]}, "slang"),
    "crossbar": ({"lists": [Path("crossbar.f")]}, "slang"),
    "flash": ({"lists": [Path("flash.f")]}, "slang"),
    "fft": ({"lists": [Path("fft.f")]}, "slang"),
}
"""What is named of every project, and which reader reads it."""


SLOW = ("crossbar", "plic")
"""Projects that Verilator takes seconds for."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES]
)
def test_engines_agree_on_projects(name: str, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECTS / name)
    named, reader = CASES[name]
    project = read_project(ProjectFiles(files=(), **named))  # pyright: ignore[reportArgumentType]
    digests = {engine: digest(project, engine, programs) for engine in ("reuse", "verilator", "cxxrtl")}
    assert {front_end for _, front_end in digests.values()} == {reader}
    assert len({value for value, _ in digests.values()}) == 1, digests
    assert digests["reuse"][0] != 0


def simulated(name: str, programs: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Simulator:
    """A simulator of a project by its file list."""
    monkeypatch.chdir(PROJECTS / name)
    project = read_project(ProjectFiles(files=(), lists=[Path(f"{name}.f")]))
    source = {"language": project.language, "files": project.files}
    return Simulator(
        build_reuse(project.text, top=project.top, folder=programs, is_quick=True, **source, **options)
    )


VECTORS = (
    (
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
    ),
    (
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3243f6a8885a308d313198a2e0370734",
        "3925841d02dc09fbdc118597196a0b32",
    ),
)
"""Key, block and encrypted block of FIPS-197, appendices C.1 and B."""


def test_aes_encrypts_the_blocks_of_its_standard(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(simulated("aes", programs, monkeypatch)) as simulator:
        simulator.step({"rst_n": 0})
        for key, plain, cipher in VECTORS:
            simulator.step({"rst_n": 1, "start": 1, "key": int(key, 16), "plain": int(plain, 16)})
            answers = [simulator.step({"start": 0}) for _ in range(11)]
            assert [answer["done"] for answer in answers] == [0] * 10 + [1]
            assert answers[-1]["cipher"] == int(cipher, 16)


def signed(value: Any, bits: int) -> int:
    return (value ^ 1 << bits - 1) - (1 << bits - 1)


def test_fft_equals_numpy(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """32 points; each of five stages rounds products to whole numbers."""
    rng = np.random.default_rng(1)
    parts = rng.integers(-2048, 2048, (32, 2))
    with closing(simulated("fft", programs, monkeypatch)) as simulator:
        simulator.step({"reset": 1})
        for real, imaginary in parts.tolist():
            values = {"in_re": real % 4096, "in_im": imaginary % 4096}
            simulator.step({"reset": 0, "in_valid": 1, **values})
        answers = [simulator.step({"in_valid": 0}) for _ in range(130)]
    points = [
        signed(answer["out_re"], 24) + 1j * signed(answer["out_im"], 24)
        for answer in answers
        if answer["out_valid"]
    ]
    assert len(points) == 32
    assert np.abs(np.array(points) - np.fft.fft(parts @ [1, 1j])).max() < 5


def test_flash_words_are_those_of_the_image(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(simulated("flash", programs, monkeypatch)) as simulator:
        image = bytes.fromhex(Path("model/image.hex").read_text())
        simulator.step({"rst": 1})
        simulator.step({"rst": 0, "half": 1})
        for word, most in ((0, 300), (5, 300), (5, 0), (255, 300)):
            simulator.step({"addr": word, "req": 0})
            waited = 0
            while not simulator.step({"req": 1})["ack"]:
                waited += 1
            assert waited <= most
            assert simulator.step({"req": 0})["data"] == int.from_bytes(
                image[4 * word : 4 * word + 4], "little"
            )


def test_a_host_of_the_crossbar_reads_what_the_other_wrote(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Host 0 is the upper half of every port."""
    with closing(simulated("crossbar", programs, monkeypatch)) as simulator:

        def wait(port: str, host: int, **inputs: int) -> Mapping[str, Any]:
            for _ in range(20):
                answer = simulator.step(inputs)
                if int(answer[port]) >> host & 1:  # pyright: ignore[reportArgumentType]
                    return answer
            raise AssertionError(port)

        simulator.step({"rst_n": 0})
        simulator.step({"rst_n": 1})
        write = {"awaddr": 0x404 << 12, "wdata": 0xC0FFEE << 32, "wstrb": 0xF0, "bready": 2}
        wait("bvalid", 1, awvalid=2, wvalid=2, **write)
        simulator.step({"awvalid": 0, "wvalid": 0})
        for address, data, response in ((0x404, 0xC0FFEE, 0), (0x408, 0x02020202, 0), (0xC00, 0, 3)):
            answer = wait("rvalid", 0, araddr=address, arvalid=1, rready=1)
            assert (answer["rdata"] & 0xFFFFFFFF, answer["rresp"] & 3) == (data, response)
            simulator.step({"arvalid": 0})


def test_the_interrupt_of_the_highest_priority_comes_first(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(simulated("plic", programs, monkeypatch)) as simulator:

        def access(region: int, word: int, data: int | None = None) -> int:
            request = 1 << 43 | (data is not None) << 42 | region << 38 | word << 34 | (data or 0)
            answer = simulator.step({"req_i": request})
            simulator.step({"req_i": 0})
            return int(answer["rsp_o"]) & 0xFFFFFFFF  # pyright: ignore[reportArgumentType]

        simulator.step({"rst_ni": 0})
        simulator.step({"rst_ni": 1})
        for source, priority in ((3, 2), (5, 6), (7, 6)):
            access(0, source, priority)
        access(2, 1, 1 << 3 | 1 << 5 | 1 << 7)
        simulator.step({"source_i": 1 << 2 | 1 << 4 | 1 << 6})
        simulator.step({"source_i": 0})
        assert [access(4, 1) for _ in range(4)] == [5, 7, 3, 0]


def test_the_answer_names_top_and_front_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECTS / "uart")
    answer = json.loads(simulate("-f", "uart.f", "--json").output)
    assert (answer["top"], answer["front_end"]) == ("uart", "yosys")
    assert "read by yosys" in simulate("-f", "uart.f").output


def test_macros_and_parameters_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECTS / "uart")

    def digest_of(*options: str) -> str:
        return json.loads(simulate("-f", "uart.f", "--json", *options).output)["digests"][0]

    plain, fast = digest_of(), digest_of("-D", "FAST")
    assert len({plain, fast, digest_of("-G", "DIVIDER=7")}) == 3
    assert digest_of("-G", "DIVIDER=2") == fast
    assert digest_of("-D", "FAST", "-G", "DIVIDER=2", "-G", "DIVIDER=4") == plain


PARAMETERS = """
module t #(parameter A = 1, B = {2'd1, 2'd2}, parameter signed [7:0] C = f(1, 2), localparam L = A) (
  output [7:0] a, b, c, d, output [15:0] e);
  localparam M = 5;  parameter D = 4;
  assign a = A, b = B, c = C, d = L, e = T;
  parameter T = "a,)";
  function [7:0] f(input [7:0] x, y); f = x + y; endfunction
endmodule
"""


def test_parameters_replace_defaults(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write({"t.v": PARAMETERS.replace(" = f(1, 2)", " = 3")})
    values = ["A=7", "B=8'h1f", "C=-1"]
    project = read_project(ProjectFiles(files=[Path("t.v")], parameters=values))
    assert "\n" * PARAMETERS.count("\n") in "".join(c for c in project.text if c == "\n")
    program = ENGINES["reuse"](project.text, top="t", folder=programs, is_quick=True)
    with closing(Simulator(program)) as simulator:
        assert simulator.step() == {"a": 7, "b": 0x1F, "c": 0xFF, "d": 7, "e": 0x2C29}


INCLUDING = {
    "rtl/a.v": '`include "one.vh"\nmodule a (output [7:0] y); assign y = `ONE `include "plus.vh"\n;endmodule',
    "inc/one.vh": '`ifndef ONE\n`include "two.vh" // `include "none.vh"\n`define ONE `TWO\n`endif\n',
    "inc/two.vh": '`ifdef NONE\n`include "no.vh"\n`elsif SYNTHESIS\n`define TWO 8\'d2\n`else\n`no\n`endif',
    "rtl/plus.vh": "+ 8'd40",
}


def test_files_are_included_from_folders_and_beside_their_file(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(INCLUDING)
    project = read_project(ProjectFiles(files=[Path("rtl/a.v")], folders=[Path("inc")]))
    program = ENGINES["reuse"](project.text, top="a", folder=programs, is_quick=True)
    with closing(Simulator(program)) as simulator:
        assert simulator.step() == {"y": 42}


SWITCHED = """
module t (output [7:0] y);
  // synopsys translate_off
  `ifdef NO
  /* synthesis translate_on */
  assign y = 1
  //pragma translate_off
  + 2
  // pragma translate_on
  ;
endmodule
"""


def test_text_that_is_switched_off_is_left_out_in_synthesis(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write({"t.v": SWITCHED, "u.v": SWITCHED.replace("`ifdef NO", "")})
    for engine in ("reuse", "verilator", "cxxrtl"):
        for name, undefine, value in (("t.v", (), 1), ("u.v", ("SYNTHESIS",), 3)):
            project = read_project(ProjectFiles(files=[Path(name)], undefine=undefine))
            program = ENGINES[engine](project.text, top="t", folder=programs, is_quick=True)
            with closing(Simulator(program)) as simulator:
                assert simulator.step() == {"y": value}


def test_folders_come_before_that_of_the_file_unless_a_list_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write({"rtl/a.v": '`include "x.vh"\nmodule a; endmodule', "rtl/x.vh": "// near", "inc/x.vh": "// folder"})
    write({"l.f": "--relative-includes"})
    for lists, expected in (((), "// folder"), ((Path("l.f"),), "// near")):
        named = ProjectFiles(files=[Path("rtl/a.v")], folders=[Path("inc")], lists=lists)
        assert expected in read_project(named).text


def test_messages_of_readers_have_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        {
            "rtl/a.v": '`include "b.vh"\n\nmodule a (output y);\n assign y = no;\nendmodule\n',
            "rtl/b.vh": "\n\n",
        }
    )
    for engine in ("reuse", "verilator"):
        result = simulate("rtl/a.v", "--engine", engine)
        assert result.exit_code == 1
        assert "rtl/a.v:4" in result.stderr
        assert result.stderr.count("\n") == 1


def test_missing_modules_come_from_libraries_and_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        {
            "a.v": "module a (output [1:0] y); b #(1) u (y[0]); c u_c [0:0] (.y(y[1])); endmodule",
            "lib/b.v": "module b #(parameter P = 0) (output y); d u (y); endmodule",
            "cells.v": "module c (output y); assign y = 1; endmodule module unused (output y); endmodule",
            "d.sv": "module d (output logic y); assign y = 1; endmodule",
        }
    )
    project = read_project(ProjectFiles(files=[Path("a.v")], lists=[], folders=[Path("lib")]))
    assert (project.top, "module c" in project.text, "module d" in project.text) == ("a", False, True)
    write({"l.f": "-v cells.v -y lib"})
    assert simulate("a.v", "-f", "l.f").exit_code == 0


MEMORY = """
module t (input a, output [7:0] y); reg [7:0] m [0:1]; initial $readmemh("%s", m); assign y = m[a]; endmodule
"""


def test_memory_files_lie_in_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the current folder, from that of the file that names it, and through the folder above."""
    monkeypatch.chdir(tmp_path)
    write({"mem/x.hex": "1 2", "rtl/y.hex": "3 4"})
    outputs = set[tuple[object, ...]]()
    for name in ("mem/x.hex", "y.hex", "../mem/x.hex"):
        write({"rtl/t.v": MEMORY % name})
        for engine in ("reuse", "cxxrtl"):
            result = simulate("rtl/t.v", "--engine", engine, "--json")
            assert result.exit_code == 0, result.stderr
            outputs.add((name != "y.hex", *json.loads(result.output)["digests"]))
    assert len(outputs) == 2


def test_an_image_wins_over_a_memory_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write({"t.v": MEMORY % "x.hex", "x.hex": "1 2", "i.hex": "7", "j.hex": "7 2"})

    def digests(*options: str) -> list[str]:
        return json.loads(simulate("t.v", "--json", *options).output)["digests"]

    with_image = digests("--memory", "t.m=i.hex")
    assert with_image != digests()
    write({"x.hex": "7 2"})
    assert with_image == digests()


BOUND = """module a (input clk, x, output logic y); always_ff @(posedge clk) y <= x; endmodule
module c #(parameter W = 1) (input clk, y); assert property (@(posedge clk) y); endmodule
bind a c #(.W(2)) checks (.clk, .y);
"""


def test_a_module_that_bind_puts_into_another_is_no_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.sv").write_text(BOUND, "utf-8")
    assert read_project(ProjectFiles(files=(Path("a.sv"),))).top == "a"


SEVERAL = """module a (input x, output y); assign y = x; endmodule
module b (input x, output y); assign y = ~x; endmodule"""


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({"l.f": ""}, ("-f", "l.f"), "no file of a design; accepted: FILE or --file-list with at least one"),
        (
            {"a.v": SEVERAL},
            ("a.v",),
            "several modules that no other one instantiates: a, b; accepted: --top with one of them",
        ),
        (
            {"a.v": SEVERAL},
            ("-f", "a.v"),
            "a.v is no file list; accepted: a design without -f",
        ),
        ({"a.v": "// nothing\n"}, ("a.v",), "no module in the design; accepted: at least one"),
        (
            {"l.f": "\nrtl/none.v"},
            ("-f", "l.f"),
            "cannot read the design rtl/none.v: No such file or directory (l.f:2)",
        ),
        (
            {"l.f": "\n\n-f none.f"},
            ("-f", "l.f"),
            "cannot read the file list none.f: No such file or directory (l.f:3)",
        ),
        ({"l.f": "-f m.f", "m.f": "-f l.f"}, ("-f", "l.f"), "cycle of file lists: l.f -> m.f -> l.f (m.f:1)"),
        (
            {"a.v": '\n`include "b.vh"\n', "b.vh": '`include "a.v"\n'},
            ("a.v",),
            "cycle of included files: a.v -> b.vh -> a.v (b.vh:1)",
        ),
        ({"r/a.v": '`include "no.vh"'}, ("r/a.v",), "no file to include: no.vh (r/a.v:1); searched: ., r"),
        (
            {"a.v": SEVERAL, "l.f": "a.v\n-GW=1"},
            ("-f", "l.f", "--top", "a"),
            "unknown parameter: W (l.f:2); accepted: none",
        ),
        (
            {"a.v": "module a #(parameter W = 1) (output [W:0] y); endmodule", "l.f": "a.v -GW=4294967296"},
            ("-f", "l.f"),
            "value of parameter W: 4294967296 (l.f:1); accepted: 32 bits, or a number with a width, such as "
            "64'd5000000000",
        ),
        (
            {"a.v": SEVERAL, "l.f": "a.v\n-GW"},
            ("-f", "l.f", "--top", "a"),
            "-G W (l.f:2); accepted: -G NAME=VALUE",
        ),
        (
            {"a.v": "module a #(parameter W = 1) (output [W:0] y); endmodule", "l.f": "a.v -GW=x"},
            ("-f", "l.f"),
            "value of parameter W: x (l.f:1); accepted: a number, such as 8 or 4'hf, or a text in quotes",
        ),
        (
            {"a.v": SEVERAL, "l.f": "a.v\n-DA=`A"},
            ("-f", "l.f"),
            "-D A='`A': the macro uses itself; accepted: text of other macros (l.f:2)",
        ),
        ({"a.v": "`ifdef A\n`else\n"}, ("a.v",), "conditional without `endif (a.v:1)"),
        ({"a.v": "\n`endif"}, ("a.v",), "`endif without `ifdef (a.v:2)"),
        ({"a.v": "\n//synopsys translate_off"}, ("a.v",), "translate_off without translate_on (a.v:2)"),
        (
            {"a.v": "`include NONE\n"},
            ("a.v",),
            '`include without a file (a.v:1); accepted: `include "FILE" or a macro of that',
        ),
        ({"a.v": SEVERAL, "l.f": "a.v -Iinc"}, ("-f", "l.f"), "no such folder: inc (l.f:1)"),
        ({"a.v": SEVERAL}, ("a.v", "--root", "none"), "no such folder: --root none"),
        (
            {"l.f": f"a.v -y {'x' * 300}"},
            ("-f", "l.f"),
            f"no such folder: {'x' * 50}... (300 characters) (l.f:1)",
        ),
        (
            {"a.v": f'`include "{"x" * 300}"'},
            ("a.v",),
            f"no file to include: {'x' * 50}... (300 characters) (a.v:1); searched: .",
        ),
        (
            {"a.v": "module a (output y); endmodule", "l.f": "a.v"},
            ("-f", "l.f", "--vcd", "a.v"),
            "--vcd a.v is a file of the design; accepted: another file",
        ),
        (
            {"a.txt": SEVERAL, "l.f": "a.txt"},
            ("-f", "l.f"),
            "unknown language: a.txt; accepted: names that end in .v, .sv, .vh, .svh, .fir (l.f:1)",
        ),
    ],
)
def test_projects_reject(
    files: Mapping[str, str],
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(files)
    result = simulate(*arguments)
    assert (result.exit_code, result.stderr) == (1, f"simfoundry: {message}\n")


@pytest.mark.parametrize("text", ['`include "../../x.vh"', 'module a (output y); endmodule `include "%s"'])
def test_projects_reject_files_outside(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a path with dots, an absolute one, and by a link."""
    outside = tmp_path / "x.vh"
    outside.write_text("secret")
    (tmp_path / "project/rtl").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "rtl")
    write({"a.v": text.replace("%s", str(outside))})
    with pytest.raises(
        RtlError, match=r"x\.vh leaves the project's folder \(a\.v:1\); accepted: files below "
    ):
        read_project(ProjectFiles(files=[Path("a.v")]))
    Path("link.v").symlink_to(outside)
    Path("l.f").write_text("link.v")
    with pytest.raises(RtlError, match=r"link\.v leaves the project's folder \(l\.f:1\)"):
        read_project(ProjectFiles(files=(), lists=[Path("l.f")]))
    if "../" in text:
        read_project(ProjectFiles(files=[Path("a.v")], root=tmp_path, top="a"))


def test_included_files_reject_text_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 40 files includes the next one twice."""
    from pipelines.rtl.reuse import includes

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(includes, "MOST_CHARACTERS", 10_000)
    write({f"f{n}.v": f'`include "f{n + 1}.v"\n' * 2 for n in range(40)} | {"f40.v": "// end\n" * 10})
    with pytest.raises(RtlError, match=r"more than 10000 characters with included files \(f\d+\.v:\d+\)"):
        read_project(ProjectFiles(files=[Path("f0.v")]))


def test_a_memory_file_may_be_named_by_a_parameter_or_a_macro(tmp_path: Path) -> None:
    (tmp_path / "sw").mkdir()
    (tmp_path / "sw" / "a.hex").write_text("1 2 3 4\n")
    (tmp_path / "t.v").write_text(
        'module t #(parameter F = "none.hex") (input [1:0] a, output [7:0] q);\n'
        "  reg [7:0] m [0:3];\n  initial $readmemh(F, m);\n  assign q = m[a];\nendmodule\n"
    )
    files = ProjectFiles(files=[tmp_path / "t.v"], root=tmp_path, parameters=['F="sw/a.hex"'])
    project = read_project(files)
    assert dict(project.files) == {"sw/a.hex": b"1 2 3 4\n"}


def test_files_that_include_each_other_behind_guards_are_no_cycle(tmp_path: Path) -> None:
    for own, other in ("ab", "ba"):
        (tmp_path / f"{own}.vh").write_text(
            f'`ifndef {own.upper()}\n`define {own.upper()}\n`include "{other}.vh"\n`define X{own} 1\n`endif\n'
        )
    (tmp_path / "t.v").write_text(
        '\ufeff`include "a.vh"\nmodule t (output [7:0] q);\n  assign q = `Xa + `Xb;\nendmodule\n',
        encoding="utf-8",
    )
    assert "`Xa + `Xb" in read_project(ProjectFiles(files=[tmp_path / "t.v"])).text


def test_other_encodings_are_read_in_comments_alone(tmp_path: Path) -> None:
    source = tmp_path / "t.v"
    source.write_bytes(b"// caf\xe9\nmodule t (output q);\n  assign q = 1;\nendmodule\n")
    assert read_project(ProjectFiles(files=[source])).top == "t"
    source.write_bytes(b"module t (output q);\n  assign caf\xe9 = 1;\nendmodule\n")
    with pytest.raises(RtlError, match=r"not UTF-8 text outside comments \(line 2\)"):
        read_project(ProjectFiles(files=[source]))
