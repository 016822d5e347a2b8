"""Being written."""

from model.sampling.tables import Function

ATOMIC_FUNCTIONS: dict[str, Function] = {}
