"""The learned model: which weights ship, and how they are loaded. Nothing heavy is imported before that.

Weights are a folder with `model.json`, whose `kind` says what the other files are and who reads them.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from model.errors import KernelcastError
from model.learned.question import Answer, Question

# One. Products of this size take a millisecond on one thread; on several, each waits for the slowest, which on a busy
# machine took a hundred times as long. The other processors stay free for the editor and for measurements.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def use_one_thread() -> None:
    """Set it for this process; to be called before numpy is imported, which looks once. What the user set stays."""
    for name, threads in ONE_THREAD.items():
        os.environ.setdefault(name, threads)


WEIGHTS_VARIABLE = "KERNELCAST_WEIGHTS"  # names another folder; one that holds no weights turns the model off
DESCRIPTION = "model.json"
_SHIPPED = Path(__file__).resolve().parent.parent / "weights"
# By kind, who reads it: `load(folder, description)` in that module.
_READERS = {"linear": "model.learned.linear", "ensemble": "model.learned.ensemble"}


class UnusableModel(KernelcastError):
    """There are weights, but they cannot be used; the message says why. Predictions are analytical then."""

    code = "model"


class LearnedModel(Protocol):
    """Answers what it is asked, in the same order; a batch costs less than its questions one by one."""

    def answer(self, questions: Sequence[Question]) -> list[Answer]: ...


def weights_folder() -> Path | None:
    """Where the weights lie; None where there are none. Looks at the disk and loads nothing."""
    chosen = os.environ.get(WEIGHTS_VARIABLE)
    folder = Path(chosen).expanduser() if chosen else _SHIPPED
    return folder if (folder / DESCRIPTION).is_file() else None


def load_model() -> LearnedModel | None:
    """None where no weights are shipped. Raises `UnusableModel`, also where what they need is not installed."""
    folder = weights_folder()
    if folder is None:
        return None
    try:
        description: dict[str, Any] = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        reader = _READERS.get(str(description["kind"]))
        if reader is None:
            raise UnusableModel(f"the weights in {folder} are of a kind that this version does not know")
        load: Callable[[Path, dict[str, Any]], LearnedModel] = importlib.import_module(reader).load
        return load(folder, description)
    except ImportError as error:
        raise UnusableModel(f"the learned model needs `{error.name}`, which is not installed") from error
    except OSError as error:
        raise UnusableModel(f"the weights in {folder} cannot be read: {error.strerror or error}") from error
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise UnusableModel(f"the weights in {folder} are damaged or of another version: {error!r}") from error
