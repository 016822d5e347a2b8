/** "Show Me Around": the walkthrough. */

import { commands } from 'vscode';

export async function showWalkthrough(): Promise<void> {
  await commands.executeCommand('workbench.action.openWalkthrough', 'kernelcast.kernelcast#kernelcast.start', false);
}
