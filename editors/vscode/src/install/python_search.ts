/** A Python to build the server's environment with. Knows no editor, so that it can be tested. */

import { accessSync, constants, realpathSync } from 'node:fs';
import * as path from 'node:path';
import { liesInside } from '../server/paths.ts';
import { run } from '../server/run.ts';

export interface Python {
  readonly path: string;
  readonly version: string;
}

/** Why none will do: none at all, all too old, or Debian's split-off venv. */
export interface NoPython {
  readonly because: 'none' | 'too old' | 'no venv';
  readonly message: string;
}

export interface PythonWanted {
  /** Tried first, in this order; for example the active environment's. */
  readonly preferred: readonly string[];
  readonly searchPath: string;
  readonly forbidden: readonly string[];
  readonly cwd: string;
}

const OLDEST: readonly [number, number] = [3, 11];
const NAMES = ['python3.13', 'python3.12', 'python3.11', 'python3.14', 'python3', 'python'];
const ASK = `
import importlib.util as u, sys
print(*sys.version_info[:3], int(all(u.find_spec(n) for n in ("venv", "ensurepip"))), sep=".")
print(sys.executable)
`;

export async function findPython(wanted: PythonWanted): Promise<Python | NoPython> {
  const tooOld: string[] = [];
  const withoutVenv: string[] = [];
  for (const candidate of candidates(wanted)) {
    const asked = await run(candidate, ['-I', '-c', ASK], { cwd: wanted.cwd, timeoutMs: 15_000 });
    const answer = /^(\d+)\.(\d+)\.(\d+)\.([01])\r?\n(.+)/.exec(asked.stdout);
    if (asked.status !== 0 || answer === null) {
      continue;
    }
    const [major, minor] = [Number(answer[1]), Number(answer[2])];
    const version = `${major.toString()}.${minor.toString()}.${answer[3] ?? ''}`;
    if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
      tooOld.push(version);
    } else if (answer[4] === '0') {
      withoutVenv.push(version);
    } else {
      return { path: (answer[5] ?? candidate).trim(), version };
    }
  }
  return none(tooOld, withoutVenv);
}

function none(tooOld: readonly string[], withoutVenv: readonly string[]): NoPython {
  if (withoutVenv[0] !== undefined) {
    const package_ = `python${withoutVenv[0].split('.').slice(0, 2).join('.')}-venv`;
    return {
      because: 'no venv',
      message: `Python ${withoutVenv[0]} is here, but not its module \`venv\`. On Debian or Ubuntu: sudo apt install ${package_}`,
    };
  }
  return tooOld[0] === undefined
    ? { because: 'none', message: 'No Python was found. Kernelcast needs Python 3.11 or newer.' }
    : { because: 'too old', message: `Kernelcast needs Python 3.11 or newer; found was only ${tooOld[0]}.` };
}

function candidates({ preferred, searchPath, forbidden }: PythonWanted): string[] {
  const windows = process.platform === 'win32';
  const names = windows ? ['python.exe', 'python3.exe'] : NAMES;
  const folders = searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const all = [...preferred, ...names.flatMap((name) => folders.map((folder) => path.join(folder, name)))];
  return [...new Set(all)].filter((file) => isThere(file) && !leadsInside(file, forbidden));
}

/** Where it stands or where its links lead. */
function leadsInside(file: string, forbidden: readonly string[]): boolean {
  return [path.resolve(file), realpathSync(file)].some((place) => liesInside(place, forbidden));
}

function isThere(file: string): boolean {
  try {
    accessSync(file, process.platform === 'win32' ? constants.F_OK : constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
