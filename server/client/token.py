"""The secret that a client of the port must know, and where it comes from.

The loopback interface is open to every user and every web page of this machine, so the port alone proves nothing.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from model.errors import KernelcastError

TOKEN_VARIABLE = "KERNELCAST_TOKEN"
LEAST_CHARACTERS = 16
_MOST_BYTES = 4096


class TokenError(KernelcastError):
    """A token that cannot be had or is too weak; the message says what to do."""

    code = "token"


@dataclass(frozen=True, slots=True)
class Token:
    """`is_made_up`: nobody gave one, so whoever starts the server must be told. Never part of a text by accident."""

    secret: str
    is_made_up: bool = False

    def __repr__(self) -> str:
        return "Token(...)"

    def is_said_by(self, told: object) -> bool:
        """Return whether `told` is the token, in a time that does not depend on how much of it is right."""
        return isinstance(told, str) and hmac.compare_digest(
            told.encode("utf-8", "surrogatepass"), self.secret.encode("utf-8", "surrogatepass")
        )


def take_token(file: Path | None = None) -> Token:
    """Take the token from the file, else out of the environment, where no child may see it, else make one.

    Raises `TokenError`.
    """
    said = os.environ.pop(TOKEN_VARIABLE, "")
    if file is not None:
        return _strong(_read(file), str(file))
    return _strong(said, TOKEN_VARIABLE) if said else Token(secrets.token_urlsafe(32), is_made_up=True)


def _strong(text: str, source: str) -> Token:
    secret = text.strip()
    if len(secret) < LEAST_CHARACTERS:
        raise TokenError(
            f"the token in {source} has fewer than {LEAST_CHARACTERS} characters; "
            "`python3 -c 'import secrets; print(secrets.token_urlsafe())'` makes a good one"
        )
    return Token(secret)


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise TokenError(f"{file} is not a regular file")
            if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise TokenError(f"others may use the token in {file}; make it your own: chmod 600 {file}")
            return opened.read(_MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise TokenError(f"{file} holds no text") from None
    except OSError as error:
        raise TokenError(f"the token in {file} cannot be read: {error.strerror}") from None
