/** "Choose Device", "Calibrate Device" and "Learn Device". */

import { QuickPickItemKind, window, type QuickPickItem } from 'vscode';
import type { Server } from '../client/server.ts';
import { SERVER, type Device, type DeviceList } from '../protocol.ts';
import { mustBeTrusted } from './measure.ts';

interface Choice extends QuickPickItem {
  readonly id?: string;
}

/** The server's word for no choice, with which the settings and the machine decide again. */
const AUTOMATIC = 'auto';

/** Remembered for this workspace, and told to the server at each start. */
export async function selectDevice(server: Server): Promise<void> {
  const listing = server.execute<DeviceList>(SERVER.listDevices, []);
  const picked = await window.showQuickPick<Choice>(
    listing.then((list) => (list === undefined ? [] : choices(list))),
    {
      title: 'Which device are predictions and measurements for?',
      placeHolder: 'A device, by its name, id or platform',
      matchOnDescription: true,
      matchOnDetail: true,
    },
  );
  await listing; // a failure to list is the reason why there was nothing to pick
  if (picked?.id === undefined) {
    return;
  }
  const chosen = await server.execute<string | null>(SERVER.chooseDevice, [picked.id]);
  if (typeof chosen === 'string') {
    await server.rememberDevice(chosen === AUTOMATIC ? undefined : chosen);
  }
}

export async function calibrateDevice(server: Server): Promise<void> {
  await onDevice(server, SERVER.calibrate, 'Calibrate which device?');
}

/** It takes minutes, shows how far it is, and keeps what it has when it is cancelled. */
export async function learnDevice(server: Server): Promise<void> {
  await onDevice(server, SERVER.learn, 'Learn which device?');
}

/** The device in use if it is the only one here; else the user is asked which one. */
async function onDevice(server: Server, command: string, question: string): Promise<void> {
  mustBeTrusted();
  const list = await server.execute<DeviceList>(SERVER.listDevices, []);
  const here = list?.devices.filter((device) => device.here) ?? [];
  const device = here.length <= 1 ? here[0] : await pickFrom(here, list?.current, question);
  if (device !== undefined || here.length === 0) {
    // With no device here, the server says what to install.
    await server.execute(command, device === undefined ? [] : [device.id]);
  }
}

async function pickFrom(
  devices: readonly Device[],
  current: string | undefined,
  title: string,
): Promise<Device | undefined> {
  const items = devices.map((device) => ({ ...itemOf(device, current), device }));
  const picked = await window.showQuickPick(items, { title, matchOnDetail: true });
  return picked?.device;
}

function choices(list: DeviceList): Choice[] {
  const here = list.devices.filter((device) => device.here);
  const elsewhere = list.devices.filter((device) => !device.here);
  const items: Choice[] = [...headed('In this machine', here, list), ...headed('Predictions only', elsewhere, list)];
  if (list.chosen !== '') {
    items.push(
      { label: '', kind: QuickPickItemKind.Separator },
      {
        label: 'No choice',
        detail: 'Let kernelcast.toml, the setting kernelcast.device, or the machine decide',
        id: AUTOMATIC,
      },
    );
  }
  return items;
}

function headed(title: string, devices: readonly Device[], list: DeviceList): Choice[] {
  return devices.length === 0
    ? []
    : [
        { label: title, kind: QuickPickItemKind.Separator },
        ...devices.map((device) => ({ ...itemOf(device, list.current), id: device.id })),
      ];
}

function itemOf(device: Device, current: string | undefined): QuickPickItem {
  const facts = [device.id, device.type.toUpperCase(), device.platform, ...(device.calibrated ? ['calibrated'] : [])];
  return {
    label: device.name,
    ...(device.id === current ? { description: 'in use' } : {}),
    detail: facts.filter((fact) => fact !== '' && fact !== 'none').join(', '),
  };
}
