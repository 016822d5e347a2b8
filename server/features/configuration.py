"""workspace/configuration: settings asked for at the start and after each change; and what we ask to be told of."""

from __future__ import annotations

from collections.abc import Mapping

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from server.session import KernelcastServer
from server.settings import read_settings

SECTION = "kernelcast"
_WATCHED = ("**/kernelcast.toml", "**/*.{cl,clh,opencl,h,hpp}")


async def did_change_configuration(ls: KernelcastServer, params: types.DidChangeConfigurationParams) -> None:
    if ls.supports.configuration:
        await fetch_settings(ls)
    else:
        pushed = params.settings
        apply_settings(ls, pushed.get(SECTION) if isinstance(pushed, Mapping) else None)


async def fetch_settings(ls: KernelcastServer) -> None:
    """Ask the client; a client that cannot answer leaves things as they are."""
    asked = types.ConfigurationParams(items=[types.ConfigurationItem(section=SECTION)])
    try:
        answer = await ls.workspace_configuration_async(asked)
    except JsonRpcException as error:
        ls.say_once(types.MessageType.Warning, f"The editor gave no settings for Kernelcast: {error}")
        return
    apply_settings(ls, answer[0] if answer else None)


def apply_settings(ls: KernelcastServer, raw: object) -> None:
    settings, problems = read_settings(raw)
    for problem in problems:
        ls.say_once(types.MessageType.Warning, problem)
    if settings != ls.settings:
        ls.settings = settings
        ls.analyse_all()


async def register_interests(ls: KernelcastServer) -> None:
    """Changes of settings, of configuration files and of headers, from clients that tell on request only."""
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
