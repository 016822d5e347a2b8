"""The flags of `kernelcast record` and `kernelcast recordings`."""

from __future__ import annotations

import argparse
from pathlib import Path

from server.cli.flags import add_format_flag, positive


def add_recording_flags(record: argparse.ArgumentParser, recordings: argparse.ArgumentParser) -> None:
    record.usage = "kernelcast record [--contents] [--profile] -- COMMAND ..."
    record.add_argument(
        "--contents", action="store_true", help="describe in a word what input buffers hold; their data are not kept"
    )
    record.add_argument("--profile", action="store_true", help="time launches of queues that have profiling off, too")
    record.add_argument("program", nargs=argparse.REMAINDER, metavar="COMMAND", help="the program and its arguments")
    record.epilog = (
        "Exit status: that of COMMAND, 128 + N if signal N ended it; 126 or 127 if it cannot be run or found; "
        "2 the call itself was wrong."
    )

    recordings.add_argument("id", nargs="?", type=positive, metavar="ID", help="only this one; else the project's")
    recordings.add_argument("--show", action="store_true", help="the launches of each")
    recordings.add_argument("--kernel", "-k", metavar="NAME", help="only launches of this kernel")
    recordings.add_argument("--all", action="store_true", help="of all projects")
    recordings.add_argument(
        "--export", dest="exported", type=Path, metavar="FILE", help="write the launches as requests of a batch"
    )
    recordings.add_argument(
        "--import", dest="imported", type=Path, metavar="LOG", help="add a log of the OpenCL Intercept Layer"
    )
    recordings.add_argument("--forget", action="store_true", help="forget the project's recordings, or ID")
    add_format_flag(recordings)
