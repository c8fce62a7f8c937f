"""Notebook displays (`_repr_html_`) of tokenizers, vocabularies and batches: HTML that is well-formed XML, with inline SVG.

No script, no style sheet, no address: elements carry their styles, and text and bars take the colour of the page, so that light
and dark notebooks show them alike. Values reach these functions by name (`runtime/lazy.py`).
"""

from __future__ import annotations

import html
import re
import reprlib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import NotFittedError
from ubpe_numba.views.colours import HUES, hue_of
from ubpe_numba.views.motifs import choose_diverse, evenly
from ubpe_numba.vocabulary.preprocessing import Preprocessing

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer
    from ubpe_numba.tokenizers.token_table import TokenTable

__all__ = ["ragged_html", "tokenizer_html", "vocabulary_html"]

#: Characters that XML does not allow, lone surrogates among them.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BINS = 24
_CELL = "text-align:left;vertical-align:top;padding:1px 14px 1px 0;font-weight:400"
_DOCUMENTS, _VALUES = 5, 16  # documents of a batch, and values of one
_TOKENS, _SYMBOLS = 10, 12  # tokens in a list, and symbols of one
_MOTIFS = 10
_CANDIDATES = 120  # tokens of the best scores that are compared, to choose motifs that differ
_POINTS = 96  # of a sketch
_WIDTH, _HEIGHT = 112, 40  # pixels of a sketch
_ROW, _TEXT, _BAR = 20, 270, 180  # pixels of a line, of a string and of the longest bar
_COLUMNS = 34  # width of a string in characters
_KINDS = {"int": "integers", "str": "characters", "bytes": "bytes"}


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
    parts = [table(rows), histogram(lengths, "documents", "values"), table(first, ("document", "first values"))]
    if n > _DOCUMENTS:
        parts.append(f"<div>… and {n - _DOCUMENTS:,} more</div>")
    return block(title, *parts)


def vocabulary_html(v: TokenTable) -> str:
    """The HTML of a vocabulary, at most some kilobytes whatever its size. O(tokens)."""
    ids = v.symbol_ids[v.symbol_ids >= 0]
    low, high = int(ids.min(initial=2**31 - 1)), int(ids.max(initial=-1))
    between = f", the ids {low:,} to {high:,}" if high - low + 1 == ids.size else ""
    kind = "flat sequences" if v.merges is None else "pairs"
    rows = [
        ("alphabet", f"{v.n_alphabet:,} symbols{between}"),
        ("learned", f"{v.n_learned:,} tokens, known as {kind}" if v.n_learned else "nothing yet"),
    ]
    if v.special:
        rows.append(("special tokens", f"{len(v.special):,}"))
    if v.n_symbols:
        rows.append(("learned from", f"{v.n_symbols:,} symbols in {v.n_documents:,} documents"))
    if v.log_probabilities is not None:
        rows.append(("probabilities", "estimated"))
    learned = np.flatnonzero(v._learned)
    lengths = v.lengths[learned]
    parts = [table(rows), histogram(lengths, "learned tokens", "symbols")]
    known, name = (v.counts, "merged") if v.occurrences is None else (v.occurrences, "occurrences")
    for title, by in (("most frequent learned tokens", known[learned]), ("longest tokens", lengths)):
        best = largest(by, _TOKENS)
        tokens = learned[best[by[best] > 0]].tolist()
        if tokens:
            head = ("id", name, "length", "token", "shape")
            parts.append(f"<div>{title}</div>" + table([_row(v, t, known) for t in tokens], head[: 5 if _is_signal(v) else 4]))
    return block(f"Vocabulary: {len(v):,} ids", *parts)


def _row(v: TokenTable, token: int, known: NDArray[np.int64]) -> tuple[object, ...]:
    symbols: Any = v[token]
    facts = token, f"{known[token]:,}", v.lengths[token]
    if isinstance(symbols, list):  # names, with their own blanks
        text = " ".join(map(str, symbols[:_SYMBOLS])) + "…" * (len(symbols) > _SYMBOLS)
        return *facts, _visible(text).replace("␣", " ")
    if isinstance(symbols, (str, bytes)):
        return *facts, _visible(symbols)
    shape = symbols[evenly(symbols.size, _POINTS // 4)].astype(float)
    title = f"The shape of token {token}"
    return *facts, some(symbols, _SYMBOLS), _sketch(shape, float(np.ptp(shape)), token, _HEIGHT // 2, title)


def _is_signal(v: TokenTable) -> bool:
    """Whether tokens are drawn: those of integers without names."""
    return v._alphabet.kind == "int" and v._alphabet.names is None


class _Html(str):
    """A cell of a table that is HTML already."""


def _sketch(shape: NDArray[np.float64], scale: float, token: int, height: int, title: str) -> _Html:
    """A picture of a shape in the hue of its token, `scale` values high."""
    x = np.linspace(3, _WIDTH - 3, shape.size)
    y = height / 2 - (shape - (shape.min() + shape.max()) / 2) * ((height - 8) / (scale or 1.0))
    points = " ".join(f"{a:.4g},{b:.4g}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    line = f'<path d="M{points}" fill="none" stroke="{HUES[hue_of(token, 0)]}" stroke-width="2" stroke-linejoin="round"/>'
    return _Html(svg(line, _WIDTH, height, title))


def tokenizer_html(tok: Tokenizer) -> str:
    """The HTML of a tokenizer, below 30 kB whatever its size: facts, and ten tokens that say most. O(vocabulary).

    Tokens of integers are drawn as signals, those of text and bytes are written. An unfitted one shows its parameters.
    """
    try:
        vocabulary = tok._fitted().vocabulary
    except NotFittedError:
        params = tok.get_params()
        if isinstance(prepared := params["preprocessing"], Preprocessing):
            params = {name: value for name, value in params.items() if name != "preprocessing"} | vars(prepared)
        given = [(name, _short(value)) for name, value in params.items() if value is not None]
        return block(f"{type(tok).__name__}, not fitted", table(given) if given else "")
    v, motifs = tok.vocabulary, ""
    if (learned := np.flatnonzero(v._learned)).size:
        counts = (v.counts if v.occurrences is None else v.occurrences)[learned].astype(np.float64)
        known = bool(counts.any())
        drawn = _signals if _is_signal(v) else _strings
        motifs = drawn(v, learned, counts if known else np.ones(counts.size), known)
    return block(f"{type(tok).__name__}: {len(vocabulary):,} tokens", table(_facts(tok)), motifs)


def _facts(tok: Tokenizer) -> list[tuple[str, str]]:
    """Facts of a fitted tokenizer, by name."""
    alphabet, vocabulary, segmenter = tok._model
    kind = _KINDS[alphabet.kind] if alphabet.names is None else "words"
    facts = [("tokens", f"{vocabulary.n_alphabet:,} symbols ({kind}) and {vocabulary.n_learned:,} learned")]
    facts.append(("encodes by", "merge rank" if tok._encodes_by == "rank" else tok._encodes_by))
    if vocabulary.n_symbols:
        facts.append(("fitted on", f"{vocabulary.n_symbols:,} symbols in {vocabulary.n_documents:,} documents"))
        occurrences = 0 if vocabulary.occurrences is None else int(vocabulary.occurrences.sum())
        if occurrences:
            facts.append(("symbols a token", f"{vocabulary.n_symbols / occurrences:.2f}, as the fit counted them"))
    longest = int(np.diff(vocabulary.offsets).max())
    facts.append(("longest token", f"{longest:,} symbols"))
    if segmenter.encoding is not None:
        facts.append(("text", f"as {segmenter.encoding}"))
    for name in ("normalizer", "pretokenizer"):
        if (step := getattr(segmenter, name)) is not None:
            facts.append((name, _short(step)))
    if special := tok.vocabulary.special:
        facts.append(("special tokens", f"{len(special):,}"))
    facts.append(("fingerprint", tok.fingerprint[:16]))
    return facts


def _signals(v: TokenTable, learned: NDArray[np.int64], counts: NDArray[np.float64], known: bool) -> str:
    """Sketches of the tokens of the largest range times symbols saved, some that differ; heights are to scale."""
    symbols, begins, lengths = v.arena, v.offsets[learned], v.lengths[learned]
    ends = np.stack([begins, begins + lengths], axis=1).ravel()
    # as floats: the difference of two 64-bit integers may overflow
    values = np.append(symbols, symbols[:1]).astype(float)
    ranges: NDArray[np.float64] = (np.maximum.reduceat(values, ends) - np.minimum.reduceat(values, ends))[::2].astype(float)
    scores = ranges * (lengths - 1) * np.where(counts > 1, counts, 0.0 if known else 1.0)  # one that occurs once is no motif
    order = largest(scores, _CANDIDATES)
    order = order[scores[order] > 0]
    shapes = [
        symbols[begins[i] + evenly(int(lengths[i]), _POINTS)].astype(np.float64) - float(symbols[begins[i]])
        for i in order.tolist()
    ]
    chosen = choose_diverse(shapes, scores[order], _MOTIFS)
    if not chosen:
        return ""
    scale = max(float(np.ptp(shapes[i])) for i in chosen)
    figures = []
    for i in chosen:
        at = int(order[i])
        token, length = int(learned[at]), int(lengths[at])
        low, high = (symbols[begins[at] : begins[at] + length].min(), symbols[begins[at] : begins[at] + length].max())
        times = f", {_times(counts[at])}" if known else ""
        title = f"Token {token}: {length:,} symbols from {low} to {high}{times}"
        picture = _sketch(shapes[i], scale, token, _HEIGHT, title)
        caption = f"{token}: {length:,} long{times}"
        style = "display:inline-block;margin:4px 14px 4px 0;vertical-align:top"
        figures.append(f'<div style="{style}">{picture}<div style="font-size:11px">{escaped(caption)}</div></div>')
    return f"<div>motifs: range of values times symbols saved, heights to scale</div><div>{''.join(figures)}</div>"


def _strings(v: TokenTable, learned: NDArray[np.int64], counts: NDArray[np.float64], known: bool) -> str:
    """The strings that save most symbols, none of which is a part of another; a bar says how many."""
    saved = counts * (v.lengths[learned] - 1)
    chosen: list[tuple[int, Any]] = []
    for at in largest(saved, _CANDIDATES).tolist():
        string: Any = v[int(learned[at])]
        string = " ".join(map(str, string)) if isinstance(string, list) else string
        if not any(string in other or other in string for _, other in chosen):
            chosen.append((at, string))
        if len(chosen) == _MOTIFS:
            break
    most = max(saved[at] for at, _ in chosen)
    rows, texts = [], []
    for row, (at, string) in enumerate(chosen):
        token, shown, y = int(learned[at]), _visible(string), row * _ROW + 14
        times = _times(counts[at]) if known else f"{len(string):,} long"
        bar = max(2, round(_BAR * saved[at] / max(most, 1.0)))
        rows.append(
            f'<text x="56" y="{y}" text-anchor="end" opacity=".75">{token}</text>'
            f'<svg x="64" y="{row * _ROW}" width="{_TEXT}" height="{_ROW}">'
            f'<text y="14" font-family="monospace">{escaped(shown)}</text></svg>'
            f'<rect x="{_TEXT + 70}" y="{row * _ROW + 4}" width="{bar}" height="12" fill="{HUES[hue_of(token, 0)]}"/>'
            f'<text x="{_TEXT + 76 + bar}" y="{y}">{times}</text>'
        )
        texts.append(f"{shown} ({times})")
    body = f'<g font-size="12.5" fill="currentColor">{"".join(rows)}</g>'
    picture = svg(
        body, _TEXT + _BAR + 160, len(chosen) * _ROW + 2, f"{len(chosen)} tokens that save most symbols", "; ".join(texts)
    )
    return f"<div>motifs: the tokens that save most symbols</div>{picture}"


def _times(count: float) -> str:
    return "once" if count == 1 else f"{count:,.0f} times"


def _visible(string: str | bytes) -> str:
    """A string in one line of at most 34 cells."""
    shown, cells = "", 0
    for part in visible(string[: 4 * _COLUMNS]):
        cells += sum(2 if unicodedata.east_asian_width(p) in "WF" else 1 for p in part)
        if cells > _COLUMNS:
            return shown + "…"
        shown += part
    return shown


def visible(string: str | bytes) -> list[str]:
    """The characters of a string: spaces as ␣, others that do not show as escapes."""
    text = string.decode("utf-8", "backslashreplace") if isinstance(string, bytes) else string
    return ["␣" if c == " " else c if c.isprintable() else c.encode("unicode_escape").decode() for c in text]


def _short(value: Any) -> str:
    """The beginning of what a value looks like, made without looking at all of it."""
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


def table(rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """Rows of text; the first cell of each says what the others are, unless there is a head of columns."""
    beginning, quiet, lines = 'th scope="row"', ";opacity:.75", []
    if head:
        beginning, quiet = "td", ""
        lines.append("".join(f'<th scope="col" style="{_CELL};opacity:.75">{escaped(cell)}</th>' for cell in head))
    for first, *rest in rows:
        cells = f'<{beginning} style="{_CELL}{quiet}">{escaped(first)}</{beginning[:2]}>'
        shown = (cell if isinstance(cell, _Html) else escaped(cell) for cell in rest)
        lines.append(cells + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in shown))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="border-collapse:collapse;margin:4px 0"><tbody>{body}</tbody></table>'


def svg(body: str, width: int, height: int, title: str, description: str = "") -> str:
    """A picture of this many pixels; `title`, and `description` if there is more to say, are for those who do not see it."""
    more = f"<desc>{escaped(description)}</desc>" if description else ""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" style="max-width:100%"'
    named = f'role="img" aria-label="{escaped(f"{title}. {description}" if description else title)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {named}><title>{escaped(title)}</title>{more}{body}</svg>'


def histogram(lengths: NDArray[np.int64], what: str, unit: str) -> str:
    """A picture of how many of `what` have which length in `unit`: at most 24 bars. Nothing without lengths. O(n)."""
    if not lengths.size:
        return ""
    low, high = int(lengths.min()), int(lengths.max())
    width = -(-(high - low + 1) // _BINS)
    counts = np.bincount((lengths - low) // width)
    top, most = int(counts.max()), int(counts.argmax())
    step = 240 // counts.size
    bars = "".join(
        f"M{i * step} 50v-{max(1, round(46 * n / top))}h{max(1, step - 1)}V50z" for i, n in enumerate(counts.tolist()) if n
    )
    ends = f'<text x="0" y="63">{low:,}</text>'
    if high > low:
        ends += f'<text x="{counts.size * step}" y="63" text-anchor="end">{high:,}</text>'
    middle = f"{low + most * width:,}" if width == 1 else f"{low + most * width:,} to {low + (most + 1) * width - 1:,}"
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
