/** VS Code makes links of `[words](command:...)` in messages, which run commands; names of files can be written so. */
export function unlinked(message: string): string {
  return message.replaceAll('](', '] (');
}
