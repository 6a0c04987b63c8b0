"""Public names of engines have docstrings, and docstrings of functions begin with a verb."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
PACKAGES = ("assets", "models", "pipelines", "simfoundry")
HELP = "simfoundry/cli/entry.py simfoundry"  # the help of the program names the program
NOUNS = ("between", "of", "per")  # "Set of ...", "Count per ...": no verb stands before these
VERBS = """
Accept Adapt Add Adjust Advance Allocate Anneal Answer Append Apply Ask Assign Assume Attach Balance Begin
Bind Bound Bring Build Cache Calibrate Call Change Check Choose Clear Close Collect Combine Compare
Compile Complete Compose Compute Connect Continue Convert Copy Correct Correlate Count Create Cut Decide
Declare Decode Define Delete Derive Describe Detect Divide Do Double Draw Drop Elaborate Emit Empty
Encode End Ensure Enumerate Estimate Evaluate Exclude Execute Expand Explain Explore Extend Extract Fail
Fetch Fill Filter Find Fit Fix Flatten Fold Follow Forget Format Forward Free Generate Get Give Go Grant
Group Guard Handle Hash Have Hold Ignore Import Infer Interleave Interpolate Interrupt Intersect Invert
Iterate Join Judge Keep Label Learn Leave Let Limit Link List Load Log Look Lower Make Map Mark
Materialise Measure Merge Move Multiply Name Narrow Normalise Note Open Pack Pad Parse Partition Pass
Pick Place Plan Plot Pre-train Predict Prepare Preprocess Print Promote Propagate Prove Publish Put
Quantise Queue Raise Rank Read Rebuild Receive Record Reduce Refuse Register Reinterpret Reject Release
Remember Remove Rename Render Repeat Replace Report Require Reserve Reset Resolve Restore Return Reuse
Rewrite Rotate Route Run Sample Save Say Scale Scan Schedule Score Seal Search See Seed Select Send
Serve Set Share Shift Show Sign Silence Simplify Simulate Skip Smooth Solve Sort Split Square
Standardise Start Stop Store Strip Substitute Subtract Suggest Sum Summarise Synthesise Take Tell Test
Trace Train Transform Translate Truncate Try Turn Unpack Unroll Update Validate Verify Visit Wait Walk
Warn Widen Work Wrap Write Yield
"""


def _undocumented(path: Path) -> Iterator[str]:
    module = ast.parse(path.read_text(encoding="utf-8"))
    if not ast.get_docstring(module):
        yield f"{path}:1 the module"
    for node in module.body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                yield f"{path}:{node.lineno} {node.name}"
            if isinstance(node, ast.ClassDef):
                yield from _undocumented_members(path, node)


def _undocumented_members(path: Path, owner: ast.ClassDef) -> Iterator[str]:
    for node in owner.body:
        if not isinstance(node, Documented) or node.name.startswith(("_", "visit_")):
            continue
        if not ast.get_docstring(node):
            yield f"{path}:{node.lineno} {owner.name}.{node.name}"


@pytest.mark.slow
def test_public_names_of_engines_have_docstrings(repository: Path) -> None:
    files = sorted((repository / "pipelines").rglob("*.py"))
    assert len(files) > 10
    missing = [found for path in files for found in _undocumented(path)]
    assert not missing, "\n".join(missing)


def test_a_name_without_docstring_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        '"""Module."""\n'
        "def f(): ...\n"
        "def _g(): ...\n"
        'class C:\n    """Class."""\n    def h(self): ...\n    def visit_For(self): ...\n'
    )
    assert list(_undocumented(path)) == [f"{path}:2 f", f"{path}:6 C.h"]


def _without_verb(path: Path) -> Iterator[str]:
    verbs = VERBS.split()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, Function):
            continue
        first, *rest = (ast.get_docstring(node) or "Return").split(maxsplit=2)
        is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
        if not is_property and (first.rstrip(",;:") not in verbs or (rest and rest[0] in NOUNS)):
            yield f"{path}:{node.lineno} {node.name}: {first} ..."


@pytest.mark.slow
def test_docstrings_of_functions_begin_with_a_verb(repository: Path) -> None:
    """A new verb is added to `VERBS`."""
    files = [path for package in PACKAGES for path in sorted((repository / package).rglob("*.py"))]
    found = {path.relative_to(repository): list(_without_verb(path)) for path in files}
    wrong = [line for path, lines in found.items() for line in lines if f"{path} {_name_of(line)}" != HELP]
    counts = Counter(Path(line).relative_to(repository).parts[0] for line in wrong)
    assert not wrong, "\n".join([*wrong, f"functions by package: {dict(counts)}"])


def _name_of(line: str) -> str:
    return line.split()[1].rstrip(":")


def test_a_docstring_without_verb_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        'def f():\n    """Return a sum."""\n'
        'def g():\n    """The sum."""\n'
        'class C:\n    """Class."""\n    @property\n    def h(self):\n        """Sum of parts."""\n'
        '    def i(self):\n        """Sum of parts."""\n'
    )
    assert list(_without_verb(path)) == [f"{path}:3 g: The ...", f"{path}:10 i: Sum ..."]
