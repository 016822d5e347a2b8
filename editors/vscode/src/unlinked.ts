/**
 * VS Code makes links of `[words](command:...)` in messages and in the details of a status, and they run commands; a
 * file can be named so.
 */
export function unlinked(message: string): string {
  return message.replaceAll('](', '] (');
}
