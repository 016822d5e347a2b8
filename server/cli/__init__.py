"""The command line: one module per command, each with a `run`. Importing it loads argparse and little else."""

from server.cli.entry import main

__all__ = ["main"]
