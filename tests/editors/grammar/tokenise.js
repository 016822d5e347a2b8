// Reads one JSON string a line, the text of a file, and answers with its tokens as VS Code's own library sees them:
// {"lines": [[{"text", "scopes"}]], "open": [scopes that are still open after the last line]}.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [modules, grammarFile] = process.argv.slice(2);
const require = createRequire(modules);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);

const registry = new textmate.Registry({
  onigLib: {
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  },
  loadGrammar: () => textmate.parseRawGrammar(readFileSync(grammarFile, "utf8"), grammarFile),
});
const grammar = await registry.loadGrammar("source.opencl");

function tokenise(text) {
  let stack = textmate.INITIAL;
  const lines = text.split(/\r?\n/).map((line) => {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    return result.tokens.map(({ startIndex, endIndex, scopes }) => ({
      text: line.slice(startIndex, endIndex),
      scopes: scopes.slice(1),
    }));
  });
  return { lines, open: stack.contentNameScopesList.getScopeNames().slice(1) };
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(tokenise(JSON.parse(line))));
}
