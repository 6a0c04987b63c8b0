"""Simfoundry for Python: `import simfoundry as sf`.

Belongs here: the functions that a notebook or a script calls, and loaders of releases. Does not: anything
that computes; each command asks the function of its name. Importing this package is cheap.

    sf.label("gemm.c", top="gemm")          sf.table("labels")       # a Polars LazyFrame
    sf.predict("gemm.c", top="gemm")        sf.sql("FROM failures")  # a Polars DataFrame
    sf.pragmas("gemm.c")                    sf.release("v2")["labels"]
    sf.network(pods=4)                      sf.loaders.designs("v2", part="train")
    sf.power("net.onnx")                    sf.place("net.onnx")
    sf.simulate("d.v", top="d", cycles=9)   sf.train("tenset-mlp", releases=["releases/v2"])
    sf.run("scale=tiny")                    sf.models()              # in sf.scratch_project(), for example
    sf.verilate("d.v", out="model")         sf.Simulation("d.v", top="d").step(a=3)
"""

from typing import TYPE_CHECKING, Any

from simfoundry import loaders
from simfoundry.asking import (
    collective,
    explore,
    label,
    network,
    place,
    power,
    pragmas,
    predict,
    simulate,
    train,
    verilate,
)
from simfoundry.projects import models, run, scratch_project
from simfoundry.questions import Options
from simfoundry.reading import release, sql, table

if TYPE_CHECKING:
    from simfoundry.simulation import Simulation

    __version__: str

__all__ = [
    "Options",
    "Simulation",
    "__version__",
    "collective",
    "explore",
    "label",
    "loaders",
    "models",
    "network",
    "place",
    "power",
    "pragmas",
    "predict",
    "release",
    "run",
    "scratch_project",
    "simulate",
    "sql",
    "table",
    "train",
    "verilate",
]


def __getattr__(name: str) -> Any:
    """Return what takes longer than the import: the version of the installed package, `Simulation`."""
    if name == "__version__":
        from importlib.metadata import version

        return version("simfoundry")
    if name == "Simulation":
        from assets.errors import needing

        with needing("foundry"):
            from simfoundry.simulation import Simulation

            return Simulation
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
