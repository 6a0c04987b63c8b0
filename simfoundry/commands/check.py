"""`simfoundry check`: whether a predictor keeps the rules that training, registry and answers rely on."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from assets.deployments import find_deployment
from assets.errors import FoundryError, explain
from models.catalogue import PredictorSpec, predictor_named
from models.conformance import Finding, check_predictor
from simfoundry.commands.models import training_settings


def check(
    predictor: str, *, data: Path | None = None, settings: Mapping[str, Any] | Sequence[str] = ()
) -> list[Finding]:
    """Check a predictor.

    Args:
        predictor: name of one of the project, or a file that binds PREDICTOR; the file is run.
        data: folder that holds `tables/`; None for the data folder.
        settings: options of the training, as `{"epochs": 3}` or `["epochs=3"]`.

    Raises: FoundryError: no such file, or it binds no predictor. PredictorError: no such name. DatasetError:
            the tables cannot be trained on.
    """
    if data is not None and not data.is_dir():
        raise FoundryError(f"no such folder: {data} (--data); accepted: a folder with tables/")
    spec = predictor_of_file(Path(predictor)) if predictor.endswith(".py") else predictor_named(predictor)
    data_dir = data or find_deployment().data_dir
    return check_predictor(spec, data_dir, training_settings(spec, settings, data_dir))


def predictor_of_file(path: Path) -> PredictorSpec[Any]:
    """Run a file in this process and return its PREDICTOR; files beside it can be imported.

    Raises: FoundryError: no such file, it fails, or it binds no predictor.
    """
    if not path.is_file():
        raise FoundryError(f"no such file: {path}")
    name = f"checked_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)  # dataclasses look their module up
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise FoundryError(
            f"{path} fails when it is run: {type(error).__name__}: {explain(error)}"
        ) from error
    predictor = getattr(module, "PREDICTOR", None)
    if not isinstance(predictor, PredictorSpec):
        raise FoundryError(f"no predictor: {path}; accepted: a file that binds PREDICTOR to a PredictorSpec")
    return predictor


def findings_text(findings: Sequence[Finding]) -> str:
    """Return one line per check."""
    return "\n".join(f"{finding.check}: {finding.problem or 'ok'}" for finding in findings)
