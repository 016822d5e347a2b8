/** The server's own package, as the wheel that the extension installs from. */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import * as path from 'node:path';

const REPOSITORY = path.resolve('../..');
const SOURCES = ['server', 'model', 'profiler', 'pyproject.toml', 'README.md', 'LICENSE'];

/** The dataset and what makes it: as large as all the rest. The generator of kernels is needed to learn a device. */
const OF_NO_USE_IN_AN_EDITOR = new Set([
  'profiler/device_worker/origins',
  'profiler/corpus/collection',
  'profiler/corpus/data',
  'profiler/corpus/dataset',
  'profiler/corpus/facts',
  'profiler/corpus/cluster',
  'profiler/corpus/origins',
  'profiler/corpus/pictures',
  'profiler/corpus/public',
]);

/** Built from a copy: setuptools leaves files beside the sources, and takes up those that it left before. */
export function buildWheel(): void {
  const copy = path.resolve('build/wheel');
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy, { recursive: true });
  for (const name of SOURCES) {
    cpSync(path.join(REPOSITORY, name), path.join(copy, name), {
      recursive: true,
      filter: (file) =>
        path.basename(file) !== '__pycache__' && !OF_NO_USE_IN_AN_EDITOR.has(path.relative(REPOSITORY, file)),
    });
  }
  rmSync('server', { recursive: true, force: true });
  const flags = ['--quiet', '--disable-pip-version-check', '--no-deps', '--wheel-dir', path.resolve('server')];
  execFileSync(python(), ['-m', 'pip', 'wheel', ...flags, '.'], {
    cwd: copy,
    stdio: 'inherit',
    // The same sources make the same bytes, so that an installed server is stale only if something changed.
    env: { ...process.env, SOURCE_DATE_EPOCH: '315532800' },
  });
  execFileSync(python(), ['scripts/stored.py', 'server'], { stdio: 'inherit' });
}

function python(): string {
  const ours = path.join(REPOSITORY, '.venv/bin/python');
  return existsSync(ours) ? ours : 'python3';
}
