/** Work that can be cancelled shows as a notification with a Cancel button, not as a word in the status bar. */

import { ProgressLocation, window } from 'vscode';
import {
  WorkDoneProgressCancelNotification,
  type BaseLanguageClient,
  type ProgressToken,
  type WorkDoneProgressBegin,
  type WorkDoneProgressEnd,
  type WorkDoneProgressReport,
} from 'vscode-languageclient/node';

const OUTCOME_STAYS_MS = 10_000; // the notification goes at once, and with it what came of the work

type Report = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

interface Bar {
  readonly report: (value: WorkDoneProgressBegin | WorkDoneProgressReport) => void;
  readonly close: () => void;
}

export class ProgressNotifications {
  private readonly bars = new Map<ProgressToken, Bar>();
  private readonly client: () => BaseLanguageClient;

  constructor(client: () => BaseLanguageClient) {
    this.client = client;
  }

  /** Hands on what it does not show itself, and every end, with which the client forgets the token. */
  handle(token: ProgressToken, value: Report, next: (token: ProgressToken, value: Report) => void): void {
    if (value.kind === 'begin' && value.cancellable === true) {
      this.bars.set(token, this.open(token, value));
      return;
    }
    const bar = this.bars.get(token);
    if (bar !== undefined && value.kind !== 'end') {
      bar.report(value);
      return;
    }
    if (bar !== undefined && value.kind === 'end' && value.message !== undefined) {
      window.setStatusBarMessage(value.message, OUTCOME_STAYS_MS);
    }
    bar?.close();
    this.bars.delete(token);
    next(token, value);
  }

  /** The server is gone, and with it whatever it was doing. */
  closeAll(): void {
    this.bars.forEach((bar) => {
      bar.close();
    });
    this.bars.clear();
  }

  private open(token: ProgressToken, first: WorkDoneProgressBegin): Bar {
    let report: Bar['report'] = () => undefined;
    let close: Bar['close'] = () => undefined;
    const done = new Promise<void>((resolve) => {
      close = resolve;
    });
    const where = { location: ProgressLocation.Notification, title: first.title, cancellable: true };
    void window.withProgress(where, (progress, cancelled) => {
      let reached = 0;
      report = (value) => {
        const percentage = Math.min(Math.max(value.percentage ?? reached, reached), 100);
        const step = percentage - reached;
        reached = percentage;
        progress.report({
          ...(value.message === undefined ? {} : { message: value.message }),
          ...(step > 0 ? { increment: step } : {}),
        });
      };
      report(first);
      cancelled.onCancellationRequested(() => {
        void this.client().sendNotification(WorkDoneProgressCancelNotification.type, { token });
      });
      return done;
    });
    return {
      report: (value) => {
        report(value);
      },
      close,
    };
  }
}
