/** "Copy Debug Information": what a report of a fault should hold, and no source text. */

import * as os from 'node:os';
import { env, extensions, version, window, workspace, type ExtensionContext } from 'vscode';
import type { Server, ServerState } from '../client/server.ts';
import { inWords } from '../log.ts';
import { tell } from '../messages.ts';
import { SERVER } from '../protocol.ts';
import { isTrusted } from '../trust.ts';

export async function copyDebugInformation(context: ExtensionContext, server: Server): Promise<void> {
  const text = `${ownFacts(context, server)}\n${await serverFacts(server)}`.trimEnd();
  await env.clipboard.writeText(`${text.replaceAll(os.homedir(), '~')}\n`);
  tell('The debug information is in the clipboard.');
}

function ownFacts(context: ExtensionContext, server: Server): string {
  const { version: own } = context.extension.packageJSON as { version: string };
  const python = extensions.getExtension('ms-python.python');
  const facts: [string, string][] = [
    ['Extension', own],
    ['Editor', `${env.appName} ${version}`],
    ['Runs', `${env.remoteName ?? 'locally'}, ${process.platform} ${process.arch}, Node ${process.versions.node}`],
    ['Server', described(server.state)],
    ['Trusted workspace', isTrusted() ? 'yes' : 'no'],
    ['Folders open', (workspace.workspaceFolders ?? []).length.toString()],
    ['Device chosen', server.rememberedDevice ?? 'none'],
    ['Python extension', python === undefined ? 'not installed' : (python.packageJSON as { version: string }).version],
    ['Editors visible', window.visibleTextEditors.length.toString()],
  ];
  return ['## Kernelcast for VS Code', '', ...facts.map(([name, value]) => `- ${name}: ${value}`), ''].join('\n');
}

function described(state: ServerState): string {
  switch (state.kind) {
    case 'running':
      return `${state.server.version} at ${state.server.path}, found by ${state.server.origin}`;
    case 'missing':
      return state.why.message;
    case 'failed':
      return state.message;
    default:
      return state.kind;
  }
}

/** The server may be the very thing that does not work. */
async function serverFacts(server: Server): Promise<string> {
  if (server.running === undefined) {
    return '';
  }
  try {
    return (await server.execute<string>(SERVER.debugInformation, [])) ?? '';
  } catch (error) {
    return `The server gave no information: ${inWords(error)}`;
  }
}
