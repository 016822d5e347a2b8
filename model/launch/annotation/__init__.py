"""Launches written in comments: `// kernelcast: global=(N, N) N=1024`. Finding, checking and writing them."""

from model.launch.annotation.found import Annotation, AnnotationProblem, find_annotations
from model.launch.annotation.names import check_names, misused_names
from model.launch.annotation.placement import annotations_for, placement_problems
from model.launch.annotation.writing import write_annotation

__all__ = [
    "Annotation",
    "AnnotationProblem",
    "annotations_for",
    "check_names",
    "find_annotations",
    "misused_names",
    "placement_problems",
    "write_annotation",
]
