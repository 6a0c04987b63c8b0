"""Other libraries than the default one, from the option to power and its cross-checks."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from assets.configuration import compose_configuration
from assets.deployments import local_deployment
from assets.label_settings import target_of
from assets.settings import Settings
from pipelines.base.cache import ContentCache
from pipelines.dataset.labelling import (
    LabelContext,
    LabelTables,
    cross_check_designs,
    label_designs,
    library_name,
    options,
    plan_designs,
)
from pipelines.hls import delay_library
from pipelines.programs import program_from_file
from pipelines.schemas import CROSS_CHECKS
from pipelines.silicon.synthesis import (
    SynthesisError,
    Target,
    find_liberty,
    liberty_sha256,
    load_liberty,
)
from simfoundry.cli import simfoundry
from tests.support.labelling import configuration_space, label_options

BLUR = """
void blur(short A[8], short B[8])
{
    for (int i = 1; i < 7; i++)
        B[i] = (A[i - 1] + 2 * A[i] + A[i + 1]) / 4;
}
"""
INSTALLED = ("osu035", "osu050")


def other_library(folder: Path) -> Path:
    """A user's own file: osu018 at 2.5 V in other units, twice the area, without multiplexers."""
    text = find_liberty("osu018").read_text()
    text = re.sub(r"voltage : [0-9.]+;", "voltage : 2.5;", text)  # nominal, and of the operating conditions
    text = re.sub(r"area : ([0-9.]+);", lambda m: f"area : {2 * float(m[1])};", text)
    text = text.replace('leakage_power_unit : "1nW"', 'leakage_power_unit : "1uW"')
    start = text.index("cell (MUX2X1)")
    path = folder / "mine.lib"
    path.write_text(text[:start] + text[text.index("cell (", start + 1) :])
    return path


def sky130(folder: Path) -> Path:
    """SkyWater's library of 130 nm at the typical corner, which is not part of the project."""
    packed = Path(__file__).parents[3] / "shared" / "data" / "liberty" / "sky130hd_tt.lib.gz"
    if not packed.is_file():
        pytest.skip("no liberty file of sky130")
    path = folder / "sky130hd_tt.lib"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path


@pytest.fixture(scope="module")
def cache(
    tmp_path_factory: pytest.TempPathFactory, new_cache: Callable[[Path], ContentCache]
) -> ContentCache:
    """One for all libraries: what they share, such as the simulator of the Verilog, is built once."""
    return new_cache(tmp_path_factory.mktemp("cache"))


def labelled(liberty: Path, folder: Path, cache: ContentCache) -> tuple[LabelTables, dict[str, bool | None]]:
    """Labels and runs of one program, and whether each cross-check passed."""
    path = folder / "blur.c"
    path.write_text(BLUR)
    programs = [program_from_file(path, top="blur")]
    target = Target(liberty=liberty, clock_period_ns=10.0)
    chosen = label_options(workers=1, audit_fraction=0.0, cross_check_fraction=1.0)
    space = configuration_space(memory_delay=(2,), pipeline=(False,))
    context = LabelContext(target=target, cache=cache, options=chosen)
    designs = plan_designs(programs, space, context).designs
    made = label_designs(programs, designs, context)
    checks = cross_check_designs(programs, designs, made, context)
    return made, {row.check: row.passed for row in checks}


def library(name: str, folder: Path) -> Path:
    if name == "mine":
        return other_library(folder)
    if name == "sky130hd_tt":
        return sky130(folder)
    try:
        return find_liberty(name)
    except SynthesisError:
        pytest.skip(f"the Debian package qflow-tech-{name} is not installed")


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["osu018", "mine", "sky130hd_tt", *INSTALLED])
def test_every_figure_of_a_library_agrees_with_the_other_tools(
    name: str, tmp_path: Path, cache: ContentCache
) -> None:
    path = library(name, tmp_path)
    made, passed = labelled(path, tmp_path, cache)
    (label,), (run,) = made.labels, made.runs
    why = (label.reason, run.reason, run.power_reason)
    assert (label.status, run.status, run.power_status) == ("ok", "ok", "ok"), why
    assert passed == dict.fromkeys(CROSS_CHECKS, True)
    assert label.liberty == library_name(path)
    cells = json.loads(label.cells_by_type or "{}")
    assert set(cells) <= set(load_liberty(path).cells)
    assert (run.power_mw or 0) > (run.switching_power_mw or 0) > 0
    assert (label.leakage_mw or 0) > 0


def test_a_users_library_gives_its_own_figures(tmp_path: Path, cache: ContentCache) -> None:
    first, _ = labelled(find_liberty("osu018"), tmp_path, cache)
    second, _ = labelled(other_library(tmp_path), tmp_path, cache)
    assert "MUX2X1" not in (second.labels[0].cells_by_type or "")
    assert (second.labels[0].area_um2 or 0) > 1.8 * (first.labels[0].area_um2 or 0)
    assert (second.labels[0].leakage_mw or 0) > 500 * (first.labels[0].leakage_mw or 0)
    assert first.runs[0].latency_cycles == second.runs[0].latency_cycles


def test_a_library_has_a_name_that_no_file_with_other_bytes_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = other_library(tmp_path)
    digest = liberty_sha256(path)
    assert library_name(path) == f"mine-{digest[:8]}"
    impostor = path.rename(tmp_path / "sky130hd_tt.lib")
    assert library_name(impostor) == f"sky130hd_tt-{digest[:8]}"
    assert delay_library(library_name(impostor)) == "osu018"
    monkeypatch.setattr(options, "measured_files", lambda: {digest: "measured"})
    assert library_name(impostor) == "measured"
    impostor.write_text(impostor.read_text() + "\n")
    assert library_name(impostor) == f"sky130hd_tt-{liberty_sha256(impostor)[:8]}"


@pytest.mark.parametrize(("name", "known"), [("osu018", "osu018"), ("osu035", "osu035"), ("osu050", "osu05")])
def test_an_installed_library_keeps_its_name_wherever_its_file_lies(
    name: str, known: str, tmp_path: Path
) -> None:
    installed = library(name, tmp_path)
    copy = tmp_path / "copy.lib"
    copy.write_bytes(installed.read_bytes())
    assert (library_name(installed), library_name(copy)) == (known, known)


def test_a_library_without_measured_delays_rejects_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SynthesisError, match=r"cannot read the liberty file .*no\.lib: No such file"):
        library_name(tmp_path / "no.lib")


def test_sky130_is_scheduled_with_its_own_delays(tmp_path: Path) -> None:
    path = sky130(tmp_path).rename(tmp_path / "renamed.lib")
    assert (library_name(path), delay_library(library_name(path))) == ("sky130hd_tt", "sky130hd_tt")


def test_the_main_jobs_option_names_any_liberty_file(tmp_path: Path) -> None:
    path = other_library(tmp_path)
    configuration = compose_configuration([f"synthesis.liberty={path}"])
    settings = Settings(configuration=configuration, deployment=local_deployment(tmp_path))
    assert target_of(settings).liberty == path
    by_group = Settings(
        configuration=compose_configuration(["synthesis=osu035"]), deployment=local_deployment(tmp_path)
    )
    assert target_of(by_group).liberty == library("osu035", tmp_path)
    default = Settings(configuration=compose_configuration([]), deployment=local_deployment(tmp_path))
    assert target_of(default).liberty == find_liberty("osu018")


def test_label_takes_a_liberty_and_shows_its_power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "blur.c"
    source.write_text(BLUR)
    chosen = ["label", str(source), "--top", "blur", "--liberty", str(other_library(tmp_path))]
    answer = CliRunner().invoke(simfoundry, chosen)
    assert answer.exit_code == 0, answer.output
    made = json.loads(answer.stdout)
    name = library_name(tmp_path / "mine.lib")
    assert (made["label"]["liberty"], made["runs"][0]["power_status"]) == (name, "ok")
    assert made["runs"][0]["energy_nj"] > 0
