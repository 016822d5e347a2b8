"""What somebody sees who has just heard of Kernelcast: the extension's page and the walkthrough."""

from __future__ import annotations

from tests.editors.vscode.window import plain
from tests.editors.vscode.workbench import Workbench


def test_the_walkthrough_shows_what_there_is_to_see(workbench: Workbench) -> None:
    workbench.command("Kernelcast: Show Me Around")
    page = workbench.page.locator(".gettingStartedContainer")
    workbench.until(lambda: "See a prediction" in page.inner_text(), "the steps of the walkthrough")
    for step in ("See a prediction", "Measure"):
        page.locator(".getting-started-step", has=workbench.page.get_by_text(step, exact=True)).first.click()
        workbench.until(lambda: workbench.picture_widths(page), f"a picture of the step {step}")


def test_the_example_shows_predictions_at_once(workbench: Workbench) -> None:
    workbench.command("Kernelcast: Open an Example Kernel")
    workbench.wait_for_hint("saxpy")


def test_the_extensions_page_can_be_read_and_shows_no_broken_picture(workbench: Workbench) -> None:
    workbench.command("Extensions: Show Installed Extensions")
    workbench.page.locator(".extension-list-item", has_text="Kernelcast").first.click()
    page = workbench.webview()
    page.locator("h1").first.wait_for()
    text = plain(page.locator("body").inner_text())
    workbench.command("View: Close Primary Side Bar")
    assert "Install Server" in text
    widths = page.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)")
    assert 0 not in widths
