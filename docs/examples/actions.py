"""Robot actions: fit, save, load, encode, decode, and a sampler whose every reply is a whole chunk.

The movements are made here: seven joints and a gripper go from one place to another, as a person moves, with
noise.
"""

import numpy as np

from ubpe_numba.actions import ActionTokenizer

rng = np.random.default_rng(0)
begin, end = rng.uniform(-1, 1, (2, 300, 1, 8))
s = np.clip((np.arange(50)[:, None] - rng.uniform(0, 15, (300, 1, 1))) / 30, 0, 1)
chunks = begin + (end - begin) * (10 * s**3 - 15 * s**4 + 6 * s**5) + rng.normal(0, 0.01, (300, 50, 8))
chunks[:, :, 7] = np.sign(chunks[:, :, 7])  # the gripper is open or closed
train, unseen = chunks[:250], chunks[250:]

ActionTokenizer.fit(train, vocab_size=1024, out_of_range="clip").save("actions.json")
tok = ActionTokenizer.load("actions.json")
tokens = tok(unseen)
error = np.abs(tok.decode(tokens) - unseen)[tok.in_range(unseen)].max()
print(f"{tok}, off by {error:.3f} at most, at most {tok.error_bound():.3f} possible")

# a policy that knows nothing: all tokens are as likely as one another
lengths, drawn = tok.allowed_lengths(), []
while left := unseen[0].size - lengths[drawn].sum():
    drawn.append(int(rng.choice(np.flatnonzero(tok.allowed_tokens(left)))))
assert tok.decode([drawn]).shape == (1, 50, 8)
print(
    f"{sum(map(len, tokens))} tokens, {tokens[0][:8]}..., {error:.6f}, drawn: {len(drawn)} tokens, {drawn[:8]}..."
)
