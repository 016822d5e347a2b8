"""Our version, where asking the installed package's metadata would take too long; a test holds them together."""

from __future__ import annotations

VERSION = "0.1.0"
