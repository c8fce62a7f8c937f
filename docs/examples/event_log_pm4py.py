"""An event log: pm4py gives a table of events, and the activities of a case are a document of words."""

import pandas as pd
import pm4py

from ubpe_numba import BPE

ways = ["register check decide pay", "register check check decide reject", "register decide reject"]
events = [(case, activity) for case in range(40) for activity in ways[case * case % 3].split()]
table = pd.DataFrame(events, columns=["case", "activity"])
table["time"] = pd.date_range("2024-01-01", periods=len(table), freq="h", tz="UTC")
pm4py.write_xes(
    pm4py.format_dataframe(table, case_id="case", activity_key="activity", timestamp_key="time"), "log.xes"
)

log = pm4py.read_xes("log.xes").sort_values("time:timestamp", kind="stable")
cases = log.groupby("case:concept:name", sort=False)["concept:name"].agg(list)
tok = BPE(16).fit(cases)
ids = tok.encode_batch(cases)
assert tok.decode_batch(ids) == list(cases)
variants = pd.Series(map(tuple, ids.to_lists())).value_counts()
print(
    f"{len(log)} events are {ids.total} tokens; the most usual case is {tok.decode(list(variants.index[0]))}"
)
