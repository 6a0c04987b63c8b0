"""Collections of other people's C programs become suites; what cannot be read is a row with its reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from invoking import invoke

from assets import imported_programs
from assets.configuration import compose_configuration, write_parameters
from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.imported_programs import find_programs, read_programs
from models.labelled import Selection, load_labelled_designs
from pipelines.dataset.splits import BY_KERNEL
from pipelines.schemas import OK, ProgramRow, read_table, table_spec

OVERRIDES = (
    "hls.memory_delay=[2]",
    "hls.pipeline=[false]",
    "labelling.power=false",
    "labelling.audit_fraction=0",
    "labelling.cross_check_fraction=0",
    "run.workers=1",
)
MANIFEST = {
    "top": "fir",
    "sizes": {"mini": {"N": 8}, "small": {"N": 9}},
    "elements": {"x": "N"},
    "tags": ["a"],
}


def _scale(name: str, factor: object = 3) -> str:
    return f"void {name}(int a[8]) {{ for (int i = 0; i < 8; i++) a[i] = {factor} * a[i]; }}\n"


def _write(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def _read(folder: Path, listed: Path | None = None) -> dict[str, ProgramRow]:
    rows = read_programs(find_programs(folder, listed), "mine", sizes=("mini",))
    assert len({row.program_id for row in rows}) == len(rows)
    assert {row.suite for row in rows} == {"mine"}
    return {row.name: row for row in rows}


def _reasons(rows: dict[str, ProgramRow]) -> dict[str, str]:
    return {name: str(row.reason) for name, row in rows.items() if row.status != OK}


def test_c_files_have_the_inputs_and_the_manifests_beside_them(tmp_path: Path) -> None:
    dot = "int dot(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"
    folder = _write(
        tmp_path / "c",
        {
            "dot.c": dot,
            "dot.json": {"n": 12, "a": {"kind": "uniform", "low": 0, "high": 9}},
            "filter/fir.c": "void fir(int x[]) { for (int i = 0; i < N; i++) x[i] += i; }\n",
            "filter/fir.json": MANIFEST,
            "filter/gone.json": MANIFEST,
            "filter/wrong.c": _scale("wrong"),
            "filter/wrong.json": {"top": "wrong", "sizes": {}, "tags": ["a"]},
            "uses.c": '#include "inc/k.h"\nint uses(int a) { return twice(a) + K; }\n',
            "twice.c": "int twice(int a) { return a + a; }\n",
            "inc/k.h": "#define K 4\nint twice(int a);\n",
            "one/same.c": _scale("same", 5),
            "two/same.c": _scale("same", 7),
            "two/copy.c": _scale("same", 7),
            "text.c": "no program\n",
            "short.c": "void short_(int a[16]) { a[1] = a[0]; }\n",
            "short.json": {"a": [1, 2, 3]},
            "large.c": f"/*{'x' * (1 << 20)}*/{_scale('large')}",
            "notes.json": "{",
            "notes.c": _scale("notes", 9),
            ".git/hidden.c": "none\n",
        },
    )
    _write(tmp_path, {"secret.c": _scale("secret")})
    (folder / "link.c").symlink_to(tmp_path / "secret.c")
    (folder / "elsewhere").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.c")
    rows = _read(folder)
    assert json.loads(rows["dot"].inputs)["n"] == {"kind": "values", "values": 12}
    assert "#pragma simfoundry size a=12" in rows["dot"].source
    assert rows["fir"].source.startswith("#define N 8\n")
    assert "int twice(int a) { return" in rows["uses"].source
    assert {"one-same", "two-copy", "two-same"} - rows.keys() == {"two-copy"}
    reasons = _reasons(rows)
    assert reasons.pop("two-same") == "equals copy but for its spelling"
    assert reasons.pop("link") == "a link to a file elsewhere: link.c"
    assert reasons.pop("elsewhere") == "a link to a folder elsewhere"
    assert reasons.pop("gone") == "no such file: filter/gone.c"
    assert "sizes" in reasons.pop("wrong")
    assert "syntax error" in reasons.pop("text")
    assert reasons.pop("short") == (
        "3 elements for a[16], an array; accepted: 16; other sizes are those of pointer arguments"
    )
    assert "at most 1 MiB" in reasons.pop("large")
    assert "a pipe" in reasons.pop("pipe")
    assert reasons.pop("notes").endswith("(notes.json)")
    assert reasons == {}


def test_designs_of_hlsfactory_are_what_their_flows_name(tmp_path: Path) -> None:
    def design(name: str, flow: str, key: str, value: str) -> str:
        head = f'design_name = "{name}"\ndataset_name = "d"\ntags = []\n[[flow_configs]]\n'
        return f'{head}flow_name = "{flow}"\n{key} = "{value}"\n'

    vitis = ("VitisHLSSynthFlow", "synth_tcl", "dataset_hls.tcl")
    script = (
        'set top twice ;# the function\nset flags "-Iinc -DMORE=4"\nset phase [lindex $argv 0]\n'
        "set_top $top\n"
        'add_files src/helper.c -cflags "$flags"\nadd_files {src/main.c} \\\n -cflags "-Iinc"\n'
        "add_files inc/h.h\nadd_files -tb absent_tb.c\nif {$phase} {\n  csynth_design\n}\nexit\n"
    )
    folder = _write(
        tmp_path / "f",
        {
            "two/hlsfactory.toml": design("two", *vitis),
            "two/dataset_hls.tcl": "source hls.tcl\n",
            "two/hls.tcl": script,
            "two/src/helper.c": '#include "h.h"\nint helper(int a) { return a + MORE; }\n',
            "two/src/main.c": '#include "h.h"\nint twice(int a) { return helper(a) * 2; }\n',
            "two/inc/h.h": "int helper(int a);\n",
            "modern/hlsfactory.toml": design("modern", "VitisHLSModernSynthFlow", "hls_config", "c.cfg"),
            "modern/c.cfg": "part=x\n[hls]\nsyn.file=./m.cpp\nsyn.top=m\ntb.file=./absent_tb.cpp\n",
            "modern/m.cpp": _scale("m"),
            "altera/hlsfactory.toml": design("altera", "AlteraHLSSynthFlow", "sources", "a.c"),
            "altera/a.c": _scale("a", 5),
            "xls/hlsfactory.toml": design("xls", "XLSHLSSynthFlow", "dslx_file", "a.x"),
            "away/hlsfactory.toml": design("away", *vitis),
            "away/dataset_hls.tcl": "set_top secret\nadd_files ../../secret.c\n",
            "glob/hlsfactory.toml": design("glob", *vitis),
            "glob/dataset_hls.tcl": "set_top g\nadd_files [glob *.c]\n",
            "loop/hlsfactory.toml": design("loop", *vitis),
            "loop/dataset_hls.tcl": "source dataset_hls.tcl\n",
            "brace/hlsfactory.toml": design("brace", *vitis),
            "brace/dataset_hls.tcl": "set_top b\nif {1} {\nadd_files b.c\n",
            "brace/b.c": _scale("b", 11),
            "broken/hlsfactory.toml": "design_name = \n",
        },
    )
    _write(tmp_path, {"secret.c": _scale("secret")})
    rows = _read(folder)
    assert (rows["two"].top, rows["modern"].top, rows["altera"].top) == ("twice", "m", "a")
    assert "#define MORE 4" in rows["two"].source
    reasons = _reasons(rows)
    assert reasons.pop("xls").startswith("no flow of xls names C sources: XLSHLSSynthFlow; accepted: ")
    assert reasons.pop("away") == "outside the folder of the collection: away/../../secret.c"
    assert reasons.pop("glob").startswith("a computed word: [glob (glob/dataset_hls.tcl)")
    assert reasons.pop("loop").startswith("scripts that read scripts: more than 8 levels")
    assert reasons.pop("brace") == "unclosed brace (brace/dataset_hls.tcl)"
    assert reasons.pop("broken").startswith("not TOML: ")
    assert reasons == {}


def test_a_list_names_paths_and_functions(tmp_path: Path) -> None:
    folder = _write(
        tmp_path / "l", {"a.c": _scale("a") + _scale("b", 5), "sub/c.c": _scale("c", 7), "d.c": "x"}
    )
    listed = _write(tmp_path, {"list": "# mine\na.c:b\nsub/c.c  # one\n\n../x.c\n/etc/passwd\nnone.c\nsub\n"})
    rows = _read(folder, listed / "list")
    assert {name: row.top for name, row in rows.items() if row.status == OK} == {"a": "b", "c": "c"}
    assert _reasons(rows) == {
        "x": "outside the folder: ../x.c",
        "etc-passwd": "outside the folder: /etc/passwd",
        "none": "no such file: none.c",
        "sub": "cannot read the C source sub: a folder; accepted: a regular file of at most 1 MiB",
    }


def test_programs_that_differ_in_spelling_alone_are_one(tmp_path: Path) -> None:
    dot = "int dot(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"
    own = '#include "k.h"\nint own(int a) { return a * K; }\n'
    values = {"n": 12, "a": {"kind": "uniform", "low": 0, "high": 9}}
    files = {
        "dot_v1.c": dot,
        "dot_v2.c": dot,
        "dot_v3.c": f"/* third */ {dot}",
        "dot_v4.c": dot.replace("s +=", "s -="),
        **{f"dot_v{number}.json": values for number in (1, 2, 3, 4)},
        "k.h": "#define K 3\n",
        "own_a.c": own,
        "own_b.c": own,
    }
    assert _reasons(_read(_write(tmp_path / "l", files))) == {
        "dot_v2": "equals dot_v1 but for its spelling",
        "dot_v3": "equals dot_v1 but for its spelling",
        "own_b": "equals own_a but for its spelling",
    }


def test_sizes_of_one_kernel_are_programs_of_their_own(tmp_path: Path) -> None:
    text = "void fir(int x[8]) { for (int i = 0; i < 8; i++) x[i] += i; }\n"
    sizes = {"mini": {"N": 8}, "small": {"N": 9}}
    folder = _write(tmp_path / "l", {"f/fir.c": text, "f/fir.json": {**MANIFEST, "sizes": sizes}})
    rows = read_programs(find_programs(folder), "mine", sizes=("mini", "small"))
    assert [(row.size, row.status) for row in rows] == [("mini", OK), ("small", OK)]


@pytest.mark.parametrize(
    ("elements", "problem"),
    [
        ({"x": "N / 0"}, "elements of x of fir: division by 0: 'N / 0'; accepted: a whole number, or ..."),
        ({"x": "N + M"}, "elements of x of fir: unknown macro M: 'N + M'; accepted: a whole number, or ..."),
        ({"x": "(" * 6000}, "elements of x of fir: no arithmetic: '(((((..."),
        ({"x": "N - 9"}, "elements of x of fir: -1; accepted: 1 to 99999999"),
        ({"x": "N * 100000000000"}, "elements of x of fir: 800000000000; accepted: 1 to 99999999"),
        ({"y": "N"}, "elements of y of fir: fir has no such argument"),
    ],
)
def test_a_manifest_rejects_elements(elements: dict[str, str], problem: str, tmp_path: Path) -> None:
    text = "void fir(int x[]) { for (int i = 0; i < N; i++) x[i] += i; }\n"
    manifest = {"top": "fir", "sizes": {"mini": {"N": 8}}, "elements": elements}
    rows = _read(_write(tmp_path / "l", {"f/fir.c": text, "f/fir.json": manifest}))
    reason = _reasons(rows)["fir"]
    assert reason.startswith(problem.removesuffix("..."))
    assert len(reason) < 500


def test_a_folder_without_a_program_leaves_the_earlier_suite(deployment: Deployment, tmp_path: Path) -> None:
    write_parameters(deployment.project, compose_configuration(OVERRIDES))
    folder = _write(tmp_path / "c", {"t.c": "none\n"})
    result = invoke("import", str(folder), "--suite", "mine")
    assert result.exit_code == 1
    assert "no program can be read, suite mine is left as it was: t: " in result.stderr
    assert not deployment.of_suite("mine").data_dir.exists()


def test_functions_of_one_file_have_names_of_their_own(tmp_path: Path) -> None:
    text = _scale("f") + _scale("g", 5) + _scale("h", 5)
    folder = _write(tmp_path / "l", {"a.c": text, "b.c": _scale("b", 7)})
    listed = _write(tmp_path, {"list": "a.c:f\na.c:g\na.c:h\na.c:f\nb.c\nb.c\n"})
    rows = read_programs(find_programs(folder, listed / "list"), "mine", sizes=("mini",))
    assert [row.name for row in rows if row.status == OK] == ["a-f", "a-g", "b"]
    assert [f"{row.name}: {row.reason}" for row in rows if row.status != OK] == [
        "a-h: equals a-g but for its spelling",
        "a-f: listed twice",
        "b: listed twice",
    ]


def test_a_program_that_takes_too_long_to_read_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported_programs, "READING_S", 0.3)
    lines = "".join(f"a[{i % 8}] = a[{i % 7}] * {i};\n" for i in range(2000))
    folder = _write(tmp_path / "l", {"long.c": f"void big(int a[8]) {{\n{lines}}}\n", "short.c": _scale("s")})
    rows = _read(folder)
    assert _reasons(rows) == {"long": "reading it took more than 0.3 s of processor time"}
    assert rows["short"].status == OK


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("MOST_PROGRAMS", "2 programs: .*; accepted: at most 1, such as those of a subfolder or a list"),
        ("MOST_ENTRIES", "too many files: .*; accepted: at most 1 files and folders"),
        ("MOST_BYTES", "0 MiB of programs: .*; accepted: at most 0 MiB"),
    ],
)
def test_a_collection_has_limits(
    limit: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported_programs, limit, 1)
    with pytest.raises(FoundryError, match=message):
        find_programs(_write(tmp_path / "l", {"a.c": _scale("a"), "b.c": _scale("b")}))


def test_an_empty_folder_and_a_name_of_the_project_are_refused(
    deployment: Deployment, tmp_path: Path
) -> None:
    write_parameters(deployment.project, compose_configuration(OVERRIDES))
    (tmp_path / "empty").mkdir()
    result = invoke("import", str(tmp_path / "empty"))
    assert result.exit_code == 1
    assert "no programs: no C file and no hlsfactory.toml" in result.stderr
    folder = _write(tmp_path / "ast", {"a.c": _scale("a")})
    assert "suite of the project: ast; accepted: another name" in invoke("import", str(folder)).stderr
    assert "no imported collection: suite nosuch" in invoke("run", "--suite", "nosuch").stderr


def test_a_collection_becomes_a_suite_that_run_labels_again(deployment: Deployment, tmp_path: Path) -> None:
    write_parameters(deployment.project, compose_configuration(OVERRIDES))
    texts = {name: f"int {name}(int x) {{ return x + {ord(name)}; }}\n" for name in "ab"}
    outside = "int o(int x) { int y[2]; y[0] = x; return y[5]; }\n"
    files = {f"{name}.c": text for name, text in texts.items()}
    folder = _write(tmp_path / "c", {**files, "o.c": outside, "t.c": "none\n"})
    result = invoke("import", str(folder), "--suite", "mine", "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert (answer["suite"], answer["programs"]) == ("mine", {"ok": 3, "rejected": 1})
    assert answer["statuses"] == {"ok": 2, "rejected": 1}
    assert {"train", "test"} == set(answer["parts"])
    assert [note.split(":")[0] for note in answer["notes"]] == ["t", "o"]
    suite = deployment.of_suite("mine").data_dir
    assert len(load_labelled_designs(suite, Selection(split=BY_KERNEL))) == 2
    (folder / "b.c").unlink()
    again = json.loads(invoke("import", str(folder), "--suite", "mine", "--json").stdout)
    assert again["programs"] == {"ok": 2, "rejected": 1}
    overrides = (*OVERRIDES[1:], "hls.memory_delay=[2,5]")
    relabelled = invoke("run", "--suite", "mine", *overrides, "--json")
    assert json.loads(relabelled.stdout)["statuses"] == {"ok": 2, "rejected": 1}
    assert {row.name for row in read_table(suite, table_spec("programs"), ["mine"])} == {"a", "o", "t"}
