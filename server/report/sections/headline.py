"""The answer itself: a sentence, and the figures that belong to it."""

from __future__ import annotations

from server.report.facts import KernelFacts, LaunchFacts
from server.report.markup import Child, Element, prose, tag, unbroken
from server.text.comparison import miss_words
from server.text.format import format_duration_us, format_interval, shown_name
from server.text.hint import basis_sign, guess_mark


def headline(kernel: KernelFacts, launch: LaunchFacts) -> list[Child]:
    """Return time, device, bound, interval, and the measurement if there is one."""
    prediction = launch.forecast.prediction
    if prediction is None:
        problem = launch.forecast.problem
        why = problem.message if problem else "nothing is known of it"
        return [tag("p", "No prediction: ", prose(why), class_="lead warning no-prediction")]
    q = prediction.runtime_us
    facts = [
        _fact(
            "Predicted",
            f"{basis_sign(prediction)} {format_duration_us(q.p50)}{guess_mark(prediction)}",
            None,
            "predicted",
        ),
        _fact("80 % range", format_interval(q.p10, q.p90), None, "interval"),
        _fact("Bound by", str(prediction.bound), None, "bound"),
    ]
    measured = launch.measured
    if measured:
        missed = f"prediction {miss_words(prediction, measured)}"
        facts.append(_fact("Measured", format_duration_us(measured.median_us), missed, "measured"))
    return [tag("p", _sentence(kernel, launch), class_="lead answer"), tag("dl", facts, class_="facts")]


def _sentence(kernel: KernelFacts, launch: LaunchFacts) -> list[Child]:
    prediction, measured = launch.forecast.prediction, launch.measured
    assert prediction is not None
    name = tag("code", kernel.name)
    about = unbroken(format_duration_us(prediction.runtime_us.p50))
    if measured:
        device = shown_name(measured.device_name)
        took = f" takes {unbroken(format_duration_us(measured.median_us))} on {device} (measured)"
        return [name, f"{took}; the prediction is {about}, bound by {prediction.bound}."]
    return [name, f" will take about {about} on {shown_name(prediction.device_name)}, bound by {prediction.bound}."]


def _fact(name: str, value: str, note: str | None, key: str) -> Element:
    said = tag("dd", note, class_="note") if note else None
    return tag("div", tag("dt", name), tag("dd", value), said, class_=f"fact {key}", data_fact=key)
