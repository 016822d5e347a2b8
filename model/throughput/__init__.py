"""What CPUs make of machine code: a time from a kernel's instructions, and from how often each of them runs."""
