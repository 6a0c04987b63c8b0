"""Opening object stores by URL: what this deployment shares with other machines.

The credentials are variables of the environment of the process that opens a store, and stand nowhere else.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from assets.errors import FoundryError, needing
from pipelines.base.sealing import ObjectStore, SealedStore

KEY_VARIABLE = "AWS_ACCESS_KEY_ID"
SECRET_VARIABLE = "AWS_SECRET_ACCESS_KEY"  # noqa: S105
ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
REGION_VARIABLE = "AWS_REGION"
REGION = "us-east-1"
SCHEMES = ("s3://BUCKET/PREFIX", "file:///FOLDER", "memory:///NAME")
RETRY_S = 90
"""How long a request is repeated while the server does not answer: an outage of a minute is waited for."""
LEAST_PAUSE_S, MOST_PAUSE_S = 0.5, 5.0
"""Between two tries; drawn, so their number must be enough for the least ones."""
HIDDEN = "***"
SHARED_CACHE = "cache"
"""Folder of the sealed entries in a store."""
KNOCK_S = 3.0
_PORTS = {"http": 80, "https": 443}
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOnlyStore:
    """Entries of several stores, the first that has one; nothing is written."""

    stores: Sequence[SealedStore]

    def read(self, name: str) -> bytes | None:
        """Read the content of an entry; None when no store has it whole.

        Raises: StoreError: a store does not answer, or refuses.
        """
        contents = (store.read(name) for store in self.stores)
        return next((content for content in contents if content is not None), None)

    def write(self, name: str, content: bytes, *, replace: bool = False) -> None:
        """Write nothing: the entry is in the folder of the cache that reads here."""


def hide_secrets(text: str, *urls: str | None) -> str:
    """Return a text without the credentials of the environment and the passwords of URLs."""
    secrets = [os.environ.get(name) for name in (SECRET_VARIABLE, KEY_VARIABLE)]
    secrets += [urlsplit(url).password for url in urls if url]
    for secret in filter(None, secrets):
        for form in (secret, unquote(secret)):
            text = text.replace(form, HIDDEN)
    return text


def require_store_url(url: str) -> str:
    """Return the URL of a store without a slash at its end.

    Raises: FoundryError: an unknown scheme, or a part that is missing or must not be there.
    """
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise FoundryError(
            f"the URL of a store has a user, a query or a fragment: {parts.scheme}://{HIDDEN}; "
            f"credentials are {KEY_VARIABLE} and {SECRET_VARIABLE}"
        )
    is_s3 = parts.scheme == "s3" and parts.netloc
    is_local = parts.scheme in ("file", "memory") and not parts.netloc and parts.path.strip("/")
    if not (is_s3 or is_local):
        raise FoundryError(f"not the URL of a store: {url}; accepted: {', '.join(SCHEMES)}")
    return url.rstrip("/")


def credentials(url: str) -> Mapping[str, str]:
    """Return the variables of a store on S3; none for other stores.

    Raises: FoundryError: one is not set; the message has no value.
    """
    if not url.startswith("s3://"):
        return {}
    missing = [name for name in (KEY_VARIABLE, SECRET_VARIABLE) if not os.environ.get(name)]
    if missing:
        raise FoundryError(f"not set: {', '.join(missing)}; the store {url} needs them")
    names = (KEY_VARIABLE, SECRET_VARIABLE, ENDPOINT_VARIABLE, REGION_VARIABLE)
    return {REGION_VARIABLE: REGION} | {name: os.environ[name] for name in names if os.environ.get(name)}


def open_client(url: str) -> Any:
    """Open a store at its folder, as a store of obstore; processes and threads may share it.

    Raises: FoundryError: an unknown scheme, or a credential is missing. ExtraMissing: no extra `cluster`.
    """
    url = require_store_url(url)
    return _client(url, tuple(sorted(credentials(url).items())))


@lru_cache(maxsize=32)
def _client(url: str, variables: tuple[tuple[str, str], ...]) -> Any:
    with needing("cluster"):
        from obstore.store import LocalStore, MemoryStore, S3Store  # lazy import: only extra cluster has it

    parts, values = urlsplit(url), dict(variables)
    if parts.scheme == "memory":
        return MemoryStore()
    if parts.scheme == "file":
        folder = Path(parts.path)
        folder.mkdir(parents=True, exist_ok=True)
        return LocalStore(folder)
    endpoint, prefix = values.get(ENDPOINT_VARIABLE), parts.path.strip("/")
    if endpoint:
        _knock(endpoint)
    optional: dict[str, Any] = ({"prefix": prefix} if prefix else {}) | (
        {"endpoint": endpoint} if endpoint else {}
    )
    return S3Store(
        parts.netloc,
        **optional,
        access_key_id=values[KEY_VARIABLE],
        secret_access_key=values[SECRET_VARIABLE],
        region=values[REGION_VARIABLE],
        virtual_hosted_style_request=not endpoint,
        client_options={"allow_http": (endpoint or "").startswith("http://")},
        retry_config={
            "max_retries": math.ceil(RETRY_S / LEAST_PAUSE_S),
            "retry_timeout": timedelta(seconds=RETRY_S),
            "backoff": {
                "init_backoff": timedelta(seconds=LEAST_PAUSE_S),
                "max_backoff": timedelta(seconds=MOST_PAUSE_S),
                "base": 3,
            },
        },
    )


@cache
def _knock(endpoint: str) -> None:
    """Wait until somebody answers at the address of a store, once per process, and log that it waits.

    Requests are repeated without a word and without looking at signals, so the first wait is here.

    Raises: FoundryError: nobody answers within RETRY_S.
    """
    end, is_named = time.monotonic() + RETRY_S, False
    while (reason := refusal(endpoint)) is not None:
        fault = f"the store does not answer at {without_user(endpoint)} ({ENDPOINT_VARIABLE}: {reason})"
        if time.monotonic() > end:
            raise FoundryError(f"{fault}; accepted: the address of an S3 server")
        if not is_named:
            _LOG.warning("%s; it is waited for, at most %d s", fault, RETRY_S)
        is_named = True
        time.sleep(LEAST_PAUSE_S)


def refusal(url: str) -> str | None:
    """Return why nobody answers at the address of a server within KNOCK_S; None when somebody does."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443)
        with socket.create_connection((host, port), KNOCK_S):
            return None
    except (OSError, ValueError) as error:
        return error.strerror if isinstance(error, OSError) and error.strerror else "no answer"


def without_user(url: str) -> str:
    """Return scheme, host and port of an address, without user, password and path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def open_sealed(url: str) -> ObjectStore:
    """Open the sealed entries of a store.

    Raises: FoundryError: an unknown scheme, or a credential is missing. ExtraMissing: no extra `cluster`.
    """
    return ObjectStore(require_store_url(url), open_client(url), open_sealed)
