"""Results of high-level synthesis are the recorded ones of its version."""

from __future__ import annotations

import pytest
from engine_outputs import Folders, check_outputs, hashed_outputs
from engines import HLS


def test_results_of_hls_change_only_with_the_version(
    folders: Folders, request: pytest.FixtureRequest
) -> None:
    update = bool(request.config.getoption("--update-golden"))
    check_outputs(HLS, hashed_outputs(HLS, folders), update=update)
