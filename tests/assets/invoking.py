"""The command line in this process."""

from __future__ import annotations

from click.testing import CliRunner, Result

from simfoundry.cli import simfoundry


def invoke(*arguments: object) -> Result:
    """Run a command of `simfoundry` with arguments."""
    return CliRunner().invoke(simfoundry, [str(argument) for argument in arguments])
