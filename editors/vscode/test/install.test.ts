import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { bundledWheel, install, isStale, type Installation } from '../src/install/environment.ts';
import { findPython } from '../src/install/python_search.ts';
import { Machine } from './machine.ts';

const posix = { skip: process.platform === 'win32' ? 'the stand-ins are shell scripts' : false };

/** A Python that makes an environment whose own Python runs `pip`. */
function python(machine: Machine, pip: string): string {
  const inner = machine.program('inner', pip);
  return machine.program('python3', `mkdir -p "$4/bin" && cp "${inner}" "$4/bin/python"`);
}

function wanted(machine: Machine, pip: string, signal = new AbortController().signal): Installation {
  const wheel = machine.at('kernelcast-0.1.0-py3-none-any.whl');
  writeFileSync(wheel, 'one');
  return {
    python: python(machine, pip),
    wheel,
    folder: machine.at('own environment'),
    cwd: machine.root,
    signal,
    step: () => undefined,
    log: (line) => machine.logged.push(line),
  };
}

test(
  'the wheel is installed with a CPU device, and the environment is stale once the wheel is another',
  posix,
  async () => {
    using machine = new Machine();
    const what = wanted(machine, 'echo "$@"');
    assert.deepEqual(await install(what), { kind: 'done', embeddedDevice: true });
    assert.ok(machine.logged.some((line) => line.endsWith('kernelcast-0.1.0-py3-none-any.whl[pocl]')));
    assert.equal(await isStale(what.folder, what.wheel), false);
    writeFileSync(what.wheel, 'two');
    assert.equal(await isStale(what.folder, what.wheel), true);
  },
);

test('where there is no PoCL the server is installed without', posix, async () => {
  using machine = new Machine();
  const what = wanted(
    machine,
    'case "$*" in *pocl*) echo "ERROR: No matching distribution found for pocl-binary" >&2; exit 1;; esac',
  );
  assert.deepEqual(await install(what), { kind: 'done', embeddedDevice: false });
});

test('a failure is said in words and leaves nothing behind', posix, async () => {
  using machine = new Machine();
  const failures: readonly [string, RegExp][] = [
    ['echo "Temporary failure in name resolution" >&2; exit 1', /the package index cannot be reached/],
    ['echo "OSError: No space left on device" >&2; exit 1', /the disk is full/],
    ['echo "ERROR: something odd." >&2; exit 1', /pip could not install the server \(something odd\)\.$/],
  ];
  for (const [pip, words] of failures) {
    const what = wanted(machine, pip);
    const outcome = await install(what);
    assert.equal(outcome.kind, 'failed');
    assert.ok('message' in outcome);
    assert.match(outcome.message, words);
    assert.ok(!existsSync(what.folder));
  }
});

test('cancelling ends what runs and leaves nothing behind', posix, async () => {
  using machine = new Machine();
  const abort = new AbortController();
  const what = wanted(machine, 'echo begun; sleep 600', abort.signal);
  const outcome = install({
    ...what,
    log: (line) => {
      if (line === 'begun') {
        abort.abort();
      }
    },
  });
  assert.equal((await outcome).kind, 'cancelled');
  assert.ok(!existsSync(what.folder));
});

test('the first Python that will do is taken, and why none will is said', posix, async () => {
  using machine = new Machine();
  const answer = (version: string, venv: number): string => `echo ${version}.${venv.toString()}\necho "$0"`;
  const search = { preferred: [], searchPath: machine.at('bin'), forbidden: [], cwd: machine.root };

  const none = await findPython(search);
  assert.ok('because' in none && none.because === 'none');
  machine.program('bin/python3', answer('3.9.2', 1));
  const old = await findPython(search);
  assert.ok('because' in old);
  assert.equal(old.message, 'Kernelcast needs Python 3.11 or newer; found was only 3.9.2.');
  machine.program('bin/python3.12', answer('3.12.1', 0));
  const bare = await findPython(search);
  assert.ok('because' in bare);
  assert.match(bare.message, /sudo apt install python3\.12-venv$/);
  const good = machine.program('bin/python3.11', answer('3.11.2', 1));
  assert.deepEqual(await findPython(search), { path: good, version: '3.11.2' });
  const forbidden = await findPython({ ...search, forbidden: [machine.at('bin')] });
  assert.ok('because' in forbidden && forbidden.because === 'none');
});

test('the extension carries one wheel, or says that it carries none', posix, async () => {
  using machine = new Machine();
  assert.equal(await bundledWheel(machine.root), undefined);
  mkdirSync(machine.at('server'));
  writeFileSync(machine.at('server/kernelcast-0.1.0-py3-none-any.whl'), '');
  assert.equal(await bundledWheel(machine.root), machine.at('server/kernelcast-0.1.0-py3-none-any.whl'));
  assert.equal(readdirSync(machine.at('server')).length, 1);
});
