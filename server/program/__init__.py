"""Whole programs, for terminals and editors alike: the recording, its forecast, tables and the page.

May import `server.report`, `server.cli.forecasts` and what lies below; knows no protocol and prints nothing.
"""
