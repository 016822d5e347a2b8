"""What a compiler sees of an access, whatever the launch: the form of its index, the image, what varies."""

from __future__ import annotations

from model.work.expressions.operations import recomposed
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, NEIGHBOURS
from model.work.regions.flat_blocks import Form, Seen
from model.work.regions.region import Access

_IDS = frozenset({*GLOBAL_ID, *GROUP_ID, *LOCAL_ID})
_LINEAR = frozenset({"symbol", "convert"})


def seen_as(access: Access, forms: dict[int, Seen]) -> Seen:
    """Return what no launch changes: it is kept in `forms`."""
    found = forms.get(id(access))
    if found is None:
        found = forms[id(access)] = Seen(_form(access), _image(access), _varying(access))
    return found


def _form(access: Access) -> Form:
    if access.offset is None:
        return Form.OPAQUE
    atoms = {atom for monomial, _ in recomposed(access.offset).terms for atom in monomial}
    if any(atom.kind not in _LINEAR and atom.leaves & _IDS for atom in atoms):
        return Form.OPAQUE
    symbols = (str(leaf.arguments[0]) for leaf in access.offset.leaves if leaf.kind == "symbol")
    return Form.OFFSET if any(name.startswith("arg.") for name in symbols) else Form.PLAIN


def _varying(access: Access) -> int:
    """Return bit d where ids of dimension d are multiplied with something that is no constant."""
    terms = access.offset.terms if access.offset is not None else ()
    products = [frozenset(monomial) for monomial, _ in terms if len(monomial) > 1]
    return sum(any(ids & product for product in products) << d for d, ids in enumerate(NEIGHBOURS))


def _image(access: Access) -> str:
    if not access.is_image:
        return ""
    return "write" if access.is_store else "linear" if access.is_between_texels else "nearest"
