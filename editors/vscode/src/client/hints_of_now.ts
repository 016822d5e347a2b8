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
