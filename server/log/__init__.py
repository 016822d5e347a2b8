"""The server's log: one line for each event, and how long each stage takes.

No line holds source text or a secret, unless the user asks for source text to be logged.
"""
