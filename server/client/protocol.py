"""pygls' protocol, where it stands in the way of a server that never blocks, always answers and always ends cleanly."""

from __future__ import annotations

import contextvars
import inspect
import logging
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Union

from cattrs import transform_error
from cattrs.errors import ClassValidationError
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams, JsonRpcRequestCancelled
from pygls.protocol import JsonRPCNotification, JsonRPCResponseMessage, LanguageServerProtocol, default_converter

from model.errors import KernelcastError
from server.client.messages import Answer, Id, Notification, Request, Unreadable, read_message
from server.documents import can_be_name, can_be_uri
from server.features.arguments import error_answer
from server.text.escaping import message as as_message

if TYPE_CHECKING:
    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

# The very types that lsprotocol registers: ids and progress tokens, which are looked up and so must be hashable.
_INT_OR_TEXT = Union[int, str]  # noqa: UP007
_MAYBE = Union[int, str, None]  # noqa: UP007


def strict_converter() -> Converter:
    """Return lsprotocol's converter, stricter where it lets through what would break who relies on the types."""
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls has no types here
    converter.register_structure_hook(_INT_OR_TEXT, lambda value, _: _int_or_text(value))
    converter.register_structure_hook(_MAYBE, lambda value, _: None if value is None else _int_or_text(value))
    return converter


def _int_or_text(value: object) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("neither an integer nor a text")
    return value


logger = logging.getLogger(__name__)

# pygls keeps the text but not the edits, counts lines as Python does (form feeds and all), and walks long lines
# character by character. Without its own handlers ours get these notifications.
_OUR_OWN = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)
_TOLD_FAULTS = 3


class KernelcastProtocol(LanguageServerProtocol):
    """One answer to each request, whatever it is; commands that the client can cancel; documents of our own."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.answered: Id | None = None  # of an `initialize` that `server.early_initialize` has answered
        self.on_command: Callable[[], None] = lambda: None
        self._asked: dict[Id, Future[Any]] = {}  # by the client; pygls keeps the server's own requests, too
        for method in _OUR_OWN:
            del self.fm.builtin_features[method]
        self.fm.add_builtin_feature(types.WORKSPACE_EXECUTE_COMMAND, self._execute_command)
        self.fm.add_builtin_feature(types.SHUTDOWN, self._shut_down)

    # What comes in

    def receive(self, body: bytes) -> None:
        """Handle one message as it came over the wire."""
        message = read_message(body)
        # Each handler in a context of its own, so that it knows its request.
        inside = contextvars.copy_context().run
        match message:
            case Request():
                inside(self._receive_request, message)
            case Notification():
                inside(self._receive_notification, message)
            case Answer():
                self._receive_answer(message)
            case Unreadable(is_answer=True):
                logger.warning("an answer that cannot be read: %s", message.message)
            case Unreadable():
                self._refuse(message.id, message.code, message.message)

    def _receive_request(self, request: Request) -> None:
        codes = types.ErrorCodes
        is_request = self.get_result_type(request.method) is not None
        if self._shutdown:
            self._refuse(request.id, codes.InvalidRequest, "The server is leaving.")
        elif (self._workspace is None) != (request.method == types.INITIALIZE):
            early = self._workspace is None
            said = "`initialize` must come first." if early else "The server is initialized already."
            self._refuse(request.id, codes.ServerNotInitialized if early else codes.InvalidRequest, said)
        elif not is_request or not self._has_handler(request.method):
            self._refuse(request.id, codes.MethodNotFound, f"There is no request `{request.method}` here.")
        elif request.id in self._asked:
            self._refuse(request.id, codes.InvalidRequest, "Another request of this id is not answered yet.")
        else:
            try:
                params = self._filled(request.method, request.raw)
            except JsonRpcInvalidParams as error:
                self._refuse(request.id, codes.InvalidParams, error.message)
            else:
                if isinstance(params, types.InitializeParams):
                    _leave_out_what_is_no_folder(params)
                self._handle_request(request.id, request.method, params)

    def _receive_notification(self, notification: Notification) -> None:
        method = notification.method
        is_early = self._workspace is None or self._shutdown
        if (is_early and method != types.EXIT) or self.get_result_type(method) is not None:
            return
        if method != types.CANCEL_REQUEST and not self._has_handler(method):
            return  # what we said we do not serve, and what a client may try
        try:
            params = self._filled(method, notification.raw)
        except JsonRpcInvalidParams as error:
            logger.warning("`%s` is ignored: %s", method, error.message)
        else:
            self._handle_notification(method, params)

    def _receive_answer(self, answer: Answer) -> None:
        future = self._request_futures.pop(answer.id, None)
        result_type = self._result_types.pop(answer.id, None) or JsonRPCResponseMessage
        if future is None or future.done():  # answered before, or no longer waited for
            return
        if "error" in answer.raw:
            future.set_exception(_refusal(answer.raw["error"]))
            return
        try:
            result = getattr(self._structured(answer.raw, result_type), "result", None)
        except JsonRpcInvalidParams as error:
            future.set_exception(JsonRpcInvalidParams(f"its answer cannot be read: {error.message}"))
        else:
            future.set_result(result)

    def _has_handler(self, method: str) -> bool:
        return method in self.fm.builtin_features or method in self.fm.features

    def _filled(self, method: str, raw: dict[str, Any]) -> object:
        """Return the typed parameters. Raises JsonRpcInvalidParams, which says what is wrong with them."""
        return getattr(self._structured(raw, self.get_message_type(method) or JsonRPCNotification), "params", None)

    def _structured(self, raw: dict[str, Any], wanted: type[Any]) -> object:
        try:
            return self._converter.structure(raw, wanted)
        except ClassValidationError as error:
            faults = transform_error(error, path="message")
            more = len(faults) - _TOLD_FAULTS
            told = [*faults[:_TOLD_FAULTS], *([f"and {more} more"] if more > 0 else [])]
            raise JsonRpcInvalidParams(f"The message cannot be read: {'; '.join(told)}.") from error

    # Answers

    def _refuse(self, msg_id: Id | None, code: int, message: str) -> None:
        if self._was_answered(msg_id, message):
            return
        # By hand: a missing id must be sent as null, and lsprotocol would leave it out.
        self._send_data({"jsonrpc": "2.0", "id": msg_id, "error": {"code": int(code), "message": message}})

    def _send_response(self, msg_id: Id, result: object = None, error: types.ResponseError | None = None) -> None:
        """Send a response without pygls' search for the type of the result, which it keeps by id."""
        if self._was_answered(msg_id, error.message if error else ""):
            return
        if error is not None:
            self._send_data(types.ResponseErrorMessage(id=msg_id, error=error))
        else:
            self._send_data(JsonRPCResponseMessage(id=msg_id, result=result, jsonrpc=self.VERSION))

    def _was_answered(self, msg_id: Id | None, fault: str) -> bool:
        """Return whether this is the `initialize` that `server.early_initialize` has answered.

        Only the user can then be told what is wrong with it.
        """
        if self.answered is None or msg_id != self.answered:
            return False
        self.answered = None  # the client may use the number again
        if fault:
            said = f"The editor's capabilities cannot be read, so Kernelcast can show nothing: {fault}"
            self.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(types.MessageType.Error, said))
        return True

    def _handle_request(self, msg_id: Id, method_name: str, params: object) -> None:
        def answered(future: Future[Any]) -> None:
            self._asked.pop(msg_id, None)
            self._send_handler_result(future, msg_id=msg_id)

        self._ctx_msg_id.set(msg_id)
        key = str(uuid.uuid4())  # no id that a client could choose
        self._execute_handler(key, self._get_handler(method_name), answered, args=(params,))
        under_way = self._request_futures.get(key)
        if under_way is not None:
            self._asked[msg_id] = under_way

    def _execute_handler(
        self,
        msg_id: Id,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run a handler and drop its future afterwards: pygls keeps those of notifications for ever."""

        def finished(future: Future[Any]) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, finished, args, kwargs)

    def _run_generator(
        self, future: Future[Any] | None, *, gen: Generator[Any, Any, Any], result_future: Future[Any]
    ) -> None:
        """Close a handler of ours whose future was cancelled; pygls lets the cancellation out into the event loop."""
        if future is not None and future.cancelled():
            gen.close()
            result_future.cancel()
        else:
            super()._run_generator(future, gen=gen, result_future=result_future)

    def _send_handler_result(self, future: Future[Any], *, msg_id: Id) -> None:
        """Answer with what a handler refuses; only faults of ours go to the log."""
        if future.cancelled():
            self._send_response(msg_id, error=JsonRpcRequestCancelled("cancelled").to_response_error())
            return
        failed = future.exception()
        if failed is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(failed, JsonRpcException):
            self._send_response(msg_id, error=failed.to_response_error())
        else:
            logger.error("a request failed", exc_info=failed)
            said = f"{type(failed).__name__}: {failed}. This is a fault of Kernelcast; its log has the details."
            self._send_response(msg_id, error=JsonRpcInternalError(said).to_response_error())

    def _handle_cancel_notification(self, msg_id: Id) -> None:
        """Cancel the handler, whose end sends the answer; a request already answered is ignored."""
        future = self._asked.get(msg_id)
        if future is not None:
            future.cancel()

    async def _execute_command(self, params: types.ExecuteCommandParams) -> object:
        """Run a command as a coroutine, so that `$/cancelRequest` ends it and not just the waiting for it.

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
        """Cancel all futures over a copy: each leaves the dictionary, which pygls iterates over."""
        own = self._asked.get(self.msg_id) if self.msg_id is not None else None
        leaving = self.fm.features.get(types.SHUTDOWN)
        if leaving is not None:
            await leaving()
        for future in list(self._request_futures.values()):
            if future is not own and not future.done():
                future.cancel()
        self._shutdown = True


def _leave_out_what_is_no_folder(params: types.InitializeParams) -> None:
    """Drop folders whose names cannot be read: pygls would fail on them, and the editor be without a server."""
    if not can_be_name(params.root_path or ""):
        params.root_path = None
    if not can_be_uri(params.root_uri or ""):
        params.root_uri = None
    if params.workspace_folders:
        params.workspace_folders = [each for each in params.workspace_folders if can_be_uri(each.uri)]


def _refusal(raw: object) -> JsonRpcException:
    """Return a client's error, as far as it is one."""
    told = raw if isinstance(raw, dict) else {}
    message, code = told.get("message"), told.get("code")
    if not isinstance(code, int):
        code = types.ErrorCodes.UnknownErrorCode.value
    return JsonRpcException(message if isinstance(message, str) else "no reason given", code)
