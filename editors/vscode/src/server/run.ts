/** Runs a program to its end and keeps what it said. */

import { spawn } from 'node:child_process';
import { pythonEnvironment } from './environment.ts';

export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it did not run to its end: not startable, out of time, or cancelled. */
  readonly problem?: 'not started' | 'timed out' | 'cancelled';
  readonly reason?: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Each line as it comes, from either stream. */
  readonly onLine?: (line: string) => void;
}

const KEPT = 200_000;

/** Never throws: what goes wrong is part of the outcome. */
export function run(command: string, args: readonly string[], options: RunOptions): Promise<Outcome> {
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    let problem: Outcome['problem'];
    const finish = (status: number | null, reason?: string): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', cancel);
      resolve({
        status,
        stdout,
        stderr,
        ...(problem === undefined ? {} : { problem }),
        ...(reason === undefined ? {} : { reason }),
      });
    };
    if (options.signal?.aborted === true) {
      resolve({ status: null, stdout, stderr, problem: 'cancelled' });
      return;
    }
    // A group of its own, so that cancelling also ends what it started.
    const grouped = process.platform !== 'win32';
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: pythonEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: grouped,
      windowsHide: true,
    });
    const end = (why: 'timed out' | 'cancelled'): void => {
      problem = why;
      try {
        if (grouped && child.pid !== undefined) {
          process.kill(-child.pid, 'SIGKILL');
        } else {
          child.kill('SIGKILL');
        }
      } catch {
        child.kill('SIGKILL'); // it has just ended by itself
      }
    };
    const cancel = (): void => {
      end('cancelled');
    };
    const timer = setTimeout(() => {
      end('timed out');
    }, options.timeoutMs ?? 2 ** 31 - 1);
    options.signal?.addEventListener('abort', cancel);

    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-KEPT);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-KEPT);
    });
    if (options.onLine !== undefined) {
      byLine(child.stdout, options.onLine);
      byLine(child.stderr, options.onLine);
    }
    child.on('error', (error) => {
      problem = 'not started';
      finish(null, error.message);
    });
    child.on('close', (status) => {
      finish(status);
    });
  });
}

function byLine(stream: NodeJS.ReadableStream, tell: (line: string) => void): void {
  let rest = '';
  stream.on('data', (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(tell);
  });
  stream.on('end', () => {
    if (rest !== '') {
      tell(rest);
    }
  });
}
