"""Being written."""

from model.sampling.tables import Function

INTEGER_FUNCTIONS: dict[str, Function] = {}
