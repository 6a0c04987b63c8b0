"""Results of every engine but high-level synthesis are the recorded ones of its version."""

from __future__ import annotations

import pytest
from engine_outputs import Engine, Folders, check_outputs, hashed_outputs
from engines import ENGINES


@pytest.mark.sample(2)
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_results_change_only_with_the_version(
    engine: Engine, folders: Folders, request: pytest.FixtureRequest
) -> None:
    if not engine.installed():
        pytest.skip(f"needs the tool of {engine.name}")
    update = bool(request.config.getoption("--update-golden"))
    check_outputs(engine, hashed_outputs(engine, folders), update=update)
