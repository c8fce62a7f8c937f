"""Pictures of what a tokenizer finds. They look up and draw, and decide nothing."""
