"""The step `splits` with the split that keeps near-duplicates together."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from foundry_fakes import FEW_OVERRIDES

from assets.checks import open_file
from assets.configuration import compose_configuration, read_parameters_file
from assets.deployments import Deployment
from assets.releases.batches import GROWING
from assets.settings import Settings, ignore_progress
from assets.steps import step_named
from assets.steps.splits import mixed_evaluation_programs, split_leaks
from pipelines.programs import fields_of_kernels, kernel_programs
from pipelines.programs.collections import FIELDS_LEFT_OUT, WRITTEN_FOLDER, collection_programs
from pipelines.schemas import read_table, table_spec, write_table

SPLIT = "by_kernel_v2"


def test_the_step_writes_the_split_and_its_checks_hold(deployment: Deployment) -> None:
    configuration = compose_configuration(
        [*FEW_OVERRIDES, "programs.suites=[stencil]", f"features.split={SPLIT}"]
    )
    settings = Settings(configuration=configuration, deployment=deployment)
    rows = kernel_programs(suites=("stencil",), sizes=("small", "medium"))
    write_table(deployment.data_dir, table_spec("programs"), rows, "stencil")
    for _ in range(2):  # signatures are cached, and places stay
        step_named("splits").make(settings, SPLIT, ignore_progress)
        places = read_table(deployment.data_dir, table_spec("splits"), [SPLIT])
        assert {place.program_id for place in places} == {row.program_id for row in rows}
        assert {place.split for place in places} == {SPLIT}
        file = open_file(settings, "splits", SPLIT)
        assert split_leaks(file) == mixed_evaluation_programs(file) == []


@pytest.mark.slow
def test_fields_that_are_left_out_are_a_part_of_the_split(deployment: Deployment) -> None:
    configuration = compose_configuration(
        [*FEW_OVERRIDES, "programs.suites=[written]", "features.split=by_kernel_v3"]
    )
    settings = Settings(configuration=configuration, deployment=deployment)
    rows = collection_programs(WRITTEN_FOLDER, suite="written", stage="written", sizes=("mini",))
    fields = {*FIELDS_LEFT_OUT, "sorting"}
    rows = [row for row in rows if fields_of_kernels()[row.name] in fields]  # all take 20 s more
    write_table(deployment.data_dir, table_spec("programs"), rows, "written")
    step_named("splits").make(settings, "by_kernel_v3", ignore_progress)
    places = read_table(deployment.data_dir, table_spec("splits"), ["by_kernel_v3"])
    parts = Counter(place.part for place in places)
    assert parts["fields"] == 2 * 20
    assert parts["train"] + parts["validation"] + parts["test"] == 20
    assert split_leaks(open_file(settings, "splits", "by_kernel_v3")) == []


def test_the_scale_of_release_v2_is_a_configuration() -> None:
    configuration = compose_configuration(["scale=release_v2"])
    assert configuration.features.split == SPLIT
    assert len(configuration.dataflow.options.mix) == 4
    assert len(configuration.ast.options.mix) == 5
    assert configuration.ast.options.keep_discarded


def _limit(share: float | None) -> float:
    return math.inf if share is None else share


def test_release_v2_has_the_configuration_of_its_scale_or_larger_shares(repository: Path) -> None:
    configured = compose_configuration(["scale=release_v2"]).model_dump(mode="json")
    released = read_parameters_file(repository / "releases" / "v2" / "params.yaml").model_dump(mode="json")
    for group, share in (name.split(".") for name in GROWING):
        assert _limit(configured[group].pop(share)) <= _limit(released[group].pop(share))
    for group in ("programs", "ast", "dataflow", "llm", "hls", "synthesis", "labelling", "features"):
        assert configured[group] == released[group]


def test_the_scale_of_release_v3_has_the_programs_and_shares_of_release_v2() -> None:
    earlier, later = (
        compose_configuration([f"scale=release_{version}"]).model_dump(mode="json")
        for version in ("v2", "v3")
    )
    assert later["ast"]["options"]["dialect_first"] == earlier["ast"]["count"] < later["ast"]["count"]
    assert later["dataflow"]["options"]["dialect_first"] == earlier["dataflow"]["count"]
    for stage in ("ast", "dataflow"):
        assert later[stage]["options"]["mix"] == earlier[stage]["options"]["mix"]
        assert later["llm"]["parents"][f"{stage}_first"] == earlier[stage]["count"]
    assert {*later["programs"]["suites"]} == {*earlier["programs"]["suites"], "written"}
    limit = "all_most_um2"  # new: suite written has large designs
    assert earlier["synthesis"].pop(limit) is None
    assert later["synthesis"].pop(limit) == 4e6
    for group, share in (name.split(".") for name in GROWING if not name.endswith(limit)):
        assert earlier[group].pop(share) <= later[group].pop(share)
    assert later["hls"].pop("varied_share") > earlier["hls"].pop("varied_share")
    assert all(later[group] == earlier[group] for group in ("hls", "synthesis", "labelling"))
