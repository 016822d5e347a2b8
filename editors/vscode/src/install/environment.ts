/**
 * The extension's own Python environment with the server in it, made from the wheel that the extension carries: both
 * always are of one version. Knows no editor, so that it can be tested.
 */

import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { executableIn } from '../server/discovery.ts';
import { run, type Outcome } from '../server/run.ts';

export interface Installation {
  /** The interpreter that the environment is made with. */
  readonly python: string;
  readonly wheel: string;
  /** Where the environment goes; what was there before is replaced. */
  readonly folder: string;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly step: (what: string) => void;
  readonly log: (line: string) => void;
}

/** Why it did not work, in words; or that the user cancelled. */
export type Installed = { readonly kind: 'done'; readonly embeddedDevice: boolean } | NotInstalled;
export interface NotInstalled {
  readonly kind: 'cancelled' | 'failed';
  readonly message: string;
}

const STAMP = 'kernelcast-wheel.sha256';

export async function install(wanted: Installation): Promise<Installed> {
  wanted.step('making a Python environment');
  await rm(wanted.folder, { recursive: true, force: true });
  const made = await tell(wanted, wanted.python, ['-I', '-m', 'venv', wanted.folder]);
  if (made.status !== 0) {
    return ended(wanted, made, 'Python could not make an environment');
  }
  wanted.step('installing the server and a CPU device (PoCL)');
  let embeddedDevice = true;
  let outcome = await pip(wanted, `${wanted.wheel}[pocl]`);
  if (outcome.status !== 0 && isMissingPocl(outcome)) {
    wanted.step('installing the server; there is no PoCL for this platform');
    embeddedDevice = false;
    outcome = await pip(wanted, wanted.wheel);
  }
  if (outcome.status !== 0) {
    return ended(wanted, outcome, 'pip could not install the server');
  }
  await writeFile(path.join(wanted.folder, STAMP), await digest(wanted.wheel));
  return { kind: 'done', embeddedDevice };
}

/** Whether the environment was made from another wheel than the extension carries now. */
export async function isStale(folder: string, wheel: string): Promise<boolean> {
  try {
    return (await readFile(path.join(folder, STAMP), 'utf8')).trim() !== (await digest(wheel));
  } catch {
    return true; // made by nobody we know, or not to the end
  }
}

/** The wheel in the extension's `server/`; undefined in a checkout where none was built. */
export async function bundledWheel(extension: string): Promise<string | undefined> {
  const folder = path.join(extension, 'server');
  try {
    const name = (await readdir(folder)).find((file) => /^kernelcast-.*\.whl$/.test(file));
    return name === undefined ? undefined : path.join(folder, name);
  } catch {
    return undefined;
  }
}

function pip(wanted: Installation, what: string): Promise<Outcome> {
  const python = path.join(
    path.dirname(executableIn(wanted.folder)),
    process.platform === 'win32' ? 'python.exe' : 'python',
  );
  const flags = ['--disable-pip-version-check', '--no-input', '--progress-bar', 'off'];
  return tell(wanted, python, ['-I', '-m', 'pip', 'install', ...flags, what]);
}

function tell(wanted: Installation, command: string, args: readonly string[]): Promise<Outcome> {
  wanted.log([command, ...args].join(' '));
  return run(command, args, { cwd: wanted.cwd, signal: wanted.signal, onLine: wanted.log });
}

function isMissingPocl(outcome: Outcome): boolean {
  return /No matching distribution found for pocl|Could not find a version .* pocl/.test(outcome.stderr);
}

/** A half-made environment would be found and fail, so none is left. */
async function ended(wanted: Installation, outcome: Outcome, what: string): Promise<NotInstalled> {
  await rm(wanted.folder, { recursive: true, force: true });
  if (outcome.problem === 'cancelled') {
    return { kind: 'cancelled', message: 'The installation was cancelled.' };
  }
  return { kind: 'failed', message: `${what}${because(outcome)}.` };
}

/** The usual reasons, in the user's words; otherwise the last thing that was said. */
function because(outcome: Outcome): string {
  const said = outcome.stderr;
  if (/No module named '?(ensurepip|venv)|ensurepip is not available/.test(said + outcome.stdout)) {
    return ': its module `venv` is missing; on Debian or Ubuntu, install python3-venv';
  }
  if (
    /Temporary failure in name resolution|Failed to establish a new connection|ConnectTimeout|Network is unreachable|ProxyError/i.test(
      said,
    )
  ) {
    return ': the package index cannot be reached; check the network, or the proxy that pip uses';
  }
  if (said.includes('No space left on device')) {
    return ': the disk is full';
  }
  const last = said
    .split(/\r?\n/)
    .filter((line) => /^\s*(ERROR|error)[: ]/.test(line))
    .at(-1);
  return last === undefined
    ? ''
    : ` (${last
        .trim()
        .replace(/^ERROR: /, '')
        .replace(/\.$/, '')})`;
}

async function digest(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
}
