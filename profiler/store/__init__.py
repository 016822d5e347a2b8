"""Calibrated profiles and measurements, kept in SQLite under the user's data folder; and files made of them.

`store` holds the queries, `database` the file and what may be wrong with it, `schema` its tables; `files` writes and
reads CSV and Parquet. May import `model` and `profiler.measurement`.
"""

from profiler.store.database import BUSY_TIMEOUT_S, DATA_DIR_VARIABLE, FILE_NAME, StoreError, data_folder
from profiler.store.entry import StoredMeasurement, corpus_family, corpus_kernel_id, kernel_id
from profiler.store.store import Store

__all__ = [
    "BUSY_TIMEOUT_S",
    "DATA_DIR_VARIABLE",
    "FILE_NAME",
    "Store",
    "StoreError",
    "StoredMeasurement",
    "corpus_family",
    "corpus_kernel_id",
    "data_folder",
    "kernel_id",
]
