import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expand, liesInside, PathProblem, resolvePath, type Surroundings } from '../src/server/paths.ts';

const AROUND: Surroundings = {
  home: '/home/ada',
  env: { TOOLS: '/opt/tools' },
  folders: [
    { name: 'kernels', path: '/src/kernels' },
    { name: 'host', path: '/src/host code' },
  ],
};

test('a tilde is the home folder, at the beginning only', () => {
  assert.equal(resolvePath('~/bin/kernelcast', AROUND), '/home/ada/bin/kernelcast');
  assert.equal(resolvePath('~', AROUND), '/home/ada');
  assert.equal(resolvePath('/data/~/kernelcast', AROUND), '/data/~/kernelcast');
  assert.equal(expand('~other/x', AROUND), '~other/x');
});

test('variables stand for the folders of the workspace and for the environment', () => {
  assert.equal(resolvePath('${workspaceFolder}/.venv/bin/python', AROUND), '/src/kernels/.venv/bin/python');
  assert.equal(resolvePath('${workspaceFolder:host}/x', AROUND), '/src/host code/x');
  assert.equal(resolvePath('${env:TOOLS}/kernelcast', AROUND), '/opt/tools/kernelcast');
  assert.equal(resolvePath('${userHome}/x', AROUND), '/home/ada/x');
});

test('a setting of a folder means that folder', () => {
  const inHost = { ...AROUND, folder: AROUND.folders[1] };
  assert.equal(resolvePath('${workspaceFolder}/x', inHost), '/src/host code/x');
  assert.equal(resolvePath('tools/x', inHost), '/src/host code/tools/x');
});

test('what is unknown stays as it was written', () => {
  assert.equal(expand('-DX=${command:ask} ${nothing}', AROUND), '-DX=${command:ask} ${nothing}');
  assert.equal(expand('${env:UNSET}/x', AROUND), '/x');
});

test('a path that cannot be resolved is a sentence that names the cause', () => {
  const nowhere = { ...AROUND, folders: [] };
  assert.throws(() => resolvePath('${workspaceFolder}/x', nowhere), PathProblem);
  assert.throws(() => resolvePath('bin/x', nowhere), /`bin\/x` is relative, and no folder is open/);
  assert.throws(() => resolvePath('${workspaceFolder:nope}/x', AROUND), /no open folder has that name/);
});

test('inside means inside, not beside with a longer name', () => {
  assert.ok(liesInside('/src/kernels', ['/src/kernels']));
  assert.ok(liesInside('/src/kernels/.venv/bin/python', ['/src/kernels']));
  assert.ok(liesInside('/src/kernels/..data/x', ['/src/kernels']));
  assert.ok(!liesInside('/src/kernels2/x', ['/src/kernels']));
  assert.ok(!liesInside('/src', ['/src/kernels']));
  assert.ok(!liesInside('/usr/bin/python3', []));
});
