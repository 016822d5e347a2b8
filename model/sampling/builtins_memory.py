"""Being written."""

import re

from model.sampling.tables import Function

VECTOR_MEMORY = re.compile(r"v(load|store)(a?_half)?(\d*)(?:_rt[ezpn])?\Z")
MEMORY_FUNCTIONS: dict[str, Function] = {}


def vector_memory(*a):
    raise NotImplementedError
