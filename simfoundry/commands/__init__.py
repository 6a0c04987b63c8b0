"""What each subcommand of `simfoundry` does, one module each.

Belongs here: putting the rooms together for one command. Does not: options and exit codes (`simfoundry.cli`).
"""
