/** The extension's own settings. The server asks for its own through `workspace/configuration`. */

import { workspace, type Uri } from 'vscode';
import { PathProblem, resolvePath } from './server/paths.ts';
import type { NotFound } from './server/discovery.ts';
import { surroundings } from './surroundings.ts';

export interface ServerSettings {
  /** Absolute; empty when not set. */
  readonly path: string;
  readonly interpreter: string;
}

export function readServerSettings(): ServerSettings | NotFound {
  const read: Record<string, string> = {};
  for (const name of ['server.path', 'server.interpreter']) {
    try {
      read[name] = readPath(name);
    } catch (error) {
      if (error instanceof PathProblem) {
        return { because: 'setting', message: `The setting \`kernelcast.${name}\` cannot be used: ${error.message}.` };
      }
      throw error;
    }
  }
  return { path: read['server.path'] ?? '', interpreter: read['server.interpreter'] ?? '' };
}

/** By the environment and not by a flag, which a server of an earlier version would refuse. */
export function logEnvironment(): Record<string, string> {
  const level = workspace.getConfiguration('kernelcast').get<string>('log.level', 'warning');
  return level === 'warning' ? {} : { KERNELCAST_LOG_LEVEL: level };
}

export function affectsServer(change: { affectsConfiguration: (section: string) => boolean }): boolean {
  return change.affectsConfiguration('kernelcast.server') || change.affectsConfiguration('kernelcast.log');
}

/** One server serves the window: the window's value, else that of the first folder that sets one. */
function readPath(name: string): string {
  const scopes: (Uri | undefined)[] = [undefined, ...(workspace.workspaceFolders ?? []).map((folder) => folder.uri)];
  for (const scope of scopes) {
    const value = allowed(name, scope).trim();
    if (value !== '') {
      return resolvePath(value, surroundings(scope));
    }
  }
  return '';
}

/** In a workspace that is not trusted, only what the user set for all workspaces. */
function allowed(name: string, scope: Uri | undefined): string {
  const section = workspace.getConfiguration('kernelcast', scope);
  if (workspace.isTrusted) {
    return section.get<string>(name, '');
  }
  return section.inspect<string>(name)?.globalValue ?? '';
}
