// The part of the Python extension's API that tells others which environment is active.
const { EventEmitter, Uri, commands } = require("vscode");

exports.activate = (context) => {
  const changed = new EventEmitter();
  let interpreter = process.env.TEST_ACTIVE_INTERPRETER;
  const active = () => ({ id: interpreter, path: interpreter });
  context.subscriptions.push(
    changed,
    commands.registerCommand("python.leave", () => {
      interpreter = "/nonexistent/python";
      changed.fire({ ...active(), resource: undefined });
    }),
  );
  return {
    ready: Promise.resolve(),
    environments: {
      known: [],
      onDidChangeActiveEnvironmentPath: changed.event,
      getActiveEnvironmentPath: active,
      resolveEnvironment: async ({ path }) => ({ id: path, path, executable: { uri: Uri.file(path) } }),
    },
  };
};
