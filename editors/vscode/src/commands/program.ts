/** "Show Whole Program": the server's page about what was recorded last in this project, beside the editor. */

import { ViewColumn, window } from 'vscode';
import type { Server } from '../client/server.ts';
import { SERVER, type Report } from '../protocol.ts';
import { asWebviewPage } from '../report_page.ts';
import { activeTarget } from './active.ts';

export async function showProgram(server: Server): Promise<void> {
  const page = await server.execute<Report>(SERVER.program, [activeTarget(server).uri, 'content']);
  if (page === undefined) {
    return; // the server has said why
  }
  const beside = { viewColumn: ViewColumn.Beside, preserveFocus: true };
  const options = { enableScripts: false, enableFindWidget: true, localResourceRoots: [] };
  const panel = window.createWebviewPanel('kernelcast.program', page.title, beside, options);
  panel.webview.html = asWebviewPage(page.html);
}
