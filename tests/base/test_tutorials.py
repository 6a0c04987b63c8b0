"""Every tutorial runs from its first cell to its last, in a project of its own."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own packages
@pytest.mark.sample(4)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_tutorial_runs(
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
    NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


def test_tutorials_are_kept_without_answers() -> None:
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path.name
