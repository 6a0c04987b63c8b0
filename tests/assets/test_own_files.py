"""No command writes over a file that it reads, or over another one that it writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import click
import pytest
from click.testing import Result
from invoking import invoke

from assets.deployments import Deployment
from simfoundry.cli import simfoundry
from simfoundry.cli.options import NameOrFile, Output, OutputFolder

READ = {
    "score": {"file"},
    "label": {"path", "--directives", "--data", "--include", "--source", "--liberty"},
    "predict": {"file", "--directives", "--data"},
    "pragmas": {"file", "--reports", "--target"},
    "calibrate": {"file", "--directives", "--inputs"},
    "adapt": {"--labels"},
    "run": {"--parameters"},
    "report": {"--release"},
    "train": {"--release"},
    "check": {"--data"},
    "network": {"--topology", "--trace", "--traffic"},
    "collective": {"--topology"},
    "power": {"network", "--hardware", "--hls-config"},
    "explore": {"network"},
    "place": {"graph", "--fabric"},
    "simulate": {
        "files",
        *("--file-list", "--near-list", "--include", "--root"),
        *("--inputs", "--library", "--memory", "--resume"),
    },
    "verilate": {"files", "--file-list", "--near-list", "--include", "--root", "--library"},
    "release write": {"--from"},
    "release make": {"--config"},
    "import": {"path", "--kernels", "--directives", "--list"},
}
"""Options of files and folders that a command reads: an option of a path is one of these or an output."""
FOLDERS = {
    ("team", "--folder"),
    ("label", "--report"),
    ("calibrate", "--out"),
    ("adapt", "--out"),
    ("run", "--into"),
    ("train", "--out"),
    ("verilate", "--out"),
    ("release make", "--rtl"),
}


def _commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _commands(command, (*words, name))
        else:
            yield " ".join((*words, name)), command


COMMANDS = dict(_commands(simfoundry))
OUTPUTS = {(w, p.opts[-1]) for w, c in COMMANDS.items() for p in c.params if isinstance(p.type, Output)}
CASES = [
    *((words, read, output) for words, output in sorted(OUTPUTS) for read in sorted(READ.get(words, ()))),
    *(
        (words, one, other)
        for words in COMMANDS
        for one, other in permutations(sorted(name for own, name in OUTPUTS if own == words), 2)
    ),
]
"""A command, an option or an argument, and an output with the same file."""


def _names(words: str, *kinds: type) -> set[str]:
    return {p.opts[-1] for p in COMMANDS[words].params if isinstance(p.type, kinds)}


@pytest.mark.parametrize("words", COMMANDS)
def test_every_option_of_a_path_is_declared_as_read_or_written(words: str) -> None:
    folders = {name for own, name in FOLDERS if own == words}
    written = _names(words, Output, OutputFolder)
    assert _names(words, click.Path, NameOrFile) - written == READ.get(words, set())
    assert _names(words, OutputFolder) == folders
    said = {p.opts[-1] for p in COMMANDS[words].params if (getattr(p, "help", "") or "").startswith("Write ")}
    assert {name for name in said if name not in ("--lock",)} <= written


def _invoke(words: str, read: str, output: str, path: Path, named: Path) -> Result:
    """The command with a file behind an option and another name of it behind an output."""
    arguments = words.split()
    for parameter in COMMANDS[words].params:
        name = parameter.opts[-1]
        if name == output:
            arguments += [name, str(named)]
        elif name == read and isinstance(parameter, click.Option):
            arguments += [name, f"m={path}" if name == "--memory" else str(path)]
        elif isinstance(parameter, click.Argument) and (parameter.required or name == read):
            arguments += [str(path) if name == read else "other"]
        elif parameter.required:
            arguments += [name, "1"]
    return invoke(*arguments)


@pytest.mark.parametrize(("words", "read", "output"), CASES)
def test_no_output_is_a_file_of_the_same_command(words: str, read: str, output: str, tmp_path: Path) -> None:
    path, link, hard = tmp_path / "own.html", tmp_path / "link.html", tmp_path / "hard.html"
    path.write_text("mine")
    link.symlink_to(path)
    os.link(path, hard)
    for named in (path, link, hard):
        result = _invoke(words, read, output, path, named)
        assert result.exit_code == 2, result.output
        [said] = result.stderr.splitlines()
        assert f" {named} is the file of " in said or f" {path} is the file of " in said
        assert "; accepted: another file" in said
    assert path.read_text() == "mine"


def test_two_outputs_have_not_one_new_name(tmp_path: Path) -> None:
    one, other = tmp_path / "x", tmp_path / "sub" / ".." / "x"
    (tmp_path / "sub").mkdir()
    result = _invoke("simulate", "--vcd", "--checkpoint", one, other)
    assert f"--checkpoint {other} is the file of --vcd; accepted: another file" in result.stderr
    assert "is the file of" not in _invoke("simulate", "--vcd", "--checkpoint", one, tmp_path / "y").stderr
    result = invoke("place", str(tmp_path / "g"), "--svg", str(tmp_path / "g"))
    assert result.exit_code != 2, "neither is a file yet: the graph is missing, which `place` says"
    null = Path(os.devnull)
    assert "is the file of" not in _invoke("simulate", "--vcd", "--checkpoint", null, null).stderr


def test_no_output_is_a_file_of_a_table(deployment: Deployment) -> None:
    path = deployment.data_dir / "tables" / "labels" / "all.parquet"
    path.parent.mkdir(parents=True)
    path.write_text("rows")
    result = invoke("records", "--out", str(path))
    assert f"--out {path} is a file of a table; accepted: another file" in result.stderr
    assert path.read_text() == "rows"


@pytest.mark.parametrize("words", ["report", "release diff a b"])
def test_a_page_replaces_no_file_of_another_kind(words: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    path.write_text("rows")
    result = invoke(*words.split(), "--out", str(path))
    assert f"{path} exists and is no page; accepted: a new file, or an .html file" in result.stderr
    assert path.read_text() == "rows"
