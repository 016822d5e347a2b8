"""workspace/configuration: settings asked for at the start and after each change; and what we ask to be told of."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from server.client.settings import ScopedSettings, read_settings
from server.session import KernelcastServer

SECTION = "kernelcast"
_WATCHED = ("**/kernelcast.toml", "**/*.{cl,clh,opencl,h,hpp}")


async def did_change_configuration(ls: KernelcastServer, params: types.DidChangeConfigurationParams) -> None:
    if ls.supports.configuration:
        await fetch_settings(ls)
    else:
        pushed = params.settings
        apply_settings(ls, pushed.get(SECTION) if isinstance(pushed, Mapping) else None)


async def did_change_workspace_folders(ls: KernelcastServer, _params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Read settings again: relative paths and folders' own settings have changed meaning."""
    if ls.supports.configuration:
        await fetch_settings(ls)
    ls.analyse_all()


async def fetch_settings(ls: KernelcastServer) -> None:
    """Ask the client, folder by folder if there are several; one that cannot answer leaves things as they are."""
    folders = ls.folders if len(ls.folders) > 1 else []
    scopes: list[str | None] = [None, *folders]
    asked = types.ConfigurationParams([types.ConfigurationItem(scope_uri=s, section=SECTION) for s in scopes])
    try:
        answers = await ls.workspace_configuration_async(asked)
    except JsonRpcException as error:
        ls.say_once(types.MessageType.Warning, f"The editor gave no settings for Kernelcast: {error}")
        return
    everywhere, *each = [*answers, *[None] * len(scopes)][: len(scopes)]
    apply_settings(ls, everywhere, dict(zip(folders, each, strict=True)))


def apply_settings(ls: KernelcastServer, everywhere: object, by_folder: Mapping[str, object] | None = None) -> None:
    settings, problems = read_settings(everywhere)
    read = {folder: read_settings(raw) for folder, raw in (by_folder or {}).items()}
    found = tuple(dict.fromkeys((*problems, *(problem for _, more in read.values() for problem in more))))
    for problem in found:
        ls.say_once(types.MessageType.Warning, problem)
    if found != ls.setting_problems:
        ls.setting_problems = found
        ls.status_notifier.look_again()
    scoped = ScopedSettings(settings, {folder: own for folder, (own, _) in read.items()})
    if scoped != ls.settings:
        ls.settings = scoped
        ls.analyse_all()


async def register_interests(ls: KernelcastServer) -> None:
    """Register for changes of settings, of configuration files and of headers with clients that need it."""
    wanted = []
    if ls.supports.configuration_registration:
        options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        wanted.append(types.Registration(f"{SECTION}.settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
    if ls.supports.watched_files:
        watchers = [types.FileSystemWatcher(glob_pattern=pattern) for pattern in _WATCHED]
        files = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
        wanted.append(types.Registration(f"{SECTION}.files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, files))
    if wanted:
        try:
            await ls.client_register_capability_async(types.RegistrationParams(registrations=wanted))
        except JsonRpcException as error:
            ls.say_once(types.MessageType.Log, f"The editor will not tell Kernelcast of changed files: {error}")
