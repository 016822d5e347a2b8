"""`kernelcast COMMAND ...`: what can be asked, and the exit status of the answer."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from model.errors import KernelcastError
from profiler.installing import install_command
from server.cli.comparing_flags import EXIT as DIFF_EXIT
from server.cli.comparing_flags import add_comparing_flags, add_diff_flags
from server.cli.dataset import add_dataset_flags, add_learning_flags
from server.cli.flags import (
    ALLOWED_SIZES,
    add_analytic_only_flag,
    add_batch_flag,
    add_device_flag,
    add_format_flag,
    add_ignore_recordings_flag,
    add_launch_flags,
    positive,
    positive_number,
    sizes_wanted,
)
from server.cli.output import ANSWERED, INTERRUPTED, NOBODY_READS, SOME_FAILED, WRONG_CALL, WrongCallError
from server.cli.program_flags import add_program_flags, add_recording_flags
from server.cli.renamed import add_former_flag, with_present_steps
from server.cli.tuning_flags import add_advise_flags, add_tuning_flags
from server.log.options import LEVELS

# Commands that stand in the file of another one; all others are `run` in a file of their name.
_PLACES = {
    "evaluate": ("training", "run_evaluate"),
    "record": ("recordings", "run_record"),
    "schema": ("entry", "print_schema"),
    "train": ("training", "run_train"),
    "version": ("entry", "print_version"),
}
_EXTRAS = {"campaign": "parquet", "dataset": "corpus", "evaluate": "train", "train": "train"}  # of commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 all answered, 1 some failed, 2 the call was wrong."""
    parser = build_parser()
    arguments = parser.parse_args(with_present_steps(sys.argv[1:] if argv is None else argv))
    if arguments.version:
        arguments.command = "version"
    elif arguments.command is None:
        parser.error("say which COMMAND")
    # A command's module is loaded when it is called: `serve` must be up at once.
    try:
        module, name = _PLACES.get(arguments.command, (arguments.command, "run"))
        run: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(f"server.cli.{module}"), name)
        if arguments.command != "serve":  # which has a log of its own, and an editor that waits for its first answer
            importlib.import_module("server.log.faults").keep_faults()
        status = run(arguments)
        sys.stdout.flush()
    except WrongCallError as error:
        return _say(str(error), WRONG_CALL)
    except ModuleNotFoundError as error:
        return _say(_what_is_missing(arguments.command, error), WRONG_CALL)
    except KernelcastError as error:
        return _say(error.message, SOME_FAILED)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        # `kernelcast ... | head`: nothing is wrong, and Python must not complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    return status


def _what_is_missing(command: str, error: ModuleNotFoundError) -> str:
    """Return what to install for a command. Raises the error again where no extra has it."""
    extra, name = _EXTRAS.get(command), error.name or ""
    if extra is None:
        raise error
    if name.partition(".")[0] in ("model", "profiler", "server"):
        return (
            f"`kernelcast {command}` is not in this installation, which an editor's extension made: install Kernelcast "
            f"by itself, with uv tool install 'kernelcast[{extra}]', pipx or pip"
        )
    return f"`kernelcast {command}` needs `{name}`: {install_command(extra)}"


def _say(message: str, status: int) -> int:
    print(f"kernelcast: {message}", file=sys.stderr)
    return status


def print_version(_arguments: argparse.Namespace) -> int:
    """Print the version on its own line, as scripts expect it."""
    print(f"kernelcast {importlib.import_module('importlib.metadata').version('kernelcast')}")
    return ANSWERED


def print_schema(_arguments: argparse.Namespace) -> int:
    """Print the JSON schema of `kernelcast.toml`."""
    from server.config_schema import config_schema  # noqa: PLC0415 - an editor that starts the server needs none

    print(json.dumps(config_schema(), indent=2, ensure_ascii=False))
    return ANSWERED


class _Parser(argparse.ArgumentParser):
    """Points to `--help` where argparse would print the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_CALL, f"{self.prog}: {message}\nTry `{self.prog} --help`.\n")


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="kernelcast", description="Predict how long OpenCL kernels run before they run, and measure them."
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    predict = commands.add_parser("predict", help="predict the runtime of kernels", epilog=_EXIT)
    add_launch_flags(predict)
    add_batch_flag(predict)
    predict.add_argument(
        "--jobs", type=positive, metavar="N", help="processes that share a long batch (as many as there are cores)"
    )
    predict.add_argument(
        "--no-cache", action="store_true", help="work out every answer of a batch anew, and keep none on the disk"
    )
    add_format_flag(predict)
    ignore = predict.add_argument(
        "--ignore-measurements", action="store_true", help="predict without measurements of the same kernel"
    )
    add_former_flag(predict, "--unmeasured", ignore)
    add_ignore_recordings_flag(predict)
    add_analytic_only_flag(predict)

    measure = commands.add_parser("measure", help="run kernels on a device and time them", epilog=_EXIT)
    add_launch_flags(measure)
    add_batch_flag(measure)
    add_format_flag(measure)
    measure.add_argument("--repeat", type=positive, metavar="N", help="exactly N timed runs, instead of a time budget")
    measure.add_argument(
        "--budget-s", type=positive_number, default=5.0, metavar="S", help="seconds of timed runs for each launch (5)"
    )
    add_analytic_only_flag(measure)
    add_ignore_recordings_flag(measure)
    measure.add_argument("--sizes", type=sizes_wanted, metavar="SIZES", help=f"measure several sizes: {ALLOWED_SIZES}")

    add_tuning_flags(
        commands.add_parser("tune", help="find a faster launch: predict candidates, measure the best", epilog=_EXIT)
    )
    add_advise_flags(
        commands.add_parser(
            "advise",
            help="suggest edits that make kernels faster, with their gains; measure and apply them",
            epilog=_EXIT,
        )
    )

    add_comparing_flags(
        commands.add_parser(
            "compare", help="compare two versions of a kernel, or one kernel on several devices", epilog=_EXIT
        )
    )

    add_diff_flags(
        commands.add_parser(
            "diff",
            help="compare the kernels of two revisions or folders: which became faster, which slower",
            epilog=DIFF_EXIT,
        )
    )

    compiled = commands.add_parser(
        "compile", help="show what a device's compiler makes of kernels: vectors, registers, spills", epilog=_EXIT
    )
    add_launch_flags(compiled)
    add_format_flag(compiled)
    compiled.add_argument(
        "--target",
        metavar="ARCH",
        help="a GPU that need not be here: sm_90, gfx90a (extra offline), dg2-g10 (ocloc), mali-g710 (malioc) ...",
    )
    force = compiled.add_argument("--force", action="store_true", help="compile again what was compiled before")
    add_former_flag(compiled, "--anew", force)

    report = commands.add_parser(
        "report", help="write a page with roofline, sizes, other devices and past measurements", epilog=_EXIT
    )
    add_launch_flags(report)
    report.add_argument(
        "-o", "--output", metavar="FILE", help="where to write the page, - for stdout (a file in the cache folder)"
    )
    add_analytic_only_flag(report)
    add_ignore_recordings_flag(report)
    report.add_argument("--format", choices=("html", "json"), default="html", help="json goes to stdout (html)")

    history = commands.add_parser("history", help="list past measurements of kernels; export and import them")
    history.add_argument("files", nargs="*", type=Path, metavar="FILE", help="only kernels of these files (all)")
    history.add_argument("--kernel", "-k", metavar="NAME", help="only this kernel")
    history.add_argument("--device", metavar="ID", help="only on this device")
    limit = history.add_argument(
        "--limit", type=positive, metavar="N", help="the newest N of each kernel, or N commits (20 in a table)"
    )
    add_former_flag(history, "--most", limit)
    history.add_argument(
        "--export", dest="exported", type=Path, metavar="FILE", help="write them all to FILE.csv or FILE.parquet"
    )
    history.add_argument(
        "--import", dest="imported", type=Path, metavar="FILE", help="add those of an export that are not known yet"
    )
    history.add_argument(
        "--trend", action="store_true", help="predicted and measured times over the commits that changed the files"
    )
    history.add_argument("-o", "--output", type=Path, metavar="FILE", help="with --trend: write a page with charts")
    add_format_flag(history)

    devices = commands.add_parser("devices", help="list the OpenCL devices of this machine, or show what one can do")
    devices.add_argument("--all", action="store_true", help="also the devices known from datasheets, to predict for")
    devices.add_argument("--show", metavar="DEVICE", help="roofline and figures of one; its id or part of its name")
    devices.add_argument("--format", choices=("text", "json", "svg", "png"), help="svg and png with --show (text)")
    devices.add_argument("-o", "--output", metavar="FILE", help="with --show: write there; its suffix tells the format")

    calibrate = commands.add_parser(
        "calibrate", help="measure the rates of a device, and how accurate predictions are there"
    )
    calibrate.add_argument("wanted", nargs="*", metavar="DEVICE", help="ids of devices (every device of this machine)")
    calibrate.add_argument("--quick", action="store_true", help="take a quarter of the time, and measure less exactly")
    add_device_flag(calibrate)
    add_format_flag(calibrate)

    learn = commands.add_parser("learn", help="measure kernels of the corpus on a device, to correct predictions there")
    learn.add_argument("--minutes", type=positive_number, default=2.0, metavar="N", help="minutes in all (2)")
    learn.add_argument("--kernels", type=positive, metavar="N", help="at most this number of kernels (as time allows)")
    add_device_flag(learn)

    campaign = commands.add_parser(
        "campaign",
        help="calibrate a GPU and measure kernels on it, for some minutes, into a folder to commit",
        epilog=f"{_EXIT[:-1]}, 3 there is no GPU that OpenCL knows.",
    )
    campaign.add_argument(
        "--minutes",
        type=positive_number,
        default=10.0,
        metavar="N",
        help="minutes in all, without the predictions (10)",
    )
    campaign.add_argument("--device", metavar="ID", help="another device, or one of several GPUs (the GPU)")
    campaign.add_argument("--folder", type=Path, metavar="DIR", help="folder for all that it writes (gpu-campaign/ID)")
    campaign.add_argument(
        "--kernels", type=Path, metavar="DIR", help="measure its .cl files first (tests/kernels, if that is here)"
    )
    campaign.add_argument(
        "--calibration",
        choices=("full", "quick", "no"),
        help="how to calibrate, unless an earlier call has (full from 10 minutes on, else quick)",
    )

    add_recording_flags(
        commands.add_parser("record", help="run a program and keep the launches of its kernels"),
        commands.add_parser("recordings", help="list, show, export, import or forget recorded launches"),
    )

    add_program_flags(
        commands.add_parser("program", help="predict a whole recorded program, and what if", epilog=_EXIT)
    )

    add_dataset_flags(
        commands.add_parser("dataset", help="make a corpus of measured kernels, to train and evaluate on")
    )

    add_learning_flags(
        commands.add_parser("train", help="train the learned model on a dataset"),
        commands.add_parser(
            "evaluate", help="measure how accurate the learned model is on kernels it was not trained on"
        ),
    )

    commands.add_parser("schema", help="print the JSON schema of kernelcast.toml, for editors")
    doctor = commands.add_parser("doctor", help="check the installation, and say how to fix what is wrong")
    add_format_flag(doctor)

    serve = commands.add_parser("serve", help="start the language server, for editors")
    how = serve.add_mutually_exclusive_group()
    how.add_argument("--stdio", action="store_true", help="talk over stdin and stdout (the default)")
    how.add_argument("--tcp", type=positive, metavar="PORT", help="listen on this port of the loopback interface")
    serve.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="with --tcp: the file with the token that the client must send (KERNELCAST_TOKEN, else a new one)",
    )
    serve.add_argument("--log-level", choices=LEVELS, help="how much to log (warning; info in a file)")
    serve.add_argument("--log-file", type=Path, metavar="FILE", help="log to this file as well, as JSON lines")
    serve.add_argument("--log-source", action="store_true", help="log texts that quote your code, too (none does)")
    # vscode-languageclient adds it to every server that it starts; `initialize` says the same.
    serve.add_argument("--clientProcessId", help=argparse.SUPPRESS)
    return parser


_EXIT = "Exit status: 0 all answered, 1 some answered with errors, 2 the call itself was wrong."
