"""Being written."""

from model.sampling.tables import Function

IMAGE_FUNCTIONS: dict[str, Function] = {}
