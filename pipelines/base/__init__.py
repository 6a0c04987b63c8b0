"""What every engine builds on: cache, files, tools, worker processes, sandbox, validation."""
