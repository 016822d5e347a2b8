"""The rows of the dataset and the tokens of its kernels, as the arrays that the network is trained from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.launch_facts import LAUNCH_FACT_NAMES
from model.learned.law_facts import LAW_FACT_NAMES
from model.training.arrays import Arrays, KernelText, Names, Split
from model.training.rows import Rows


def network_arrays(rows: Rows, tokens: Mapping[str, tuple[str, ...]]) -> Arrays:
    """Of the rows that were measured for the first time, of kernels whose tokens are known; in the order of `rows`."""
    given = np.flatnonzero(np.isin(rows.kernel, list(tokens)) & ~rows.is_repeat)
    _, first, kernel = np.unique(rows.kernel[given], return_index=True, return_inverse=True)
    devices, first_of_device, device = np.unique(rows.device_name[given], return_index=True, return_inverse=True)
    # A launch whose local size the drivers choose is one launch for each choice: its facts tell them apart.
    launches: dict[tuple[str, str, bytes], int] = {}
    row_launch = [
        launches.setdefault((str(rows.kernel[at]), str(rows.launch_key[at]), rows.launch[at].tobytes()), len(launches))
        for at in given
    ]
    _, first_of_launch = np.unique(row_launch, return_index=True)
    return Arrays(
        names=Names(
            tuple(LAUNCH_FACT_NAMES),
            tuple(LAW_FACT_NAMES),
            tuple(COMPILED_FACT_NAMES),
            tuple(DEVICE_FACT_NAMES),
            tuple(map(str, devices)),
        ),
        kernels=tuple(_kernel(rows, at, tokens) for at in given[first]),
        launch_kernel=kernel[first_of_launch].astype(np.int64),
        launch_facts=rows.launch[given[first_of_launch]],
        row_launch=np.array(row_launch, np.int64),
        row_device=device.astype(np.int64),
        row_laws=rows.laws[given],
        row_compiled=rows.compiled[given],
        row_log2_us=rows.log2_us[given],
        row_weight=rows.weight[given],
        device_facts=rows.device[given[first_of_device]],
    )


def _kernel(rows: Rows, at: int, tokens: Mapping[str, tuple[str, ...]]) -> KernelText:
    key = str(rows.kernel[at])
    return KernelText(key, str(rows.family[at]), str(rows.origin[at]), Split(str(rows.split[at])), tokens[key])
