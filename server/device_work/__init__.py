"""What commands have done on a device: one job at a time, in a thread that the event loop never waits for."""
