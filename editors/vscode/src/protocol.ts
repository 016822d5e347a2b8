/** What the server and this extension say to each other beyond the protocol's own messages. */

import type { Range } from 'vscode-languageclient/node';

export const STATUS = 'kernelcast/status';

/** The server's commands. The extension's own, in package.json, have other ids: see `commands/`. */
export const SERVER = {
  measure: 'kernelcast.measure',
  measureAll: 'kernelcast.measureAll',
  measureSizes: 'kernelcast.measureSizes',
  tune: 'kernelcast.tune',
  compareDevices: 'kernelcast.compareDevices',
  listFixes: 'kernelcast.listFixes',
  applyAndMeasure: 'kernelcast.applyAndMeasure',
  chooseDevice: 'kernelcast.chooseDevice',
  calibrate: 'kernelcast.calibrate',
  learn: 'kernelcast.learn',
  listKernels: 'kernelcast.listKernels',
  listDevices: 'kernelcast.listDevices',
  writeAnnotation: 'kernelcast.writeAnnotation',
  report: 'kernelcast.report',
  program: 'kernelcast.program',
  debugInformation: 'kernelcast.debugInformation',
} as const;

export interface Launch {
  readonly id: string;
  readonly title: string;
  readonly measurable: boolean;
}

export interface Kernel {
  readonly name: string;
  readonly range: Range;
  readonly line: number;
  readonly label: string;
  readonly launches: readonly Launch[];
}

/** `code` and `title` name it to the server; `label` has the predicted gain, `promise` what it is only right under. */
export interface Fix {
  readonly launch: string;
  readonly code: string;
  readonly title: string;
  readonly label: string;
  readonly promise: string;
  readonly measurable: boolean;
}

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
  readonly type: string;
  readonly here: boolean;
  readonly calibrated: boolean;
}

export interface DeviceList {
  readonly current: string;
  readonly chosen: string;
  readonly devices: readonly Device[];
}

/** A launch on several devices; `text` is a table of them. */
export interface Comparison {
  readonly kernel: string;
  readonly text: string;
}

export interface Report {
  readonly title: string;
  readonly html: string;
}

export interface Problem {
  readonly severity: 'error' | 'warning' | 'information';
  readonly message: string;
  readonly command: { readonly title: string; readonly command: string; readonly arguments?: unknown[] } | null;
}

export interface Status {
  readonly uri: string;
  readonly revision: number;
  readonly device: { readonly id: string; readonly name: string; readonly here: boolean; readonly calibrated: boolean };
  readonly basis: string;
  readonly busy: string | null;
  readonly problems: readonly Problem[];
}

/** How the server answers a command that failed, after it has shown the message itself. */
export interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}

export function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === 'object' && answer !== null && 'error' in answer;
}
