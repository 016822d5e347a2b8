"""Being written."""

from model.sampling.tables import Function

GROUP_FUNCTIONS: dict[str, Function] = {}
