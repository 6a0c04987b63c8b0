"""Quick commands import no heavy package that their answer does not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("dagster", "duckdb", "hydra", "lightgbm", "mlflow", "networkx", "numba", "omegaconf", "pandas"),
    *("polars", "scipy", "sklearn", "torch"),
}
RUN = """
import json, sys
from simfoundry.cli.entry import simfoundry
simfoundry.main(sys.argv[1:], standalone_mode=False)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


def imported(*arguments: str) -> set[str]:
    """Heavy packages that a command imports in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return HEAVY & set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "scale.c"
    file.write_text("void scale(int a[8]) { for (int i = 0; i < 8; i++) a[i] = 3 * a[i]; }\n")
    return str(file)


@pytest.mark.parametrize("model", ["lightgbm-hls", "tenset-mlp"])
def test_predict_with_a_shipped_champion_imports_no_heavy_package(
    project: Path, program: str, model: str
) -> None:
    assert imported("predict", program, "--top", "scale", "--model", f"{model}@champion") == set()


def test_label_of_cycles_imports_no_heavy_package(project: Path, program: str) -> None:
    """Only the first label composes the configuration, which Hydra does."""
    arguments = ("label", program, "--targets", "cycles")
    assert imported(*arguments) == {"hydra", "omegaconf"}
    assert imported(*arguments) == set()


def test_network_imports_no_heavy_package(project: Path) -> None:
    """Only the first estimate of an installation makes the tables of the law, with SciPy."""
    assert imported("network", "--pods", "4") <= {"scipy"}
    assert imported("network", "--pods", "4") == set()


def test_models_of_a_new_project_are_the_shipped_ones_without_a_registry(project: Path) -> None:
    assert imported("models") == set()
    assert not (project / "mlflow.db").exists()
