"""Groups of conf/ composed by Hydra, and the composition without overrides kept in the cache.

Importing this module loads neither Hydra nor a step: a question about one program needs neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from assets.errors import FoundryError
from assets.settings import CONFIGURATION_FOLDER
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash

KIND = "configuration"
"""Kind of cache entries that hold compositions."""


def compose_content(overrides: Sequence[str]) -> Any:
    """Compose the groups of conf/ with overrides, in Hydra's syntax.

    Raises: FoundryError: an override is not accepted, or a file is not what Hydra reads.
    """
    state = tuple((str(p), p.stat().st_mtime_ns) for p in sorted(CONFIGURATION_FOLDER.rglob("*.yaml")))
    return _composed(tuple(overrides), state)


@lru_cache(maxsize=256)
def _composed(overrides: tuple[str, ...], state: tuple[tuple[str, int], ...]) -> Any:
    """Return the content of overrides and a state of the files, which Hydra takes 0.2 s to compose."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    del state
    try:
        with initialize_config_dir(str(CONFIGURATION_FOLDER), version_base="1.3"):
            return OmegaConf.to_container(compose("config", overrides=list(overrides)), resolve=True)
    except (HydraException, OmegaConfBaseException) as error:
        said = str(error).splitlines()[0]
        raise FoundryError(f"override not accepted: {' '.join(overrides)} ({said})") from error


def default_content(cache: ContentCache) -> Any:
    """Return the groups of conf/ without overrides, composed once per content of its files.

    Raises: FoundryError: as `compose_content`.
    """
    files = sorted(CONFIGURATION_FOLDER.rglob("*.yaml"))
    texts = [(str(path.relative_to(CONFIGURATION_FOLDER)), path.read_text()) for path in files]
    key = content_hash(KIND, texts)
    return cache.cached(KIND, key, lambda: compose_content([]), lambda stored: stored)
