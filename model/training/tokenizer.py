"""Tokens of the baseline that reads text: what is frequent within statements of the training kernels (BPE).

Statements, not words, are what pairs are merged in: `get_global_id ( i0 ) ;` is one token, and a kernel half as many as
it has words. What attention costs falls with it, and long kernels are seen whole.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

PAD, UNKNOWN = 0, 1  # ids of the tokens that are no text
VOCABULARY = 2048
_SPECIAL = {PAD: "[PAD]", UNKNOWN: "[UNK]"}
_RARE = 20  # pairs seen less often are not merged
_WORDS_READ = 2048  # at each end of a longer kernel: several times what `longest` ids hold


def train_tokenizer(kernels: Iterable[Sequence[str]], vocabulary: int = VOCABULARY) -> Tokenizer:
    """From the normalised tokens of kernels. The same kernels in the same order give the same tokenizer."""
    tokenizer = Tokenizer(models.BPE(unk_token=_SPECIAL[UNKNOWN]))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[;{}] "), "merged_with_previous")
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=_RARE,
        special_tokens=[_SPECIAL[at] for at in sorted(_SPECIAL)],
        initial_alphabet=list(string.ascii_letters + string.digits + string.punctuation + " "),
        show_progress=False,
    )
    tokenizer.train_from_iterator((_text(kernel) for kernel in kernels), trainer)
    return tokenizer


def ids_of(tokenizer: Tokenizer, kernel: Sequence[str], longest: int) -> list[int]:
    """At most `longest` ids: of a long kernel its head and its tail. Never empty."""
    ids = tokenizer.encode(_text(kernel)).ids
    if len(ids) > longest:
        head = longest // 2
        ids = ids[:head] + ids[head - longest :]
    return ids or [UNKNOWN]


def _text(kernel: Sequence[str]) -> str:
    if len(kernel) > 2 * _WORDS_READ:
        kernel = [*kernel[:_WORDS_READ], *kernel[-_WORDS_READ:]]
    return " ".join(kernel)
