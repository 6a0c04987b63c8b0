"""Fixtures every test may use. What only one area needs lives with that area."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Generator
from importlib.util import find_spec
from pathlib import Path

import pytest
from golden_files import compare_with_golden
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"

# The same examples in every run, and no test that fails because the machine is busy.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")

_GC_THRESHOLD = 20_000
"""Objects that start a garbage collection of the youngest generation; Python's own number is 700."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write golden files from what the tests got instead of comparing",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked `sample(n)` every n-th case runs in `make test`, all of them in `make check`."""
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("sample")
        if marker is None:
            continue
        name = item.nodeid.partition("[")[0]
        if seen[name] % marker.args[0]:
            item.add_marker(pytest.mark.slow)
        seen[name] += 1


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect no garbage while modules are imported, and less after that: it took 7 % of the processor time.

    Modules and test cases stay for the whole session: later garbage collections leave them out.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(_GC_THRESHOLD)
        gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `circt` needs CIRCT, which Python 3.12 has no wheel of."""
    if item.get_closest_marker("circt") and find_spec("circt") is None:
        pytest.skip("needs the extra circt, which has wheels for Python 3.11 and 3.13")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder `shared` next to the checkout, with data too large to commit."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs the folder ../shared next to the checkout, which is not there")
    return folder


@pytest.fixture(scope="session")
def runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Verilator's compiled runtime is kept for all tests: compiling it takes seconds."""
    return _folder_of_all_workers(tmp_path_factory, "verilator-runtime")


@pytest.fixture(scope="session")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where compiled simulators and designs are kept for all tests."""
    return _folder_of_all_workers(tmp_path_factory, "engines")


@pytest.fixture(scope="session")
def link_engines(runtime_folder: Path, engine_folder: Path) -> Callable[[Path], Path]:
    """Give a new cache folder the engines that are compiled already; returns the folder."""

    def link(folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "runtime").symlink_to(runtime_folder)
        (folder / "engines").symlink_to(engine_folder)
        return folder

    return link


def _folder_of_all_workers(factory: pytest.TempPathFactory, name: str) -> Path:
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with a file of tests/golden: golden("hls/gemm.v", verilog)."""
    update = bool(request.config.getoption("--update-golden"))
    rerun = f"pytest '{request.node.nodeid}' --update-golden, then read the diff"

    def check(name: str, text: str) -> None:
        compare_with_golden(GOLDEN / name, text, update=update, rerun=rerun)

    return check
