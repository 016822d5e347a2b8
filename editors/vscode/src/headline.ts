/** The first thing that a message says, for places with room for one line. Knows no editor, so that it can be tested. */

const ROOM = 60;

/** Ends where a clause ends if one does, else at a word. */
export function headOf(message: string): string {
  const clause = /^.+?(?=[:;.](?:\s|$))/s.exec(message)?.[0] ?? message;
  if (clause.length <= ROOM) {
    return clause;
  }
  const cut = clause.slice(0, ROOM + 1);
  const at = cut.lastIndexOf(' ');
  return `${cut.slice(0, at > 0 ? at : ROOM).replace(/[,\s]+$/, '')} ...`;
}
