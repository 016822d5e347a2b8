/** A machine to look for a server on: folders with programs that say what we want them to say. */

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Wanted } from '../src/server/discovery.ts';

export class Machine {
  readonly root = realpathSync(mkdtempSync(path.join(tmpdir(), 'kernelcast test ')));
  readonly logged: string[] = [];

  /** A shell script; what it is told stands in `$@`. */
  program(name: string, script: string): string {
    const file = path.join(this.root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  server(name: string, version = '0.1.0'): string {
    return this.program(name, `[ "$1" = --version ] && echo "kernelcast ${version}"`);
  }

  /** A Python whose scripts are in the folder `scripts`. */
  interpreter(name: string, scripts: string): string {
    return this.program(name, `[ "$1" = -I ] || exit 9\necho "${path.join(this.root, scripts)}"`);
  }

  link(name: string, target: string): string {
    const file = path.join(this.root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    symlinkSync(target, file);
    return file;
  }

  at(name: string): string {
    return path.join(this.root, name);
  }

  wanted(more: Partial<Wanted> = {}): Wanted {
    return {
      serverPath: '',
      interpreter: '',
      activeInterpreter: () => Promise.resolve(undefined),
      ownEnvironment: this.at('own'),
      searchPath: '',
      forbidden: [],
      cwd: this.root,
      log: (line) => this.logged.push(line),
      ...more,
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
