/** Looks for the server with what the editor knows. */

import { mkdir } from 'node:fs/promises';
import type { ExtensionContext } from 'vscode';
import { ownEnvironment } from './install/offer.ts';
import { log } from './log.ts';
import { activeInterpreter } from './python.ts';
import { findServer, type FoundServer, type NotFound } from './server/discovery.ts';
import { readServerSettings } from './settings.ts';
import { forbiddenFolders } from './trust.ts';

export async function search(context: ExtensionContext): Promise<FoundServer | NotFound> {
  const settings = readServerSettings();
  if ('because' in settings) {
    return settings;
  }
  const cwd = context.globalStorageUri.fsPath;
  await mkdir(cwd, { recursive: true });
  return findServer({
    serverPath: settings.path,
    interpreter: settings.interpreter,
    activeInterpreter,
    ownEnvironment: ownEnvironment(context),
    searchPath: process.env['PATH'] ?? '',
    forbidden: forbiddenFolders(),
    cwd,
    log: (line) => {
      log().info(line);
    },
  });
}
