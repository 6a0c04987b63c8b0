"""The command line: one function per subcommand, each answering on standard output.

What went wrong is one line on standard error, or one JSON object under `--json`: what, where, and what is
accepted. Belongs here: options and what is printed. Does not: work, which `simfoundry.commands` does; its
modules are imported inside the functions, so that a command loads what it needs alone.
"""

from simfoundry.cli.entry import main, simfoundry

__all__ = ["main", "simfoundry"]
