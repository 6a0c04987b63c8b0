"""Code blocks of the README, of the how-tos, and the example of every engine print what the page says."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from readme_blocks import Block, Command, agrees, masked, read_blocks, read_commands

from assets.errors import FoundryError
from assets.front_page import with_tables

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = (README, ROOT / "docs" / "howto.md")
BLOCKS = [(page, block) for page in PAGES for block in read_blocks(page.read_text(encoding="utf-8"))]
ENGINES = (
    *("accelerators", "circt", "cyclemodel", "fabric", "hls", "labelling", "network", "numeric_lm"),
    *("power", "pragmas", "programs", "rtlsim", "synthesis"),
)
"""Pages of engines."""
EXAMPLE = re.compile(r"^## Example\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
MOST_LINES = 150
MOST_LINKS = 3
MOST_NOT_RUN = 6
SERVER = "simfoundry ui"
NODE = "simfoundry node"
SLOW = (NODE, "simfoundry ui")
"""Commands whose blocks start servers: they run in `make check`; `make test` has other tests of them."""
HEAD = "127.0.0.1:6379"
"""What the page says; the test takes a free port, and memory that every machine of tests has."""
READY = "ready"
_PAGE = r"http://\S+"
WAIT_S = 300.0


@dataclass(slots=True, kw_only=True)
class Project:
    """A project folder, and the names that Python blocks have bound."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def environment(self) -> dict[str, str]:
        tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {**os.environ, "PATH": tools, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "PYTHONWARNINGS": ""}

    def start(self, command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


@pytest.fixture(scope="module")
def project(
    tmp_path_factory: pytest.TempPathFactory, link_engines: Callable[[Path], Path]
) -> Iterator[Project]:
    """A checkout of its own: files are copied, folders of code and releases are links."""
    folder = tmp_path_factory.mktemp("readme") / "simfoundry"
    link_engines(folder / "data" / "cache")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in dict.fromkeys(line.split("/")[0] for line in listed.splitlines()):
        if name == ".dvc":
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("cache", "tmp"))
        elif (ROOT / name).is_dir():
            (folder / name).symlink_to(ROOT / name)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMFOUNDRY_PROJECT", str(folder))
        for variable in ("SIMFOUNDRY_DEPLOYMENT", "DAGSTER_HOME", "MLFLOW_TRACKING_URI"):
            patch.delenv(variable, raising=False)
        patch.setenv("DVC_SITE_CACHE_DIR", str(folder.parent / "site"))
        patch.chdir(folder)
        yield Project(folder=folder)


@pytest.mark.filterwarnings("ignore")  # of the packages that the Python blocks use
@pytest.mark.parametrize(
    ("page", "block"),
    [
        pytest.param(
            page,
            block,
            marks=[pytest.mark.slow] * any(map(block.text.__contains__, SLOW)),
            id=f"{page.stem}-line-{block.line}",
        )
        for page, block in BLOCKS
    ],
)
def test_a_block_does_what_the_page_says(page: Path, block: Block, project: Project) -> None:
    if block.not_run:
        pytest.skip(f"not run: {block.not_run}")
    if block.language == "python":
        _run_python(page, block, project)
        return
    with ExitStack() as nodes:
        _run_commands(page, block, project, nodes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_the_example_of_an_engine_prints_what_its_page_says(name: str, project: Project) -> None:
    page = ROOT / "docs" / f"{name}.md"
    example = EXAMPLE.search(page.read_text(encoding="utf-8"))
    assert example is not None
    (block,) = read_blocks(example[1])
    if block.language == "python":
        _run_python(page, block, project)
    else:
        with ExitStack() as nodes:
            _run_commands(page, block, project, nodes)


@pytest.mark.parametrize("name", ENGINES)
def test_the_page_of_an_engine_has_an_example_its_limits_and_its_checks(name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert {"Example", "Limits", "Checks"} <= set(re.findall(r"^## (.+)$", text, re.MULTILINE))


def _run_commands(page: Path, block: Block, project: Project, nodes: ExitStack) -> None:
    port = _free_port()
    for command in read_commands(block):
        command = replace(command, text=command.text.replace(HEAD, f"127.0.0.1:{port}"))
        if command.text.startswith(NODE):
            nodes.enter_context(_node(command, project, port))
            continue
        printed = _served(command, project) if command.text.startswith(SERVER) else _run(command, project)
        assert agrees(command.output, printed), (
            f"{page.name}:{block.line}: $ {command.text}\nsays:\n{masked(command.output)}\nprints:\n{printed}"
        )


def _run(command: Command, project: Project) -> str:
    process = project.start(command.text)
    printed, _ = process.communicate()
    assert process.returncode == 0, f"$ {command.text} ended with {process.returncode}:\n{printed}"
    return printed


@contextmanager
def _node(command: Command, project: Project, port: int) -> Iterator[None]:
    """Start a command that the page puts in the background, and end it with the block."""
    words, _, _ = command.text.partition("&")
    own = f"--node-memory 8 --port {port}"
    process = project.start(words.replace(NODE, f"exec {NODE} {own}", 1))
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline()]
        assert lines == [f"{READY}\n"], lines + process.stdout.readlines()
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT_S)
    assert process.returncode == 0


def _served(command: Command, project: Project) -> str:
    """Start servers on free ports, ask every page that they name once, and end them by Ctrl-C."""
    ports = f"--port {_free_port()} --mlflow-port {_free_port()}"
    process = project.start(command.text.replace(SERVER, f"exec {SERVER} {ports}", 1))
    assert process.stdout is not None
    lines: list[str] = []
    try:
        began = time.monotonic()
        expected = len(re.findall(_PAGE, command.output))
        pages: list[str] = []
        for line in process.stdout:
            lines.append(line)
            pages = re.findall(_PAGE, "".join(lines))
            if len(pages) >= expected or time.monotonic() - began > WAIT_S:
                break
        assert READY in "".join(lines), "".join(lines)
        for page in pages:
            with urllib.request.urlopen(page, timeout=60) as answer:
                assert answer.status == 200
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=WAIT_S)
    return "".join(lines) + rest


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _run_python(page: Path, block: Block, project: Project) -> None:
    """Run a block as a doctest; `>>>` begins a statement, and what it prints is compared."""
    test = doctest.DocTestParser().get_doctest(
        block.text, project.names, f"{page.name}:{block.line}", page.name, block.line
    )
    assert test.examples, "a Python block must have statements behind >>>"
    said: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(test, out=said.append, clear_globs=False)
    project.names.update(test.globs)
    assert not said, "".join(said)


def test_at_most_six_blocks_are_not_run() -> None:
    reasons = [block.not_run for _, block in BLOCKS if block.not_run]
    assert len(reasons) <= MOST_NOT_RUN, reasons
    assert BLOCKS


def test_every_block_has_a_language() -> None:
    fences = sum(page.read_text(encoding="utf-8").count("\n```") for page in PAGES)
    assert fences == 2 * len(BLOCKS)
    assert {block.language for _, block in BLOCKS} <= {"console", "python"}


def test_the_readme_is_short() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    cells = [cell for line in lines if line.startswith("|") for cell in line.split("|")]
    assert [cell for cell in cells if cell.count("](") > MOST_LINKS] == []


def test_tables_of_the_readme_are_those_of_releases_and_weights() -> None:
    text = README.read_text(encoding="utf-8")
    assert with_tables(text) == text
    assert with_tables("<!-- derived: releases -->\n\n| old |\n\nrest").endswith("| 25.1 |\n\nrest")


def test_a_page_rejects_an_unknown_derived_table() -> None:
    with pytest.raises(FoundryError, match="unknown derived table: x; accepted: releases, predictors"):
        with_tables("<!-- derived: x -->\n\n")


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("area 6,070 um2", "area  6,070 um2\n", True),
        ("area 6,070 um2", "area 6,071 um2", False),
        ("took 3 s", "took 44.5 s", True),
        ("in /tmp/a b", "in /home/x", True),
        ("first\n...\nlast", "first\nanything\nat all\nlast", True),
        ("first\n...\nlast", "first\nlast", True),
        ("first\n...", "first\nmore", True),
        ("first\n...\nlast", "first\nanything", False),
        ("", "words", False),
        ("id 0123abcd4567", "id ffff00001111", True),
    ],
)
def test_outputs_are_compared_but_for_times_hashes_and_paths(expected: str, printed: str, same: bool) -> None:
    assert agrees(expected, printed) is same
