"""What every step receives: the configuration and the deployment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assets.deployments import Deployment
from assets.groups import AnyGroup, Configuration, Quality
from pipelines.cache import ContentCache
from pipelines.workers import Progress

Listener = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """A listener for callers that show nothing."""
    del progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A configuration in a deployment."""

    configuration: Configuration
    deployment: Deployment

    @property
    def cache(self) -> ContentCache:
        """The content cache."""
        return ContentCache(folder=self.deployment.cache_dir)

    @property
    def max_failure_fraction(self) -> float:
        """Share of failed rows above which a check warns."""
        return self.group(Quality).max_failure_fraction

    def group(self, kind: type[AnyGroup]) -> AnyGroup:
        """The group of the configuration of that class."""
        return self.configuration.group(kind)
