/** "Show Performance Report": the server's own page, beside the editor, kept up to date while it can be seen. */

import { ViewColumn, window, workspace, type Disposable, type WebviewPanel } from 'vscode';
import { activeTarget, kernelAtCursor, kernelsOf } from './commands/active.ts';
import type { Server } from './client/server.ts';
import { inWords, log } from './log.ts';
import { SERVER, type Kernel, type Report } from './protocol.ts';
import { asWebviewPage } from './report_page.ts';

const SETTLE_MS = 400; // the page is drawn once the typing pauses, not at each key

export class Reports implements Disposable {
  private readonly server: Server;
  private readonly open = new Map<string, ReportPanel>();
  private readonly listener: Disposable;

  constructor(server: Server) {
    this.server = server;
    this.listener = server.onStatus((status) => {
      this.open.get(status.uri)?.noticed(status.revision);
    });
  }

  /** The kernel at the cursor, else the whole file; one panel per document. */
  async show(): Promise<void> {
    const target = activeTarget(this.server);
    const kernel = kernelAtCursor(await kernelsOf(this.server, target), target.editor)?.name ?? '';
    const report = await fetch(this.server, target.uri, kernel);
    if (report === undefined) {
      return;
    }
    let panel = this.open.get(target.uri);
    if (panel === undefined) {
      panel = new ReportPanel(this.server, target.uri);
      this.open.set(target.uri, panel);
      panel.onClosed(() => {
        this.open.delete(target.uri);
      });
    }
    panel.reveal(kernel, report);
  }

  dispose(): void {
    this.listener.dispose();
    [...this.open.values()].forEach((panel) => {
      panel.dispose();
    });
  }
}

class ReportPanel implements Disposable {
  private readonly server: Server;
  private readonly uri: string;
  private readonly panel: WebviewPanel;
  private kernel = '';
  private revision = -1;
  private stale = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(server: Server, uri: string) {
    this.server = server;
    this.uri = uri;
    const beside = { viewColumn: ViewColumn.Beside, preserveFocus: true };
    this.panel = window.createWebviewPanel('kernelcast.report', 'Performance Report', beside, {
      enableScripts: false,
      enableFindWidget: true,
      localResourceRoots: [],
    });
    this.panel.onDidChangeViewState(() => {
      this.refreshSoon();
    });
    this.panel.onDidDispose(() => {
      clearTimeout(this.timer);
    });
  }

  onClosed(then: () => void): void {
    this.panel.onDidDispose(then);
  }

  reveal(kernel: string, report: Report): void {
    this.kernel = kernel;
    this.draw(report);
    this.panel.reveal(undefined, true);
  }

  noticed(revision: number): void {
    if (revision !== this.revision) {
      this.revision = revision;
      this.stale = true;
      this.refreshSoon();
    }
  }

  dispose(): void {
    this.panel.dispose();
  }

  private refreshSoon(): void {
    clearTimeout(this.timer);
    if (this.stale && this.panel.visible) {
      this.timer = setTimeout(() => {
        void this.refresh();
      }, SETTLE_MS);
    }
  }

  private async refresh(): Promise<void> {
    this.stale = false;
    try {
      if (!(await this.isThere())) {
        return; // in the middle of being renamed, perhaps: the page keeps what was
      }
      const report = await fetch(this.server, this.uri, this.kernel);
      if (report !== undefined) {
        this.draw(report);
      }
    } catch (error) {
      log().info(`The report keeps its last state: ${inWords(error)}`);
    }
  }

  /** The server tells the user of what it cannot report on; nobody has asked for this page just now. */
  private async isThere(): Promise<boolean> {
    if (!workspace.textDocuments.some((document) => this.server.uriOf(document) === this.uri)) {
      return false;
    }
    const kernels = (await this.server.execute<Kernel[]>(SERVER.listKernels, [this.uri])) ?? [];
    return kernels.some((kernel) => this.kernel === '' || kernel.name === this.kernel);
  }

  private draw(report: Report): void {
    this.panel.title = report.title;
    const page = asWebviewPage(report.html);
    if (this.panel.webview.html !== page) {
      this.panel.webview.html = page; // and not otherwise: drawing anew would lose the scroll position
    }
  }
}

function fetch(server: Server, uri: string, kernel: string): Promise<Report | undefined> {
  return server.execute<Report>(SERVER.report, [uri, kernel, 'content']);
}
