"""Files of Python that bind PREDICTOR: a predictor of a person, beside those of the project."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from models.base import PredictorError
from models.catalogue import PredictorSpec
from models.conformance import describe_error
from pipelines.base.files import read_bounded

FILE_BYTES = 16 << 20
"""Of a file that is read."""


def predictor_of_file(
    path: Path, show: Callable[[BaseException], None] = lambda _: None
) -> PredictorSpec[Any]:
    """Run a file in this process and return its PREDICTOR; files beside it can be imported.

    Args:   show: gets the error of a file that fails.
    Raises: PredictorError: it fails, or it binds no predictor.
    """
    file = path.absolute()
    name = f"checked_{path.stem}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[name] = module = module_from_spec(spec)  # dataclasses look their module up
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        show(error)
        raise PredictorError(f"{path} fails when it is run: {describe_error(error, file)}") from error
    predictor = getattr(module, "PREDICTOR", None)
    if isinstance(predictor, PredictorSpec):
        return predictor
    accepted = "accepted: a file that binds PREDICTOR to a PredictorSpec"
    if predictor is None:
        raise PredictorError(f"no predictor: PREDICTOR is not bound, or None ({path}); {accepted}")
    line = line_of(file)
    raise PredictorError(f"no predictor: PREDICTOR is {predictor!r:.60} ({path.name}:{line}); {accepted}")


def line_of(file: Path, field: str = "") -> int:
    """Return the line of the last statement that binds PREDICTOR, or of a field in it; 1 without one."""
    content = read_bounded(file, what="predictor", most_bytes=FILE_BYTES, error=PredictorError)
    bound = [
        node
        for node in ast.walk(ast.parse(content))
        if isinstance(node, ast.Assign | ast.AnnAssign) and "PREDICTOR" in _names_bound(node)
    ]
    if not bound:
        return 1
    last = max(bound, key=lambda node: node.lineno)
    fields = (node for node in ast.walk(last) if isinstance(node, ast.keyword) and node.arg == field)
    return next((node.lineno for node in fields), last.lineno)


def _names_bound(node: ast.Assign | ast.AnnAssign) -> list[str]:
    return [ast.unparse(t) for t in (node.targets if isinstance(node, ast.Assign) else [node.target])]
