/** Messages with buttons that do what they say. */

import { commands, window } from 'vscode';
import { Failure, type Offer } from './failure.ts';
import { unlinked } from './unlinked.ts';

type Show = (message: string, ...items: string[]) => Thenable<string | undefined>;

/** Answers once the message is gone; nothing in the extension waits for that. */
async function show(how: Show, message: string, offers: readonly Offer[]): Promise<void> {
  const picked = await how(unlinked(message), ...offers.map((offer) => offer.title));
  const offer = offers.find((one) => one.title === picked);
  if (offer !== undefined) {
    await commands.executeCommand(offer.command, ...(offer.arguments ?? []));
  }
}

export function tell(message: string, ...offers: Offer[]): void {
  void show(window.showInformationMessage, message, offers);
}

export function warn(message: string, ...offers: Offer[]): void {
  void show(window.showWarningMessage, message, offers);
}

export function complain(failure: Failure): void {
  void show(window.showErrorMessage, failure.message, failure.offers);
}
