import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deaths } from '../src/client/deaths.ts';
import { columnOf, ofTextNow } from '../src/client/hints_of_now.ts';
import { headOf } from '../src/headline.ts';
import { asWebviewPage } from '../src/report_page.ts';
import { unlinked } from '../src/unlinked.ts';

test('the head of a message is its first clause, in one line', () => {
  assert.equal(headOf('Device X is not calibrated: its rates come from the driver.'), 'Device X is not calibrated');
  assert.equal(headOf('Nothing can be measured.'), 'Nothing can be measured');
  assert.equal(headOf('kernelcast.toml, line 3 is wrong'), 'kernelcast.toml, line 3 is wrong');
  const long = headOf('An NVIDIA H100 80GB HBM3 of somebody else is not in this machine and cannot be measured');
  assert.ok(long.length <= 64, long);
  assert.match(long, /^An NVIDIA .* \.\.\.$/);
});

test('no message has a link that runs a command', () => {
  const hostile = unlinked('[a](command:evil) of [[b](command:evil)](file:///c)');
  assert.doesNotMatch(hostile, /\[[^\]]+\]\(/);
  assert.equal(unlinked('k.cl: `a[i](2)` is no call'), 'k.cl: `a[i] (2)` is no call');
  assert.equal(unlinked('plain (words) [here]'), 'plain (words) [here]');
});

test('a server that dies now and then is started again, one that dies at once is not forever', () => {
  const deaths = new Deaths();
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((s) => deaths.another(s * 1000)),
    [true, true, true, true, false],
  );
  deaths.forget();
  assert.ok([0, 1, 2, 3, 4, 5].every((hour) => deaths.another(hour * 3_600_000)));
});

test('an answer that somebody typed over is asked for again, until it is of the text that stands there', async () => {
  const document = { version: 1 };
  const asked: number[] = [];
  const answer = await ofTextNow(document, { isCancellationRequested: false }, () => {
    asked.push(document.version);
    const of = document.version;
    document.version = Math.min(3, document.version + 1);
    return Promise.resolve(of);
  });
  assert.deepEqual(asked, [1, 2, 3]);
  assert.equal(answer, 3);
});

test('nobody waits for an answer that is not wanted any more', async () => {
  const document = { version: 1 };
  const answer = await ofTextNow(document, { isCancellationRequested: true }, () => (document.version += 1));
  assert.equal(answer, 2);
});

test('a hint behind its line stays there when the line grows, others stay where they are', () => {
  const grown = columnOf({ line: 3, character: 20 }, 20, 9);
  assert.ok(grown > 1_000_000);
  assert.equal(columnOf({ line: 3, character: 7 }, 20, 9), 7);
  // VS Code drops what is not within the range that it asked for.
  assert.equal(columnOf({ line: 9, character: 20 }, 20, 9), 20);
});

test('nothing in a page of the server loads or runs', () => {
  const page = asWebviewPage('<!doctype html><html><head lang="en"><title>t</title></head></html>');
  assert.match(page, /<head lang="en"><meta http-equiv="Content-Security-Policy" content="default-src 'none'/);
  assert.equal(asWebviewPage(page), page);
});
