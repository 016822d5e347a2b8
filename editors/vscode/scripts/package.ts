/**
 * Everything that ships -> build/kernelcast-VERSION.vsix. A warning of vsce's is a failure.
 *
 * PICTURES_URL is the https address of this folder, from which the extension's page loads its pictures; releases set it.
 * If it is not set, the pictures are left out.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { bundle } from './bundle.ts';
import { withoutPictures } from './page.ts';
import { buildWheel } from './wheel.ts';

const LIMIT_BYTES = 22_000_000; // most of it the weights of the learned model

interface Manifest {
  readonly version: string;
  readonly repository: { readonly url: string; readonly directory: string };
}

const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const home = repository.url.replace(/\.git$/, '');
const target = `build/kernelcast-${version}.vsix`;

mkdirSync('build', { recursive: true });
await bundle();
buildWheel();
const page = readFileSync('README.md', 'utf8');
const picturesUrl = process.env['PICTURES_URL'];
writeFileSync('build/README.md', picturesUrl === undefined ? withoutPictures(page) : page);

const pictures = picturesUrl === undefined ? [] : ['--baseImagesUrl', picturesUrl];
const flags = ['--no-dependencies', '--baseContentUrl', `${home}/blob/main/${repository.directory}`, ...pictures];
const vsce = ['node_modules/@vscode/vsce/vsce', 'package', ...flags];
const told = spawnSync(process.execPath, [...vsce, '--readme-path', 'build/README.md', '--out', target], {
  encoding: 'utf8',
});
process.stdout.write(told.stdout);
process.stderr.write(told.stderr);
if (told.status !== 0 || /\bWARN/i.test(told.stdout + told.stderr)) {
  throw new Error('vsce package failed or warned: see above');
}
const size = statSync(target).size;
if (size >= LIMIT_BYTES) {
  rmSync(target);
  throw new Error(`${target} has ${size.toString()} bytes; it must stay below ${LIMIT_BYTES.toString()}`);
}
