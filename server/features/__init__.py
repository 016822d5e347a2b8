"""One module for each thing an editor can ask. Answers are pure functions over an immutable `Snapshot`.

Commands and notifications, which change things, get the server itself.
"""
