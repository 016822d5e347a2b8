/** "Compare Devices": a kernel on the devices that the user picks, as a table beside the source. */

import { ViewColumn, window, workspace } from 'vscode';
import type { Server } from '../client/server.ts';
import { SERVER, type Comparison, type DeviceList } from '../protocol.ts';
import { activeTarget, kernelsOf, pickKernel } from './active.ts';
import { pickLaunch } from './measure.ts';

export async function compareDevices(server: Server): Promise<void> {
  const target = activeTarget(server);
  const kernel = await pickKernel(await kernelsOf(server, target), target.editor);
  const launch = kernel === undefined ? undefined : await pickLaunch(kernel);
  if (kernel === undefined || launch === undefined) {
    return;
  }
  const ids = await pickDevices(server, workspace.getConfiguration('kernelcast', target.editor.document));
  if (ids === undefined || ids.length === 0) {
    return;
  }
  const args = [target.uri, kernel.name, launch.id, ids.join(',')];
  const found = await server.execute<Comparison>(SERVER.compareDevices, args);
  if (found !== undefined) {
    const document = await workspace.openTextDocument({ content: found.text, language: 'plaintext' });
    await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preserveFocus: true, preview: true });
  }
}

/** All but the one in use; those of the setting are ticked. */
async function pickDevices(
  server: Server,
  settings: { get<Value>(name: string, otherwise: Value): Value },
): Promise<string[] | undefined> {
  const list = await server.execute<DeviceList>(SERVER.listDevices, []);
  const ticked = new Set(settings.get<string[]>('compareDevices', []));
  const items = (list?.devices ?? [])
    .filter((device) => device.id !== list?.current)
    .map((device) => ({ label: device.name, description: device.id, picked: ticked.has(device.id) }));
  const picked = await window.showQuickPick(items, {
    title: 'Which devices to compare with?',
    canPickMany: true,
    matchOnDescription: true,
  });
  return picked?.map((item) => item.description);
}
