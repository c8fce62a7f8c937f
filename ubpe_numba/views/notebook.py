"""Notebook displays (`_repr_html_`) of tokenizers, vocabularies and batches.

They are HTML that is well-formed XML, with inline SVG.

No script, no style sheet, no address: elements carry their styles, and text and bars have the color of the
page, so light and dark notebooks show them alike. Values reach these functions lazily (`runtime/lazy.py`).
"""

from __future__ import annotations

import html
import re
import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import NotFittedError
from ubpe_numba.tokenizers.seam import is_learned, model_of, way_of_encoding
from ubpe_numba.views.colours import HUES, hue_of
from ubpe_numba.views.motifs import evenly, is_signal, line_of, say_most
from ubpe_numba.vocabulary.preprocessing import Preprocessing

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer
    from ubpe_numba.tokenizers.token_table import TokenTable

__all__ = ["ragged_html", "tokenizer_html", "vocabulary_html"]

#: Characters that XML does not allow, lone surrogates among them.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BINS = 24
_CELL = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;font-weight:400"
_DOCUMENTS, _VALUES = 5, 16  # documents of a batch, and values per document
_TOKENS, _SYMBOLS = 10, 12  # tokens in a list, and symbols per token
_POINTS, _WIDTH, _HEIGHT = 24, 112, 24  # of a sketch, which is so many pixels wide and high


def ragged_html(ragged: Ragged) -> str:
    """The HTML of a batch, at most some kilobytes whatever its size."""
    n, lengths = len(ragged), ragged.lengths
    title = f"Ragged: {n:,} documents, {ragged.total:,} values"
    if n == 0:
        return block(title)
    rows = [("lengths", f"{lengths.min():,} to {lengths.max():,}, median {np.median(lengths):,.10g}")]
    if empty := int(np.count_nonzero(lengths == 0)):
        rows.append(("empty documents", f"{empty:,}"))
    if ragged.total:
        values = ragged.compact().values
        rows.append(("values", f"{values.min()} to {values.max()}"))
    first = [(i, some(document, _VALUES)) for i, document in enumerate(ragged[:_DOCUMENTS])]
    parts = [
        table(rows),
        histogram(lengths, "documents", "values"),
        table(first, ("document", "first values")),
    ]
    if n > _DOCUMENTS:
        parts.append(f"<div>… and {n - _DOCUMENTS:,} more</div>")
    return block(title, *parts)


def _facts(v: TokenTable) -> list[tuple[str, str]]:
    """Facts of a vocabulary, with their names."""
    ids = v.symbol_ids[v.symbol_ids >= 0]
    low, high = int(ids.min(initial=2**31 - 1)), int(ids.max(initial=-1))
    between = f", the ids {low:,} to {high:,}" if high - low + 1 == ids.size else ""
    kind = "flat sequences" if v.merges is None else "pairs"
    facts = [
        ("alphabet", f"{v.n_alphabet:,} symbols{between}"),
        ("learned", f"{v.n_learned:,} tokens, known as {kind}" if v.n_learned else "nothing yet"),
    ]
    if v.n_learned:
        facts.append(("longest token", f"{v.lengths[is_learned(v)].max():,} symbols"))
    if v.special:
        facts.append(("special tokens", f"{len(v.special):,}"))
    if v.n_symbols:
        facts.append(("learned from", f"{v.n_symbols:,} symbols in {v.n_documents:,} documents"))
        if v.occurrences is not None and (n_tokens := int(v.occurrences.sum())):
            facts.append(("symbols a token", f"{v.n_symbols / n_tokens:.2f}, as the fit counted them"))
    if v.log_probabilities is not None:
        facts.append(("probabilities", "estimated"))
    return facts


def vocabulary_html(v: TokenTable) -> str:
    """The HTML of a vocabulary, at most some kilobytes whatever its size. O(tokens)."""
    learned = np.flatnonzero(is_learned(v))
    lengths = v.lengths[learned]
    parts = [table(_facts(v)), histogram(lengths, "learned tokens", "symbols")]
    known = v.counts if v.occurrences is None else v.occurrences
    for title, by in (("most frequent learned tokens", known[learned]), ("longest tokens", lengths)):
        best = largest(by, _TOKENS)
        parts.append(_tokens(v, learned[best[by[best] > 0]], title))
    return block(f"Vocabulary: {len(v):,} ids", *parts)


def _tokens(v: TokenTable, tokens: NDArray[np.int64], title: str) -> str:
    """A table of tokens below its title: counts, and text, or symbols and shape.

    All shapes have one scale.
    """
    if not tokens.size:
        return ""
    known, name = (v.counts, "merged") if v.occurrences is None else (v.occurrences, "occurrences")
    drawn, rows, sketches = is_signal(v), [], []
    parts: list[Any] = [v[token] for token in tokens.tolist()]
    scale = max(float(part.max()) - float(part.min()) for part in parts) if drawn else 0.0
    for token, part in zip(tokens.tolist(), parts, strict=True):
        rows.append(
            (
                token,
                f"{known[token]:,}",
                f"{v.lengths[token]:,}",
                some(part, _SYMBOLS) if drawn else line_of(part),
            )
        )
        sketches.append(_sketch(part, scale, token) if drawn else "")
    return f"<div>{title}</div>" + table(rows, ("id", name, "length", "token", *["shape"] * drawn), sketches)


def _sketch(symbols: NDArray[Any], scale: float, token: int) -> str:
    """A plot of symbols in the hue of their token, `scale` values high."""
    shape = symbols[evenly(symbols.size, _POINTS)].astype(float)
    x = np.linspace(3, _WIDTH - 3, shape.size)
    y = _HEIGHT / 2 - (shape - (shape.min() + shape.max()) / 2) * ((_HEIGHT - 8) / (scale or 1.0))
    points = " ".join(f"{a:.4g},{b:.4g}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    line = f'<path d="M{points}" fill="none" stroke="{HUES[hue_of(token, 0)]}" stroke-width="2" stroke-linejoin="round"/>'
    title = f"Token {token}: {symbols.size:,} symbols from {symbols.min()} to {symbols.max()}"
    return svg(line, _WIDTH, _HEIGHT, title)


def tokenizer_html(tok: Tokenizer) -> str:
    """The HTML of a tokenizer, below 30 kB whatever its size: facts, and ten tokens that say most.

    O(vocabulary).

    Tokens of integers are plotted as signals, those of text and bytes are written. An unfitted one shows its
    parameters.
    """
    try:
        model = model_of(tok)
    except NotFittedError:
        params = tok.get_params()
        if isinstance(prepared := params["preprocessing"], Preprocessing):
            params = {name: value for name, value in params.items() if name != "preprocessing"} | vars(
                prepared
            )
        rows = [(name, _short(value)) for name, value in params.items() if value is not None]
        return block(f"{type(tok).__name__}, not fitted", table(rows) if rows else "")
    v, segmenter = tok.vocabulary, model.segmenter
    facts = [*_facts(v), ("encodes by", way_of_encoding(tok).replace("rank", "merge rank"))]
    for name in ("encoding", "normalizer", "pretokenizer"):
        if (step := getattr(segmenter, name)) is not None:
            facts.append((name, _short(step)))
    facts.append(("fingerprint", tok.fingerprint[:16]))
    motifs = _tokens(
        v, say_most(v, v.counts if v.occurrences is None else v.occurrences, _TOKENS), "tokens that say most"
    )
    return block(f"{type(tok).__name__}: {len(model.vocabulary):,} tokens", table(facts), motifs)


def _short(value: Any) -> str:
    """The beginning of the text of a value, made without reading all of it."""
    brief = reprlib.Repr()
    brief.maxstring = brief.maxother = 80
    brief.maxlist = brief.maxtuple = brief.maxdict = brief.maxset = 8
    return brief.repr(value)


def escaped(text: object) -> str:
    """Text for an element or an attribute in double quotes; what XML does not allow becomes U+FFFD.

    >>> escaped('</svg><script>"&')
    '&lt;/svg&gt;&lt;script&gt;&quot;&amp;'
    """
    return html.escape(_FORBIDDEN.sub("\ufffd", str(text)))


def block(title: str, *parts: str) -> str:
    """A heading, which is text, and the parts below it, which are HTML."""
    style = "font-size:13px;line-height:1.45;color:inherit;max-width:62em;overflow-x:auto"
    return f'<div style="{style}"><div><strong>{escaped(title)}</strong></div>{"".join(parts)}</div>'


def table(rows: Sequence[Sequence[object]], head: Sequence[str] = (), drawn: Sequence[str] = ()) -> str:
    """Rows of text, each with a plot, HTML, at its end.

    The first cell of each names the others, unless the table has a head.
    """
    beginning, quiet, lines = 'th scope="row"', ";opacity:.75", []
    if head:
        beginning, quiet = "td", ""
        lines.append(
            "".join(f'<th scope="col" style="{_CELL};opacity:.75">{escaped(cell)}</th>' for cell in head)
        )
    for (first, *rest), picture in zip(rows, drawn or [""] * len(rows), strict=True):
        cells = [f'<{beginning} style="{_CELL}{quiet}">{escaped(first)}</{beginning[:2]}>']
        cells += [
            f'<td style="{_CELL}">{cell}</td>' for cell in (*map(escaped, rest), *filter(None, [picture]))
        ]
        lines.append("".join(cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="border-collapse:collapse;margin:4px 0"><tbody>{body}</tbody></table>'


def svg(body: str, width: int, height: int, title: str, description: str = "") -> str:
    """A plot of this many pixels, with a `title` and `description` for screen readers."""
    more = f"<desc>{escaped(description)}</desc>" if description else ""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%"'
    named = f'role="img" aria-label="{escaped(f"{title}. {description}" if description else title)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {named}><title>{escaped(title)}</title>{more}{body}</svg>'


def histogram(lengths: NDArray[np.int64], what: str, unit: str) -> str:
    """A histogram of the lengths of `what` in `unit`: at most 24 bars. Nothing without lengths. O(n)."""
    if not lengths.size:
        return ""
    low, high = int(lengths.min()), int(lengths.max())
    width = -(-(high - low + 1) // _BINS)
    counts = np.bincount((lengths - low) // width)
    top, most = int(counts.max()), int(counts.argmax())
    step = 240 // counts.size
    bars = "".join(
        f"M{i * step} 50v-{max(1, round(46 * n / top))}h{max(1, step - 1)}V50z"
        for i, n in enumerate(counts.tolist())
        if n
    )
    ends = f'<text x="0" y="63">{low:,}</text>'
    if high > low:
        ends += f'<text x="{counts.size * step}" y="63" text-anchor="end">{high:,}</text>'
    middle = (
        f"{low + most * width:,}"
        if width == 1
        else f"{low + most * width:,} to {low + (most + 1) * width - 1:,}"
    )
    title = f"Lengths of {lengths.size:,} {what}: {low:,} to {high:,} {unit}, most often {middle}"
    body = f'<path d="{bars}" fill="currentColor" fill-opacity=".55"/><g font-size="11" fill="currentColor">{ends}</g>'
    return f'<div style="margin:4px 0">lengths of {escaped(what)}, in {escaped(unit)}<br/>{svg(body, 244, 68, title)}</div>'


def largest(values: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Indices of the `n` largest values, the largest first, equal ones by index. O(values).

    >>> largest(np.array([5, 7, 5, 9]), 3).tolist()
    [3, 1, 0]
    """
    if n >= values.size:
        return np.argsort(-values, kind="stable")
    limit = np.partition(values, values.size - n)[values.size - n]
    above = np.flatnonzero(values > limit)
    chosen = np.concatenate([above, np.flatnonzero(values == limit)[: n - above.size]])
    return chosen[np.argsort(-values[chosen], kind="stable")]


def some(values: NDArray[Any], most: int) -> str:
    """The first of some integers in a line.

    >>> some(np.arange(5), 3)
    '0 1 2 … (5)'
    """
    shown = " ".join(map(str, values[:most].tolist()))
    return shown if values.size <= most else f"{shown} … ({values.size:,})"
