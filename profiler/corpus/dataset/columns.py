"""The tables of the dataset: their columns, what these mean, and in which units they are. The card shows this."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.errors import KernelcastError

SCHEMA_VERSION = 1  # one more whenever a column goes or comes to mean something else


class DatasetError(KernelcastError):
    """A dataset cannot be written, read, drawn or split; the message says which file, and what to do."""

    code = "dataset"


class Kind(StrEnum):
    """What a column's cells hold; `arrow.py` knows how they are stored."""

    TEXT = "text"
    WORD = "one of few words"
    TEXTS = "texts"
    WORDS = "few words, several"
    FLAG = "true or false"
    SMALL = "whole number below 256"
    COUNT = "whole number"
    COUNTS = "whole numbers"
    NUMBER = "number"
    NUMBERS = "numbers"
    MOMENT = "date and time"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    meaning: str
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class TableColumns:
    """`key` names the columns that no two rows have in common, by which the rows are sorted."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def file_name(self) -> str:
        return f"{self.name}.parquet"


KERNELS = TableColumns(
    "kernels",
    "one row a distinct kernel",
    ("id",),
    (
        Column("id", Kind.TEXT, "of the normalised source: kernels that differ in names and layout alone share it"),
        Column("origin", Kind.WORD, "`generator`, or the package or repository that the kernel is from"),
        Column("family", Kind.WORD, "of the generator; of other kernels the origin again"),
        Column("group", Kind.WORD, "what a programmer would look under"),
        Column("reference", Kind.TEXT, "family and seed, or the file and the kernel in it"),
        Column("version", Kind.WORD, "of the generator, the package, or the repository (a commit)"),
        Column("name", Kind.TEXT, "of the `__kernel` function"),
        Column("options", Kind.WORDS, "build options as the compiler takes them, without include folders"),
        Column("in_place", Kind.WORDS, "buffers whose contents are put back before each run"),
        Column("choices", Kind.WORDS, "that the generator made and named, as `name=value`"),
        Column("source_sha256", Kind.TEXT, "of the source's text, which shows whether it was found again unchanged"),
        Column("tokens", Kind.COUNT, "how many the normalised source has"),
        Column("signature", Kind.BYTES, "MinHash of the normalised source, by which near-duplicates are found"),
    ),
)
LAUNCHES = TableColumns(
    "launches",
    "one row a launch of a kernel",
    ("kernel_id", "place"),
    (
        Column("kernel_id", Kind.TEXT, "`id` of the kernel"),
        Column("key", Kind.TEXT, "of everything that changes what runs; `rows` refer to it"),
        Column("place", Kind.SMALL, "among the kernel's launches, from 0"),
        Column(
            "vary", Kind.WORD, "unlike the first: `data`, `global`, `local`, all (`fresh`); `program`: as its host does"
        ),
        Column("data", Kind.COUNT, "elements that the kernel works on; 0: not known"),
        Column("checked", Kind.WORD, "how it was shown to stay inside its buffers"),
        Column("global_size", Kind.COUNTS, "work-items in each dimension"),
        Column("local_size", Kind.COUNTS, "of a group; empty: the driver chose", is_optional=True),
        Column("scalar_names", Kind.WORDS, "by-value arguments"),
        Column("scalar_values", Kind.TEXTS, "their values as decimal numbers, exact"),
        Column("buffer_names", Kind.WORDS, "buffers"),
        Column("buffer_lengths", Kind.COUNTS, "in elements of what the pointer points to"),
        Column("image_names", Kind.WORDS, "images"),
        Column("image_sizes", Kind.COUNTS, "width, height and depth of each in turn"),
        Column("local_names", Kind.WORDS, "`__local` pointers"),
        Column("local_bytes", Kind.COUNTS, "their sizes"),
        Column("fill_names", Kind.WORDS, "buffers of which the contents were chosen"),
        Column("fills", Kind.TEXTS, "what they hold, in the words of Kernelcast's annotations"),
    ),
)
ROWS = TableColumns(
    "rows",
    "one row a launch on a device",
    ("device", "kernel_id", "launch_key", "repeat"),
    (
        Column("device", Kind.WORD, "an OpenCL device, or as much of it as some processors give"),
        Column("kernel_id", Kind.TEXT, "`id` of the kernel"),
        Column("launch_key", Kind.TEXT, "`key` of the launch"),
        Column("repeat", Kind.SMALL, "1: measured again in another process, for the noise floor"),
        Column("runtime_us", Kind.NUMBER, "the time to learn: of the batches, brought to the device's usual pace"),
        Column("median_us", Kind.NUMBER, "median of the batches as they were, by profiling events"),
        Column("p10_us", Kind.NUMBER, "10th percentile of the runs"),
        Column("p90_us", Kind.NUMBER, "90th percentile of the runs"),
        Column("wall_us", Kind.NUMBER, "median from before the enqueue to after the finish"),
        Column("runs", Kind.COUNT, "how often it ran"),
        Column("batches_us", Kind.NUMBERS, "median of each batch; batches lie some tenths of a second apart"),
        Column("paces_us", Kind.NUMBERS, "what a fixed piece of host work took around each batch"),
        Column("batch_spread_percent", Kind.NUMBER, "between the batches' medians"),
        Column("other_load_percent", Kind.NUMBER, "of the processors' time, what others used", is_optional=True),
        Column("stolen_percent", Kind.NUMBER, "of it, what a hypervisor gave to other guests", is_optional=True),
        Column("is_disturbed", Kind.FLAG, "whether others used too much of the machine meanwhile"),
        Column("load_average", Kind.NUMBER, "of the last minute"),
        Column("measured_at", Kind.MOMENT, "when, UTC"),
        Column("attempts", Kind.SMALL, "how often it was measured; the least disturbed is kept"),
        Column("driver", Kind.WORD, "the OpenCL driver and its version; empty: not known"),
        Column("profile", Kind.WORD, "of the device, by which its profile is found in the file's metadata"),
    ),
)
COMPILED = TableColumns(
    "compiled",
    "one row a piece of code that a compiler made",
    ("device_id", "kernel_id", "places"),
    (
        Column("device_id", Kind.WORD, "the OpenCL device that it was compiled for"),
        Column("kernel_id", Kind.TEXT, "`id` of the kernel"),
        Column("places", Kind.COUNTS, "the kernel's launches that run it"),
        Column("local_size", Kind.COUNTS, "that it was compiled for", is_optional=True),
        Column("source", Kind.WORD, "what was read: the machine code, a log, or answers of OpenCL"),
        Column("max_work_group_size", Kind.COUNT, "work-items", is_optional=True),
        Column("preferred_multiple", Kind.COUNT, "of work-items in a group", is_optional=True),
        Column("private_mem_bytes", Kind.COUNT, "of a work-item", is_optional=True),
        Column("local_mem_bytes", Kind.COUNT, "of a group", is_optional=True),
        Column("sub_group_size", Kind.COUNT, "work-items", is_optional=True),
        Column("registers", Kind.COUNT, "of a work-item, on GPUs", is_optional=True),
        Column("vector_registers", Kind.COUNT, "different ones in a CPU's code", is_optional=True),
        Column("spill_bytes", Kind.COUNT, "values that wait in memory", is_optional=True),
        Column("spill_loads", Kind.COUNT, "instructions", is_optional=True),
        Column("spill_stores", Kind.COUNT, "instructions", is_optional=True),
        Column("vector_width_bits", Kind.COUNT, "of the widest arithmetic; 0: not vectorised", is_optional=True),
        Column("items_side_by_side", Kind.COUNT, "work-items in one vector", is_optional=True),
        Column("float_vector_share", Kind.NUMBER, "of the instructions", is_optional=True),
        Column("integer_vector_share", Kind.NUMBER, "of the instructions", is_optional=True),
        Column("memory_vector_share", Kind.NUMBER, "of the loads and stores", is_optional=True),
        Column("code_bytes", Kind.COUNT, "size of the code", is_optional=True),
        Column("mix_kinds", Kind.WORDS, "instructions by `kind/element/space/lanes`"),
        Column("mix_counts", Kind.COUNTS, "how many of each stand in the code"),
        Column("calls", Kind.WORDS, "functions of a library, as `function/lanes`"),
        Column("call_counts", Kind.COUNTS, "how many of each stand in the code"),
        Column("loops", Kind.COUNTS, "depth, instructions and lanes of each loop in turn"),
        Column("loop_shares", Kind.NUMBERS, "of each loop's arithmetic, what works on several elements"),
        Column("code_local_size", Kind.COUNTS, "that the code is for alone", is_optional=True),
        Column(
            "profile_loops",
            Kind.COUNTS,
            "of each loop in turn, first the code outside all: number of the loop around it, lanes, whether a wider "
            "version stands beside it, rounds (0: not known), entries of `profile_kinds`",
            is_optional=True,
        ),
        Column("profile_chains", Kind.NUMBERS, "cycles that a round waits for the one before", is_optional=True),
        Column("profile_kinds", Kind.WORDS, "instructions of each loop alone, as `mix_kinds`", is_optional=True),
        Column("profile_counts", Kind.COUNTS, "how many of each", is_optional=True),
        Column(
            "region_places",
            Kind.COUNTS,
            "of the code of each line within each loop: number of the loop, line (from 0; -1: the compiler's own), "
            "instructions, entries of `region_kinds`",
            is_optional=True,
        ),
        Column("region_kinds", Kind.WORDS, "instructions of each region, as `mix_kinds`", is_optional=True),
        Column("region_counts", Kind.COUNTS, "how many of each", is_optional=True),
        Column("microarchitecture", Kind.WORD, "of the processor that it was compiled for", is_optional=True),
        Column("version", Kind.SMALL, "of the program that read the code"),
    ),
)
SPLITS = TableColumns(
    "splits",
    "one row a kernel",
    ("kernel_id",),
    (
        Column("kernel_id", Kind.TEXT, "`id` of the kernel"),
        Column("split", Kind.WORD, "`train`, `validation`, `test-origins`, or `left out`"),
        Column("near", Kind.TEXT, "of one left out: the kernel of another split that it is almost like"),
    ),
)
TABLES = (KERNELS, LAUNCHES, ROWS, COMPILED)
