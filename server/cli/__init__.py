"""The command line: a file per command, or per few that belong together. Importing it loads little."""

from server.cli.entry import main

__all__ = ["main"]
