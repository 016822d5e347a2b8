/** Makes the language client for one server process. */

import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type ErrorHandler,
  type LanguageClientOptions,
  type ServerOptions,
} from 'vscode-languageclient/node';
import { DOCUMENTS } from '../hosts.ts';
import { log } from '../log.ts';
import { STATUS, type Status } from '../protocol.ts';
import type { FoundServer } from '../server/discovery.ts';
import { pythonEnvironment } from '../server/environment.ts';
import { logEnvironment } from '../settings.ts';
import { isTrusted } from '../trust.ts';
import { middleware } from './middleware.ts';
import { ProgressNotifications } from './progress.ts';
import { StatusCapability } from './status_capability.ts';

export interface Listener {
  /** The device the user chose earlier in this workspace. */
  readonly rememberedDevice: () => string | undefined;
  readonly onStatus: (status: Status) => void;
}

export function createClient(server: FoundServer, cwd: string, listener: Listener): LanguageClient {
  const executable: ServerOptions = {
    command: server.path,
    args: ['serve', '--stdio'],
    options: { cwd, env: { ...pythonEnvironment(process.env), ...logEnvironment() } },
  };
  const progress = new ProgressNotifications(() => client);
  const options: LanguageClientOptions = {
    documentSelector: DOCUMENTS,
    initializationOptions: () => ({ trusted: isTrusted(), device: listener.rememberedDevice() ?? '' }),
    outputChannel: log(),
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    errorHandler: QUIET,
    initializationFailedHandler: () => false, // `start` fails with the reason
    middleware: middleware(() => client, progress),
  };
  const client = new QuietClient('kernelcast', 'Kernelcast', executable, options);
  client.registerFeature(new StatusCapability());
  client.onDidChangeState(({ newState }) => {
    if (newState !== State.Running) {
      progress.closeAll();
    }
  });
  client.onNotification(STATUS, listener.onStatus);
  return client;
}

/** The connection's end is no message of its own: whoever watches the client's state starts the server again. */
const QUIET: ErrorHandler = {
  error: (error) => {
    log().warn(`The connection to the server failed: ${error.message}`);
    return { action: ErrorAction.Continue, handled: true };
  },
  closed: () => ({ action: CloseAction.DoNotRestart, message: 'The server ended.', handled: true }),
};

/** What goes wrong between the two is for the log. The user is told in words of ours, and what to do. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}
