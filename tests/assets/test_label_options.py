"""`simfoundry label` with headers, further files, ranges and targets; steps, and what a reason says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from invoking import invoke

from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.source_options import SourceOptions
from assets.user_programs import read_user_program
from pipelines.base.cache import ContentCache
from pipelines.c import HlsError, read_interface
from pipelines.dataset.labelling import LabelContext, describe_inputs, label_design
from pipelines.hls import HlsOptions
from pipelines.programs import ProgramError
from pipelines.schemas import OK
from pipelines.silicon.synthesis import Target, find_liberty
from simfoundry.commands.label import chosen_targets, explained_reason
from tests.support.labelling import label_options

TAKEN = '#include "size.h"\nint twice(int);\nint take(int a[N], int n)\n{\n  return a[n] + twice(n);\n}\n'


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A file whose header and callee are in other folders."""
    for name, text in (
        ("main/take.c", TAKEN),
        ("inc/size.h", "#define N 4\n"),
        ("lib/twice.c", "int twice(int a) { return 2 * a; }\n"),
        ("lib/unused.c", "int unused(int a) { return a; }\nint main(void) { return 1; }\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "main" / "take.c"


def test_label_takes_headers_sources_ranges_and_targets(project: Deployment, program: Path) -> None:
    places = ("--include", str(program.parents[1] / "inc"), "--source", str(program.parents[1] / "lib"))
    result = invoke("label", str(program), *places, "--range", "n=0:4", "--targets", "cycles")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["label"]["status"] == "ok"
    assert answer["label"]["area_um2"] is None
    assert answer["runs"][0]["power_status"] is None
    assert answer["runs"][0]["latency_cycles"] > 0
    steps = [line.removeprefix(f"{program}: ") for line in result.stderr.splitlines()]
    native = "native C (two programs, each at most 60 s of processor time)"
    assert steps == ["high-level synthesis", native, "cycles and outputs"]
    without = invoke("label", str(program), *places, "--range", "n=0:4", "--without", "power", "--json")
    answer = json.loads(without.stdout)
    assert answer["label"]["area_um2"] > 0
    assert answer["runs"][0]["power_mw"] is None
    assert without.stderr == ""


def test_label_says_what_to_do_about_drawn_data(project: Deployment, program: Path) -> None:
    program.write_text("#define N 4\n#pragma simfoundry range n=40:50\n" + TAKEN.split("\n", 1)[1])
    places = ("--source", str(program.parents[1] / "lib"), "--targets", "cycles")
    result = invoke("label", str(program), *places, "--json")
    reason = json.loads(result.stdout)["label"]["reason"]
    assert result.exit_code == 1
    assert "got index out of bounds reading a (take.c:6), in `" in reason
    assert "`; keep the index below the size" in reason
    assert "give others (--data FILE) or their ranges (--range NAME=LOW:HIGH, #pragma " in reason
    assert invoke("label", str(program), *places, "--range", "n=0:4").exit_code == 0  # wins over the source


def test_label_of_a_folder_finds_functions_in_its_other_files(project: Deployment, program: Path) -> None:
    for name in ("inc/size.h", "lib/twice.c"):
        (program.parents[1] / name).rename(program.parent / Path(name).name)
    result = invoke("label", str(program.parent), "--range", "n=0:4", "--targets", "cycles")
    answer = json.loads(result.stdout)
    assert [Path(e["file"]).name for e in answer["files"]] == ["take.c", "twice.c"]
    assert answer["files"][0]["label"]["status"] == "ok"


@pytest.mark.slow
def test_label_sizes_pointer_arguments_by_their_accesses_or_by_option(
    project: Deployment, tmp_path: Path
) -> None:
    file = tmp_path / "sum.c"
    file.write_text(
        "int sum(int *a, int *b, int n)\n{\n  int i = 0;\n  while (b[i]) i++;\n  return a[5] + i;\n}\n"
    )
    result = invoke("label", str(file), "--targets", "cycles", "--json")
    reason = json.loads(result.stdout)["label"]["reason"]
    assert reason.endswith("or --size b=N), got *b (sum.c:4)")
    result = invoke("label", str(file), "--size", "b=200", "--targets", "cycles", "--json")
    answer = json.loads(result.stdout)
    assert (answer["label"]["status"], answer["sizes"]) == ("ok", {"a": 6, "b": 200})
    file.write_text("int sum(int *a)\n{\n  return a[5] +\n    a[b];\n}\n")
    with pytest.raises(HlsError, match=r"^a name must be declared, got 'b' \(.*sum\.c:4\)$"):
        read_user_program(file, "sum")
    with pytest.raises(FoundryError, match=r"^unknown size: 'b=0'; accepted: NAME=N with a positive .*$"):
        read_user_program(file, "sum", options=SourceOptions(sizes=("b=0",)))


@pytest.mark.slow
def test_label_draws_again_without_negative_numbers(project: Deployment, tmp_path: Path) -> None:
    file = tmp_path / "shift.c"
    file.write_text(
        "int shift(int x, int places, int t[16], float y) { return (x << places) + t[places] + y; }\n"
    )
    answer = json.loads(invoke("label", str(file), "--targets", "cycles", "--json").stdout)
    assert (answer["label"]["status"], answer["ranges"]["places"]) == ("ok", [0, 16])
    assert sorted(answer["ranges"]) == ["places", "t", "x"]
    result = invoke("label", str(file), "--range", "places=-9:0", "--targets", "cycles", "--json")
    answer = json.loads(result.stdout)
    assert (answer["label"]["status"], "ranges" in answer) == ("rejected", False)
    assert "shift exponent -" in answer["label"]["reason"]


def test_a_size_of_an_array_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text("int f(int a[8], int *b, int (*c)[4]) { return a[7] + *b + c[0][3]; }\n")
    with pytest.raises(
        FoundryError,
        match=r"^\d+ elements for a\[8\], an array; accepted: 8; other sizes are those of pointer arguments$",
    ):
        read_user_program(file, "f", options=SourceOptions(sizes=("a=4",)))
    sized = read_user_program(file, "f", options=SourceOptions(sizes=("b=3", "c=2")))
    assert sized.source.startswith("#pragma simfoundry size b=3 c=2\n")


@pytest.mark.slow
def test_read_user_program_takes_strings_without_a_bound_as_texts(tmp_path: Path) -> None:
    file = tmp_path / "count.c"
    file.write_text("int count(const char *s) { int n = 0; while (*s++) n++; return n; }\n")
    program = read_user_program(file, None)
    assert program.source.startswith("#pragma simfoundry size s=64\n")
    assert json.loads(program.inputs) == {"s": {"kind": "text"}}
    file.write_text("void clear(char *s) { while (*s) *s++ = 0; }\n")  # how much it may write is not known
    assert "size" not in read_user_program(file, None).source


def test_read_user_program_keeps_the_text_of_a_program_with_sizes(tmp_path: Path) -> None:
    file = tmp_path / "first.c"
    file.write_text("int first(int *a, int b[4]) { return *a + b[3]; }\n")
    assert read_user_program(file, None).source == file.read_text()


def test_read_user_program_drops_a_byte_order_mark_behind_other_text(tmp_path: Path) -> None:
    for name, text in (
        ("first.c", '#include "n.h"\nint first(int *a) { return a[N]; }\n'),
        ("n.h", "#define N 2\n"),
    ):
        (tmp_path / name).write_text(f"\ufeff{text}")
    program = read_user_program(tmp_path / "first.c", None, options=SourceOptions(define=("X=", "Y")))
    assert program.source.startswith('#pragma simfoundry size a=3\n# 1 "first.c"\n#define X \n#define Y 1\n')
    assert "\ufeff" not in program.source


def test_label_finds_an_object_of_another_file(project: Deployment, tmp_path: Path) -> None:
    (tmp_path / "take.c").write_text(
        "extern const short table[4];\nint take(int n) { return table[n & 3]; }\n"
    )
    (tmp_path / "table.c").write_text("extern const short table[4];\nconst short table[4] = {5, 6, 7, 8};\n")
    source = read_user_program(tmp_path / "take.c", None, options=SourceOptions(others=(tmp_path,))).source
    assert "{5, 6, 7, 8}" in source
    with pytest.raises(
        HlsError, match=r"^an extern name must be defined .*, got the extern table \(f\.c:2\)$"
    ):
        read_interface((tmp_path / "take.c").read_text(), "take", file="f.c")


def test_label_rejects_an_unknown_target_range_or_folder(program: Path) -> None:
    assert chosen_targets((), ("power",)) == ("cycles", "area")
    with pytest.raises(FoundryError, match=r"^unknown target: x; accepted: cycles, area, power$"):
        chosen_targets(("x",), ())
    for text in ("n", "n=1", "n=a:b", 'n="x":2', "=1:2"):
        with pytest.raises(FoundryError, match=r"^unknown range: .*; accepted: NAME=LOW:HIGH .*$"):
            read_user_program(program, "take", options=SourceOptions(ranges=(text,)))
    for text in ("n=5:5", "n=6:2", "n=0.5:0.5"):
        with pytest.raises(FoundryError, match=rf"^empty range: '{text}'; accepted: .* LOW below HIGH"):
            read_user_program(program, "take", options=SourceOptions(ranges=(text,)))
    with pytest.raises(FoundryError, match=r"^no such folder of headers: .*none$"):
        read_user_program(program, "take", options=SourceOptions(include=(program.parent / "none",)))


def test_a_range_rejects_a_constant_table_by_name(tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text("static const int tab[2] = {1, 2};\nint f(int a[2], int n) { return a[n] + tab[n]; }\n")
    message = r"^no range of tab: it is a constant table, .*; accepted: scalar arguments and a$"
    with pytest.raises(ProgramError, match=message):
        read_user_program(file, "f", options=SourceOptions(ranges=("tab=0:3",)))


def test_an_object_that_starts_infinite_is_labelled(tmp_path: Path) -> None:
    file = tmp_path / "f.c"
    file.write_text(
        "double peak = -1.0 / 0.0, none[2] = {0.0 / 0.0};\n"
        "void f(double x) { if (x > peak) peak = none[0] = x; }\n"
    )
    context = LabelContext(
        cache=ContentCache(folder=tmp_path / "cache"),
        options=label_options(mapped=False, power=False, audit_fraction=0.0),
        target=Target(liberty=find_liberty("osu018"), clock_period_ns=10.0),
    )
    program = read_user_program(file, "f")
    labelled = label_design(program, HlsOptions(), context)
    assert (labelled.label.status, labelled.runs[0].outputs_equal) == (OK, True)
    described = describe_inputs([program], [labelled.design], labelled.runs, context.options)
    rows = {row.argument: row for row in described}
    assert (rows["peak"].values, rows["peak"].minimum) == ("[null]", 0.0)
    assert rows["none"].values == "[null,0.0]"


def test_a_limit_of_time_says_what_was_done_before(tmp_path: Path) -> None:
    (tmp_path / "add.c").write_text("int add(int a, int b) { return a + b; }\n")
    context = LabelContext(
        cache=ContentCache(folder=tmp_path / "cache"),
        options=label_options(workers=1, mapped=False, power=False, audit_fraction=0.0),
        target=Target(liberty=find_liberty(None), clock_period_ns=10.0),
    )
    labelled = label_design(read_user_program(tmp_path / "add.c", None), HlsOptions(), context)
    cycles = labelled.runs[0].latency_cycles
    late = replace(labelled, label=replace(labelled.label, status="timeout", reason="synthesis ran past 1 s"))
    done = f"high-level synthesis, native C, {cycles} cycles, outputs equal native C"
    assert explained_reason(late, drawn=True) == f"synthesis ran past 1 s; done before: {done}"
    assert explained_reason(replace(late, runs=()), drawn=True) == (
        "synthesis ran past 1 s; done before: high-level synthesis"
    )


def test_macros_with_arguments_are_defined_as_by_a_compiler(tmp_path: Path) -> None:
    (tmp_path / "g.c").write_text("int g(int n) { return TWICE(n) + SUM(1, 2) + LOG(n); }\n")
    macros = ("TWICE(x)=((x) * 2)", "SUM(a, b)=(a+b)", "LOG(...)=0")
    program = read_user_program(tmp_path / "g.c", None, options=SourceOptions(define=macros))
    assert read_interface(program.source, program.top).returns is not None
    for wrong in ("f(=1", "f(x,)=1", "f(1)=x", "f(x)y=1"):
        with pytest.raises(
            FoundryError, match=r"^a macro must be NAME, NAME=TEXT or NAME\(ARGUMENTS\)=TEXT, got "
        ):
            read_user_program(tmp_path / "g.c", None, options=SourceOptions(define=(wrong,)))


def test_a_file_that_source_does_not_search_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "others"
    folder.mkdir()
    (folder / "big.c").write_text("int h(int n) { return n; }\n" + "/* text */\n" * 400_000)
    (tmp_path / "g.c").write_text("int h(int n); int g(int n) { return h(n); }\n")
    with pytest.raises(
        FoundryError, match=r"^no file of --source defines h; not searched: .*big\.c, larger than"
    ):
        read_user_program(tmp_path / "g.c", None, options=SourceOptions(others=(folder,)))
