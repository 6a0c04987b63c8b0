from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assets import composition
from assets.configuration import (
    PARAMETERS_FILE,
    accepted_keys,
    compose_configuration,
    read_parameters,
    scales,
    write_parameters,
)
from assets.deployments import local_deployment
from assets.errors import FoundryError
from assets.label_settings import default_label_settings
from assets.settings import CONFIGURATION_FOLDER, Cluster, Run
from pipelines.dataset.labelling import SLOTTED, ConfigurationSpace, Labelling, Synthesis


def test_smoke_is_the_default_and_makes_128_designs() -> None:
    configuration = compose_configuration(["scale=smoke"])
    assert configuration == compose_configuration([])
    assert configuration.programs.suites == ("linear_algebra", "stencil", "irregular")
    assert configuration.programs.sizes == ("small",)
    assert configuration.hls.memory_delay == (2, 5, 10, 15)
    assert configuration.hls.pipeline == (False, True)
    assert configuration.labelling.tools == ("simfoundry-hls",)


def test_label_settings_are_the_default_ones_and_follow_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment = local_deployment(tmp_path)
    composed = compose_configuration([])
    for _ in range(2):  # composed, then from the cache
        settings = default_label_settings(deployment)
        for kind in (ConfigurationSpace, Synthesis, Labelling, Run):
            assert settings.group(kind) == composed.group(kind)
    folder = shutil.copytree(CONFIGURATION_FOLDER, tmp_path / "conf")
    monkeypatch.setattr(composition, "CONFIGURATION_FOLDER", folder)
    file = folder / "synthesis" / "osu018.yaml"
    file.write_text(file.read_text().replace("timeout_s: 300.0", "timeout_s: 301.0"))
    assert default_label_settings(deployment).group(Synthesis).timeout_s == 301.0
    file.write_text(file.read_text().replace("timeout_s: 301.0", "timeout_s: -1"))
    with pytest.raises(FoundryError, match=r"^synthesis.timeout_s: -1 \(conf/\); accepted: more than 0$"):
        default_label_settings(deployment)


def test_overrides_win_over_the_scale() -> None:
    configuration = compose_configuration(
        ["scale=laptop", "programs.suites=[linear_algebra]", "hls.memory_delay=[2,10]"]
    )
    assert configuration.programs.suites == ("linear_algebra",)
    assert configuration.hls.memory_delay == (2, 10)
    assert configuration.programs.sizes == ("small", "medium")


@pytest.mark.parametrize("scale", scales())
def test_every_scale_is_accepted(scale: str) -> None:
    assert compose_configuration([f"scale={scale}"]).programs.suites


def test_networks_follow_the_scale_and_can_be_chosen() -> None:
    groups = {scale: tuple(compose_configuration([f"scale={scale}"]).network.groups) for scale in scales()}
    assert (groups["tiny"], groups["smoke"]) == ((), ("small-16",))
    assert groups["laptop"] == ("sampled-16", "grid-16")
    assert groups["nightly"] == groups["cluster"]
    assert len(groups["nightly"]) == 10
    assert tuple(compose_configuration(["network=release"]).network.groups) == groups["nightly"]
    assert tuple(compose_configuration(["scale=nightly", "network=default"]).network.groups) == ("small-16",)


def test_unit_limits_are_kept_in_order() -> None:
    configuration = compose_configuration(["hls.unit_limits=[mul_32:1,fadd:2]"])
    assert configuration.hls.unit_limits == ("fadd=2", "mul_32=1")


def test_suites_are_kept_once_and_in_order() -> None:
    configuration = compose_configuration(["programs.suites=[irregular,stencil,irregular]"])
    assert configuration.programs.suites == ("stencil", "irregular")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("hls.memory_dely=[2]", r"not accepted: hls\.memory_dely=\[2\] .*accepted keys: .*hls\.memory_delay"),
        ("+hls.delay=2", r"unknown key: hls\.delay .*accepted keys: "),
        ("scale=huge", r"not accepted: scale=huge .*scales: cluster, laptop, .*smoke, tiny"),
        ("hls.memory_delay=[0]", r"hls\.memory_delay\.0: 0 .*; accepted: 1 or more$"),
        ("hls.memory_delay=[]", r"hls\.memory_delay: a list of 0 .*; accepted: at least 1 items$"),
        ("hls.memory_delay=[[", r"not accepted: hls\.memory_delay=\[\["),
        (
            "programs.suites=[dense]",
            r"programs\.suites: dense .*; accepted: some of linear_algebra, .*, polybench$",
        ),
        (
            "labelling.tools=[vitis]",
            r"labelling\.tools: vitis .*; accepted: some of simfoundry-hls, circt-calyx",
        ),
        ("labelling.tools=[]", r"labelling\.tools: none .*; accepted: some of simfoundry-hls, "),
        ("hls.unit_limits=[adders:2]", r"hls\.unit_limits: .*must be CLASS=N .*got adders:2; classes: "),
        ("hls.unit_limits=[fadd:0]", r"hls\.unit_limits: .*with N at least 1, got fadd:0"),
        ("hls.write_delay=0", r"hls\.write_delay: 0 .*; accepted: 1 or more$"),
        ("hls.clock_period_ns=-1", r"hls\.clock_period_ns: -1 .*; accepted: more than 0$"),
        ("network=huge", r"not accepted: network=huge"),
        ("network.groups.small-16.pod=4", r"not accepted: network\.groups\.small-16\.pod=4"),
        (
            "+network.groups.small-16.pod=4",
            r"unknown key: network\.groups\.small-16\.pod .*keys: ",
        ),
        (
            "network.groups.small-16.loads=high",
            r'network\.groups\.small-16\.loads: "high" .*; accepted: a list$',
        ),
        (
            "network.groups.small-16.duration_s=0",
            r"network\.groups\.small-16\.duration_s: 0 .*; accepted: more than 0$",
        ),
        (
            "+network.groups={a b: {}}",
            r'network\.groups\.a b\.\[key\]: "a b" .*; accepted: text that matches \^',
        ),
        ("network.timeout_s=0", r"network\.timeout_s: 0 .*; accepted: more than 0$"),
        ("run.nightly.hour=24", r"run\.nightly\.hour: 24 .*; accepted: 23 or less$"),
        ("run.nightly.time_zone=Mars", r"run\.nightly\.time_zone: Mars .*; accepted: an IANA time zone"),
        (
            "run.nightly.time_zone=../utc",
            r"run\.nightly\.time_zone: \.\./utc .*; accepted: an IANA time zone",
        ),
    ],
)
def test_configuration_rejects_an_override(override: str, message: str) -> None:
    with pytest.raises(FoundryError, match=message):
        compose_configuration([override])


def test_parameters_say_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    configuration = compose_configuration(["hls.memory_delay=[3]"])
    path = write_parameters(tmp_path, configuration)
    before = path.stat().st_mtime_ns
    assert read_parameters(tmp_path) == configuration
    write_parameters(tmp_path, configuration)
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("scale", ["release_v2", "release_v3"])
def test_parameters_that_were_read_have_the_numbers_that_were_composed(scale: str, tmp_path: Path) -> None:
    """An integer that stands for a float would give the same rows other keys in the cache."""
    composed = compose_configuration([f"scale={scale}"])
    write_parameters(tmp_path, composed)
    read = read_parameters(tmp_path)
    for group in ("ast", "dataflow", "llm", "hls", "synthesis", "labelling"):
        assert repr(getattr(read, group)) == repr(getattr(composed, group))


def test_parameters_leave_out_what_changes_no_row(tmp_path: Path) -> None:
    few = write_parameters(tmp_path, compose_configuration(["run.workers=1"])).read_bytes()
    for override in ("run.workers=7", "run.slots.verilator=1"):
        assert write_parameters(tmp_path, compose_configuration([override])).read_bytes() == few


def test_slots_are_of_known_tools() -> None:
    assert compose_configuration([]).run.slots == {}
    every = dict.fromkeys(SLOTTED, 1)
    assert compose_configuration([f"run.slots.{tool}=1" for tool in SLOTTED]).run.slots == every


@pytest.mark.parametrize("slot", ["vcs=1", "verilator=0"])
def test_slots_rejects_unknown_tools_and_numbers(slot: str) -> None:
    with pytest.raises(FoundryError, match=r"run\.slots"):
        compose_configuration([f"run.slots.{slot}"])


def test_parameters_of_the_repository_are_accepted(repository: Path) -> None:
    assert (repository / PARAMETERS_FILE).is_file()
    assert read_parameters(repository).programs.suites


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("programs: [", r"^not YAML: .*params\.yaml: .*`simfoundry run` writes it again"),
        ("colour: red", r"^unknown key: colour \(.*params\.yaml\); accepted keys: programs\.suites"),
        ("", r"^the file: null \(.*params\.yaml\); accepted: names and values"),
    ],
)
def test_parameters_rejects_a_damaged_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / PARAMETERS_FILE).write_text(text)
    with pytest.raises(FoundryError, match=message):
        read_parameters(tmp_path)


def test_accepted_keys_are_those_of_the_groups() -> None:
    keys = set(accepted_keys())
    assert {"programs.suites", "hls.memory_delay", "models.tenset_mlp.seed", "run.workers"} <= keys
    assert "hls" not in keys


def test_files_of_predictors_choose_what_a_run_trains() -> None:
    trained = compose_configuration(["scale=laptop", "models=[tlp,gnnhls,tenset_mlp]"]).models.trained
    estimates = ("engine-estimate-hls", "engine-estimate-run")
    assert set(trained) == {"tlp", "gnnhls", "tenset-mlp", "tenset-mlp-run", *estimates}
    assert compose_configuration(["models.trained=[tlp]"]).models.trained == ("tlp",)


def test_defaults_of_the_predictor_are_its_own() -> None:
    from models.tenset_mlp import TrainOptions

    options = compose_configuration([]).models.tenset_mlp.model_dump(exclude={"seed"})
    assert TrainOptions(**options) == TrainOptions()


def test_defaults_of_a_cluster_are_those_of_the_class() -> None:
    assert compose_configuration(["cluster=ray"]).cluster == Cluster(kind="ray")
    assert compose_configuration([]).cluster == Cluster()
