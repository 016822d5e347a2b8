/** The table of contents: what this extension adds to the editor, and where. */

import { commands, workspace, type ExtensionContext } from 'vscode';
import { Server } from './client/server.ts';
import { writeLaunchAnnotation } from './commands/annotation.ts';
import { compareDevices } from './commands/compare.ts';
import { copyDebugInformation } from './commands/debug_information.ts';
import { calibrateDevice, learnDevice, selectDevice } from './commands/devices.ts';
import { openExample } from './commands/example.ts';
import { fixKernel } from './commands/fixes.ts';
import { measureFile, measureKernel, measureKernelSizes, tuneKernel } from './commands/measure.ts';
import { showProgram } from './commands/program.ts';
import { register } from './commands/register.ts';
import { showWalkthrough } from './commands/walkthrough.ts';
import { kernelIsOpen, onFirstKernel } from './hosts.ts';
import { Installer } from './install/offer.ts';
import { closeLog, log } from './log.ts';
import { complain } from './messages.ts';
import { watchActiveInterpreter } from './python.ts';
import { Reports } from './report.ts';
import { search } from './search.ts';
import { affectsServer } from './settings.ts';
import { explainProblem, StatusItems } from './status.ts';
import { onTrusted } from './trust.ts';

let running: Server | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const server = new Server(context, () => search(context));
  const status = new StatusItems(server);
  const reports = new Reports(server);
  const installer = new Installer(context, server);
  const restart = async (): Promise<void> => {
    if (server.state.kind !== 'stopped') {
      await server.restart();
    }
  };
  running = server;

  context.subscriptions.push(
    { dispose: closeLog },
    status,
    reports,

    register('kernelcast.measureKernel', () => measureKernel(server)),
    register('kernelcast.measureKernelSizes', () => measureKernelSizes(server)),
    register('kernelcast.measureFile', () => measureFile(server)),
    register('kernelcast.tuneKernel', () => tuneKernel(server)),
    register('kernelcast.fixKernel', () => fixKernel(server)),
    register('kernelcast.compareKernelDevices', () => compareDevices(server)),
    register('kernelcast.selectDevice', () => selectDevice(server)),
    register('kernelcast.calibrateDevice', () => calibrateDevice(server)),
    register('kernelcast.learnDevice', () => learnDevice(server)),
    register('kernelcast.writeLaunchAnnotation', () => writeLaunchAnnotation(server)),
    register('kernelcast.showReport', () => reports.show()),
    register('kernelcast.showProgram', () => showProgram(server)),
    register('kernelcast.restartServer', () => restartOrExplain(server)),
    register('kernelcast.showLogs', () => {
      log().show();
    }),
    register('kernelcast.copyDebugInformation', () => copyDebugInformation(context, server)),
    register('kernelcast.installServer', () => installer.install()),
    register('kernelcast.openExample', openExample),
    register('kernelcast.showWalkthrough', showWalkthrough),
    commands.registerCommand('kernelcast.explainProblem', explainProblem),

    workspace.onDidChangeConfiguration((change) => {
      if (affectsServer(change)) {
        void restart();
      }
    }),
    workspace.onDidCloseTextDocument((document) => {
      status.forget(document);
    }),
    onTrusted(() => void restart()),
  );

  if (kernelIsOpen()) {
    await begin(server, installer);
  } else {
    context.subscriptions.push(
      onFirstKernel(() => {
        if (server.state.kind === 'stopped') {
          void begin(server, installer);
        }
      }),
    );
  }
  void followPython(context, server);
}

/** At the first document that may hold a kernel. */
async function begin(server: Server, installer: Installer): Promise<void> {
  await server.restart();
  sayOnceWhatIsMissing(server);
  if (server.state.kind === 'running' && server.state.server.origin === 'own environment') {
    void installer.offerUpdate();
  }
}

export async function deactivate(): Promise<void> {
  await running?.stop();
  running = undefined;
}

/** Once a window; the status item goes on saying it. */
function sayOnceWhatIsMissing(server: Server): void {
  if (server.state.kind === 'missing') {
    complain(server.notRunning());
  }
}

/** Asked for by the user, so its failure is told each time. */
async function restartOrExplain(server: Server): Promise<void> {
  await server.restart();
  if (server.state.kind === 'missing') {
    throw server.notRunning();
  }
}

/** Another active environment may hold another server, or the first one. */
async function followPython(context: ExtensionContext, server: Server): Promise<void> {
  const watching = await watchActiveInterpreter(() => {
    const { state } = server;
    const concerned =
      state.kind !== 'running'
        ? state.kind !== 'stopped'
        : !['setting', 'interpreter setting'].includes(state.server.origin);
    if (concerned) {
      void server.restart();
    }
  });
  if (watching !== undefined) {
    context.subscriptions.push(watching);
  }
}
