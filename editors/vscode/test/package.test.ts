import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { picturesOf, withoutPictures } from '../scripts/page.ts';

const FOLDER = path.resolve(import.meta.dirname, '..');

interface Media {
  readonly svg?: string;
  readonly image?: string | Record<string, string>;
}

interface Manifest {
  readonly version: string;
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly category?: string }[];
    readonly menus: Record<string, readonly { readonly command: string }[]>;
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly description: string; readonly media: Media }[];
    }[];
  };
}

const read = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8');
const picturesIn = ({ svg, image }: Media): string[] =>
  [svg, ...(typeof image === 'object' ? Object.values(image) : [image])].filter((name) => name !== undefined);
const manifest = JSON.parse(read('package.json')) as Manifest;
const declared = new Set(manifest.contributes.commands.map(({ command }) => command));

test('extension and server are of one version', () => {
  const project = /^version = "(.+)"$/m.exec(read('../../pyproject.toml'));
  assert.equal(manifest.version, project?.[1]);
  assert.ok(read('CHANGELOG.md').includes(`## ${manifest.version}\n`));
});

test('each declared command is registered, and has our category', () => {
  const registered = new Set([...read('src/extension.ts').matchAll(/register\('([^']+)'/g)].map(([, id]) => id));
  assert.deepEqual([...declared].sort(), [...registered].sort());
  assert.ok(manifest.contributes.commands.every(({ category }) => category === 'Kernelcast'));
});

test('menus and the walkthrough name commands and pictures that are there', () => {
  const inMenus = Object.values(manifest.contributes.menus).flat();
  assert.ok(inMenus.every(({ command }) => declared.has(command)));
  for (const step of manifest.contributes.walkthroughs.flatMap(({ steps }) => steps)) {
    const named = [...step.description.matchAll(/command:(kernelcast\.\w+)/g)].map(([, id]) => id ?? '');
    assert.ok(
      named.every((id) => declared.has(id)),
      step.description,
    );
    for (const picture of picturesIn(step.media)) {
      assert.ok(existsSync(path.join(FOLDER, picture)), picture);
    }
  }
});

test('no command of ours has the id of one of the server', () => {
  const servers = new Set([...read('src/protocol.ts').matchAll(/: '(kernelcast\.\w+)'/g)].map(([, id]) => id));
  assert.ok(servers.size > 5);
  assert.ok([...declared].every((id) => !servers.has(id)));
});

test('the lock file names no registry', () => {
  assert.doesNotMatch(read('package-lock.json'), /"resolved"/);
});

test('the licence is that of the project', () => {
  assert.equal(read('LICENSE'), read('../../LICENSE'));
});

test('the manifest says where the project is, and ships all that it names', () => {
  const { repository, bugs, homepage, categories, files } = JSON.parse(read('package.json')) as {
    readonly repository: { readonly url: string };
    readonly bugs: { readonly url: string };
    readonly homepage: string;
    readonly categories: readonly string[];
    readonly files: readonly string[];
  };
  const home = repository.url.replace(/\.git$/, '');
  assert.ok(bugs.url.startsWith(home) && homepage.startsWith(home));
  assert.ok(read('../../pyproject.toml').includes(`Source = "${home}"`));
  assert.ok(categories.length > 0 && files.includes('LICENSE'));
});

test('the page that VS Code shows has no picture that it cannot show', () => {
  const page = 'Before.\n\n![A mark](images/icon.png)\n\n![Far](https://example.org/x.png)\n\nAfter.\n';
  assert.equal(withoutPictures(page), 'Before.\n\n![Far](https://example.org/x.png)\n\nAfter.\n');
  assert.doesNotMatch(withoutPictures(read('README.md')), /!\[|<img/);
});

test('the page in the repository names no picture that is not there', () => {
  const missing = picturesOf(read('README.md')).filter((name) => !existsSync(path.join(FOLDER, name)));
  assert.deepEqual(missing, []);
});
