"""What the network promises whatever its weights are."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from model.network import MOST_EFFICIENCY, PAD, Network, Shape, composed, loss

SHAPE = Shape(5, 6, 4, (2, 3), vocabulary=50, longest=32, width=16, layers=1, heads=2, slots=2, pieces=3)
TIMES = st.floats(-10, 30)
LOGITS = st.floats(-60, 60)


@given(TIMES, TIMES, st.lists(st.just(-20.0) | TIMES, min_size=4, max_size=4), st.lists(LOGITS, min_size=5, max_size=5))
def test_no_time_is_below_the_roofline(total: float, least: float, resources: list[float], logits: list[float]) -> None:
    laws = torch.tensor([[total, least, *resources]])
    log2_us = composed(laws, torch.tensor([logits[:4]]), torch.tensor(logits[4:]))
    assert log2_us.item() >= torch.tensor(least).item()


def test_a_resource_may_be_beaten_sixteenfold_and_no_further() -> None:
    laws = torch.tensor([[10.0, -5.0, 10.0, -20.0, -20.0, -20.0]])
    fastest = composed(laws, torch.full((1, 4), 60.0), torch.zeros(1))
    assert abs((10.0 - fastest.item()) - torch.tensor(MOST_EFFICIENCY).log2().item()) < 1e-3


def test_any_time_above_the_laws_can_be_said() -> None:
    laws = torch.tensor([[10.0, 5.0, 10.0, -20.0, -20.0, -20.0]])
    assert composed(laws, torch.full((1, 4), -12.0), torch.zeros(1)).item() > 20


def _facts(rows: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(1)
    laws = torch.randn(rows, 6) + torch.tensor([8.0, 2.0, 5.0, 5.0, 5.0, 5.0])
    return torch.randn(rows, 5), laws, torch.randn(rows, 5), torch.randn(rows, 4)


def test_padding_changes_nothing() -> None:
    network = Network(SHAPE).eval()
    tokens = torch.arange(2, 12)[None]
    padded = torch.cat([tokens, torch.full((1, 7), PAD)], 1)
    alone, beside = network.encode(tokens), network.encode(padded)
    assert alone is not None
    assert beside is not None
    torch.testing.assert_close(alone, beside, atol=1e-5, rtol=1e-4)


def test_it_answers_without_compiled_facts_and_with_unknown_ones() -> None:
    network = Network(SHAPE).eval()
    launch, laws, device, compiled = _facts(3)
    code = network.encode(torch.arange(2, 12)[None])
    assert code is not None
    compiled[1] = torch.nan  # not compiled
    compiled[2, 0] = torch.nan  # compiled, one fact not found
    launch[0, 2] = torch.nan
    estimate = network.head(code.expand(3, -1, -1), launch, laws, device, compiled)
    assert torch.isfinite(estimate.log2_us).all()
    assert (estimate.spread > 0).all()


def test_unknown_facts_leave_no_gap_in_the_gradients() -> None:
    network = Network(SHAPE)
    launch, laws, device, compiled = _facts(3)
    compiled[1] = torch.nan
    laws[:, 3] = -20
    tokens = torch.arange(2, 12)[None]
    kernel_of, log2_us, weight = torch.tensor([0, 0, -1]), torch.full((3,), 7.0), torch.ones(3)
    network(kernel_of, launch, laws, device, compiled, log2_us, weight, tokens)["loss"].backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in network.parameters())


def test_a_row_without_weight_teaches_nothing() -> None:
    launch, laws, device, compiled = _facts(2)
    head = Network(SHAPE).eval().head
    estimate = head(None, launch, laws, device, compiled)
    wrong = torch.tensor([7.0, 1000.0])
    alone = loss(head(None, launch[:1], laws[:1], device[:1], compiled[:1]), wrong[:1], torch.ones(1))
    torch.testing.assert_close(loss(estimate, wrong, torch.tensor([1.0, 0.0])), alone)
