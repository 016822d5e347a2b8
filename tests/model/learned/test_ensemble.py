"""What ships, trained small on a made-up world: its answers keep their promises however and of whatever it is asked."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lightgbm")
pytest.importorskip("torch")

from safetensors.numpy import save_file

from model.device import Device
from model.device_catalog import find_builtin
from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.cost_network import runtime_of, terms_of
from model.learned.device_facts import DEVICE_FACT_NAMES, device_facts
from model.learned.ensemble import Ensemble
from model.learned.inputs import log2_flops
from model.learned.launch_facts import AMOUNTS, LAUNCH_FACT_NAMES, LEAST, SIZES
from model.learned.law_facts import LAW_FACT_NAMES
from model.learned.learned import DESCRIPTION, WEIGHTS_VARIABLE, UnusableModel, load_model
from model.learned.question import Answer, Question
from model.learned.weights import FILE_NAME, arrays_of, ensemble_from
from model.training.boosting import Boosting
from model.training.costs import CostRecipe
from model.training.ensemble import Recipe, train_ensemble
from model.training.rows import Rows

TREES = Boosting(rounds=40, num_leaves=7, min_data_in_leaf=5, num_threads=1)
RECIPE = Recipe(
    networks=CostRecipe(epochs=16, batch=64, width=16, directions=4, price_rate=0.2, threads=1), forests=TREES,
    spread=replace(TREES, objective="quantile", alpha=0.8), folds=2,
)  # fmt: skip
HARDLY = replace(
    RECIPE, networks=replace(RECIPE.networks, epochs=1), forests=replace(TREES, rounds=5),
    spread=replace(RECIPE.spread, rounds=5),
)  # fmt: skip
FAMILIES, KERNELS, LAUNCHES = 12, 5, 2
SPLITS = ("train",) * 8 + ("validation",) * 2 + ("test-origins", "left out")  # of families
RUNTIMES = {
    "pocl": ("Portable Computing Language", 4), "pocl-1core": ("Portable Computing Language", 1),
    "intel": ("Intel(R) OpenCL", 4), "intel-1core": ("Intel(R) OpenCL", 1),
}  # fmt: skip


def device(name: str) -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    platform, units = RUNTIMES[name]
    return replace(found, platform=platform, compute_units=units)


def made_rows() -> Rows:
    """Each launch of each kernel on four devices; it takes twice the laws' time, on one of them four times it."""
    random = np.random.default_rng(7)
    sizes = slice(len(AMOUNTS), len(AMOUNTS) + len(SIZES))
    launches, of, laws_of = [], [], []
    for family in range(FAMILIES):
        usual = np.full(len(LAUNCH_FACT_NAMES), np.log2(LEAST))
        usual[random.choice(len(AMOUNTS), 20, replace=False)] = random.uniform(-2, 6, 20)
        usual[sizes] = random.uniform(1, 10, len(SIZES))
        usual[sizes.stop :] = random.integers(0, 4, len(usual) - sizes.stop)
        for kernel in range(KERNELS):
            own = usual + 0.2 * random.normal(size=len(usual))
            split = "known" if SPLITS[family] == "train" and kernel == 0 else SPLITS[family]
            for launch in range(LAUNCHES):
                each = own.copy()
                each[LAUNCH_FACT_NAMES.index("log.items")] += 2 * launch
                resources = random.uniform(-10, 6, len(LAW_FACT_NAMES) - 2)
                total = np.log2(np.exp2(resources).sum())
                launches.append(each)
                of.append((f"family {family}", f"kernel {family}.{kernel}", f"launch {launch}", split))
                laws_of.append([total, total - 2, *resources])
    devices = np.array([device_facts(device(name)) for name in RUNTIMES], np.float32)
    n, launch = len(launches), np.array(launches, np.float32)
    at, on = np.tile(np.arange(n), 4), np.repeat(np.arange(4), n)
    family, kernel, key, split = np.array(of)[at].T
    laws, own = np.array(laws_of, np.float32)[at], devices[on]
    compiled = random.uniform(0, 5, (len(at), len(COMPILED_FACT_NAMES))).astype(np.float32)
    compiled[:, 3] = np.nan
    compiled[on == 3] = np.nan
    noise = 0.1 * random.normal(size=len(at))
    return Rows(
        launch=launch[at], laws=laws, device=own, compiled=compiled, terms=terms_of(launch[at], log2_flops(own)),
        runtime=runtime_of(own, DEVICE_FACT_NAMES), log2_us=(laws[:, 0] + 1 + (on == 1) + noise).astype(np.float32),
        weight=np.ones(len(at), np.float32), kernel=kernel, launch_key=key, device_name=np.array(list(RUNTIMES))[on],
        family=family, group=family, origin=family, split=split,
        vary=np.where(key == "launch 0", "first", "global"), is_repeat=np.zeros(len(at), bool),
        is_disturbed=np.zeros(len(at), bool), items=np.exp2(launch[at, LAUNCH_FACT_NAMES.index("log.items")]),
        data=np.zeros(len(at), np.float32),
    )  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> Rows:
    return made_rows()


@pytest.fixture(scope="module")
def ensemble(rows: Rows) -> Ensemble:
    return train_ensemble(rows, RECIPE, lambda _: None)


@pytest.fixture(scope="module")
def poor(rows: Rows) -> Ensemble:
    """Hardly trained: far off, and always to the same side."""
    return train_ensemble(rows, HARDLY, lambda _: None)


def question(rows: Rows, at: int, *, has_code: bool = False) -> Question:
    laws = rows.laws[at]
    return Question(
        kernel=str(rows.kernel[at]), tokens=("kernel",), launch_facts=tuple(rows.launch[at].tolist()),
        law_facts=tuple(laws.tolist()), device_facts=tuple(rows.device[at].tolist()),
        compiled_facts=tuple(rows.compiled[at].tolist()) if has_code else None, total_us=float(2 ** laws[0]),
        least_us=float(2 ** laws[1]), doubt=0.0, device_id=str(rows.device_name[at]),
    )  # fmt: skip


def questions(rows: Rows) -> list[Question]:
    """Of all splits and devices, some with what a compiler made of the kernel."""
    return [question(rows, at, has_code=at % 2 == 0) for at in range(0, len(rows.log2_us), 7)]


def times(answers: list[Answer]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """log2 us, [answers, 3]."""
    return np.log2([(a.runtime_us.p10, a.runtime_us.p50, a.runtime_us.p90) for a in answers])


def test_answers_come_in_the_order_of_the_questions_and_do_not_hang_on_each_other(
    ensemble: Ensemble, rows: Rows
) -> None:
    asked = questions(rows)
    together = ensemble.answer(asked)
    alone = [answer for each in asked for answer in ensemble.answer([each])]
    assert times(together) == pytest.approx(times(alone), abs=1e-3)
    assert times(ensemble.answer(asked[::-1])) == pytest.approx(times(together)[::-1], abs=1e-3)
    assert ensemble.answer([]) == []


def test_it_is_nearer_to_what_was_measured_than_the_laws_are(ensemble: Ensemble, rows: Rows) -> None:
    held_out = rows.where("known")
    middle = times(ensemble.answer([question(rows, at) for at in held_out]))[:, 1]
    truth, laws = rows.log2_us[held_out], rows.laws[held_out, 0]
    assert np.median(np.abs(middle - truth)) < 0.7 * np.median(np.abs(laws - truth))


def test_no_answer_is_out_of_order_or_faster_than_the_roofline(ensemble: Ensemble, poor: Ensemble, rows: Rows) -> None:
    slow = [replace(each, law_facts=(each.law_facts[0], 30.0, *each.law_facts[2:])) for each in questions(rows)]
    for model, asked in itertools.product((ensemble, poor), (questions(rows), slow)):
        found = times(model.answer(asked))
        assert np.isfinite(found).all()
        assert (np.diff(found, axis=1) >= 0).all()
        assert (found[:, 0] >= [each.law_facts[1] - 1e-4 for each in asked]).all()


def test_eight_of_ten_kernels_held_out_lie_in_their_intervals(ensemble: Ensemble, rows: Rows) -> None:
    held_out = rows.judged("known", "validation")
    for has_code in (False, True):
        own = [at for at in held_out if rows.device_name[at] != "intel-1core"] if has_code else held_out
        found = times(ensemble.answer([question(rows, at, has_code=has_code) for at in own]))
        truth = rows.log2_us[own]
        assert 0.7 < np.mean((found[:, 0] <= truth) & (truth <= found[:, 2])) < 0.9


def test_what_a_compiler_made_of_a_kernel_tells_something_more(ensemble: Ensemble, rows: Rows) -> None:
    without, told = (times(ensemble.answer([question(rows, 0, has_code=has)])) for has in (False, True))
    assert not np.array_equal(without, told)
    nothing = replace(question(rows, 0), compiled_facts=(float("nan"),) * len(COMPILED_FACT_NAMES))
    assert np.array_equal(times(ensemble.answer([nothing])), without)


def test_a_launch_of_training_is_not_new_and_one_like_no_other_is(ensemble: Ensemble, rows: Rows) -> None:
    seen = question(rows, int(rows.where("train")[0]))
    far = replace(seen, launch_facts=tuple(fact + 40 * (-1) ** at for at, fact in enumerate(seen.launch_facts)))
    found = ensemble.answer([seen, far])
    assert found[0].novelty == 0
    assert found[1].novelty > 0.95
    new = ensemble.answer([question(rows, int(at)) for at in rows.where("test-origins")])
    assert min(each.novelty for each in new) > 0.1


@pytest.mark.parametrize("device_id", ["generic-gpu", "generic-cpu", "nvidia-rtx-a4000"])
def test_devices_of_runtimes_that_nobody_measured_are_answered(ensemble: Ensemble, rows: Rows, device_id: str) -> None:
    unknown = find_builtin(device_id)
    assert unknown is not None
    asked = [replace(each, device_facts=device_facts(unknown)) for each in questions(rows)]
    found = times(ensemble.answer(asked))
    assert np.isfinite(found).all()
    laws = np.array([each.law_facts[0] for each in asked])
    assert np.median(np.abs(found[:, 1] - laws)) < 6


def test_the_same_seed_trains_the_same_weights_and_another_does_not(poor: Ensemble, rows: Rows) -> None:
    again, other = (
        arrays_of(train_ensemble(rows, replace(HARDLY, seed=seed), lambda _: None)) for seed in (HARDLY.seed, 5)
    )
    arrays, description = arrays_of(poor)
    assert again[1] == description
    assert again[0].keys() == arrays.keys()
    assert all(np.array_equal(again[0][name], array, equal_nan=True) for name, array in arrays.items())
    assert not all(np.array_equal(other[0][name], array, equal_nan=True) for name, array in arrays.items())


@pytest.fixture
def weights(ensemble: Ensemble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of weights that is loaded from."""
    arrays, description = arrays_of(ensemble)
    save_file(arrays, tmp_path / FILE_NAME)
    (tmp_path / DESCRIPTION).write_text(json.dumps(description))
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path))
    return tmp_path


def test_weights_from_a_file_answer_as_they_did_when_they_were_trained(
    ensemble: Ensemble, rows: Rows, weights: Path
) -> None:
    loaded = load_model()
    assert isinstance(loaded, Ensemble)
    own, found = (each.answer(questions(rows)) for each in (ensemble, loaded))
    assert times(found) == pytest.approx(times(own), abs=0.01)  # trees are kept in half precision
    assert [each.novelty for each in found] == [each.novelty for each in own]
    arrays, description = arrays_of(loaded)
    assert times(ensemble_from(arrays, description).answer(questions(rows))) == pytest.approx(times(found), abs=1e-6)


def change(weights: Path, **changes: object) -> None:
    plain = json.loads((weights / DESCRIPTION).read_text())
    (weights / DESCRIPTION).write_text(json.dumps(plain | changes))


def test_weights_of_other_facts_are_refused_in_a_sentence(ensemble: Ensemble, weights: Path) -> None:
    facts = arrays_of(ensemble)[1]["facts"]
    change(weights, facts=facts | {"laws": facts["laws"][::-1]})
    with pytest.raises(UnusableModel, match="trained on other facts of `laws`"):
        load_model()


def test_weights_of_another_version_are_refused_in_a_sentence(weights: Path) -> None:
    change(weights, version=99)
    with pytest.raises(UnusableModel, match="an ensemble of another version"):
        load_model()


@pytest.mark.parametrize("damage", ["cut", "gone", "other arrays"])
def test_damaged_weights_are_refused_in_a_sentence(weights: Path, damage: str) -> None:
    file = weights / FILE_NAME
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:1000])
    elif damage == "gone":
        file.unlink()
    else:
        save_file({"a": np.zeros(3, np.float32)}, file)
    with pytest.raises(UnusableModel, match=r"cannot be read|are damaged or of another version"):
        load_model()
