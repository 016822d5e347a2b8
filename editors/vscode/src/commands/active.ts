/** The kernel that a command is about: the one at the cursor. */

import { window, type TextEditor } from 'vscode';
import type { Server } from '../client/server.ts';
import { Failure } from '../failure.ts';
import { mayHoldKernel } from '../hosts.ts';
import { SERVER, type Kernel } from '../protocol.ts';

const EXAMPLE = { title: 'Open an Example Kernel', command: 'kernelcast.openExample' };

export interface Target {
  readonly editor: TextEditor;
  readonly uri: string;
}

/** The active editor; else, when something like the walkthrough is active, the file with kernels beside it. */
export function activeTarget(server: Server): Target {
  const editors = [window.activeTextEditor, ...window.visibleTextEditors];
  const editor = editors.find((one) => one !== undefined && mayHoldKernel(one.document));
  if (editor === undefined) {
    throw new Failure('Open an OpenCL file first, or a program that has kernels in it.', EXAMPLE);
  }
  return { editor, uri: server.uriOf(editor.document) };
}

export async function kernelsOf(server: Server, target: Target): Promise<readonly Kernel[]> {
  return (await server.execute<Kernel[]>(SERVER.listKernels, [target.uri])) ?? [];
}

/** The kernel on whose lines the cursor is. */
export function kernelAtCursor(kernels: readonly Kernel[], editor: TextEditor): Kernel | undefined {
  const line = editor.selection.active.line;
  return kernels.find((kernel) => kernel.range.start.line <= line && line <= kernel.range.end.line);
}

/** The one at the cursor, the only one, or the one that the user picks; undefined when they turn away. */
export async function pickKernel(kernels: readonly Kernel[], editor: TextEditor): Promise<Kernel | undefined> {
  const here = kernelAtCursor(kernels, editor);
  if (here !== undefined) {
    return here;
  }
  if (kernels.length <= 1) {
    if (kernels[0] === undefined) {
      throw new Failure('This file has no kernel: a function with the qualifier `__kernel`.');
    }
    return kernels[0];
  }
  const items = kernels.map((kernel) => ({
    label: kernel.name,
    description: kernel.label,
    detail: `line ${(kernel.line + 1).toString()}`,
    kernel,
  }));
  const picked = await window.showQuickPick(items, { title: 'Which kernel?', matchOnDescription: true });
  return picked?.kernel;
}
