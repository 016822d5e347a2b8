/** "Apply a Fix and Measure It": an edit that stays only if it proves to be faster, with the same results. */

import { window } from 'vscode';
import type { Server } from '../client/server.ts';
import { Failure } from '../failure.ts';
import { SERVER, type Fix } from '../protocol.ts';
import { activeTarget, kernelsOf, pickKernel } from './active.ts';
import { mustBeTrusted, pickLaunch } from './measure.ts';

export async function fixKernel(server: Server): Promise<void> {
  mustBeTrusted();
  const target = activeTarget(server);
  const kernel = await pickKernel(await kernelsOf(server, target), target.editor);
  const launch = kernel === undefined ? undefined : await pickLaunch(kernel);
  if (kernel === undefined || launch === undefined) {
    return;
  }
  const fixes = (await server.execute<Fix[]>(SERVER.listFixes, [target.uri, kernel.name, launch.id])) ?? [];
  if (fixes.length === 0) {
    throw new Failure(`No fix is known that would make ${kernel.name} faster by 5 % or more.`);
  }
  if (!fixes.some((fix) => fix.measurable)) {
    throw new Failure('The device that predictions are for is not in this machine, so nothing can be measured on it.', {
      title: 'Choose Device',
      command: 'kernelcast.selectDevice',
    });
  }
  const fix = await pickFix(fixes, kernel.name);
  if (fix !== undefined) {
    await server.execute(SERVER.applyAndMeasure, [target.uri, kernel.name, fix.launch, fix.code, fix.title]);
  }
}

/** Asked for even of a single one: it edits the file. */
async function pickFix(fixes: readonly Fix[], kernel: string): Promise<Fix | undefined> {
  const items = fixes.map((fix) => ({
    label: fix.label,
    ...(fix.promise === '' ? {} : { detail: `Right only if ${fix.promise}.` }),
    fix,
  }));
  const picked = await window.showQuickPick(items, {
    title: `Which fix of ${kernel}? It is measured before and after.`,
  });
  return picked?.fix;
}
