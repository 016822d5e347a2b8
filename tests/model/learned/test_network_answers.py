"""A network in a file answers questions as it did before it was saved, and reads each kernel once."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.learned.network_answers import LearnedNetwork, load_network
from model.learned.network_file import FactNames, UnreadableNetwork, save_network
from model.learned.question import Question
from model.learned.tokenizer import ids_of, train_tokenizer
from model.network import UNKNOWN
from model.training.arrays import Arrays
from model.training.train_network import shape_for, untrained

TOKENS = ("kernel", "void", "v0", "(", ")", "{", "v1", "+=", "f1e", ";", "}")
QUESTION = Question(
    kernel="a",
    tokens=TOKENS,
    launch_facts=(1.0, 2.0, math.nan, 0.5, 0.0),
    law_facts=(6.0, 3.0, 4.0, -20.0, 5.0, 1.0),
    device_facts=(0.1, 0.2, 0.3, 0.4, 0.5),
    compiled_facts=None,
    total_us=64.0,
    least_us=8.0,
    doubt=0.0,
    device_id="device0",
)


@pytest.fixture(scope="module")
def path(arrays: Arrays, tiny: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "network.safetensors"
    tokenizer = train_tokenizer([kernel.tokens for kernel in arrays.kernels])
    network = untrained(shape_for(arrays, tokenizer, **tiny), arrays, seed=0)
    names = arrays.names
    save_network(
        path,
        network,
        tokenizer,
        FactNames(names.launch_facts, names.laws, names.compiled_facts, names.device_facts),
        {"seed": "0", "commit": "abc"},
    )
    return path


@pytest.fixture
def network(path: Path) -> LearnedNetwork:
    return load_network(path)


def test_what_made_it_is_in_the_file(network: LearnedNetwork) -> None:
    assert network.file.about["commit"] == "abc"
    assert network.file.names.device_facts[0] == "shape.units"


def test_it_answers_as_before_it_was_saved(network: LearnedNetwork, arrays: Arrays, tiny: dict[str, int]) -> None:
    tokenizer = train_tokenizer([kernel.tokens for kernel in arrays.kernels])
    before = untrained(shape_for(arrays, tokenizer, **tiny), arrays, seed=0).eval()
    facts = (QUESTION.launch_facts, QUESTION.law_facts, QUESTION.device_facts, (math.nan,) * 4)
    with torch.inference_mode():
        code = before.encode(torch.tensor([ids_of(tokenizer, TOKENS, 32)]))
        log2_us = before.head(code, *(torch.tensor([some]) for some in facts)).log2_us
    (answer,) = network.answers([QUESTION])
    assert answer.median_us == pytest.approx(2 ** log2_us.item(), rel=0.01)  # weights are kept in fp16


def test_a_kernel_is_encoded_once_whatever_is_asked_of_it(
    network: LearnedNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[int] = []
    encode = network.file.network.encode
    monkeypatch.setattr(network.file.network, "encode", lambda tokens: (encoded.append(len(tokens)), encode(tokens))[1])
    other_launch = replace(QUESTION, launch_facts=(9.0, 9.0, 9.0, 9.0, 9.0))
    first, launched = network.answers([QUESTION, other_launch])
    (on_device,) = network.answers([replace(QUESTION, device_facts=(5.0, 4.0, 3.0, 2.0, 1.0))])
    assert encoded == [1]
    assert len({first.median_us, launched.median_us, on_device.median_us}) == 3
    network.answers([replace(QUESTION, kernel="b", tokens=TOKENS[::-1])])
    assert encoded == [1, 1]


def test_asked_together_or_alone_the_answer_is_the_same(network: LearnedNetwork, path: Path) -> None:
    others = [replace(QUESTION, kernel=str(at), tokens=TOKENS * at) for at in range(1, 6)]
    together = network.answers([QUESTION, *others])[0]
    (alone,) = load_network(path).answers([QUESTION])
    assert together.median_us == pytest.approx(alone.median_us, rel=1e-4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(least=st.floats(-3, 20), resources=st.lists(st.floats(-20, 20), min_size=4, max_size=4))
def test_no_quantile_is_below_the_roofline(network: LearnedNetwork, least: float, resources: list[float]) -> None:
    laws = (max(resources), least, *resources)
    (answer,) = network.answers([replace(QUESTION, law_facts=laws, least_us=2.0**least)])
    quantiles = answer.quantiles()
    assert 2.0**least <= quantiles.p10 <= quantiles.p50 <= quantiles.p90


def test_compiled_facts_are_listened_to_where_they_are_known(network: LearnedNetwork) -> None:
    without, with_facts = network.answers([QUESTION, replace(QUESTION, compiled_facts=(1.0, 2.0, 3.0, 4.0))])
    assert without.median_us != with_facts.median_us


def test_facts_that_were_worked_out_with_numpy_are_taken(network: LearnedNetwork) -> None:
    facts = tuple(np.float64(fact) for fact in QUESTION.launch_facts)
    (answer,) = network.answers([replace(QUESTION, launch_facts=facts)])
    assert answer == network.answers([QUESTION])[0]


def test_facts_of_another_version_are_refused(network: LearnedNetwork) -> None:
    with pytest.raises(ValueError, match="5 facts"):
        network.answers([replace(QUESTION, launch_facts=(1.0,))])


def test_a_file_that_is_no_network_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    path.write_bytes(b"not safetensors")
    with pytest.raises(UnreadableNetwork, match=r"network\.safetensors is no safetensors file"):
        load_network(path)


def test_a_long_kernel_is_read_at_its_head_and_its_tail() -> None:
    tokenizer = train_tokenizer([TOKENS] * 30)
    ids = ids_of(tokenizer, [*TOKENS, *["v1", ";"] * 5000, *TOKENS[::-1]], longest=32)
    assert len(ids) == 32
    assert tokenizer.decode(ids[:2]).startswith("kernel")
    assert ids_of(tokenizer, (), longest=32) == [UNKNOWN]


def test_the_same_kernels_give_the_same_tokenizer(arrays: Arrays) -> None:
    kernels = [kernel.tokens for kernel in arrays.kernels]
    assert train_tokenizer(kernels).to_str() == train_tokenizer(kernels).to_str()
