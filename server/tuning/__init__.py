"""The search for a faster launch, for terminals and editors alike: candidates, predictions, measurements, the result.

May import `server.analysis`, `server.cli.forecasts` and what lies below; knows no protocol and prints nothing.
"""
