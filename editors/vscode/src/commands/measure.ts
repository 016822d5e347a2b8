/** The commands that run a launch of a kernel: as it is, at several sizes, beside others; and all kernels of a file. */

import { window } from 'vscode';
import type { Server } from '../client/server.ts';
import { Failure, MANAGE_TRUST } from '../failure.ts';
import { SERVER, type Kernel, type Launch } from '../protocol.ts';
import { isTrusted } from '../trust.ts';
import { activeTarget, kernelsOf, pickKernel } from './active.ts';

export async function measureKernel(server: Server): Promise<void> {
  await measureLaunch(server, SERVER.measure);
}

export async function measureKernelSizes(server: Server): Promise<void> {
  await measureLaunch(server, SERVER.measureSizes);
}

/** "Find a Faster Launch": the server shows what it found, and offers to write it. */
export async function tuneKernel(server: Server): Promise<void> {
  await measureLaunch(server, SERVER.tune);
}

async function measureLaunch(server: Server, command: string): Promise<void> {
  mustBeTrusted();
  const target = activeTarget(server);
  const kernel = await pickKernel(await kernelsOf(server, target), target.editor);
  const launch = kernel === undefined ? undefined : await pickLaunch(kernel);
  if (kernel !== undefined && launch !== undefined) {
    await server.execute(command, [target.uri, kernel.name, launch.id]);
  }
}

export async function measureFile(server: Server): Promise<void> {
  mustBeTrusted();
  const target = activeTarget(server);
  const kernels = await kernelsOf(server, target);
  if (kernels.length === 0) {
    throw new Failure('This file has no kernel: a function with the qualifier `__kernel`.');
  }
  await server.execute(SERVER.measureAll, [target.uri]);
}

/** The only one, or the one that the user picks; undefined when they turn away. */
export async function pickLaunch(kernel: Kernel): Promise<Launch | undefined> {
  const measurable = kernel.launches.filter((launch) => launch.measurable);
  if (measurable.length <= 1) {
    // One that cannot be measured is asked for all the same: the server says why it cannot.
    return measurable[0] ?? kernel.launches[0] ?? { id: '', title: '', measurable: false };
  }
  const items = measurable.map((launch) => ({ label: launch.title, launch }));
  const picked = await window.showQuickPick(items, { title: `Which launch of ${kernel.name}?` });
  return picked?.launch;
}

export function mustBeTrusted(): void {
  if (!isTrusted()) {
    throw new Failure(
      'Kernels are not run in a workspace that is not trusted: a kernel is a program. Predictions work all the same.',
      MANAGE_TRUST,
    );
  }
}
