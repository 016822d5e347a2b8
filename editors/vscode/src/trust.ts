/** Whether the user trusts the workspace: the server then measures, and its settings may name executables. */

import { workspace, type Disposable } from 'vscode';

export function isTrusted(): boolean {
  return workspace.isTrusted;
}

/** Trust is only ever granted while a window is open; withdrawing it reloads the window. */
export function onTrusted(granted: () => void): Disposable {
  return workspace.onDidGrantWorkspaceTrust(granted);
}

/** Folders whose contents must not be started. */
export function forbiddenFolders(): string[] {
  return workspace.isTrusted ? [] : (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
}
