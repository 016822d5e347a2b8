"""Kernels of other people's packages: where they come from, how they are found, built and given launches.

None of their code is part of this project. `origins.json` names the packages; `prepare` downloads them into a working
folder and writes a catalogue there, which `catalogue.real_kernels` reads.
"""
