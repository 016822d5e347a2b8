"""pygls' protocol, where it stands in the way of a server that never blocks and always ends cleanly."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import RPCMessage, RPCRequest

from model.errors import KernelcastError
from server.features.arguments import error_answer
from server.words.escaping import message as as_message

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

# pygls keeps the text but not the edits, counts lines as Python does (form feeds and all), and walks long lines
# character by character. Without its own handlers ours get these notifications.
_OUR_OWN = (types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE)


class KernelcastProtocol(LanguageServerProtocol):
    """Commands that the client can cancel, a shutdown that survives commands in flight, and documents of our own."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.answered: int | str | None = None  # the id of an `initialize` that `server.greeting` has answered
        self.on_command: Callable[[], None] = lambda: None
        for method in _OUR_OWN:
            del self.fm.builtin_features[method]
        self.fm.add_builtin_feature(types.WORKSPACE_EXECUTE_COMMAND, self._execute_command)
        self.fm.add_builtin_feature(types.SHUTDOWN, self._shut_down)

    def handle_message(self, message: RPCMessage) -> None:
        """Requests after `shutdown` get an answer too, as every request must."""
        if self._shutdown and isinstance(message, RPCRequest):
            self._send_response(message.id, error=JsonRpcInvalidRequest("The server is leaving.").to_response_error())
        else:
            super().handle_message(message)

    def _send_response(
        self, msg_id: str | int, result: object = None, error: types.ResponseError | None = None
    ) -> None:
        if self.answered is None or msg_id != self.answered:
            super()._send_response(msg_id, result, error)
            return
        self.answered = None  # the client may use the number again
        if error is not None:
            said = f"What the editor says of itself cannot be read, so Kernelcast can show nothing: {error.message}"
            self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(types.MessageType.Error, said))

    async def _execute_command(self, params: types.ExecuteCommandParams) -> object:
        """As a coroutine, so that `$/cancelRequest` ends the command and not just the waiting for it.

        What the user can mend is said to the user and answered as a value; a client need not say it again.
        """
        command = self.fm.commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"There is no command {params.command!r}.")
        self.on_command()
        try:
            answer = command(params)
            return await answer if inspect.isawaitable(answer) else answer
        except KernelcastError as error:
            said = types.ShowMessageParams(types.MessageType.Error, as_message(error.message))
            self.notify(types.WINDOW_SHOW_MESSAGE, said)
            return error_answer(error)

    async def _shut_down(self, *_: object) -> None:
        """Over a copy: cancelled futures leave the dictionary while pygls' own version still walks through it."""
        own = self.msg_id
        leaving = self.fm.features.get(types.SHUTDOWN)
        if leaving is not None:
            await leaving()
        for msg_id, future in list(self._request_futures.items()):
            if msg_id != own and not future.done():
                future.cancel()
        self._shutdown = True
