"""Work on a device for commands: one job at a time, in a thread that the event loop never waits for."""
