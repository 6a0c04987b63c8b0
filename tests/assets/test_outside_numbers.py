"""Numbers from outside that are not finite: options, keys of the configuration, answers as JSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import click
import pytest
from invoking import invoke

from assets.configuration import compose_configuration, configuration_model, read_parameters_file
from assets.errors import FoundryError
from pipelines.network.runs import RunGroup
from simfoundry.cli import simfoundry
from simfoundry.cli.options import Finite

NUMBERS = ("nan", "inf", "-inf", "1e999")
OPTIONS = (
    ("label", "--clock"),
    ("predict", "--clock"),
    ("predict", "--within"),
    ("predict", "--budget"),
    ("place", "--clock"),
    ("network", "--load"),
    ("network", "--density"),
    ("network", "--scv"),
    ("collective", "--link-gbps"),
    ("pragmas", "--area"),
    ("pragmas", "--solver-timeout"),
    ("pragmas", "--hls-timeout"),
    ("calibrate", "--clock"),
    ("calibrate", "--beta"),
    ("explore", "--budget-mw"),
    ("release make", "--limit-minutes"),
    ("release make", "--size-limit"),
    ("release write", "--size-limit"),
    ("serve", "--most-mib"),
    ("score", "--limit-minutes"),
    ("node", "--node-memory"),
    ("store sweep", "--hours"),
)


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_options_reject_what_is_not_finite(command: str, option: str) -> None:
    for number in NUMBERS:
        result = invoke(*command.split(), option, number, "file")
        assert result.exit_code == 2
        [said] = result.stderr.splitlines()
        assert said.startswith(f"simfoundry: invalid value for '{option}': "), said
        assert "is not a finite number;" in said or "is not in the range" in said, said


def test_every_option_of_a_fraction_is_finite() -> None:
    fractions = {
        (name, option.opts[0])
        for name, command in _commands(simfoundry)
        for option in command.params
        if option.type.name == Finite.name
    }
    assert fractions == set(OPTIONS)


def _commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, those of groups included."""
    for name, command in group.commands.items():
        yield " ".join((*words, name)), command
        if isinstance(command, click.Group):
            yield from _commands(command, (*words, name))


def _leaves(content: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key)


def test_no_key_of_the_configuration_takes_what_is_not_finite() -> None:
    content = compose_configuration([]).model_dump()
    own = {name: value for name, value in asdict(RunGroup(name="grid")).items() if name != "name"}
    content["network"]["groups"] = {"grid": own}
    configuration_model().model_validate(content)
    for path in _leaves(content):
        for number in map(float, NUMBERS):
            changed = copy.deepcopy(content)
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = [number] if isinstance(place[path[-1]], list | tuple) else number
            with pytest.raises(ValueError, match=path[-1]):
                configuration_model().model_validate(changed)


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", "1e999"])
def test_parameters_reject_what_is_not_finite(number: str, tmp_path: Any) -> None:
    path = tmp_path / "params.yaml"
    text = json.dumps(compose_configuration([]).model_dump(mode="json", exclude={"run"}))
    before = '"clock_period_ns": 10.0'
    assert before in text
    path.write_text(text.replace(before, f'"clock_period_ns": {number}', 1))
    with pytest.raises(FoundryError, match=r"^hls\.clock_period_ns: .* \(.*params\.yaml\)"):
        read_parameters_file(path)


@pytest.mark.parametrize("number", ["nan", "inf", "1e999"])
def test_overrides_reject_what_is_not_finite(number: str) -> None:
    with pytest.raises(FoundryError, match=r"^hls\.clock_period_ns: "):
        compose_configuration([f"hls.clock_period_ns={number}"])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_answer_has_what_json_has_not(number: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simfoundry.commands.predict.predict_file", lambda **_: {"area_um2": number})
    result = invoke("predict", "f.c", "--top", "f", "--json")
    assert result.exit_code == 1
    assert (
        json.loads(result.stderr)["error"] == "the answer has a number that JSON has not: NaN or an infinity"
    )
