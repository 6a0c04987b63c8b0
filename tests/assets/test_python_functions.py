"""`import simfoundry as sf`: the functions ask what the commands ask, and importing it is cheap."""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import pytest

import simfoundry as sf
from assets.errors import FoundryError
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from pipelines.accelerators import AcceleratorError
from pipelines.dataset.releases import ReleaseError
from pipelines.fabric import FabricError
from pipelines.programs import ProgramError
from simfoundry import asking
from simfoundry.cli import simfoundry
from simfoundry.questions import (
    CollectiveQuestion,
    ExploreQuestion,
    LabelQuestion,
    NetworkQuestion,
    PlaceQuestion,
    PowerQuestion,
    SimulateQuestion,
    TrainQuestion,
    VerilateQuestion,
)

ADD = "void add(int a[4], int b[4]) {\n  for (int i = 0; i < 4; i++) a[i] = a[i] + b[i];\n}\n"


def test_importing_is_cheap() -> None:
    script = (
        "import sys, simfoundry\n"
        "slow = ('torch', 'mlflow', 'dagster', 'polars', 'scipy', 'duckdb', 'pipelines.hls')\n"
        "print([m for m in slow if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_tables_and_sql_are_frames(settings: Settings) -> None:
    step_named("programs").make(settings, "stencil", ignore_progress)
    assert sf.table("programs").collect().height == 2
    frame = sf.sql("SELECT name, size FROM programs ORDER BY name")
    assert frame.rows() == [("jacobi-1d", "small"), ("jacobi-2d", "small")]


def test_a_release_is_found_by_name_and_by_folder(repository: Path, tmp_path: Path) -> None:
    named = sf.release(repository / "releases" / "pragmas-v1")
    assert "pragma_designs" in named
    assert sf.release("pragmas-v1").folder.name == "pragmas-v1"
    copy = Path(shutil.copytree(named.folder, tmp_path / "made"))
    manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
    (copy / "manifest.json").write_text(json.dumps(manifest | {"pending": ["ast-000"]}), "utf-8")
    with pytest.warns(UserWarning, match=r"^release pragmas-v1 is being made; pending: 1 partitions$"):
        sf.release(copy)


def test_release_rejects_an_unknown_name(repository: Path, tmp_path: Path, project: Path) -> None:
    with pytest.raises(ReleaseError, match=r"^no such release: v9; accepted: a folder of a release$"):
        sf.release("v9")


def test_the_version_is_that_of_the_package() -> None:
    assert sf.__version__ == version("simfoundry")


QUESTIONS = {
    sf.label: LabelQuestion,
    sf.collective: CollectiveQuestion,
    sf.network: NetworkQuestion,
    sf.place: PlaceQuestion,
    sf.power: PowerQuestion,
    sf.explore: ExploreQuestion,
    sf.simulate: SimulateQuestion,
    sf.train: TrainQuestion,
    sf.verilate: VerilateQuestion,
}


@pytest.mark.parametrize(("function", "question"), QUESTIONS.items(), ids=lambda value: value.__name__)
def test_functions_have_the_arguments_of_their_question_and_say_what_they_mean(
    function: Callable[..., Any], question: type
) -> None:
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [field.name for field in fields(question)]
    assert all(p.annotation is not p.empty for p in parameters.values())
    said = inspect.getdoc(function) or ""
    assert "Args:" in said
    assert [name for name in parameters if not re.search(rf"\b{name}\b", said)] == []


@pytest.mark.parametrize("function", QUESTIONS, ids=lambda function: function.__name__)
def test_commands_have_every_option_of_their_function_and_its_default(function: Callable[..., Any]) -> None:
    command = simfoundry.commands[function.__name__]
    options = {p.name: p for p in command.params if isinstance(p, click.Option)}
    asked = dict(inspect.signature(function).parameters)
    if "options" in asked:
        del asked["options"]
        asked |= {k: p for k, p in inspect.signature(sf.Options).parameters.items() if k != "directives"}
        assert "directives" in options
    arguments = {p.name for p in command.params if isinstance(p, click.Argument)} | {"source", "on_step"}
    assert set(asked) <= {*options, *arguments}
    for name in set(asked) & set(options) - {"targets"}:
        default = asked[name].default
        assert options[name].required == (default is inspect.Parameter.empty)
        declared = command.to_info_dict(click.Context(command))["params"]
        shown = next(param["default"] for param in declared if param["name"] == name)
        assert options[name].required or shown == default


def test_functions_reject_an_unknown_option() -> None:
    with pytest.raises(
        TypeError, match=r"^network\(\) got an unexpected keyword argument 'pod'; accepted: pods, "
    ):
        sf.network(pod=4)  # pyright: ignore[reportCallIssue]


def test_text_is_labelled_without_a_file_and_as_a_file_is(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in (("inc/size.h", "#define N 4\n"), ("here/size.h", "#error a text has no folder\n")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(content)
    text = '#include "size.h"\n' + ADD.replace("4", "N")
    file = tmp_path / "program.c"
    file.write_text(text)
    options = sf.Options(directives=[{"kind": "pipeline", "loop": "L0"}])
    of_file = sf.label(file, options=options, include=[tmp_path / "inc"], targets=["cycles"])
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(asking, "_files", None)
    of_text = sf.label(
        text,
        options=options,
        include=[tmp_path / "inc"],
        targets=["cycles"],
        data={"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]},
    )
    assert of_text["design"]["rtl_sha256"] == of_file["design"]["rtl_sha256"]
    assert of_text["label"]["status"] == "ok"


def test_label_rejects_data_that_are_not_numbers(project: Path) -> None:
    message = r"^data of a program are numbers and lists of them by argument: .* not JSON serializable$"
    with pytest.raises(ProgramError, match=message):
        sf.label(ADD, data={"a": [1, 2, 3, 4], "b": {1, 2}})


def test_train_takes_options_as_a_mapping(project: Path, repository: Path) -> None:
    with pytest.raises(FoundryError, match=r"^unknown option: epoch; accepted: "):
        sf.train("tenset-mlp", releases=[repository / "releases" / "v1"], settings={"epoch": 1})
    with pytest.raises(FoundryError, match=r"^accepted: either --release or --suite$"):
        sf.train("tenset-mlp")


def test_power_place_and_simulate_are_the_answers_of_the_commands(
    project: Path, tmp_path: Path, repository: Path
) -> None:
    design = tmp_path / "d.v"
    design.write_text(
        "module d(input clk, output reg [3:0] q); always @(posedge clk) q <= q + 1; endmodule\n"
    )
    answer = sf.simulate(str(design), top="d", cycles=4)
    assert (answer["engine"], answer["cycles"]) == ("reuse", 4)
    with pytest.raises(AcceleratorError, match=r"none\.onnx"):
        sf.power("none.onnx")
    with pytest.raises(FabricError, match=r"none\.json"):
        sf.place("none.json")


def test_label_takes_text_options_and_data(project: Path) -> None:
    options = sf.Options(memory_delay=5, directives=[{"kind": "pipeline", "loop": "L0"}])
    answer = sf.label(ADD, "add", options=options, data={"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]})
    assert answer["label"]["status"] == "ok"
    assert answer["design"]["memory_read_delay_cycles"] == 5
    assert answer["runs"][0]["outputs_equal"] is True


def test_predict_says_where_its_answer_is_from(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(name: str, alias: str, question: dict[str, Any], place: str) -> dict[str, Any]:
        assert question["memory_read_delay_cycles"] == 2
        return {"area_um2": 1.0, "outside_training": "array_count", "version": "1", "release": "v1"}

    monkeypatch.setattr("simfoundry.commands.predict.ask_model", ask)
    answer = sf.predict(ADD)
    assert (answer["top"], answer["version"], answer["release"]) == ("add", "1", "v1")
    assert answer["note"].startswith("outside what was learned: the arguments and arrays beyond the range")


def test_network_is_the_answer_of_the_command() -> None:
    assert sf.network(pods=4, pattern="all-to-all")["flows"] == 240
    assert [job["steps"] for job in sf.collective(pods=4, job=["all_gather:1MB"])["jobs"]] == [15]
