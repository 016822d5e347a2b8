/** Registers a command so that whatever goes wrong in it ends in a sentence. */

import { CancellationError, commands, type Disposable } from 'vscode';
import { ResponseError } from 'vscode-languageclient/node';
import { Failure, RESTART, SHOW_LOGS } from '../failure.ts';
import { log } from '../log.ts';
import { complain, warn } from '../messages.ts';

const METHOD_NOT_FOUND = -32601;
const REQUEST_CANCELLED = -32800;

export function register(id: string, action: () => unknown): Disposable {
  return commands.registerCommand(id, async () => {
    try {
      await action();
    } catch (error) {
      explain(id, error);
    }
  });
}

function explain(id: string, error: unknown): void {
  if (error instanceof Failure) {
    warn(error.message, ...error.offers); // something the user can mend is no fault of ours
    return;
  }
  if (error instanceof CancellationError || (error instanceof ResponseError && error.code === REQUEST_CANCELLED)) {
    return;
  }
  log().error(`${id}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  if (error instanceof ResponseError && error.code === METHOD_NOT_FOUND) {
    complain(new Failure('The Kernelcast server is too old for this. Update it.', SHOW_LOGS));
  } else {
    complain(new Failure('Kernelcast could not do this; the log says more.', SHOW_LOGS, RESTART));
  }
}
