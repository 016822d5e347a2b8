/** The language status items: which device, on what basis, busy with what, and what is wrong with what to do. */

import {
  commands,
  languages,
  LanguageStatusSeverity,
  window,
  type Command,
  type Disposable,
  type DocumentSelector,
  type LanguageStatusItem,
  type TextDocument,
} from 'vscode';
import type { Server, ServerState } from './client/server.ts';
import { MANAGE_TRUST } from './failure.ts';
import { headOf } from './headline.ts';
import { mayHoldKernel } from './hosts.ts';
import { tell, warn } from './messages.ts';
import type { Problem, Status } from './protocol.ts';
import { isTrusted } from './trust.ts';
import { unlinked } from './unlinked.ts';

const SELECTOR = { language: 'opencl' };
const CHOOSE: Command = { title: 'Choose Device', command: 'kernelcast.selectDevice' };
const LOGS: Command = { title: 'Show Logs', command: 'kernelcast.showLogs' };
const RESTART: Command = { title: 'Restart Server', command: 'kernelcast.restartServer' };

const SEVERITY = {
  error: LanguageStatusSeverity.Error,
  warning: LanguageStatusSeverity.Warning,
  information: LanguageStatusSeverity.Information,
};

/** Shows what the server last said of the active editor's document; each document may have a device of its own. */
export class StatusItems implements Disposable {
  private readonly server: Server;
  private readonly known = new Map<string, Status>();
  private readonly device: LanguageStatusItem;
  private problems: LanguageStatusItem[] = [];
  private shownProblems = '[]';
  private selector: DocumentSelector = SELECTOR;
  private readonly disposables: { dispose: () => unknown }[];

  constructor(server: Server) {
    this.server = server;
    this.device = languages.createLanguageStatusItem('kernelcast.device', SELECTOR);
    this.device.name = 'Kernelcast';
    this.disposables = [
      this.device,
      server.onStatus((status) => {
        this.known.set(status.uri, status);
        this.show();
      }),
      server.onDidChangeState((state) => {
        if (state.kind !== 'running') {
          this.known.clear();
        }
        this.show();
      }),
      window.onDidChangeActiveTextEditor(() => {
        this.show();
      }),
    ];
    this.show();
  }

  /** What is known of the document, for those who show more of it. */
  of(uri: string): Status | undefined {
    return this.known.get(uri);
  }

  forget(document: TextDocument): void {
    this.known.delete(this.server.uriOf(document));
  }

  dispose(): void {
    this.disposables.forEach((one) => void one.dispose());
    this.problems.forEach((item) => {
      item.dispose();
    });
  }

  private show(): void {
    const document = window.activeTextEditor?.document;
    const status = document === undefined ? undefined : this.known.get(this.server.uriOf(document));
    const isHost =
      status !== undefined && document !== undefined && document.languageId !== 'opencl' && mayHoldKernel(document);
    this.selector = isHost ? [SELECTOR, { language: document.languageId, pattern: document.uri.fsPath }] : SELECTOR;
    this.device.selector = this.selector;
    void commands.executeCommand('setContext', 'kernelcast.hasKernels', isHost);
    if (this.server.state.kind === 'running' && status !== undefined) {
      this.showDevice(status);
      this.showProblems(status.problems);
    } else {
      this.showServer(this.server.state);
      this.showProblems([]);
    }
  }

  private showDevice({ device, basis, busy }: Status): void {
    const where = device.here ? (device.calibrated ? 'calibrated' : 'not calibrated') : 'not in this machine';
    this.set(device.name, busy ?? `${basis}, ${where}`, LanguageStatusSeverity.Information, CHOOSE, busy !== null);
  }

  private showServer(state: ServerState): void {
    const { Information, Error } = LanguageStatusSeverity;
    switch (state.kind) {
      case 'running':
        this.set('Kernelcast', '', Information, CHOOSE, false);
        break;
      case 'starting':
        this.set('Kernelcast', 'starting', Information, LOGS, true);
        break;
      case 'installing':
        this.set('Kernelcast', 'installing the server', Information, LOGS, true);
        break;
      case 'stopped':
        this.set('Kernelcast', 'not running', Information, RESTART, false);
        break;
      case 'missing':
        this.set(
          'Kernelcast',
          state.why.because === 'setting' ? 'the server set is not there' : 'no server found',
          Error,
          { title: 'Install Server', command: 'kernelcast.installServer' },
          false,
        );
        break;
      case 'failed':
        this.set('Kernelcast', 'the server does not run', Error, RESTART, false);
        break;
    }
  }

  private set(text: string, detail: string, severity: LanguageStatusSeverity, command: Command, busy: boolean): void {
    Object.assign(this.device, { text: unlinked(text), detail: unlinked(detail), severity, command, busy });
  }

  private showProblems(problems: readonly Problem[]): void {
    const wanted = JSON.stringify([problems, this.selector]);
    if (wanted === this.shownProblems) {
      return;
    }
    this.shownProblems = wanted;
    this.problems.forEach((item) => {
      item.dispose();
    });
    this.problems = problems.map((problem, at) => {
      const item = languages.createLanguageStatusItem(`kernelcast.problem.${at.toString()}`, this.selector);
      item.name = 'Kernelcast Problem';
      item.text = unlinked(headOf(problem.message));
      item.severity = SEVERITY[problem.severity];
      item.command = commandOf(problem);
      return item;
    });
  }
}

/** Without a remedy of the server's, the whole message is what helps. */
function commandOf(problem: Problem): Command {
  if (problem.command === null) {
    return { title: 'Details', command: 'kernelcast.explainProblem', arguments: [problem] };
  }
  const { title, command, arguments: given } = problem.command;
  return { title, command, ...(given === undefined ? {} : { arguments: given }) };
}

/** The whole of what is wrong, for which the popup has no room. */
export function explainProblem(problem: Problem): void {
  const offers = isTrusted() ? [] : [MANAGE_TRUST];
  const show = problem.severity === 'information' ? tell : warn;
  show(problem.message, ...offers);
}
