/** src/extension.ts and all it needs -> dist/extension.cjs, one file. */

import { build } from 'esbuild';

export async function bundle(): Promise<void> {
  await build({
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.cjs',
    bundle: true,
    external: ['vscode'],
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    conditions: ['node'],
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
}

if (import.meta.main) {
  await bundle();
}
