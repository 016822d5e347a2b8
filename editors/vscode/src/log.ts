/** The one place where the extension and the server write down what they do. */

import { window, type LogOutputChannel } from 'vscode';

let channel: LogOutputChannel | undefined;

/** Made at the first use, and closed with the extension. */
export function log(): LogOutputChannel {
  channel ??= window.createOutputChannel('Kernelcast', { log: true });
  return channel;
}

export function closeLog(): void {
  channel?.dispose();
  channel = undefined;
}

export function inWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
