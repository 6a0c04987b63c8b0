"""What an asset is handed: where things are in this deployment, and who hears of progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field, ValidationError

from assets.configuration import may_promote, read_parameters
from assets.deployments import CLUSTER_VARIABLE, find_deployment
from assets.errors import FoundryError
from assets.settings import RAY, Cluster, Listener, Run, Settings
from pipelines.base.workers import Progress

Log = Callable[[str], None]
LOGGED_SHARE = 0.1


class FoundryResource(dg.ConfigurableResource[Any]):
    """The configuration in params.yaml, in the deployment of the environment.

    Attributes:
        project: folder to find the project from; the working directory when empty.
        folder: of one run alone, see `Deployment.folder`; the project's own when empty.
        workers: designs at a time; 0 for one a processor.
        slots: runs of a tool at a time, by its name; see `LabelOptions.slots`.
        cluster: fields of `Cluster`; those of the environment when empty, see `cluster_of`.
    """

    project: str = ""
    folder: str = ""
    workers: int = 0
    slots: dict[str, int] = Field(default_factory=dict)
    cluster: dict[str, Any] = Field(default_factory=dict)

    def settings(self) -> Settings:
        """Return the settings of a step.

        Raises: FoundryError: params.yaml or the environment is not acceptable.
        """
        deployment = find_deployment(start=Path(self.project) if self.project else None)
        if self.folder:
            deployment = deployment.in_folder(Path(self.folder))
        configuration = read_parameters(deployment.parameters_folder)
        run = Run(workers=self.workers or None, slots={**self.slots})
        cluster = Cluster(**self.cluster) if self.cluster else cluster_of(os.environ)
        return Settings(
            configuration=configuration.model_copy(update={"run": run, "cluster": cluster}),
            deployment=deployment,
            may_promote=partial(may_promote, configuration),
        )


def cluster_of(environment: Mapping[str, str]) -> Cluster:
    """Return the cluster of steps that the UI or a schedule starts, from SIMFOUNDRY_CLUSTER.

    Raises: FoundryError: not an address.
    """
    address = environment.get(CLUSTER_VARIABLE)
    if not address:
        return Cluster()
    try:
        return Cluster(kind=RAY, address=address)
    except ValidationError as error:
        raise FoundryError(
            f"not an address: {address!r} ({CLUSTER_VARIABLE}); accepted: host:port of Ray's head, or auto"
        ) from error


class ProgressResource:
    """Where steps report progress: a listener a step and partition, told when the step ends.

    This one writes a log line for every tenth of a step; the command line shows bars instead.
    """

    def listener(self, title: str, log: Log) -> Listener:
        """Return a listener for one step.

        Args: title: of the step and its partition. log: the step's own log.
        """
        shown = -1

        def listen(progress: Progress) -> None:
            nonlocal shown
            tenth = int(progress.done / max(progress.total, 1) / LOGGED_SHARE)
            if tenth > shown:
                shown = tenth
                log(f"{title}: {progress.done} of {progress.total}, {progress.failed} failed")

        return listen

    def ended(self, title: str, *, failure: str | None, skipped: str | None = None) -> None:
        """Remove the display of a step that ended.

        Args: failure: why it failed, in one line. skipped: why it was skipped. None when it was made.
        """


def resources(overrides: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the resources of every asset.

    Args: overrides: replacements by name, for tests and the command line.
    """
    return {"foundry": FoundryResource(), "progress": ProgressResource(), **(overrides or {})}
