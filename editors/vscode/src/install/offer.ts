/** "Install Server", and the offer to bring an installed one up to date. */

import * as path from 'node:path';
import { mkdir } from 'node:fs/promises';
import { ProgressLocation, Uri, window, type ExtensionContext } from 'vscode';
import type { Server } from '../client/server.ts';
import { Failure, OPEN_SETTINGS, SHOW_LOGS } from '../failure.ts';
import { log } from '../log.ts';
import { tell } from '../messages.ts';
import { activeInterpreter } from '../python.ts';
import { readServerSettings } from '../settings.ts';
import { forbiddenFolders } from '../trust.ts';
import { bundledWheel, install, isStale, type Installed } from './environment.ts';
import { findPython } from './python_search.ts';

export function ownEnvironment(context: ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, 'server');
}

export class Installer {
  private readonly context: ExtensionContext;
  private readonly server: Server;
  private busy = false;

  constructor(context: ExtensionContext, server: Server) {
    this.context = context;
    this.server = server;
  }

  async install(): Promise<void> {
    if (this.busy) {
      return;
    }
    this.busy = true;
    try {
      await this.installOnce();
    } finally {
      this.busy = false;
    }
  }

  /** After an update of the extension, its own environment still holds the server of before. */
  async offerUpdate(): Promise<void> {
    const wheel = await bundledWheel(this.context.extensionPath);
    if (wheel === undefined || !(await isStale(ownEnvironment(this.context), wheel))) {
      return;
    }
    const picked = await window.showInformationMessage(
      'The installed Kernelcast server is of another version than the extension.',
      'Update Server',
      'Not Now',
    );
    if (picked === 'Update Server') {
      await this.install();
    }
  }

  private async installOnce(): Promise<void> {
    const wheel = await bundledWheel(this.context.extensionPath);
    if (wheel === undefined) {
      throw new Failure('This build of the extension carries no server to install.', OPEN_SETTINGS);
    }
    const cwd = this.context.globalStorageUri.fsPath;
    await mkdir(cwd, { recursive: true });
    const python = await this.python(cwd);
    await this.server.stop('installing'); // files of a server that runs cannot be replaced everywhere
    const done = await this.withProgress(python, wheel, cwd);
    await this.server.restart();
    if (done.kind === 'failed') {
      throw new Failure(`The Kernelcast server was not installed. ${done.message}`, SHOW_LOGS, OPEN_SETTINGS);
    }
    if (done.kind === 'done') {
      this.tellHowItStands(done.embeddedDevice);
    }
  }

  private async python(cwd: string): Promise<string> {
    const settings = readServerSettings();
    const named = 'because' in settings || settings.interpreter === '' ? [] : [settings.interpreter];
    const active = await activeInterpreter();
    const found = await findPython({
      preferred: [...named, ...(active === undefined ? [] : [active])],
      searchPath: process.env['PATH'] ?? '',
      forbidden: forbiddenFolders(),
      cwd,
    });
    if ('because' in found) {
      const offers =
        found.because === 'no venv' ? [] : [{ title: 'Get Python', command: 'vscode.open', arguments: [PYTHON] }];
      throw new Failure(found.message, ...offers, OPEN_SETTINGS);
    }
    log().info(`Installing with ${found.path} (Python ${found.version})`);
    return found.path;
  }

  private withProgress(python: string, wheel: string, cwd: string): Thenable<Installed> {
    const where = {
      location: ProgressLocation.Notification,
      title: 'Installing the Kernelcast server',
      cancellable: true,
    };
    return window.withProgress(where, (progress, cancelled) => {
      const abort = new AbortController();
      cancelled.onCancellationRequested(() => {
        abort.abort();
      });
      return install({
        python,
        wheel,
        folder: ownEnvironment(this.context),
        cwd,
        signal: abort.signal,
        step: (message) => {
          progress.report({ message });
        },
        log: (line) => {
          log().info(line);
        },
      });
    });
  }

  /** A setting goes before the new environment: then the user must know that it is not the one in use. */
  private tellHowItStands(embeddedDevice: boolean): void {
    const state = this.server.state;
    if (state.kind === 'running' && state.server.origin !== 'own environment') {
      tell(`The server is installed, but another one is in use (${state.server.path}).`, OPEN_SETTINGS);
    } else if (state.kind === 'running') {
      const device = embeddedDevice ? '' : ' No CPU device was installed with it: there is none for this platform.';
      tell(`The Kernelcast server is installed.${device}`, TOUR);
    }
  }
}

const PYTHON = Uri.parse('https://www.python.org/downloads/');
const TOUR = { title: 'Show Me Around', command: 'kernelcast.showWalkthrough' };
