/** The active environment of the Python extension, where that extension is there. */

import { PythonExtension, PVSC_EXTENSION_ID } from '@vscode/python-extension';
import { extensions, workspace, type Disposable } from 'vscode';
import { inWords, log } from './log.ts';

const PATIENCE_MS = 10_000; // it may be busy looking for environments; the server can do without it

export async function activeInterpreter(): Promise<string | undefined> {
  const api = await pythonApi();
  if (api === undefined) {
    return undefined;
  }
  try {
    const folder = workspace.workspaceFolders?.[0]?.uri;
    const active = api.environments.getActiveEnvironmentPath(folder);
    const environment = await inTime(api.environments.resolveEnvironment(active));
    return environment?.executable.uri?.fsPath;
  } catch (error) {
    log().info(`The Python extension names no active environment: ${inWords(error)}`);
    return undefined;
  }
}

/** Calls `changed` whenever the user picks another environment. */
export async function watchActiveInterpreter(changed: () => void): Promise<Disposable | undefined> {
  const api = await pythonApi();
  return api?.environments.onDidChangeActiveEnvironmentPath(changed);
}

async function pythonApi(): Promise<PythonExtension | undefined> {
  if (extensions.getExtension(PVSC_EXTENSION_ID) === undefined) {
    return undefined;
  }
  try {
    return await inTime(PythonExtension.api());
  } catch (error) {
    log().info(`The Python extension does not answer: ${inWords(error)}`);
    return undefined;
  }
}

async function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
