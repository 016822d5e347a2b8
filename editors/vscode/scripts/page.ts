/**
 * The extension's page, made from README.md. VS Code shows pictures there from https addresses alone: packed without
 * such an address, the page goes without them; the walkthrough takes its pictures from the package.
 */

/** A paragraph that is a picture from this folder. */
const PICTURE = /^!\[[^\]]*\]\((?!https:)([^)\s]+)\)\n\n?/gm;

export function withoutPictures(markdown: string): string {
  return markdown.replace(PICTURE, '');
}

export function picturesOf(markdown: string): string[] {
  return [...markdown.matchAll(PICTURE)].map(([, name]) => name ?? '');
}
