"""A trained network as one safetensors file: weights and ranges of facts; tokenizer and names in its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tokenizers import Tokenizer

from model.errors import KernelcastError
from model.network import Network, Shape

SCHEMA_VERSION = 1
_IN_FULL = ("mean", "per_deviation", "start", "per_length")  # of facts, which reach beyond what fp16 holds


class UnreadableNetwork(KernelcastError):
    """A file that is no network of this version."""

    code = "network"


@dataclass(frozen=True, slots=True)
class FactNames:
    """In the order in which a question holds the facts."""

    launch_facts: tuple[str, ...]
    laws: tuple[str, ...]
    compiled_facts: tuple[str, ...]
    device_facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NetworkFile:
    """The network in fp32, ready to answer. `about` says what made it: seed, commit, devices ..."""

    network: Network
    tokenizer: Tokenizer
    names: FactNames
    about: Mapping[str, str]


def save_network(
    path: Path, network: Network, tokenizer: Tokenizer, names: FactNames, about: Mapping[str, str]
) -> None:
    """Weights in fp16. Raises `OSError` where `path` cannot be written."""
    tensors = {
        name: tensor.detach().cpu().to(torch.float32 if name.endswith(_IN_FULL) else torch.float16).contiguous()
        for name, tensor in network.state_dict().items()
    }
    metadata = {
        **about,
        "schema_version": str(SCHEMA_VERSION),
        "shape": json.dumps(asdict(network.shape)),
        "names": json.dumps(asdict(names)),
        "tokenizer": tokenizer.to_str(),
    }
    save_file(tensors, path, metadata)


def load_network_file(path: Path) -> NetworkFile:
    """Raises `UnreadableNetwork` where it is none, `OSError` where it cannot be read."""
    try:
        with safe_open(path, "pt") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise UnreadableNetwork(f"{path.name} is no safetensors file: {error}") from error
    version = metadata.pop("schema_version", "")
    if version != str(SCHEMA_VERSION):
        raise UnreadableNetwork(
            f"{path.name} is of version {version or 'unknown'}; this program reads {SCHEMA_VERSION}"
        )
    shape = json.loads(metadata.pop("shape"))
    names = json.loads(metadata.pop("names"))
    network = Network(Shape(**{**shape, "device_groups": tuple(shape["device_groups"])}))
    network.load_state_dict(tensors)
    return NetworkFile(
        network.eval().requires_grad_(False),
        Tokenizer.from_str(metadata.pop("tokenizer")),
        FactNames(**{name: tuple(some) for name, some in names.items()}),
        metadata,
    )
