/** What the editor knows about the workspace, in the words of `server/paths.ts`. */

import * as os from 'node:os';
import { Uri, workspace } from 'vscode';
import type { Surroundings } from './server/paths.ts';

/** For settings read in the scope of `resource`; without one, for the window. */
export function surroundings(resource?: Uri): Surroundings {
  const folders = (workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === 'file')
    .map((folder) => ({ name: folder.name, path: folder.uri.fsPath }));
  const around = resource === undefined ? undefined : workspace.getWorkspaceFolder(resource);
  return {
    home: os.homedir(),
    env: process.env,
    folders,
    folder: around === undefined ? undefined : { name: around.name, path: around.uri.fsPath },
  };
}
