// Another language server for the same files.
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async (context) => {
  client = new LanguageClient(
    "beside",
    "clangd",
    { command: process.env.TEST_CLANGD },
    { documentSelector: [{ language: "opencl", scheme: "file" }] },
  );
  await client.start();
};

exports.deactivate = () => client?.stop();
