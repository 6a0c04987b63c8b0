"""A small project folder, and the stages with engines that need neither tools nor minutes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import foundry_fakes
import pytest
import yaml
from foundry_fakes import FEW_OVERRIDES

import pipelines.accelerators.dataset
import pipelines.dataset.labelling.cross_checks
import pipelines.dataset.labelling.label
import pipelines.fabric.dataset
import pipelines.network.runs
import pipelines.pragmas.search
import pipelines.rtl.reuse.dataset
from assets.configuration import compose_configuration, write_parameters
from assets.deployments import Deployment, local_deployment
from assets.engines import TOOLS, TOOLS_FILE, write_tools
from assets.settings import Settings
from assets.steps import design_features as design_features_step
from assets.steps import designs as designs_step
from assets.steps import features as features_step
from assets.steps import labels as labels_step
from assets.steps import predictors as predictors_step
from assets.steps import records as records_step
from models.catalogue import PredictorSpec
from models.registry import Registration, VersionFacts

ROOT = Path(__file__).resolve().parents[2]
FAKES = {
    pipelines.accelerators.dataset: ("make_accelerators",),
    designs_step: ("plan_designs",),
    pipelines.dataset.labelling.label: ("label_designs",),
    pipelines.dataset.labelling.cross_checks: ("cross_check_designs",),
    labels_step: ("describe_inputs",),
    features_step: ("extract_features",),
    design_features_step: ("extract_design_features", "extract_run_features"),
    records_step: ("runtime_data",),
    pipelines.fabric.dataset: ("make_placements",),
    pipelines.network.runs: ("simulate_runs",),
    pipelines.pragmas.search: ("explore_suite",),
    pipelines.rtl.reuse.dataset: ("make_simulations",),
}


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the engines that need tools or minutes; returns what registering was told."""
    told = SimpleNamespace(data_versions=None, may_promote=None, shipped=0)

    def register(outcome: Any, store: Any, *, may_promote: bool, data_versions: Any) -> Registration:
        told.data_versions, told.may_promote = dict(data_versions), may_promote
        return Registration(
            name="tenset-mlp", version="1", became_champion=True, is_champion=True, reason="first"
        )

    def version_facts(store: Any, name: str, version: str) -> VersionFacts:
        return VersionFacts(error=0.0625, champion_error=0.125, run_path="#/experiments/1/runs/0123456789")

    def register_shipped(store: Any) -> list[Registration]:
        told.shipped += 1
        return []

    for module, names in FAKES.items():
        for name in names:
            monkeypatch.setattr(module, name, getattr(foundry_fakes, name))
    monkeypatch.setattr(PredictorSpec, "train", foundry_fakes.train)
    monkeypatch.setattr(predictors_step, "register", register)
    monkeypatch.setattr(predictors_step, "register_shipped", register_shipped)
    monkeypatch.setattr(predictors_step, "version_facts", version_facts)
    monkeypatch.setattr(predictors_step, "promotion_rows", lambda store: [])
    return told


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder of its own, with a name that shells and URLs would stumble over."""
    folder = tmp_path / "a project; it's new"
    folder.mkdir()
    for name in ("dvc.yaml", TOOLS_FILE, "workspace.yaml", ".dvcignore"):
        shutil.copy(ROOT / name, folder / name)
    (folder / ".dvc").mkdir()
    shutil.copy(ROOT / ".dvc" / "config", folder / ".dvc" / "config")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".gitignore").write_text("/data/\n/.dagster/\n")
    for name in _committed_dependencies(folder / "dvc.yaml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, folder / name)
    monkeypatch.setenv("SIMFOUNDRY_PROJECT", str(folder))
    for variable in ("SIMFOUNDRY_DEPLOYMENT", "DAGSTER_HOME", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / "site"))
    return folder


@pytest.fixture(scope="session")
def kept_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `fill_tables` keeps what it made once, for the tests of a worker."""
    return tmp_path_factory.mktemp("tables")


def _committed_dependencies(path: Path) -> set[str]:
    """Files and folders of stages that are no tables, and modules with version constants."""
    stages = yaml.safe_load(path.read_text())["stages"].values()
    modules = {name for s in stages for group in s["params"] if isinstance(group, dict) for name in group}
    return {d for s in stages for d in s["deps"] if not d.startswith("data/")} | modules - {TOOLS_FILE}


@pytest.fixture
def deployment(project: Path) -> Deployment:
    return local_deployment(project)


@pytest.fixture
def settings(deployment: Deployment) -> Settings:
    """Few configurations; params.yaml and the versions of tools that stages depend on are written."""
    configuration = compose_configuration(FEW_OVERRIDES)
    write_parameters(deployment.project, configuration)
    write_tools(deployment.project, dict.fromkeys(TOOLS, "1"))
    return Settings(configuration=configuration, deployment=deployment)
