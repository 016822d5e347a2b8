"""What a network says of rows: each kernel encoded once, then the head for all of its rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.network import Network
from model.training.arrays import Arrays, Floats, Indices
from model.training.batches import padded

KERNELS_AT_ONCE = 32
ROWS_AT_ONCE = 2048


@torch.inference_mode()
def encoded(network: Network, ids: Sequence[Sequence[int]], kernels: Indices) -> Tensor | None:
    """[kernels, slots, width]; nothing where the network sees no code."""
    if network.code is None:
        return None
    network.eval()
    shape = network.shape
    device = next(network.parameters()).device
    found = torch.zeros(len(kernels), shape.slots, shape.width, device=device)
    by_length = np.array(sorted(range(len(kernels)), key=lambda at: len(ids[int(kernels[at])])))
    for start in range(0, len(by_length), KERNELS_AT_ONCE):
        some = by_length[start : start + KERNELS_AT_ONCE]
        code = network.encode(padded([ids[at] for at in kernels[some].tolist()]).to(device))
        if code is not None:
            found[torch.from_numpy(some).to(device)] = code
    return found


@torch.inference_mode()
def estimates(
    network: Network, arrays: Arrays, ids: Sequence[Sequence[int]], rows: Indices, *, compiled: Sequence[bool]
) -> list[tuple[Floats, Floats]]:
    """log2 us and spread [rows], once for each of `compiled`: with the compiled facts where known, or without."""
    network.eval()
    kernels, kernel_of = np.unique(arrays.row_kernel[rows], return_inverse=True)
    code = encoded(network, ids, kernels)
    device = next(network.parameters()).device
    answers = []
    for with_compiled in compiled:
        log2_us, spread = np.empty(len(rows), np.float32), np.empty(len(rows), np.float32)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            at = slice(start, start + ROWS_AT_ONCE)
            row = rows[at]
            facts = (
                arrays.launch_facts[arrays.row_launch[row]],
                arrays.row_laws[row],
                arrays.device_facts[arrays.row_device[row]],
                arrays.row_compiled[row] if with_compiled else np.full_like(arrays.row_compiled[row], np.nan),
            )
            of_rows = None if code is None else code[torch.from_numpy(kernel_of[at]).to(device)]
            estimate = network.head(of_rows, *(torch.from_numpy(some).to(device) for some in facts))
            log2_us[at], spread[at] = estimate.log2_us.cpu().numpy(), estimate.spread.cpu().numpy()
        answers.append((log2_us, spread))
    return answers
