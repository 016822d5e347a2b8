/** What users may write into path settings, and where the result may lie. Knows no editor, so that it can be tested. */

import * as path from 'node:path';

export interface Folder {
  readonly name: string;
  readonly path: string;
}

export interface Surroundings {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In the editor's order; the first is meant by a plain `${workspaceFolder}` unless `folder` says otherwise. */
  readonly folders: readonly Folder[];
  /** The folder whose settings are read, in a multi-root workspace. */
  readonly folder?: Folder | undefined;
}

/** A setting that cannot be resolved, in the user's words. */
export class PathProblem extends Error {}

/** Replaces a leading `~` and the variables VS Code's users know; anything else stays as it was written. */
export function expand(text: string, around: Surroundings): string {
  const home = text.replace(/^~(?=$|[/\\])/, () => around.home);
  return home.replace(/\$\{([^}:]+)(?::([^}]*))?\}/g, (whole, name: string, argument: string | undefined) => {
    switch (name) {
      case 'workspaceFolder':
        return folderPath(argument, around);
      case 'userHome':
        return around.home;
      case 'env':
        return around.env[argument ?? ''] ?? '';
      default:
        return whole;
    }
  });
}

/** An absolute path. A relative one is meant from the workspace folder, as elsewhere in VS Code's settings. */
export function resolvePath(text: string, around: Surroundings): string {
  const expanded = expand(text.trim(), around);
  if (path.isAbsolute(expanded)) {
    return path.normalize(expanded);
  }
  const base = around.folder ?? around.folders[0];
  if (base === undefined) {
    throw new PathProblem(`\`${text}\` is relative, and no folder is open that it could be relative to`);
  }
  return path.resolve(base.path, expanded);
}

/** Whether `file` is one of the folders or lies inside one. Both sides should have their links resolved. */
export function liesInside(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    const between = path.relative(folder, file);
    return between === '' || (between.split(path.sep)[0] !== '..' && !path.isAbsolute(between));
  });
}

function folderPath(name: string | undefined, around: Surroundings): string {
  const folder =
    name === undefined ? (around.folder ?? around.folders[0]) : around.folders.find((one) => one.name === name);
  if (folder !== undefined) {
    return folder.path;
  }
  throw new PathProblem(
    name === undefined
      ? '`${workspaceFolder}` is used, and no folder is open'
      : `\`\${workspaceFolder:${name}}\` is used, and no open folder has that name`,
  );
}
