"""What ships, trained small on a made-up world: its answers keep their promises however and of whatever it is asked."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lightgbm", reason="the extra `train` grows trees")
pytest.importorskip("torch", reason="the extra `train` learns prices")

from safetensors.numpy import save_file

from model.device_catalog import find_builtin
from model.learned.compiled_facts import COMPILED_FACT_NAMES
from model.learned.cost_network import OTHER
from model.learned.device_facts import DEVICE_FACT_NAMES, device_facts
from model.learned.ensemble import MOST_UNITS, Ensemble, mostly_analytic
from model.learned.learned import DESCRIPTION, WEIGHTS_VARIABLE, UnusableModel, load_model
from model.learned.question import Answer, Question
from model.learned.weights import FILE_NAME, arrays_of, ensemble_from
from model.training.ensemble import facts_at, train_ensemble
from model.training.rows import Rows
from profiler.corpus.facts.devices import read_devices
from tests.made_world import HARDLY, RECIPE, device, made_rows


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
    analytic = rows.analytic[at]
    return Question(
        kernel=str(rows.kernel[at]), tokens=("kernel",), launch_facts=tuple(rows.launch[at].tolist()),
        analytic_facts=tuple(analytic.tolist()), device_facts=tuple(rows.device[at].tolist()),
        compiled_facts=tuple(rows.compiled[at].tolist()) if has_code else None, total_us=float(2 ** analytic[0]),
        least_us=float(2 ** analytic[1]), doubt=0.0, device_id=str(rows.device_name[at]),
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


def test_one_kind_of_members_that_goes_astray_is_outvoted(ensemble: Ensemble, rows: Rows) -> None:
    asked = [question(rows, at) for at in rows.where("known")]
    usual = times(ensemble.answer(asked))[:, 1]
    wild = replace(ensemble.source.pieced[0], prices=ensemble.source.pieced[0].prices + 12)
    astray = times(replace(ensemble, source=replace(ensemble.source, pieced=(wild,))).answer(asked))[:, 1]
    assert np.abs(astray - usual).max() < 4
    assert np.median(np.abs(astray - usual)) < 1


def test_of_a_runtime_that_nobody_measured_the_networks_have_no_say(ensemble: Ensemble, rows: Rows) -> None:
    nameless = tuple(device_facts(replace(device("pocl"), platform="Somebody else's")))
    asked = [replace(question(rows, at), device_facts=nameless) for at in rows.where("known")]
    only_forests = replace(ensemble, source=replace(ensemble.source, networks=(), pieced=()))
    assert times(ensemble.answer(asked))[:, 1] == pytest.approx(times(only_forests.answer(asked))[:, 1])


def test_of_a_runtime_that_nobody_measured_most_is_what_the_analytical_model_says() -> None:
    found, analytic = np.float32([1, 1, 1]), np.float32([3, 3, 3])
    assert mostly_analytic(found, analytic, np.array([0, OTHER, OTHER + 1])).tolist() == [1, 2.5, 2.5]


def test_answers_say_where_launches_lie_so_that_those_alike_are_near(ensemble: Ensemble, rows: Rows) -> None:
    """Of the made-up world's kernels of one family, and of others."""
    asked = [at for at in rows.where("train") if rows.device_name[at] == "pocl"]
    places = np.array([answer.place for answer in ensemble.answer([question(rows, at) for at in asked])])
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    family = rows.family[asked]
    alike = (family[:, None] == family[None]) & ~np.eye(len(asked), dtype=bool)
    assert np.median(apart[alike]) < 0.7 * np.median(apart[family[:, None] != family[None]])


def test_it_is_nearer_to_what_was_measured_than_the_analytical_model_is(ensemble: Ensemble, rows: Rows) -> None:
    held_out = rows.where("known")
    middle = times(ensemble.answer([question(rows, at) for at in held_out]))[:, 1]
    truth, analytic = rows.log2_us[held_out], rows.analytic[held_out, 0]
    assert np.median(np.abs(middle - truth)) < 0.7 * np.median(np.abs(analytic - truth))


def test_no_answer_is_out_of_order_or_faster_than_the_roofline(ensemble: Ensemble, poor: Ensemble, rows: Rows) -> None:
    slow = [
        replace(each, analytic_facts=(each.analytic_facts[0], 30.0, *each.analytic_facts[2:]))
        for each in questions(rows)
    ]
    for model, asked in itertools.product((ensemble, poor), (questions(rows), slow)):
        found = times(model.answer(asked))
        assert np.isfinite(found).all()
        assert (np.diff(found, axis=1) >= 0).all()
        assert (found[:, 0] >= [each.analytic_facts[1] - 1e-4 for each in asked]).all()


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
    analytic = np.array([each.analytic_facts[0] for each in asked])
    assert np.median(np.abs(found[:, 1] - analytic)) < 6


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
    change(weights, facts=facts | {"analytic": facts["analytic"][::-1]})
    with pytest.raises(UnusableModel, match="trained on other facts of `analytic`"):
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


@pytest.mark.parametrize("doubled", [1, 2, 4])
def test_more_units_than_in_training_are_as_much_faster_as_the_analytical_model_says(
    ensemble: Ensemble, rows: Rows, doubled: int
) -> None:
    """The model saw devices of up to four units, and answers for four where there are more."""
    facts = facts_at(rows, rows.where("known"), has_code=True)
    units = DEVICE_FACT_NAMES.index("shape.compute_units")
    four, more = facts.device.copy(), facts.device.copy()
    four[:, units], more[:, units] = 2, 2 + doubled
    said = ensemble.estimate(replace(facts, device=four)).log2_us
    faster = ensemble.estimate(replace(facts, device=more, analytic=facts.analytic - doubled)).log2_us
    assert faster == pytest.approx(said - doubled, abs=1e-3)


def test_the_most_units_are_those_of_the_largest_device_in_the_dataset(repository: Path) -> None:
    devices = read_devices(repository / "profiler" / "corpus" / "data")
    assert max(each.compute_units for each in devices.values()) == 2**MOST_UNITS
