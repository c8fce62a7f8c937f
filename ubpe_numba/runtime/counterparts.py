"""Names of other libraries and their counterparts here.

They are hints in errors about missing attributes and arguments.
"""

from __future__ import annotations

from collections.abc import Iterable


def named(words: dict[str, str]) -> dict[str, str]:
    """By each of several words what all of them are called here."""
    return {word: here for here, several in words.items() for word in several.split()}


#: What is here, and the attributes and methods of other libraries' tokenizers, or of the module.
ATTRIBUTES = named(
    {
        "encode(doc, disallowed_special='none')": "encode_ordinary",
        "encode_batch(docs, disallowed_special='none')": "encode_ordinary_batch",
        "token_to_id(token)": "encode_single_token convert_tokens_to_ids piece_to_id unk_id bos_id eos_id pad_id",
        "decode(ids, as_bytes=True)": "decode_bytes",
        "decode([id], as_bytes=True)": "decode_single_token_bytes",
        "[decode([i], as_bytes=True) for i in ids]": "decode_tokens_bytes",
        "decode(ids, return_offsets=True)": "decode_with_offsets",
        "stream()": "encode_with_unstable",
        "vocabulary": "token_byte_values",
        "vocab_size": "n_vocab get_vocab_size get_piece_size GetPieceSize n_tokens_",
        "vocab_size - 1": "max_token_value",
        "vocabulary.special": (
            "eot_token special_tokens_set all_special_ids is_special_token all_special_tokens "
            "added_tokens_encoder added_tokens_decoder get_added_tokens_decoder get_added_vocab "
            "register_special_tokens"
        ),
        "load(tiktoken.get_encoding(name))": "get_encoding from_tiktoken from_encoding",
        "load(tiktoken.encoding_for_model(name))": "encoding_for_model",
        "fit(docs)": "train",
        "fit(docs), where docs may be an iterator": "train_from_iterator",
        "BPE(n_tokens, preprocessing=tok.preprocessing).fit(docs)": "train_new_from_iterator",
        "Preprocessing(known_words=[...])": "add_tokens",
        "Preprocessing(special_tokens=[...])": "add_special_tokens",
        "tok(docs, padding=True)": "enable_padding",
        "tok(docs, truncation=True, max_length=n)": "enable_truncation",
        "[tok.id_to_token(i) for i in tok.encode(doc)]": "tokenize encode_as_pieces EncodeAsPieces Encode",
        "id_to_token(id)": "convert_ids_to_tokens id_to_piece",
        "tok(doc)": "encode_plus",
        "tok(docs)": "batch_encode_plus",
        "decode_batch(batch)": "batch_decode decode_bytes_batch",
        "load(tokenizers.Tokenizer.from_pretrained(name)), or load(folder)": "from_pretrained",
        "export(tok, 'transformers', folder)": "save_pretrained to_transformers push_to_hub save_vocabulary",
        "load(path)": (
            "from_file Load SentencePieceProcessor from_tokenizer_json from_sentencepiece LoadFromFile "
            "from_gguf load_vocabulary load_merges load_model"
        ),
        "load(text)": "from_str loads",
        "export(tok, format, path)": "export",
        "export(tok, 'tokenizer.json')": "to_json to_str",
        "load(data)": "from_buffer",
        "preprocessing.pretokenizer": "pre_tokenizer pretokenizer pattern",
        "preprocessing.normalizer": "normalizer",
        "preprocessing.special_tokens": "special_tokens",
        "export(tok, 'transformers', chat_template=...)": "apply_chat_template",
        "encode(doc)": "encode_as_ids EncodeAsIds encode_to_numpy encode_single_piece",
        "decode(ids)": "DecodeIds decode_ids Decode",
        "encode_nbest(docs, n)": "nbest_encode nbest",
        "encode(doc, sample=0.1, seed=...)": "sample_encode SampleEncode",
        "export(tok, 'ubpe')": "dumps",
        "fit_transform(docs)": "fit_predict",
        "fit_more(docs, n_tokens)": "partial_fit",
        "transform(docs)": "predict",
        "encode_batch(docs).to_padded(fill), or tok(docs, padding=True)": "pad",
        "ubpe_numba.plot": "plot",
        "bounds.lower_bound(tok, docs)": "lower_bound",
        "truncate(n_tokens) removes the last tokens; UBPE.refine(docs) chooses others": "remove drop prune remove_tokens trim",
        "ubpe_numba.sklearn.BagOfTokens": "BagOfTokens",
        "ubpe_numba.plot.MotifsDisplay": "MotifsDisplay",
        "vocabulary.merges": "merges",
        "vocabulary, or get_vocab()": "vocab",
        "UBPE(objective='likelihood')": "Unigram",
        "with_objective('shortest').encode_nbest(docs, n)": "encode_nbest",
        "train(docs, n_tokens), of the class": "fit",
        "with_objective('shortest').refine(docs)": "refine",
        "with_objective('shortest').reweight(docs)": "reweight",
        "bounds.boundary_probabilities(tok, doc)": "boundary_probabilities",
        "ubpe_numba.text.Normalizer": "Normalizer",
        "ubpe_numba.text.Pretokenizer": "Pretokenizer",
        "ubpe_numba.text.Splitter": "Splitter",
        "export(tok, 'tiktoken.Encoding', name=...)": "to_tiktoken to_tiktoken_encoding as_tiktoken to_encoding",
        "load(tokenizer), of its object or file": (
            "from_tokenizers from_huggingface from_hf from_transformers from_tokenizer from_minbpe "
            "convert_slow_tokenizer"
        ),
        "export(tok, 'tokenizer.json', path)": "to_tokenizer_json to_huggingface to_hf to_tokenizers save_tokenizer_json",
        "export(tok, 'sentencepiece', path)": "to_sentencepiece serialized_model_proto",
        "export(tok, 'vocab+merges', folder)": "save_model",
        "tok(docs, return_special_tokens_mask=True)": "get_special_tokens_mask",
        "tok(docs, template=...)": "build_inputs_with_special_tokens post_process post_processor num_special_tokens_to_add",
    }
)
#: What is here, and the arguments of other libraries.
ARGUMENTS = named(
    {
        "n_tokens": "vocab_size n_vocab size",
        "n_tokens, which counts the alphabet too": "num_merges",
        "rules=FitRules(min_count=n)": "min_frequency min_count",
        "rules=FitRules(max_token_length=n)": "max_token_length",
        "alphabet": "limit_alphabet initial_alphabet",
        "alphabet, of the characters to keep, and unknown": "character_coverage",
        "progress, of fit": "show_progress verbose",
        "n_threads, of the constructor or set_params": "n_jobs num_threads num_proc",
        "unknown": "unk_token unk_id",
        "preprocessing=Preprocessing(pretokenizer)": "pre_tokenizer",
        "preprocessing=Preprocessing(pattern)": "pat_str pattern",
        "tok(docs, add_special_tokens=...); encode adds nothing": "add_special_tokens",
        "return_offsets": "return_offsets_mapping",
        "side": "padding_side",
        "sample": "dropout alpha enable_sampling",
        "sample, which draws among all": "nbest_size",
        "decode, id_to_token": "out_type",
        "objective, a name or weights by id": "token_weights",
        "UBPE(objective=...), or with_objective of a fitted tokenizer": "objective",
        "special_tokens": "specials",
        "levels, of Scale": "bins n_bins n_levels",
        "encode_batch(docs, sample=...)": "sample",
        "encode_batch(docs, sample=..., seed=...)": "seed",
        "encode_batch(docs, return_offsets='spans', units=...)": "units",
        "set_params(n_tokens=...), or the constructor": "n_tokens",
        "offsets=numpy.cumsum([0, *lengths])": "lengths",
        "normalizer='Lowercase', of Preprocessing or for_text": "lowercase do_lower_case",
        "docs: read the files, or give an iterator of their texts": "files",
    }
)
#: Parts of `Preprocessing`, which other libraries have as arguments of a constructor.
_PARTS = (
    "pretokenizer", "special_tokens", "special_first", "known_words", "normalizer", "encoding",
    "break_tokens", "stop_tokens",
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
    """End of a message: the counterpart of a name in ATTRIBUTES or ARGUMENTS, or a near name.

    Empty if there is neither.

    >>> hint(ARGUMENTS, "vocab_size", ["n_tokens"]), hint(ATTRIBUTES, "encode_bath", ["encode_batch"]), hint(ARGUMENTS, "xyz", [])
    ('; here: n_tokens', "; did you mean 'encode_batch'?", '')
    """
    if name in here:
        return f"; here: {here[name]}"
    import difflib  # here only: for a message

    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
