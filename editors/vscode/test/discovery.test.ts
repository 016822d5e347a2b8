import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { findServer } from '../src/server/discovery.ts';
import { Machine } from './machine.ts';

const posix = { skip: process.platform === 'win32' ? 'the stand-ins are shell scripts' : false };

test('what the user set goes before everything else', posix, async () => {
  using machine = new Machine();
  const set = machine.server('set/kernelcast', '0.1.7');
  machine.server('own/bin/kernelcast');
  const found = await findServer(machine.wanted({ serverPath: set, interpreter: '/usr/bin/python3' }));
  assert.deepEqual(found, { path: set, version: '0.1.7', origin: 'setting' });
});

test('an interpreter stands for the server in its environment', posix, async () => {
  using machine = new Machine();
  const python = machine.interpreter('venv/bin/python', 'venv/bin');
  const server = machine.server('venv/bin/kernelcast');
  const found = await findServer(machine.wanted({ interpreter: python }));
  assert.deepEqual(found, { path: server, version: '0.1.0', origin: 'interpreter setting' });
});

test('the rest comes in order: the active environment, our own, PATH', posix, async () => {
  using machine = new Machine();
  const wanted = machine.wanted({
    activeInterpreter: () => Promise.resolve(machine.at('active/bin/python')),
    searchPath: [machine.at('nothing'), machine.at('path')].join(path.delimiter),
  });
  const origin = async (): Promise<string> => {
    const found = await findServer(wanted);
    return 'origin' in found ? found.origin : found.because;
  };
  assert.equal(await origin(), 'nothing');
  machine.server('path/kernelcast');
  assert.equal(await origin(), 'PATH');
  machine.server('own/bin/kernelcast');
  assert.equal(await origin(), 'own environment');
  machine.interpreter('active/bin/python', 'active/bin');
  assert.equal(await origin(), 'own environment'); // an environment without Kernelcast is passed over
  machine.server('active/bin/kernelcast');
  assert.equal(await origin(), 'Python extension');
});

test('a setting that leads nowhere is complained of, not passed over', posix, async () => {
  using machine = new Machine();
  machine.server('own/bin/kernelcast');
  const absent = await findServer(machine.wanted({ serverPath: machine.at('absent') }));
  assert.deepEqual(absent, {
    because: 'setting',
    message: `The setting \`kernelcast.server.path\` leads to no server: \`${machine.at('absent')}\` does not exist.`,
  });
  const bare = await findServer(machine.wanted({ interpreter: machine.interpreter('bare/python', 'bare') }));
  assert.ok('message' in bare);
  assert.match(
    bare.message,
    /`kernelcast\.server\.interpreter` leads to no server: .* has no Kernelcast in its environment/,
  );
});

test('a folder is no executable, and a program that says no version is no server', posix, async () => {
  using machine = new Machine();
  machine.server('folder/kernelcast');
  const folder = await findServer(machine.wanted({ serverPath: machine.at('folder') }));
  assert.ok('message' in folder);
  assert.match(folder.message, /is not an executable file/);
  const other = machine.program('other', 'echo "Traceback: no module named server" >&2; exit 1');
  const impostor = await findServer(machine.wanted({ serverPath: other }));
  assert.ok('message' in impostor);
  assert.match(impostor.message, /`--version` gave no version/);
  assert.ok(
    machine.logged.some((line) => line.includes('no module named server')),
    'its words are in the log',
  );
});

test('nothing inside a workspace that is not trusted is started, by whatever way it is reached', posix, async () => {
  using machine = new Machine();
  const ran = machine.at('ran');
  const inside = machine.program('work/venv/bin/kernelcast', `touch "${ran}"; echo kernelcast 0.1.0`);
  machine.program('work/venv/bin/python', `touch "${ran}"; echo "${machine.at('work/venv/bin')}"`);
  machine.link('links/kernelcast', inside);
  machine.link('folders/bin', machine.at('work/venv/bin'));
  for (const more of [
    { serverPath: inside },
    { interpreter: machine.at('work/venv/bin/python') },
    { activeInterpreter: () => Promise.resolve(machine.at('work/venv/bin/python')) },
    { searchPath: machine.at('work/venv/bin') },
    { searchPath: machine.at('links') },
    { searchPath: machine.at('folders/bin') },
  ]) {
    const found = await findServer(machine.wanted({ ...more, forbidden: [machine.at('work')] }));
    assert.ok('because' in found, JSON.stringify(more));
  }
  const { existsSync } = await import('node:fs');
  assert.ok(!existsSync(ran));
});

test('PATH is searched in absolute folders only', posix, async () => {
  using machine = new Machine();
  machine.server('here/kernelcast');
  const found = await findServer(
    machine.wanted({ cwd: machine.at('here'), searchPath: ['', '.', 'here'].join(path.delimiter) }),
  );
  assert.ok('because' in found);
});

test('a server is asked for its version without the import paths of the workspace', posix, async () => {
  using machine = new Machine();
  const curious = machine.program('kernelcast', 'echo "kernelcast 1.${PYTHONPATH:-none}.$PYTHONSAFEPATH"');
  process.env['PYTHONPATH'] = '/somebody/elses/model';
  try {
    const found = await findServer(machine.wanted({ serverPath: curious }));
    assert.ok('version' in found);
    assert.equal(found.version, '1.none.1');
  } finally {
    delete process.env['PYTHONPATH'];
  }
});
