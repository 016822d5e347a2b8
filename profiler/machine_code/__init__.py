"""Reads what compilers made: PTX, x86 machine code, ELF files, logs. Bytes and text in, plain data out; no device."""
