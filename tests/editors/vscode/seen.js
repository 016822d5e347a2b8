// What a user sees, told in a user's words. Runs inside the page of the workbench; `kernelcastSeen` is its only name.
(() => {
  const KERNEL = /\b(?:__)?kernel\b/;
  const plain = (text) => text.replace(/[\u00a0\u2007\u202f]/g, " ").replace(/\u200b|\u200c|\u200d/g, "");

  // Hints are text that belongs to no file: VS Code gives their spans a style rule of their own.
  const isHint = (span) => /\bdyn-rule-/.test(span.className) && span.textContent.trim() !== "";

  function lines() {
    const found = [];
    for (const line of document.querySelectorAll(".editor-instance .view-lines .view-line")) {
      const spans = [...line.querySelectorAll(":scope > span > span")];
      const hints = spans.filter(isHint);
      const box = line.getBoundingClientRect();
      if (!box.height) continue;
      // Behind a hint that it just replaced VS Code may leave a span with nothing to see in it.
      const last = spans.filter((span) => !/\bdyn-rule-/.test(span.className) && plain(span.textContent).trim()).pop();
      found.push({
        element: line,
        top: box.top,
        left: box.left,
        source: plain(spans.filter((span) => !isHint(span)).map((span) => span.textContent).join("")),
        hintElement: hints[hints.length - 1],
        hint: hints.length ? plain(hints.map((span) => span.textContent).join("")).trim() : null,
        hintLeft: hints.length ? Math.round(hints[0].getBoundingClientRect().left - box.left) : null,
        hintTop: hints.length ? Math.round(hints[0].getBoundingClientRect().top - box.top) : null,
        // Where its line's own text ends: a hint belongs right behind it, whatever it says.
        sourceRight: last ? Math.round(last.getBoundingClientRect().right - box.left) : null,
      });
    }
    return found.sort((a, b) => a.top - b.top);
  }

  // The hint of a kernel stands between its name and the next kernel; a signature may take several lines.
  const elements = {};
  function hints() {
    const found = {};
    let name = null;
    let awaited = false;
    for (const line of lines()) {
      if (/^\s*(\/\/|\/?\*)/.test(line.source)) continue;
      if (KERNEL.test(line.source)) awaited = true;
      const named = awaited && /(\w+)\s*\(\s*(?!\()/.exec(line.source.replace(/__attribute__\s*\(\(.*?\)\)\)?/g, ""));
      if (named) {
        name = named[1];
        awaited = false;
      }
      if (line.hint !== null && name !== null && !(name in found)) {
        elements[name] = line.hintElement;
        found[name] = { text: line.hint, left: line.hintLeft, top: line.hintTop, gap: line.hintLeft - line.sourceRight };
      }
    }
    return found;
  }

  // Contrast after WCAG 2.1, of a hint's text on everything that is painted behind it.
  const channels = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  function contrast(kernel) {
    hints();
    const behind = [];
    for (let element = elements[kernel]; element; element = element.parentElement) {
      behind.unshift(channels(getComputedStyle(element).backgroundColor));
    }
    const ground = behind.reduce((below, above) => over(above, below), [255, 255, 255]);
    const ink = over(channels(getComputedStyle(elements[kernel]).color), ground);
    const [darker, lighter] = [light(ink), light(ground)].sort((a, b) => a - b);
    return (lighter + 0.05) / (darker + 0.05);
  }

  // Where a piece of source text stands on the screen, to point the mouse at.
  function place(wanted) {
    for (const line of lines()) {
      const walker = document.createTreeWalker(line.element, NodeFilter.SHOW_TEXT, (node) =>
        isHint(node.parentElement) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
      );
      let text = "";
      const letters = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (let i = 0; i < node.data.length; ++i) {
          letters.push([node, i]);
          text += plain(node.data[i]) || " ";
        }
      }
      const at = text.search(wanted);
      if (at < 0) continue;
      const length = text.match(wanted)[0].length;
      const range = document.createRange();
      range.setStart(letters[at][0], letters[at][1]);
      range.setEnd(letters[at + length - 1][0], letters[at + length - 1][1] + 1);
      const box = range.getBoundingClientRect();
      return { x: box.left, y: box.top, width: box.width, height: box.height };
    }
    return null;
  }

  // Each painted frame's hints, as long as somebody watches.
  let frames = null;
  function sample() {
    if (frames === null) return;
    const now = hints();
    const before = frames[frames.length - 1];
    if (!before || JSON.stringify(before) !== JSON.stringify(now)) frames.push(now);
    requestAnimationFrame(sample);
  }

  // Messages hide themselves after a while, so each is written down when it appears.
  const messages = [];
  function note(element) {
    const box = element.closest?.(".notification-list-item");
    const told = box?.querySelector(".notification-list-item-message");
    const text = told && plain(told.textContent).trim();
    if (text && messages[messages.length - 1] !== text) messages.push(text);
  }
  const observer = new MutationObserver((changes) => {
    for (const change of changes) {
      const target = change.target.nodeType === Node.TEXT_NODE ? change.target.parentElement : change.target;
      if (target) note(target);
      for (const added of change.addedNodes) {
        if (added.nodeType !== Node.ELEMENT_NODE) continue;
        note(added);
        added.querySelectorAll(".notification-list-item-message").forEach(note);
      }
    }
  });
  observer.observe(document, { childList: true, subtree: true, characterData: true });

  window.kernelcastSeen = {
    hints,
    contrast,
    place: (source, flags) => place(new RegExp(source, flags)),
    messages: () => messages,
    forget: () => (messages.length = 0),
    watch() {
      frames = [];
      requestAnimationFrame(sample);
    },
    // What stands there now may not have been painted yet: two frames later it has, and was sampled.
    async watched() {
      for (let frame = 0; frame < 2; ++frame) await new Promise(requestAnimationFrame);
      const seen = frames;
      frames = null;
      return seen;
    },
  };
})();
