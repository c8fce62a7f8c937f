"""Pictures of the tokens that a tokenizer finds: these modules only look up and draw."""
