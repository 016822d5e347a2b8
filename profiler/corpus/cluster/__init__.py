"""A collection on many hosts, by Dask distributed: an extra, `kernelcast[cluster]`.

`cluster` gives small orders to workers that offer the device as a resource, `work` is what a worker does with one.
"""
