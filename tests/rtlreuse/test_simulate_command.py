"""`simfoundry simulate`: answers, files, and one clear line for bad input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow.parquet import read_table, write_table

from pipelines.rtl.reuse import ENGINES
from pipelines.rtl.reuse.gpu_engines import CUDA, HETERO
from simfoundry.cli import simfoundry
from simfoundry.commands.simulate import AUTO
from simfoundry.questions import RTL_ENGINES

COUNTER = """
module counter #(parameter W = 4) (input clk, input rst, input [W-1:0] add, output reg [W-1:0] sum);
  always @(posedge clk) if (rst) sum <= 0; else sum <= sum + add;
endmodule
"""


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "counter.v"
    path.write_text(COUNTER)
    return path


def simulate(file: Path, *options: str) -> Result:
    return CliRunner().invoke(simfoundry, ["simulate", str(file), "--top", "counter", *options])


def test_simulate_answers_as_json(design: Path) -> None:
    answer = json.loads(simulate(design, "--cycles", "100", "--stimuli", "3", "--json").output)
    assert answer["inputs"] == {"rst": 1, "add": 4}
    assert answer["outputs"] == {"sum": 4}
    assert answer["clock"] == "clk"
    assert len(set(answer["digests"])) == 3


def test_simulate_writes_waveforms_of_given_inputs(design: Path, tmp_path: Path) -> None:
    inputs, vcd = tmp_path / "in.csv", tmp_path / "out.vcd"
    inputs.write_text("rst,add\n1,0\n0,0x3\n0,5\n0,0\n")
    result = simulate(design, "--cycles", "4", "--inputs", str(inputs), "--vcd", str(vcd))
    assert result.exit_code == 0, result.output
    text = vcd.read_text()
    assert "$var wire 4 $ sum [3:0] $end" in text
    changes = [line for line in text.splitlines() if line.endswith(" $")]
    assert changes == ["b0 $", "b11 $", "b1000 $"]


def test_simulate_names_the_file_of_the_user(design: Path) -> None:
    design.write_text(COUNTER.replace("sum + add", "sum + ad"))
    result = simulate(design, "--cycles", "4")
    assert result.exit_code == 1
    assert "undeclared name ad (counter.v:3)" in result.stderr
    assert "design.sv" not in result.stderr


def test_simulate_says_that_an_end_of_a_call_is_beyond_the_memory(tmp_path: Path) -> None:
    (tmp_path / "w.hex").write_text("1 2\n")
    path = tmp_path / "rom.v"
    path.write_text(
        "module counter(input clk, input [1:0] a, output reg [7:0] q); reg [7:0] m [0:3];"
        'initial $readmemh("w.hex", m, 1, 9); always @(posedge clk) q <= m[a]; endmodule\n'
    )
    result = simulate(path, "--cycles", "4")
    assert "an end in a call of $readmemh or $readmemb: address @9 is beyond the memory" in result.stderr


NESTED = """
module counter (input clk, input rst, output [3:0] sum);
  genvar k;
  wire [3:0] n [0:1];
  generate for (k = 0; k < 2; k = k + 1) begin : g
    stage u (.clk(clk), .rst(rst), .add(k ? n[0] : 4'd1), .kept(n[k]));
  end endgenerate
  assign sum = n[1];
endmodule
module stage (input clk, input rst, input [3:0] add, output reg [3:0] kept);
  reg [69:0] wide;
  always @(posedge clk) begin kept <= rst ? 0 : kept + add + wide[69]; wide <= {wide[68:0], ~rst}; end
endmodule
"""


def test_simulate_writes_chosen_registers(tmp_path: Path) -> None:
    file, vcd = tmp_path / "counter.v", tmp_path / "out.vcd"
    file.write_text(NESTED)
    options = ("--signals", "counter.g[0].u.*", "--signals", "sum", "--vcd", str(vcd))
    result = simulate(file, "--cycles", "6", "--reset-cycles", "1", *options)
    assert result.exit_code == 0, result.output
    lines = vcd.read_text().splitlines()
    names = [line.split()[4] for line in lines if line.startswith("$var")]
    assert names[:3] == ["clk", "sum", "kept"]
    assert {line for line in lines if line.startswith("$scope")} == {
        "$scope module counter $end",
        "$scope module g[0] $end",
        "$scope module u $end",
    }
    [kept] = [line.split()[3] for line in lines if " kept " in line]
    assert [line for line in lines if line.endswith(f" {kept}")] == [f"b{n:b} {kept}" for n in range(5)]


def test_simulate_writes_fst(design: Path, tmp_path: Path) -> None:
    if shutil.which("vcd2fst") is None or shutil.which("fst2vcd") is None:
        pytest.skip("vcd2fst of Debian's gtkwave is not installed")
    vcd, fst = tmp_path / "out.vcd", tmp_path / "out.fst"
    result = simulate(design, "--cycles", "50", "--vcd", str(vcd), "--fst", str(fst))
    assert result.exit_code == 0, result.output
    back = subprocess.run(["fst2vcd", str(fst)], capture_output=True, text=True, check=True).stdout

    def steps(text: str) -> list[list[int]]:
        """Values by time; the order within a time is free."""
        parts = text[text.index("#0") :].split("\n#")
        return [sorted(int(w[1:], 2) for w in part.split() if w[0] == "b") for part in parts]

    assert steps(back) == steps(vcd.read_text())


def test_simulate_says_that_there_is_no_gpu(design: Path) -> None:
    if Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    result = simulate(design, "--cycles", "50", "--engine", "cuda")
    assert result.exit_code == 1
    expected = "engine cuda needs an NVIDIA GPU with its driver: there is no /dev/nvidia0"
    assert result.stderr == f"simfoundry: {expected}\n"


def test_simulate_takes_modules_from_a_library(tmp_path: Path) -> None:
    file, library = tmp_path / "counter.v", tmp_path / "stage.v"
    top, _, stage = NESTED.partition("module stage")
    file.write_text(top)
    library.write_text(f"module stage{stage}")
    assert simulate(file, "--cycles", "6").exit_code == 1
    assert simulate(file, "--cycles", "6", "--library", str(library)).exit_code == 0


FORM = "accepted: 0 to 15, decimal of 4000 digits or hexadecimal behind 0x"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("rst,sub\n0,0\n", "unknown input: sub (in.csv:1); accepted: rst, add"),
        ("rst,add\n0,16\n", "value of add: '16' (in.csv:2); accepted: 0 to 15"),
        (
            "rst,add\n0,x\n",
            f"value of add: 'x' (in.csv:2); {FORM}",
        ),
        *(
            (
                f"rst,add\n0,{text}\n",
                f"value of add: {text!r} (in.csv:2); {FORM}",
            )
            for text in (
                "1_0",
                "0b1",
                "0o17",
                "0x1_f",
                "0X1",
                "+3",
                "-0",
                "-1",
                "1.0",
                "0x",
                "\u0663",
                "",
            )
        ),
        ("rst,add\n0\n", "1 values (in.csv:2); accepted: 2, as in the first row"),
        ("rst,add\n0,1\n", "too few rows: 1 for 2 cycles (in.csv)"),
        ("rst,rst\n0,1\n", "a port has two columns (in.csv:1)"),
    ],
)
def test_simulate_rejects_inputs(
    rows: str, message: str, design: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.rtl.reuse import Ports, RtlError
    from pipelines.rtl.reuse.stimulus import read_stimulus

    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(rows)
    ports = Ports(inputs={"rst": 1, "add": 4}, outputs={"sum": 4}, clock="clk")
    with pytest.raises(RtlError) as error:
        read_stimulus(Path("in.csv"), ports, 2)
    assert str(error.value) == message


def test_simulate_rejects_inputs_that_are_no_text(design: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"rst,add\n0,1\n\x89PNG\xff\n")
    result = simulate(design, "--cycles", "3", "--inputs", str(tmp_path / "in.csv"))
    assert result.stderr.startswith("simfoundry: inputs are not text in UTF-8: byte 0x89 (")
    assert result.stderr.endswith("in.csv)\n")


def test_simulate_reads_numbers_with_leading_zeros(tmp_path: Path) -> None:
    from pipelines.rtl.reuse import Ports
    from pipelines.rtl.reuse.stimulus import read_stimulus

    (tmp_path / "in.csv").write_text("add\n007\n0x0A\n 15 \n" + "0" * 5000 + "9\n")
    inputs = read_stimulus(tmp_path / "in.csv", Ports(inputs={"add": 4}, outputs={}, clock=None), 4)
    assert inputs[:, 0, 0].tolist() == [7, 10, 15, 9]


def test_simulate_reads_no_rows_beyond_the_cycles(design: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "in.csv"
    inputs.write_text("rst,add\n1,0\n0,3\n0,none\n")
    assert simulate(design, "--cycles", "2", "--inputs", str(inputs)).exit_code == 0
    assert "value of add: 'none'" in simulate(design, "--cycles", "3", "--inputs", str(inputs)).stderr


def test_simulate_reads_parquet_and_goes_on_from_a_checkpoint(design: Path, tmp_path: Path) -> None:
    inputs, state = tmp_path / "in.parquet", str(tmp_path / "state")
    write_table(pa.table({"rst": [1, 0, 0], "add": [0, 3, 5]}), inputs)
    simulate(design, "--cycles", "3", "--inputs", str(inputs), "--checkpoint", state)
    write_table(pa.table({"add": [1]}), inputs)
    vcd = tmp_path / "out.vcd"
    options = ("--inputs", str(inputs), "--resume", state, "--vcd", str(vcd))
    result = simulate(design, "--cycles", "1", *options)
    assert result.exit_code == 0, result.output
    assert "b1000 $" in vcd.read_text().splitlines()
    result = simulate(design, "--cycles", "1", "--resume", state, "--seed", "7")
    assert "--seed with --resume; accepted: without, the checkpoint goes on with its" in result.stderr


def test_simulate_writes_toggles(design: Path, tmp_path: Path) -> None:
    answers = [tmp_path / "t.csv", tmp_path / "t.parquet"]
    for path in answers:
        result = simulate(design, "--cycles", "200", "--toggles", str(path), "--json")
        assert json.loads(result.output)["toggles"]["register"] > 100
    rows = read_table(answers[1]).to_pylist()
    assert [(row["kind"], row["signal"]) for row in rows][-1] == ("register", "counter.sum")
    assert answers[0].read_text().count("\n") == len(rows) + 1


def test_simulate_reads_regular_files_alone(design: Path, tmp_path: Path) -> None:
    """A pipe would wait for a writer, the device never ends."""
    pipe, zero = tmp_path / "pipe.v", tmp_path / "zero"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    kinds = {pipe: "a pipe", zero: "a character device", tmp_path: "a folder"}
    for path, kind in kinds.items():
        options = [
            ("inputs", ("--inputs", str(path))),
            ("library", ("--library", str(path))),
            ("memory image", ("--memory", f"counter.m={path}")),
            ("checkpoint", ("--resume", str(path))),
        ]
        for what, arguments in options:
            result = simulate(design, "--cycles", "3", *arguments)
            assert result.stderr.startswith(f"simfoundry: cannot read the {what} {path}: {kind}; accepted: a")
            assert result.stderr.count("\n") == 1
    result = simulate(pipe, "--cycles", "3")
    assert result.stderr.startswith(f"simfoundry: cannot read the design {pipe}: a pipe; accepted: a regular")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pipe", "cannot read the memory file pipe: a pipe; accepted: a regular file of at most 64 MiB"),
        (
            "zero",
            "cannot read the memory file zero: a character device; accepted: a regular file of at most "
            "64 MiB",
        ),
        (
            "folder",
            "cannot read the memory file folder: a folder; accepted: a regular file of at most 64 MiB",
        ),
        ("none", "cannot read the memory file none: No such file or directory"),
        (
            "../x.hex",
            "no memory file ../x.hex (counter.v:1); accepted: a file of the project, by its name from the "
            "current folder or from that of the design, not a name that is computed",
        ),
    ],
)
def test_simulate_rejects_memory_files(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("zero").symlink_to("/dev/zero")
    Path("folder").mkdir()
    Path("counter.v").write_text(
        "module counter (input clk, input a, output y); reg m [0:1];"
        f' initial $readmemh("{name}", m); assign y = m[a]; endmodule'
    )
    result = simulate(Path("counter.v"), "--cycles", "3")
    assert result.stderr == f"simfoundry: {message}\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--inputs", "in.csv", "--stimuli", "2"), "--inputs with 2 stimuli; accepted: 1"),
        (("--vcd", "none/x.vcd"), "no such folder: none (--vcd none/x.vcd)"),
        (("--engine", "arc", "--threads", "2"), "--threads or --batch with engine arc; accepted: reuse"),
        (("--engine", "cxxrtl", "--skip-idle"), "--skip-idle with engine cxxrtl; accepted: reuse"),
        (("--toggles", "x.txt"), "--toggles x.txt; accepted: a .csv or .parquet file"),
        (("--toggles", "x.csv", "--vcd", "x.vcd"), "--toggles and --vcd are mutually exclusive"),
        (("--signals", "sum"), "--signals without a waveform; accepted: with --vcd or --fst"),
        (
            ("--vcd", "x.vcd", "--signals", "u.*"),
            "unknown signal: u.*; there are: rst, add, sum",
        ),
        (("--memory", "m"), "--memory m; accepted: NAME=FILE, such as top.u.words=image.hex"),
        (("--memory", "m=x.hex"), "cannot read the memory image x.hex: No such file or directory"),
    ],
)
def test_simulate_rejects_options(options: tuple[str, ...], message: str, design: Path) -> None:
    result = simulate(design, "--cycles", "5", *options)
    assert result.exit_code == 1
    assert result.stderr == f"simfoundry: {message}\n"


def test_simulate_names_the_engines_that_there_are() -> None:
    assert set(RTL_ENGINES) == {AUTO, *ENGINES, CUDA, HETERO}


def test_simulate_shows_the_beginning_of_a_long_value_of_an_input(design: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "in.csv"
    inputs.write_text(f"rst,add\n1,{'9' * 5000}\n")
    result = simulate(design, "--cycles", "1", "--inputs", str(inputs))
    said = f"value of add: '{'9' * 50}... (5000 characters)' ({inputs}:2); accepted: 0 to 15"
    assert (result.exit_code, result.stderr) == (1, f"simfoundry: {said}\n")


@pytest.mark.parametrize(
    ("highest", "said"),
    [
        (2**31 - 1, "signal add has too many bits (counter.v:1); accepted: at most 1048576"),
        (2**31 - 2, "signal has too many bits; accepted: at most 1048576"),
        (2**20, "1048577 bits of a signal; accepted: at most 1048576; the widest is add in counter"),
    ],
)
def test_simulate_rejects_a_port_of_too_many_bits(design: Path, highest: int, said: str) -> None:
    design.write_text(f"module counter(input [{highest}:0] add, output sum); assign sum = add[0]; endmodule")
    result = simulate(design, "--cycles", "1")
    assert (result.exit_code, result.stderr) == (1, f"simfoundry: Yosys rejects the design: {said}\n")
