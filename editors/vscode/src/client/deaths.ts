/** How often the server may die before it is left dead. Knows no editor, so that it can be tested. */

const ALLOWED = 4;
const WITHIN_MS = 3 * 60_000;

export class Deaths {
  private times: number[] = [];

  /** Notes one more; whether the server is worth another start. */
  another(now: number): boolean {
    this.times = [...this.times.filter((then) => now - then < WITHIN_MS), now];
    return this.times.length <= ALLOWED;
  }

  /** The user asks for a start: what was is forgotten. */
  forget(): void {
    this.times = [];
  }
}
