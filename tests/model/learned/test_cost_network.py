"""A network of prices learns what things cost, and keeps a sum's shape where sizes grow beyond training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `train` learns prices")

from model.learned.cost_network import (
    NOTHING,
    RUNTIMES,
    TERMS,
    CostNetwork,
    Floats,
    log2_us_each,
    runtime_of,
    terms_of,
)
from model.learned.device_facts import DEVICE_FACT_NAMES
from model.learned.launch_facts import AMOUNTS, LAUNCH_FACT_NAMES, LEAST
from model.learned.question import ANALYTIC_FACT_NAMES
from model.training.costs import CostRecipe, CostRows, train_costs

PLAIN = CostRecipe(epochs=60, batch=128, directions=0, price_rate=0.2, threads=1)
SMALL = CostRecipe(epochs=4, batch=128, width=16, directions=4, threads=1)
FLOOR_US, PRICES_US = 5.0, (0.5, 0.02, 0.1)


def world(seed: int, rows: int = 768) -> CostRows:
    """Time = floor + sum of amounts x prices; analytical times know nothing, inputs say nothing that matters."""
    random = np.random.default_rng(seed)
    terms = np.full((rows, 5), NOTHING, np.float32)
    terms[:, :3] = random.uniform(-2, 12, (rows, 3))
    times_us = FLOOR_US + (np.exp2(terms[:, :3]) * PRICES_US).sum(axis=1)
    inputs = (5 + 30 * random.normal(size=(rows, 6))).astype(np.float32)
    inputs[random.random(inputs.shape) < 0.1] = np.nan
    return CostRows(
        inputs, terms, np.full((rows, len(ANALYTIC_FACT_NAMES)), -20, np.float32), np.zeros(rows, np.int64),
        np.log2(times_us).astype(np.float32), np.ones(rows, np.float32),
    )  # fmt: skip


def said(network: CostNetwork, rows: CostRows) -> Floats:
    return network.log2_us(rows.inputs, rows.terms, rows.analytic, rows.runtime)


@pytest.fixture(scope="module")
def plain() -> CostNetwork:
    return train_costs(world(1), PLAIN)


@pytest.fixture(scope="module")
def network() -> CostNetwork:
    return train_costs(world(1), SMALL)


def test_prices_of_a_world_of_prices_are_learned(plain: CostNetwork) -> None:
    unseen = world(2)
    off = np.exp2(np.abs(said(plain, unseen) - unseen.log2_us)) - 1
    assert np.quantile(off, 0.95) < 0.05
    assert np.exp2(plain.prices[0, :3]) == pytest.approx(PRICES_US, rel=0.05)


def test_a_launch_far_larger_than_any_in_training_costs_what_its_amounts_cost(plain: CostNetwork) -> None:
    unseen = world(2)
    far = replace(unseen, terms=unseen.terms + 10)
    expected = np.log2(FLOOR_US + (np.exp2(far.terms[:, :3]) * PRICES_US).sum(axis=1))
    assert np.abs(said(plain, far) - expected).max() < 0.1


def test_answers_do_not_hang_on_what_else_is_asked(network: CostNetwork) -> None:
    rows = world(2, 40)
    alone = [network.log2_us(*(a[at : at + 1] for a in (rows.inputs, rows.terms, rows.analytic, rows.runtime)))[0]
             for at in range(40)]  # fmt: skip
    assert said(network, rows) == pytest.approx(np.array(alone), abs=1e-4)


def test_networks_that_are_asked_together_say_what_each_says_alone(plain: CostNetwork, network: CostNetwork) -> None:
    rows, twin = world(2, 40), train_costs(world(3), SMALL)
    asked = rows.inputs, rows.terms, rows.analytic, rows.runtime
    for networks in ((network, twin), (network, plain, twin), (plain, plain)):  # of one shape, and not
        alone = np.stack([said(each, rows) for each in networks])
        assert log2_us_each(networks, *asked) == pytest.approx(alone, abs=1e-4)


def test_what_differs_from_nothing_and_what_does_not_add_up_to_all_that_is_seen() -> None:
    """Most of the first layer is left out where a launch has nothing; written out in full, it says the same."""
    rows, random = world(2, 30), np.random.default_rng(0)
    net = train_costs(world(1), replace(SMALL, pieces=3))
    nothing = random.random(rows.inputs.shape) < 0.5
    rows = replace(rows, inputs=np.where(nothing, np.float32(np.log2(LEAST)), rows.inputs), runtime=np.arange(30) % 6)
    x = np.concatenate([net.seen(rows.inputs), net.runtime[rows.runtime]], axis=1)
    for at, (weight, bias) in enumerate(net.layers):
        x = x @ weight.T + bias
        if at < 2:
            x = 0.5 * x * (1 + np.tanh(x * (0.7978846 + 0.7978846 * 0.044715 * x * x)))
    amounts = np.concatenate([rows.terms, rows.analytic[:, 1:], np.zeros((30, 1))], axis=1)
    times = amounts + net.prices[rows.runtime] + 4 * np.tanh(x[:, :-1] / 4)
    assert said(net, rows) == pytest.approx(np.log2(np.exp2(times).sum(axis=1)) + x[:, -1], abs=1e-4)
    (first,) = net.log2_us(rows.inputs[:1], rows.terms[:1], rows.analytic[:1], rows.runtime[:1])
    assert first == pytest.approx(said(net, rows)[0], abs=1e-4)


def test_inputs_farther_out_than_training_says_no_more_than_the_farthest(network: CostNetwork) -> None:
    rows = world(2, 20)
    near, far, farther = (said(network, replace(rows, inputs=np.full_like(rows.inputs, at))) for at in (5, 1e3, 1e6))
    assert np.array_equal(far, farther)
    assert not np.array_equal(near, far)


def test_what_training_says_last_is_what_the_network_says() -> None:
    """With nothing learned and nothing dropped, the error that training tells is that of the answers without torch."""
    rows, heard = world(1, 128), []
    still = replace(SMALL, epochs=1, dropout=0.0, learning_rate=1e-12, price_rate=1e-12, weight_decay=0.0)
    found = train_costs(rows, still, lambda _, error: heard.append(error))
    assert heard == pytest.approx([np.abs(said(found, rows) - rows.log2_us).mean()], rel=1e-4)


def test_the_same_seed_trains_the_same_network_and_another_does_not(network: CostNetwork) -> None:
    rows = world(2)
    again, other = (train_costs(world(1), replace(SMALL, seed=seed)) for seed in (0, 1))
    assert np.array_equal(said(again, rows), said(network, rows))
    assert not np.array_equal(said(other, rows), said(network, rows))


@pytest.mark.parametrize("seed", range(3))
def test_to_do_more_never_takes_less_time(network: CostNetwork, plain: CostNetwork, seed: int) -> None:
    rows = world(seed)
    for each in (network, plain):
        twice = replace(rows, terms=rows.terms + 1, analytic=rows.analytic + 1)
        assert (said(each, twice) >= said(each, rows)).all()
        assert (said(each, twice) <= said(each, rows) + 1 + 1e-4).all()


def launch(**amounts: float) -> Floats:
    """Facts of a launch of 4096 work-items in 64 groups, by amounts per work-item."""
    facts = np.zeros((1, len(LAUNCH_FACT_NAMES)), np.float32)
    facts[0, : len(AMOUNTS)] = np.log2(LEAST)
    for name, amount in amounts.items():
        facts[0, AMOUNTS.index(name.replace("__", "."))] = np.log2(amount + LEAST)
    facts[0, LAUNCH_FACT_NAMES.index("log.items")] = np.log2(4096 + 1)
    facts[0, LAUNCH_FACT_NAMES.index("log.groups")] = np.log2(64 + 1)
    facts[0, LAUNCH_FACT_NAMES.index("log.group_barriers")] = np.log2(3 + 1)
    return facts


def test_terms_are_totals_in_the_devices_own_measure() -> None:
    found = dict(zip(TERMS, terms_of(launch(op__add__f32=7.0), np.zeros(1, np.float32))[0], strict=True))
    assert np.exp2(found["op.add.f32"]) == pytest.approx(7 * 4096, rel=1e-3)
    assert np.exp2(found["log.items"]) == pytest.approx(4096, rel=1e-3)
    assert np.exp2(found["log.group_barriers"]) == pytest.approx(3 * 64, rel=1e-3)
    assert np.exp2(found["op.mul.f32"]) < 1e-6


def test_on_a_device_twice_as_fast_what_is_executed_takes_half_the_time() -> None:
    own = launch(op__add__f32=7.0, chain=2.0)
    slow, fast = (terms_of(own, np.array([flops], np.float32)) for flops in (5.0, 6.0))
    assert fast == pytest.approx(slow - 1)
    prices = np.full((len(RUNTIMES), len(TERMS) + len(ANALYTIC_FACT_NAMES)), -3, np.float32)
    prices[:, -1] = NOTHING  # no floor
    zeros = np.zeros((1, 1), np.float32)
    none = np.zeros(0, np.float32)
    priced = CostNetwork(zeros[0], zeros[0], none.astype(np.int64), none, none, zeros, (), prices)
    analytic, runtime = np.full((1, len(ANALYTIC_FACT_NAMES)), NOTHING, np.float32), np.zeros(1, np.int64)
    times = [priced.log2_us(zeros, terms, analytic, runtime)[0] for terms in (slow, fast)]
    assert times[0] - times[1] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("is_pocl", "is_intels", "log2_units", "name"),
    [(1, 0, 2, "pocl"), (1, 0, 0, "pocl on one core"), (0, 1, 2, "intel"), (0, 1, 0, "intel on one core"),
     (0, 0, 5, "other"), (0, 0, 0, "other on one core")],
)  # fmt: skip
def test_each_runtime_has_prices_of_its_own(is_pocl: int, is_intels: int, log2_units: float, name: str) -> None:
    device = np.full((1, len(DEVICE_FACT_NAMES)), np.nan, np.float32)
    for fact, value in (("is_pocl", is_pocl), ("is_intels", is_intels), ("compute_units", log2_units)):
        device[0, DEVICE_FACT_NAMES.index(f"shape.{fact}")] = value
    (found,) = runtime_of(device, DEVICE_FACT_NAMES)
    assert RUNTIMES[found] == name
