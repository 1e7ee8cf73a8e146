# python-esios as its documentation shows it, then a DataFrame into SQLite: `python3 esios_to_sql.py address out.db from to`
import json, sqlite3, sys
from esios import ESIOSClient

address, database, start, end = sys.argv[1:]
with ESIOSClient(token="k" * 64, base_url=address, cache=False) as client:
    frame = client.indicators.get(600).historical(start, end)
with sqlite3.connect(database) as db:
    frame.to_sql("observation", db, index_label="datetime")
print(json.dumps({"rows": int(frame.notna().sum().sum())}))
