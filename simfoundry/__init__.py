"""Simfoundry for Python: `import simfoundry as sf`.

Belongs here: the functions that a notebook or a script calls, and loaders of releases. Does not: anything
that computes; each function asks what the command of the same name asks. Importing this package is cheap.

    sf.label("gemm.c", top="gemm")          sf.table("labels")       # a Polars LazyFrame
    sf.predict("gemm.c", top="gemm")        sf.sql("FROM failures")  # a Polars DataFrame
    sf.pragmas("gemm.c")                    sf.release("v1")["labels"]
    sf.network(pods=4)                      sf.loaders.designs("v1", part="train")
"""

from simfoundry import loaders
from simfoundry.asking import Options, label, network, pragmas, predict
from simfoundry.reading import release, sql, table

__all__ = [
    "Options",
    "label",
    "loaders",
    "network",
    "pragmas",
    "predict",
    "release",
    "sql",
    "table",
]
