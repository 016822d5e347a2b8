"""One module for each thing an editor can ask. What they answer are pure functions over an immutable `Snapshot`."""
