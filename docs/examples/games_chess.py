"""Games of chess from a PGN file: moves are words, and openings become tokens."""

import chess.pgn

from ubpe_numba import BPE

with open("games.pgn", "w") as file:
    for moves in (
        "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7",
        "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 O-O c3 d5 exd5 Nxd5 Nxe5 Nxe5 Rxe5 c6",
    ):
        file.write(f'[Event "?"]\n\n{moves} *\n\n')

with open("games.pgn") as file:
    games = [
        [node.san() for node in game.mainline()] for game in iter(lambda: chess.pgn.read_game(file), None)
    ]
tok = BPE(120).fit(games)
ids = tok.encode_batch(games)
assert tok.decode_batch(ids) == games
print(
    f"{sum(map(len, games))} moves are {ids.total} tokens; the last game begins with {tok.decode(ids[2][:1])}"
)
