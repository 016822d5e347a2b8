"""The baseline's network: a small ModernBERT (Warner et al., 2024), trained from nothing, whose vectors are pooled."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import ModernBertConfig, ModernBertModel

from model.training.tokenizer import PAD, VOCABULARY


@dataclass(frozen=True, slots=True)
class Shape:
    vocabulary: int = VOCABULARY
    longest: int = 512  # tokens
    width: int = 128
    layers: int = 4
    heads: int = 4
    slots: int = 4  # vectors a text is told in
    dropout: float = 0.1


class TextNetwork(nn.Module):
    """Tokens of a text -> log2 us: learned slots attend to what the transformer made of the sequence."""

    def __init__(self, shape: Shape, mean_log2_us: float) -> None:
        super().__init__()
        self.encoder = _encoder_of(shape)
        self.slots = nn.Parameter(0.02 * torch.randn(shape.slots, shape.width))
        self.pool = _Block(shape)
        self.out = nn.Linear(shape.slots * shape.width, 1)
        nn.init.constant_(self.out.bias, mean_log2_us)

    def forward(self, tokens: Tensor, log2_us: Tensor, weight: Tensor) -> dict[str, Tensor]:
        """`tokens` [rows, tokens], the others [rows]."""
        said = self.said(tokens)
        error = functional.mse_loss(said, log2_us, reduction="none")
        return {"loss": (weight * error).sum() / weight.sum(), "log2_us": said}

    def said(self, tokens: Tensor) -> Tensor:
        """[rows, tokens] -> log2 us [rows]."""
        mask = tokens != PAD
        x = self.encoder(input_ids=tokens, attention_mask=mask.long()).last_hidden_state  # [rows, tokens, width]
        x = self.pool(self.slots.expand(len(tokens), -1, -1), x, mask)  # [rows, slots, width]
        found: Tensor = self.out(x.flatten(1))[:, 0]
        return found


class _Block(nn.Module):
    """Queries attend to a context; then a perceptron. Both add to the queries."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, self.heads = shape.width, shape.heads
        self.norm_query, self.norm_context, self.norm_inner = (nn.LayerNorm(width) for _ in range(3))
        self.query, self.key_value = nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.mixed = nn.Linear(width, width)
        self.inner = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.Dropout(shape.dropout), nn.Linear(width, width)
        )

    def forward(self, queries: Tensor, context: Tensor, mask: Tensor) -> Tensor:
        """[n, q, width] and [n, c, width] -> [n, q, width]; `mask` [n, c] is true where there is something."""
        n, q, width = queries.shape
        asked = self.query(self.norm_query(queries)).view(n, q, self.heads, -1).transpose(1, 2)
        said = self.key_value(self.norm_context(context)).view(n, context.shape[1], 2, self.heads, -1)
        key, value = said.permute(2, 0, 3, 1, 4)  # [n, heads, c, width / heads] each
        mixed = functional.scaled_dot_product_attention(asked, key, value, attn_mask=mask[:, None, None, :])
        queries = queries + self.mixed(mixed.transpose(1, 2).reshape(n, q, width))
        inner: Tensor = self.inner(self.norm_inner(queries))
        return queries + inner


def _encoder_of(shape: Shape) -> ModernBertModel:
    """Every third layer attends to all tokens, the others to 64 on each side."""
    config = ModernBertConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        intermediate_size=3 * shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=shape.longest,
        pad_token_id=PAD,
        bos_token_id=None,
        eos_token_id=None,
        cls_token_id=None,
        sep_token_id=None,
        embedding_dropout=shape.dropout,
        mlp_dropout=shape.dropout,
    )
    return ModernBertModel(config)
