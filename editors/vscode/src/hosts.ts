/** Host files: programs in Python, C and C++, some of which have kernels in string literals. */

import { Disposable, window, workspace, type DocumentSelector, type TextDocument } from 'vscode';
import { namesKernel } from './kernel_words.ts';

export const HOSTS: readonly string[] = ['python', 'c', 'cpp'];

/** Documents that are sent to the server once it runs. */
export const DOCUMENTS = ['opencl', ...HOSTS].flatMap((language) => [
  { language, scheme: 'file' },
  { language, scheme: 'untitled' },
  ...(language === 'python' ? [{ language, scheme: 'vscode-notebook-cell' }] : []),
]) satisfies DocumentSelector;

/** Whether a document is the server's business: a file of OpenCL C, or a host's that names a kernel. */
export function mayHoldKernel(document: TextDocument): boolean {
  return document.languageId === 'opencl' || (HOSTS.includes(document.languageId) && namesKernel(document.getText()));
}

export function kernelIsOpen(): boolean {
  return workspace.textDocuments.some(mayHoldKernel);
}

/** Calls `found` once, when a document comes, or becomes one, that may hold a kernel: nothing is started before. */
export function onFirstKernel(found: () => void): Disposable {
  let done = false;
  const look = (document: TextDocument): void => {
    if (!done && mayHoldKernel(document)) {
      done = true;
      found();
    }
  };
  const watching = [
    workspace.onDidOpenTextDocument(look),
    workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      // A keystroke in a host file costs a look at its line.
      const near =
        !done &&
        contentChanges.some(
          ({ range, text }) => text.includes('kernel') || document.lineAt(range.start.line).text.includes('kernel'),
        );
      if (near) {
        look(document);
      }
    }),
    window.onDidChangeActiveTextEditor((editor) => {
      if (editor !== undefined) {
        look(editor.document);
      }
    }),
  ];
  return Disposable.from(...watching);
}
