/** Where the server may be, in the order in which it is looked for. Knows no editor, so that it can be tested. */

import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import * as path from 'node:path';
import { liesInside } from './paths.ts';
import { run } from './run.ts';

export type Origin = 'setting' | 'interpreter setting' | 'Python extension' | 'own environment' | 'PATH';

export interface FoundServer {
  readonly path: string;
  readonly version: string;
  readonly origin: Origin;
}

export interface Wanted {
  /** Resolved values of the two settings; empty when not set. */
  readonly serverPath: string;
  readonly interpreter: string;
  /** The active environment's interpreter, asked for only when it is its turn. */
  readonly activeInterpreter: () => Promise<string | undefined>;
  /** The folder of the extension's own environment, there or not. */
  readonly ownEnvironment: string;
  readonly searchPath: string;
  /** Nothing in these is run: the folders of a workspace that is not trusted. */
  readonly forbidden: readonly string[];
  /** A folder that is not the user's workspace, to start programs in. */
  readonly cwd: string;
  readonly log: (line: string) => void;
}

/** No server, and why: `setting` when a setting of the user's leads nowhere, else nothing was found anywhere. */
export interface NotFound {
  readonly because: 'setting' | 'nothing';
  readonly message: string;
}

const WINDOWS = process.platform === 'win32';
const VERSION_TIMEOUT_MS = 30_000; // the first start of a fresh environment compiles its modules

/** What the user set explicitly is taken or complained of, never passed over in silence. */
export async function findServer(wanted: Wanted): Promise<FoundServer | NotFound> {
  if (wanted.serverPath !== '') {
    const outcome = await verify(wanted.serverPath, 'setting', wanted);
    return 'version' in outcome ? outcome : blame('kernelcast.server.path', outcome);
  }
  if (wanted.interpreter !== '') {
    const outcome = await besideInterpreter(wanted.interpreter, 'interpreter setting', wanted);
    return 'version' in outcome ? outcome : blame('kernelcast.server.interpreter', outcome);
  }
  for await (const outcome of guesses(wanted)) {
    if ('version' in outcome) {
      return outcome;
    }
    wanted.log(outcome.message);
  }
  return { because: 'nothing', message: 'No Kernelcast server was found on this machine.' };
}

interface Unusable {
  readonly message: string;
}

async function* guesses(wanted: Wanted): AsyncGenerator<FoundServer | Unusable> {
  const active = await wanted.activeInterpreter();
  if (active !== undefined) {
    yield besideInterpreter(active, 'Python extension', wanted);
  }
  yield verify(executableIn(wanted.ownEnvironment), 'own environment', wanted);
  for (const folder of wanted.searchPath.split(path.delimiter)) {
    const file = path.join(folder, WINDOWS ? 'kernelcast.exe' : 'kernelcast');
    if (path.isAbsolute(folder) && (await isExecutable(file))) {
      yield verify(file, 'PATH', wanted);
    }
  }
}

/** The console script of an environment that was made by `python -m venv`. */
export function executableIn(environment: string): string {
  return WINDOWS ? path.join(environment, 'Scripts', 'kernelcast.exe') : path.join(environment, 'bin', 'kernelcast');
}

/** The interpreter says where its scripts are: beside it, or in the user's own folder. */
async function besideInterpreter(interpreter: string, origin: Origin, wanted: Wanted): Promise<FoundServer | Unusable> {
  const refused = await unfit(interpreter, wanted);
  if (refused !== undefined) {
    return { message: refused };
  }
  const asked = await run(interpreter, ['-I', '-c', WHERE_SCRIPTS_ARE], {
    cwd: wanted.cwd,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  const folders = asked.status === 0 ? asked.stdout.split(/\r?\n/).filter((line) => line !== '') : [];
  if (folders.length === 0) {
    return { message: `\`${interpreter}\` is not a Python interpreter that runs` };
  }
  for (const folder of folders) {
    const file = path.join(folder, WINDOWS ? 'kernelcast.exe' : 'kernelcast');
    if (await isExecutable(file)) {
      return verify(file, origin, wanted);
    }
  }
  return { message: `\`${interpreter}\` has no Kernelcast in its environment` };
}

const WHERE_SCRIPTS_ARE = `
import sysconfig
print(sysconfig.get_path("scripts"))
try:
    print(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
except Exception:
    pass
`;

/** A server is one that says its version. */
async function verify(file: string, origin: Origin, wanted: Wanted): Promise<FoundServer | Unusable> {
  const refused = await unfit(file, wanted);
  if (refused !== undefined) {
    return { message: refused };
  }
  const asked = await run(file, ['--version'], { cwd: wanted.cwd, timeoutMs: VERSION_TIMEOUT_MS });
  const version = /^kernelcast (\d\S*)/m.exec(asked.stdout)?.[1];
  if (asked.status === 0 && version !== undefined) {
    return { path: file, version, origin };
  }
  for (const line of asked.stderr.split(/\r?\n/).slice(-8)) {
    wanted.log(line);
  }
  return { message: `\`${file}\` ${complaint(asked)}` };
}

function complaint(asked: Awaited<ReturnType<typeof run>>): string {
  switch (asked.problem) {
    case 'not started':
      return `cannot be started (${asked.reason ?? 'no reason given'})`;
    case 'timed out':
      return 'did not say its version in time';
    default:
      return 'is not a Kernelcast that runs: `--version` gave no version';
  }
}

/** Why this file is not even tried. */
async function unfit(file: string, wanted: Wanted): Promise<string | undefined> {
  if (!(await isExecutable(file))) {
    return `\`${file}\` ${(await exists(file)) ? 'is not an executable file' : 'does not exist'}`;
  }
  // Both where it stands and where it leads: a link is no way round.
  const places = [path.resolve(file), await realpath(file), await realpath(path.dirname(file))];
  const forbidden = await Promise.all(wanted.forbidden.map((folder) => realpath(folder).catch(() => folder)));
  if (places.some((place) => liesInside(place, [...forbidden, ...wanted.forbidden]))) {
    return `\`${file}\` lies inside a workspace that is not trusted, and is not started`;
  }
  return undefined;
}

function blame(setting: string, outcome: Unusable): NotFound {
  return { because: 'setting', message: `The setting \`${setting}\` leads to no server: ${outcome.message}.` };
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, WINDOWS ? constants.F_OK : constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch {
    return false;
  }
}
