/** What went wrong, as a sentence for the user and what they can do about it. */

export interface Offer {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

export class Failure extends Error {
  readonly offers: readonly Offer[];

  constructor(message: string, ...offers: Offer[]) {
    super(message);
    this.offers = offers;
  }
}

export const SHOW_LOGS: Offer = { title: 'Show Logs', command: 'kernelcast.showLogs' };
export const RESTART: Offer = { title: 'Restart Server', command: 'kernelcast.restartServer' };
export const INSTALL: Offer = { title: 'Install Server', command: 'kernelcast.installServer' };
export const OPEN_SETTINGS: Offer = {
  title: 'Select Interpreter or Path',
  command: 'workbench.action.openSettings',
  arguments: ['@ext:kernelcast.kernelcast kernelcast.server'],
};
export const MANAGE_TRUST: Offer = { title: 'Manage Trust', command: 'workbench.trust.manage' };
