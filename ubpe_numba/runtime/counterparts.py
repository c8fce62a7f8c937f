"""Words of other libraries, and what they are called here: hints in the errors of attributes and arguments that do not exist."""

from __future__ import annotations

from collections.abc import Iterable

#: Attributes and methods of other libraries' tokenizers, or of the module.
ATTRIBUTES = {
    # tiktoken
    "encode_ordinary": "encode(doc, disallowed_special='none')",
    "encode_ordinary_batch": "encode_batch(docs, disallowed_special='none')",
    "encode_single_token": "token_to_id(token)",
    "decode_bytes": "decode(ids, as_bytes=True)",
    "decode_single_token_bytes": "decode([id], as_bytes=True)",
    "decode_tokens_bytes": "[decode([i], as_bytes=True) for i in ids]",
    "decode_with_offsets": "encode(doc, return_offsets=True)",
    "encode_with_unstable": "stream()",
    "token_byte_values": "vocabulary",
    "n_vocab": "vocab_size",
    "max_token_value": "vocab_size - 1",
    "eot_token": "vocabulary.special",
    "special_tokens_set": "vocabulary.special",
    "get_encoding": "load(tiktoken.get_encoding(name))",
    "encoding_for_model": "load(tiktoken.encoding_for_model(name))",
    # tokenizers and transformers
    "train": "fit(docs)",
    "train_from_iterator": "fit(docs), where docs may be an iterator",
    "train_new_from_iterator": "BPE(n_tokens, preprocessing=tok.preprocessing).fit(docs)",
    "add_tokens": "Preprocessing(known_words=[...])",
    "add_special_tokens": "Preprocessing(special_tokens=[...])",
    "enable_padding": "tok(docs, padding=True)",
    "enable_truncation": "tok(docs, truncation=True, max_length=n)",
    "get_vocab_size": "vocab_size",
    "tokenize": "[tok.id_to_token(i) for i in tok.encode(doc)]",
    "convert_tokens_to_ids": "token_to_id(token)",
    "convert_ids_to_tokens": "id_to_token(id)",
    "encode_plus": "tok(doc)",
    "batch_encode_plus": "tok(docs)",
    "batch_decode": "decode_batch(batch)",
    "from_pretrained": "load(tokenizers.Tokenizer.from_pretrained(name)), or load(folder)",
    "save_pretrained": "export(tok, 'transformers', folder)",
    "from_file": "load(path)",
    "from_str": "load(text)",
    "export": "export(tok, format, path)",
    "to_json": "export(tok, 'tokenizer.json')",
    "to_str": "export(tok, 'tokenizer.json')",
    "from_buffer": "load(data)",
    "pre_tokenizer": "preprocessing.pretokenizer",
    "pretokenizer": "preprocessing.pretokenizer",
    "normalizer": "preprocessing.normalizer",
    "special_tokens": "preprocessing.special_tokens",
    "all_special_ids": "vocabulary.special",
    "apply_chat_template": "export(tok, 'transformers', chat_template=...)",
    # sentencepiece
    "encode_as_ids": "encode(doc)",
    "EncodeAsIds": "encode(doc)",
    "encode_as_pieces": "[tok.id_to_token(i) for i in tok.encode(doc)]",
    "EncodeAsPieces": "[tok.id_to_token(i) for i in tok.encode(doc)]",
    "DecodeIds": "decode(ids)",
    "decode_ids": "decode(ids)",
    "piece_to_id": "token_to_id(token)",
    "id_to_piece": "id_to_token(id)",
    "get_piece_size": "vocab_size",
    "GetPieceSize": "vocab_size",
    "nbest_encode": "encode_nbest(docs, n)",
    "sample_encode": "encode(doc, sample=0.1, seed=...)",
    "SampleEncode": "encode(doc, sample=0.1, seed=...)",
    "Load": "load(path)",
    # ubpe, minbpe, scikit-learn
    "dumps": "export(tok, 'ubpe')",
    "loads": "load(text)",
    "fit_predict": "fit_transform(docs)",
    "partial_fit": "fit_more(docs, n_tokens)",
    "predict": "transform(docs)",
    "pad": "encode_batch(docs).to_padded(fill), or tok(docs, padding=True)",
    "plot": "ubpe_numba.plot",
    "lower_bound": "bounds.lower_bound(tok, docs)",
    "nbest": "encode_nbest(docs, n)",
    "remove": "truncate(n_tokens) removes the last tokens; UBPE.refine(docs) chooses others",
    "drop": "truncate(n_tokens) removes the last tokens; UBPE.refine(docs) chooses others",
    "BagOfTokens": "ubpe_numba.sklearn.BagOfTokens",
    "MotifsDisplay": "ubpe_numba.plot.MotifsDisplay",
    "SentencePieceProcessor": "load(path)",
    "prune": "truncate(n_tokens) removes the last tokens; UBPE.refine(docs) chooses others",
    "remove_tokens": "truncate(n_tokens) removes the last tokens; UBPE.refine(docs) chooses others",
    "n_tokens_": "vocab_size",
    "merges": "vocabulary.merges",
    "vocab": "vocabulary, or get_vocab()",
    "Unigram": "UBPE(objective='likelihood')",
    # names of this library that are in a module, or of another class
    "encode_nbest": "with_objective('shortest').encode_nbest(docs, n)",
    "fit": "train(docs, n_tokens), of the class",
    "refine": "with_objective('shortest').refine(docs)",
    "reweight": "with_objective('shortest').reweight(docs)",
    "boundary_probabilities": "bounds.boundary_probabilities(tok, doc)",
    "Normalizer": "ubpe_numba.text.Normalizer",
    "Pretokenizer": "ubpe_numba.text.Pretokenizer",
    "Splitter": "ubpe_numba.text.Splitter",
}
#: Arguments of other libraries.
ARGUMENTS = {
    "vocab_size": "n_tokens",
    "n_vocab": "n_tokens",
    "size": "n_tokens",
    "num_merges": "n_tokens, which counts the alphabet too",
    "min_frequency": "rules=FitRules(min_count=n)",
    "min_count": "rules=FitRules(min_count=n)",
    "max_token_length": "rules=FitRules(max_token_length=n)",
    "limit_alphabet": "alphabet",
    "initial_alphabet": "alphabet",
    "character_coverage": "alphabet, of the characters to keep, and unknown",
    "show_progress": "progress, of fit",
    "verbose": "progress, of fit",
    "n_jobs": "n_threads, of the constructor or set_params",
    "num_threads": "n_threads, of the constructor or set_params",
    "num_proc": "n_threads, of the constructor or set_params",
    "unk_token": "unknown",
    "unk_id": "unknown",
    "pre_tokenizer": "preprocessing=Preprocessing(pretokenizer)",
    "pat_str": "preprocessing=Preprocessing(pattern)",
    "pattern": "preprocessing=Preprocessing(pattern)",
    "add_special_tokens": "tok(docs, add_special_tokens=...); encode adds nothing",
    "return_offsets_mapping": "return_offsets",
    "padding_side": "side",
    "dropout": "sample",
    "alpha": "sample",
    "nbest_size": "sample, which draws among all",
    "enable_sampling": "sample",
    "out_type": "decode, id_to_token",
    "token_weights": "objective, a name or weights by id",
    "objective": "UBPE(objective=...), or with_objective of a fitted tokenizer",
    "specials": "special_tokens",
    "bins": "levels, of quantize",
    "n_bins": "levels, of quantize",
    "n_levels": "levels, of quantize",
    "sample": "encode_batch(docs, sample=...)",
    "seed": "encode_batch(docs, sample=..., seed=...)",
    "units": "encode_batch(docs, return_offsets='spans', units=...)",
    "n_tokens": "set_params(n_tokens=...), or the constructor",
    "lengths": "offsets=numpy.cumsum([0, *lengths])",
    "lowercase": "normalizer='Lowercase', of Preprocessing or for_text",
    "do_lower_case": "normalizer='Lowercase', of Preprocessing or for_text",
    "files": "docs: read the files, or give an iterator of their texts",
}
#: Parts of `Preprocessing`, which other libraries have as arguments of a constructor.
_PARTS = (
    "pretokenizer", "special_tokens", "special_first", "known_words", "normalizer", "encoding", "break_tokens", "stop_tokens",
    "runs",
)  # fmt: skip
ARGUMENTS |= {name: f"preprocessing=Preprocessing({name}=...), or for_text({name}=...)" for name in _PARTS}
#: Arguments of a constructor or of `fit` that calls of a tokenizer do not take.
OF_CALLS = ARGUMENTS | {
    "n_threads": "set_params(n_threads=...), of the tokenizer",
    "out": "encode_batch(docs, out=...)",
    "progress": "encode_iter(docs), with a progress bar of yours around it",
}


def hint(here: dict[str, str], name: str, known: Iterable[str]) -> str:
    """End of a message: the counterpart of a name in ATTRIBUTES or ARGUMENTS, or the nearest of the known names; or empty.

    >>> hint(ARGUMENTS, "vocab_size", ["n_tokens"]), hint(ATTRIBUTES, "encode_bath", ["encode_batch"]), hint(ARGUMENTS, "xyz", [])
    ('; here: n_tokens', "; did you mean 'encode_batch'?", '')
    """
    if name in here:
        return f"; here: {here[name]}"
    import difflib  # here only: for a message

    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
