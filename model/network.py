"""The network: a kernel's tokens, seen once, then facts about launch and device -> a time that the laws bound.

time = norm of (time of a resource by the laws / its efficiency), over all resources, never below the roofline.
`encode` reads a kernel; `head` answers for a launch on a device and is all that runs again when either changes.
Laws with learned efficiencies after NeuSight, ASPLOS 2025, section 4; the encoder is a small ModernBERT (Warner et al.,
2024), trained from nothing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import ModernBertConfig, ModernBertModel

PAD, UNKNOWN = 0, 1  # ids of the tokens that are no text
# The laws' time of a resource is an estimate: how far it may be beaten. Only the roofline is a hard bound.
MOST_EFFICIENCY = 16.0
NO_TIME = -19.5  # log2 us: a resource of which a launch uses nothing stands at -20
LAWS_BEFORE_RESOURCES = 2  # total and least come first
FARTHEST = 4.0  # standard deviations: facts farther out than training's say no more than this
SHARPNESS = 8.0  # of the corner at the roofline, per octave: a time just above it is at most 6 % too long
SPREAD_WEIGHT = 0.2
LEAST_SPREAD = 0.01  # octaves


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes, and what is left out for an ablation. `device_groups`: how many facts each group has, in order."""

    launch_facts: int
    laws: int  # total, least, then the resources: log2 us
    compiled_facts: int
    device_groups: tuple[int, ...]
    vocabulary: int = 2048
    longest: int = 512  # tokens
    width: int = 128
    layers: int = 4
    heads: int = 4
    slots: int = 4  # vectors a kernel is told in
    trunk: int = 384  # width of what the facts of a launch are gathered in
    head_layers: int = 2
    pieces: int = 6  # that the range of a fact is cut into
    dropout: float = 0.1
    code_dropout: float = 0.2  # how often a kernel's vectors are hidden, so that the facts are learned from as well
    with_code: bool = True
    with_laws: bool = True
    with_device_groups: bool = True

    @property
    def resources(self) -> int:
        return self.laws - LAWS_BEFORE_RESOURCES


@dataclass(frozen=True, slots=True)
class Estimate:
    """`log2_us` and its `spread` [octaves], the scale of a Laplace distribution around it. Both [rows]."""

    log2_us: Tensor
    spread: Tensor


def encoder_of(shape: Shape) -> ModernBertModel:
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


class Block(nn.Module):
    """Queries of width `asking` attend to a context of width `width`; then a perceptron. Both add to the queries."""

    def __init__(self, asking: int, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.norm_query, self.norm_context, self.norm_inner = (nn.LayerNorm(n) for n in (asking, width, asking))
        self.query, self.key_value = nn.Linear(asking, width), nn.Linear(width, 2 * width)
        self.mixed = nn.Linear(width, asking)
        self.inner = nn.Sequential(nn.Linear(asking, asking), nn.GELU(), nn.Dropout(dropout), nn.Linear(asking, asking))

    def forward(self, queries: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        """[n, q, asking] and [n, c, width] -> [n, q, asking]; `mask` [n, c] is true where there is something."""
        n, q, _ = queries.shape
        asked = self.query(self.norm_query(queries)).view(n, q, self.heads, -1).transpose(1, 2)
        said = self.key_value(self.norm_context(context)).view(n, context.shape[1], 2, self.heads, -1)
        key, value = said.permute(2, 0, 3, 1, 4)  # [n, heads, c, width / heads] each
        seen = None if mask is None else mask[:, None, None, :]
        mixed = functional.scaled_dot_product_attention(asked, key, value, attn_mask=seen)
        queries = queries + self.mixed(mixed.transpose(1, 2).reshape(n, q, self.width))
        inner: Tensor = self.inner(self.norm_inner(queries))
        return queries + inner


class CodeEncoder(nn.Module):
    """Tokens of a kernel -> a few vectors: learned slots attend to what the transformer made of the sequence."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.encoder = encoder_of(shape)
        self.slots = nn.Parameter(0.02 * torch.randn(shape.slots, shape.width))
        self.pool = Block(shape.width, shape.width, shape.heads, shape.dropout)

    def forward(self, tokens: Tensor) -> Tensor:
        mask = tokens != PAD  # [kernels, tokens]
        x = self.encoder(input_ids=tokens, attention_mask=mask.long()).last_hidden_state  # [kernels, tokens, width]
        pooled: Tensor = self.pool(self.slots.expand(len(tokens), -1, -1), x, mask)  # [kernels, slots, width]
        return pooled


class Facts(nn.Module):
    """Numbers, some unknown (NaN) -> what a linear layer can learn from.

    A number goes in as its distance from what is normal, whether it is known, and how much of each piece of its range
    lies below it (Gorishniy et al., "On embeddings for numerical features", 2022). Ranges are the training rows'.
    """

    def __init__(self, facts: int, pieces: int) -> None:
        super().__init__()
        self.outputs = facts * (2 + pieces)
        self.mean = nn.Buffer(torch.zeros(facts))
        self.per_deviation = nn.Buffer(torch.ones(facts))
        self.start = nn.Buffer(torch.zeros(facts, pieces))
        self.per_length = nn.Buffer(torch.zeros(facts, pieces))

    def learn_range(self, facts: Tensor) -> None:
        """`facts` [rows, facts], NaN where unknown."""
        for at, column in enumerate(facts.T):
            known = column[~column.isnan()]
            values = known.unique()
            if len(values) < 2:
                continue
            self.mean[at] = known.mean()
            self.per_deviation[at] = 1 / known.std(correction=0)
            pieces = self.start.shape[1]
            if len(values) > pieces + 1:
                # Most launches have nothing of most things: quantiles are those of what is left.
                rest = known[known != known.mode().values]
                parts = torch.linspace(0, 1, pieces + 1)
                values = rest.sort().values[(parts * (len(rest) - 1)).long()].unique()
            count = len(values) - 1
            self.start[at, :count] = values[:-1]
            self.per_length[at, :count] = 1 / values.diff()

    def forward(self, facts: Tensor) -> Tensor:
        known = ~facts.isnan()
        facts = torch.where(known, facts, self.mean)
        normal = ((facts - self.mean) * self.per_deviation).clamp(-FARTHEST, FARTHEST)
        below = ((facts[..., None] - self.start) * self.per_length).clamp(0, 1)  # [rows, facts, pieces]
        return torch.cat([torch.stack([normal, known.to(normal.dtype)], -1), below], -1)  # [rows, facts, 2 + pieces]


class DeviceGroups(nn.Module):
    """Facts about a device -> one token for each group of them, whose perceptrons share nothing."""

    def __init__(self, groups: tuple[int, ...], width: int, pieces: int) -> None:
        super().__init__()
        ends = list(itertools.accumulate(groups))
        facts, most, inputs = ends[-1], max(groups), 2 + pieces
        self.facts = Facts(facts, pieces)
        places = [[*range(end - n, end)] + [facts] * (most - n) for n, end in zip(groups, ends, strict=True)]
        self.places = nn.Buffer(torch.tensor(places), persistent=False)  # [groups, most]; `facts` = nothing
        scale = torch.tensor(groups).mul(inputs).rsqrt()[:, None, None]
        self.into = nn.Parameter(scale * torch.empty(len(groups), inputs * most, width).uniform_(-1, 1))
        self.bias = nn.Parameter(scale * torch.empty(len(groups), 1, width).uniform_(-1, 1))
        self.out = nn.Parameter(torch.empty(len(groups), width, width).uniform_(-1, 1) / math.sqrt(width))

    def forward(self, facts: Tensor) -> Tensor:
        x = functional.pad(self.facts(facts), (0, 0, 0, 1))[:, self.places]  # [rows, groups, most, inputs]
        x = functional.gelu(x.flatten(2).transpose(0, 1) @ self.into + self.bias) @ self.out  # [groups, rows, width]
        return x.transpose(0, 1)


class Head(nn.Module):
    """A kernel's vectors and the facts of one launch on one device -> log2 us and spread."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width, trunk, pieces = shape.width, shape.trunk, shape.pieces
        self.launch, self.compiled = Facts(shape.launch_facts, pieces), Facts(shape.compiled_facts, pieces)
        self.laws = Facts(shape.laws, pieces) if shape.with_laws else None
        groups = shape.device_groups if shape.with_device_groups else (sum(shape.device_groups),)
        self.device = DeviceGroups(groups, width, pieces)
        self.from_launch = nn.Linear(self.launch.outputs, trunk)
        self.from_laws = nn.Linear(self.laws.outputs, trunk) if self.laws is not None else None
        self.from_compiled = nn.Linear(self.compiled.outputs, trunk)
        self.not_compiled = nn.Parameter(0.02 * torch.randn(trunk))
        self.no_code = nn.Parameter(0.02 * torch.randn(shape.slots, width))
        self.blocks = nn.ModuleList(Block(trunk, width, shape.heads, shape.dropout) for _ in range(shape.head_layers))
        self.norm = nn.LayerNorm(trunk)
        # Of each resource, then of all together, how little they overlap, the spread.
        self.out = nn.Linear(trunk, shape.resources + 3)
        nn.init.zeros_(self.out.bias)
        nn.init.normal_(self.out.weight, std=0.01)

    def forward(self, code: Tensor | None, launch: Tensor, laws: Tensor, device: Tensor, compiled: Tensor) -> Estimate:
        """`code` [rows, slots, width], the others [rows, facts]; `compiled` is all NaN where it is not known."""
        rows = len(launch)
        no_code = self.no_code.expand(rows, -1, -1)
        if code is None:
            code = no_code
        elif self.training and self.shape.code_dropout:
            hidden = torch.rand(rows, 1, 1, device=code.device) < self.shape.code_dropout
            code = torch.where(hidden, no_code, code)
        context = torch.cat([code, self.device(device)], 1)  # [rows, slots + groups, width]
        x = self.from_launch(self.launch(launch).flatten(1))  # [rows, trunk]
        if self.laws is not None and self.from_laws is not None:
            x = x + self.from_laws(self.laws(shares(laws)).flatten(1))
        has_compiled = (~compiled.isnan()).any(-1, keepdim=True)
        x = x + torch.where(has_compiled, self.from_compiled(self.compiled(compiled).flatten(1)), self.not_compiled)
        x = x[:, None]
        for block in self.blocks:
            x = block(x, context)  # [rows, 1, trunk]
        out = self.out(functional.gelu(self.norm(x[:, 0]))).float()
        own, together, overlap, spread = out.split([self.shape.resources, 1, 1, 1], -1)
        spread = functional.softplus(spread[:, 0]) + LEAST_SPREAD
        if self.laws is None:
            return Estimate(10 * together[:, 0], spread)
        return Estimate(composed(laws, own + together, overlap[:, 0]), spread)


def shares(laws: Tensor) -> Tensor:
    """Each but the total relative to the total, at most 12 octaves below it."""
    total = laws[:, :1]
    return torch.cat([total, (laws[:, 1:] - total).clamp(min=-12.0)], -1)


def composed(laws: Tensor, logits: Tensor, overlap: Tensor) -> Tensor:
    """log2 us [rows] of a launch, from `laws` [rows, 2 + resources] in log2 us and `logits` [rows, resources].

    efficiency = 16 x sigmoid(logit - 2.7), so that 0 says what the laws say; any time above them can be said, and times
    down to a 16th of theirs. Resources overlap under a norm of 1 + softplus(overlap - 1), where 1 is one after the
    other. Never below the roofline `laws[:, 1]`.
    """
    resources = laws[:, LAWS_BEFORE_RESOURCES:]
    start = -math.log(MOST_EFFICIENCY - 1)
    efficiency = math.log2(MOST_EFFICIENCY) + functional.logsigmoid(logits + start) / math.log(2)  # log2
    times = torch.where(resources > NO_TIME, resources - efficiency, 2 * NO_TIME)
    norm = (1 + functional.softplus(overlap - 1)) * math.log(2)
    log2_us = torch.logsumexp(times * norm[:, None], -1) / norm
    least = laws[:, 1]
    return least + functional.softplus(log2_us - least, beta=SHARPNESS)


class Network(nn.Module):
    """Everything that is trained. Times are log2 us throughout."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.code = CodeEncoder(shape) if shape.with_code else None
        self.head = Head(shape)

    def encode(self, tokens: Tensor) -> Tensor | None:
        """[kernels, tokens] -> [kernels, slots, width]; nothing where the code is left out."""
        return None if self.code is None else self.code(tokens)

    def forward(
        self,
        kernel_of: Tensor,  # [rows] index into `tokens` or `code`; -1 hides the code from the head
        launch: Tensor,  # [rows, facts], as the following
        laws: Tensor,
        device: Tensor,
        compiled: Tensor,
        log2_us: Tensor,  # [rows] as measured
        weight: Tensor,  # [rows]
        tokens: Tensor | None = None,  # [kernels, tokens]
        code: Tensor | None = None,  # [kernels, slots, width] where the kernels were encoded before
    ) -> dict[str, Tensor]:
        if code is None and tokens is not None:
            code = self.encode(tokens)
        if code is not None:
            code = torch.cat([code, self.head.no_code[None]])[kernel_of]  # [rows, slots, width]; -1 is the last
        estimate = self.head(code, launch, laws, device, compiled)
        return {"loss": loss(estimate, log2_us, weight), "log2_us": estimate.log2_us, "spread": estimate.spread}


def loss(estimate: Estimate, log2_us: Tensor, weight: Tensor) -> Tensor:
    """Absolute error in octaves, weighted; the spread fits a Laplace distribution to it without moving the median."""
    error = (estimate.log2_us - log2_us).abs()
    likelihood = error.detach() / estimate.spread + estimate.spread.log()
    return (weight * (error + SPREAD_WEIGHT * likelihood)).sum() / weight.sum()
