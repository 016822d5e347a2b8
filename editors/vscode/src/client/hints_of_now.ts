/** Hints for the text as it stands: VS Code 1.139 shows an answer even when somebody typed on while it was awaited. */

interface Versioned {
  readonly version: number;
}

interface Cancellable {
  readonly isCancellationRequested: boolean;
}

/** What `ask` answers of the document as it is then: it is asked again for as long as the text changes meanwhile. */
export async function ofTextNow<Answer>(
  document: Versioned,
  token: Cancellable,
  ask: () => PromiseLike<Answer> | Answer,
): Promise<Answer> {
  for (;;) {
    const version = document.version;
    const answer = await ask();
    if (document.version === version || token.isCancellationRequested) {
      return answer;
    }
  }
}

/** Columns that no line has: what stands there is drawn where its line ends, however long that line has become. */
const BEHIND_ALL = 1 << 24;

interface Place {
  readonly line: number;
  readonly character: number;
}

/**
 * Where to put a hint so that it stays behind its line: the window is a keystroke ahead of the extensions now and then,
 * and would draw it between letters that were typed meanwhile. `end` is the end of the hint's line, `lastLine` that of
 * the range that was asked for, beyond whose end VS Code wants no hints.
 */
export function columnOf(hint: Place, end: number, lastLine: number): number {
  return hint.character === end && hint.line < lastLine ? BEHIND_ALL : hint.character;
}
