//! Starts `kernelcast serve` for OpenCL files: the one of the settings, else the one on the PATH of the worktree.

use zed_extension_api::{self as zed, serde_json, settings::LspSettings, LanguageServerId, Result, Worktree};

const SERVER: &str = "kernelcast";
const MISSING: &str = "kernelcast is not on the PATH: install it with `uv tool install kernelcast`, or set \
                       lsp.kernelcast.binary.path";

struct Kernelcast;

impl zed::Extension for Kernelcast {
    fn new() -> Self {
        Self
    }

    fn language_server_command(&mut self, _id: &LanguageServerId, worktree: &Worktree) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(SERVER, worktree)?.binary;
        let (path, arguments) = match binary {
            Some(binary) => (binary.path, binary.arguments),
            None => (None, None),
        };
        Ok(zed::Command {
            command: path.or_else(|| worktree.which(SERVER)).ok_or(MISSING)?,
            args: arguments.unwrap_or_else(|| vec!["serve".into(), "--stdio".into()]),
            env: worktree.shell_env(),
        })
    }

    /// The section `kernelcast`, which the server asks for.
    fn language_server_workspace_configuration(
        &mut self,
        _id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(SERVER, worktree)?.settings;
        Ok(settings.map(|found| serde_json::json!({ SERVER: found })))
    }
}

zed::register_extension!(Kernelcast);
