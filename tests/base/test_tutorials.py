"""Every tutorial runs from its first cell to its last, and prints what is stored in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.readme.readme_blocks import masked

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own packages
@pytest.mark.sample(4)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_is_stored(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    for name in ("dvc.yaml", "workspace.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "releases").symlink_to(repository / "releases")
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(repository))
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "jupyter"))
    notebook = nbformat.read(path, as_version=4)
    stored = [_shown(cell) for cell in notebook.cells]
    NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert [_shown(cell) for cell in notebook.cells] == stored


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_has_outputs_and_a_plot_and_asks_by_the_public_functions_alone(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(_shown(cell) for cell in code)
    assert any("plot" in _shown(cell) for cell in code)
    imports = {
        line.split()[1] for cell in code for line in cell.source.splitlines() if "import" in line.split()
    }
    assert not {name.split(".")[0] for name in imports} & {"assets", "models", "pipelines"}


def _shown(cell: Any) -> list[str]:
    """What a cell prints, without times, paths and what goes to standard error; "plot" for an image."""
    outputs = [output for output in cell.get("outputs", []) if output.get("name") != "stderr"]
    return [_text(output) for output in outputs]


def _text(output: Any) -> str:
    data = output.get("data", {})
    return "plot" if "image/png" in data else masked(data.get("text/plain", output.get("text", "")))
