"""Script for `smake` in SiliconCompiler's own Python: one design to placed cells of sky130.

File names are fixed; the name of the top module is an argument.
"""

# No postponed annotations: smake derives its options from them.
from importlib import import_module
from typing import Any


def build(top: str, last_step: str, cache: str) -> None:
    """Take design.v with design.sdc to placed cells, and write manifest.json."""
    compiler: Any = import_module("siliconcompiler")
    targets: Any = import_module("siliconcompiler.targets")
    design = compiler.Design("design")
    design.set_topmodule(top, fileset="rtl")
    design.add_file("design.v", fileset="rtl")
    design.add_file("design.sdc", fileset="sdc")
    project = compiler.ASIC(design)
    project.add_fileset(["rtl", "sdc"])
    targets.skywater130_demo(project)
    project.option.set_nodisplay(True)
    project.option.set_quiet(True)
    project.option.set_cachedir(cache)
    project.option.add_to(last_step)
    project.run().write_manifest("manifest.json")
