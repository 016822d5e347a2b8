/** Fits the server's page, which stands by itself in a browser, into the editor. Knows no editor, for the tests. */

const POLICY =
  '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">';

/** Nothing is loaded and nothing runs, whatever the page holds. */
export function asWebviewPage(html: string): string {
  return html.includes('http-equiv="Content-Security-Policy"')
    ? html
    : html.replace(/<head[^>]*>/i, (head) => head + POLICY);
}
