"""The configuration: Hydra groups composed, checked, and kept in params.yaml for DVC and the UI.

Steps declare the groups that they read (`Step.configuration`); `quality`, `run` and `cluster` belong to
all of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError, create_model

from assets.composition import compose_content
from assets.deployments import PARAMETERS_FILE
from assets.errors import FoundryError
from assets.growth import GROWING
from assets.settings import (
    CONFIGURATION_FOLDER,
    MACHINE_GROUPS,
    Cluster,
    Configuration,
    Nightly,
    Quality,
    Run,
)
from assets.steps import STEPS
from pipelines.base.files import read_yaml
from pipelines.base.validation import UNKNOWN_KEY, describe_invalid, is_model, keys_of
from pipelines.schemas import write_bytes_atomically

NIGHTLY = "nightly"
"""The scale of the nightly run."""


@cache
def configuration_model() -> type[Configuration]:
    """Return the configuration with the groups that the steps declare, in the order of conf/config.yaml."""
    groups: dict[str, type[Any]] = {"quality": Quality, "run": Run, "cluster": Cluster}
    for step in STEPS:
        groups |= step.configuration
    defaults = yaml.safe_load((CONFIGURATION_FOLDER / "config.yaml").read_text())["defaults"]
    order = [name for default in defaults if isinstance(default, dict) for name in default if name in groups]
    declared: Mapping[str, Any] = {name: _field_of(groups[name]) for name in dict.fromkeys([*order, *groups])}
    return create_model("Configuration", __base__=Configuration, **declared)


def _field_of(group: type[Any]) -> tuple[type[Any], Any]:
    try:
        return group, group()
    except (ValidationError, TypeError):  # a field without default
        return group, ...


def accepted_keys(model: type[Any] | None = None, prefix: str = "") -> Iterator[str]:
    """Yield the names of all keys, as an override spells them, in the order of their declaration."""
    for key in keys_of(model or configuration_model()):
        if is_model(key.kind):
            yield from accepted_keys(key.kind, f"{prefix}{key.name}.")
        else:
            yield prefix + key.name


def scales() -> tuple[str, ...]:
    """Return the names of the scales, from conf/scale."""
    return tuple(sorted(path.stem for path in (CONFIGURATION_FOLDER / "scale").glob("*.yaml")))


def compose_configuration(overrides: Sequence[str]) -> Configuration:
    """Compose the groups of conf/ with overrides, in Hydra's syntax.

    Args:   overrides: for example `scale=smoke`, `hls.memory_delay=[2,10]`.
    Raises: FoundryError: an override is not accepted; the message names it and the accepted keys.
    """
    _reject_settings_of_hydra(overrides)
    try:
        content = compose_content(overrides)
    except FoundryError as error:
        raise FoundryError(f"{error}; {_choices(overrides)}") from error
    return _validated(content, where=" ".join(overrides) or "conf/")


def _reject_settings_of_hydra(overrides: Sequence[str]) -> None:
    """Refuse Hydra's own settings: its command line, which they configure, does not run here."""
    for text in overrides:
        key = text.lstrip("+~").partition("=")[0]
        if re.split(r"[./@]", key)[0] == "hydra":
            raise FoundryError(
                f"unknown key: {key} ({text}); accepted: keys of the configuration, --cfg job, --multirun"
            )


def sweep(overrides: Sequence[str]) -> list[tuple[dict[str, str], tuple[str, ...]]]:
    """Return all combinations of overrides with several values, such as `hls.memory_delay=[2],[5]`, in order.

    Returns: the swept values by key, and the overrides, of each run.
    Raises:  FoundryError: not an override.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    _reject_settings_of_hydra(overrides)
    try:
        parsed = OverridesParser.create().parse_overrides(list(overrides))
    except HydraException as error:
        raise FoundryError(
            f"override not accepted: {' '.join(overrides)} ({str(error).splitlines()[0]})"
        ) from error
    swept = {one.get_key_element(): one for one in parsed if one.is_sweep_override()}
    runs: list[tuple[dict[str, str], tuple[str, ...]]] = []
    for values in itertools.product(*(one.sweep_string_iterator() for one in swept.values())):
        chosen = dict(zip(swept, values, strict=True))
        texts = (
            f"{key}={chosen[key]}" if (key := one.get_key_element()) in chosen else str(one.input_line)
            for one in parsed
        )
        runs.append((chosen, tuple(texts)))
    return runs


def may_promote(configuration: Configuration) -> bool:
    """Tell whether models of a configuration may become champion: without overrides, no scale for a look.

    Further generated programs, as the nightly run has, are no override.
    """
    content = configuration.model_dump(exclude={*MACHINE_GROUPS})
    return any(_with_at_most(content, scale) == scale for scale in _counting())


def _with_at_most(content: Mapping[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with at most the generated programs of a scale."""
    counts = {suite: min(content[suite]["count"], scale[suite]["count"]) for suite in GROWING}
    return {**content, **{suite: {**content[suite], "count": count} for suite, count in counts.items()}}


FOR_A_LOOK = ("tiny", "smoke")
"""Scales too small for a champion."""


@cache
def _counting() -> list[dict[str, Any]]:
    """Return the contents of the scales that are not for a look."""
    counting = (scale for scale in scales() if scale not in FOR_A_LOOK)
    return [
        compose_configuration([f"scale={name}"]).model_dump(exclude={*MACHINE_GROUPS}) for name in counting
    ]


def nightly_hour() -> Nightly:
    """Return the hour at which the nightly run begins: `run.nightly` of the configuration of its scale.

    Raises: FoundryError: the hour or the time zone is not accepted.
    """
    return compose_configuration([f"scale={NIGHTLY}"]).group(Run).nightly


def write_parameters(project: Path, configuration: Configuration) -> Path:
    """Keep what determines the rows in params.yaml, where DVC and the UI read it.

    Returns: the file; it is left alone when it says the same already.
    Raises:  OSError: not writable.
    """
    path = project / PARAMETERS_FILE
    text = parameters_text(configuration)
    if not path.is_file() or path.read_bytes() != text:
        write_bytes_atomically(path, text)
        path.chmod(0o644)  # a temporary file is private; this one is for everyone who reads the repository
    return path


def parameters_text(configuration: Configuration, *, without: Collection[str] = ()) -> bytes:
    """Return the text of params.yaml for a configuration.

    Args: without: groups that are left out; they have their defaults when it is read.
    """
    header = "# Written by `simfoundry run`; `dvc repro` and the Dagster UI read it.\n"
    content = configuration.model_dump(mode="json", exclude={*MACHINE_GROUPS, *without})
    content["models"] = _trained_models(configuration, content["models"])
    return (header + yaml.safe_dump(content, sort_keys=False)).encode()


def _trained_models(configuration: Configuration, content: dict[str, Any]) -> dict[str, Any]:
    """Return the groups of predictors that are trained or have other options than their defaults."""
    models = configuration.models
    defaults = {name: field.get_default() for name, field in type(models).model_fields.items()}
    trained = {name.replace("-", "_") for name in models.trained}
    return {
        name: value
        for name, value in content.items()
        if name in trained or getattr(models, name) != defaults[name]
    }


def read_parameters(project: Path) -> Configuration:
    """Read the configuration of the last `simfoundry run`; the default one when there was none.

    Raises: FoundryError: params.yaml is not what `simfoundry run` writes.
    """
    path = project / PARAMETERS_FILE
    if not path.is_file():
        return compose_configuration([])
    try:
        return read_parameters_file(path)
    except FoundryError as error:
        raise FoundryError(f"{error}; `simfoundry run` writes it again") from error


def read_parameters_file(path: Path) -> Configuration:
    """Return the configuration in a file as `simfoundry run` writes it.

    Raises: FoundryError: it cannot be read, or is not what `simfoundry run` writes.
    """
    content = read_yaml(path, what="configuration", error=FoundryError)
    return _validated(content, where=str(path))


_MOST_SHOWN = 2000
"""Characters of what is wrong with a configuration."""


def _truth_values(content: Any, values: Any, key: str = "") -> Iterator[str]:
    """Yield the keys of true and false that were taken for numbers."""
    if isinstance(content, Mapping) and isinstance(values, Mapping):
        for name, value in cast("Mapping[str, Any]", content).items():
            if name in values:
                yield from _truth_values(value, values[name], f"{key}.{name}" if key else name)
    elif isinstance(content, list | tuple) and isinstance(values, list | tuple):
        for inner, value in zip(cast("list[Any]", content), cast("list[Any]", values), strict=False):
            yield from _truth_values(inner, value, key)
    elif isinstance(content, bool) and isinstance(values, int | float) and not isinstance(values, bool):
        yield key


def _validated(content: Any, *, where: str) -> Configuration:
    try:
        configuration = configuration_model().model_validate(content)
        for key in _truth_values(content, configuration.model_dump(mode="json")):
            raise FoundryError(f"{key}: true or false ({where}); accepted: a number")
        return configuration
    except ValidationError as error:
        problem, first = describe_invalid(error, configuration_model(), where), error.errors()[0]
        if first["type"] in (*UNKNOWN_KEY, "missing"):
            problem = f"{problem.rpartition('; ')[0]}; {_choices(['.'.join(map(str, first['loc']))])}"
        raise FoundryError(
            problem if len(problem) <= _MOST_SHOWN else f"{problem[:_MOST_SHOWN]}..."
        ) from error


def _choices(keys: Sequence[str]) -> str:
    """Return what is accepted beside keys: the keys of their groups, else the groups."""
    if any(key.startswith("cluster.") for key in keys) and not any(k.startswith("cluster=") for k in keys):
        return "accepted: keys of cluster after cluster=ray"
    groups = {re.split(r"[.=/]", key.lstrip("+~"))[0] for key in keys}
    known = list(accepted_keys())
    chosen = [key for key in known if key.split(".")[0] in groups]
    names = chosen or sorted({key.split(".")[0] for key in known})
    keys_text = ", ".join(names)
    shown_keys = keys_text if len(keys_text) <= _MOST_SHOWN else f"{keys_text[:_MOST_SHOWN]}..."
    return f"accepted keys: {shown_keys}; scales: {', '.join(scales())}"
