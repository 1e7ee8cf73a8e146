"""Reads a lake with one engine and tells what it found as JSON: read.py ENGINE LAKE. run.ts compares it with SQLite."""
import json
import os
import sys
import time

engine, lake = sys.argv[1:3]
root = os.path.realpath(os.path.join(lake, "current"))
recipes = json.loads(sys.stdin.read())
TOTALS = "select series_id, year, count(*) as n, sum(value) as total, min(value) as least from observation group by 1, 2"
started = time.monotonic()


def plain(value):
    return value.isoformat() if hasattr(value, "isoformat") else None if value != value else value


def duckdb_answers():
    import duckdb

    db = duckdb.connect()
    db.sql("set timezone = 'UTC'")
    for name in sorted(os.listdir(root)):
        if os.path.isdir(f"{root}/{name}"):
            db.sql(f"create view {name} as from read_parquet('{root}/{name}/**/*.parquet', hive_partitioning = true)")
    db.sql("""create view observations as
        select o.*, s.* exclude (series_id), cast(o.at_utc at time zone s.time_zone as date) as local_date
        from observation o join series s using (series_id)""")
    ask = lambda sql: [[plain(value) for value in row] for row in db.sql(sql).fetchall()]
    return ask(TOTALS), {name: ask(sql) for name, sql in recipes.items()}


def spark_answers():
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(os.environ.get("SPARK_MASTER", "local[2]"))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    global started
    started = time.monotonic()
    for name in sorted(os.listdir(root)):
        if os.path.isdir(f"{root}/{name}"):
            spark.read.parquet(f"{root}/{name}").createOrReplaceTempView(name)
    spark.sql("""create temporary view observations as
        select o.*, s.kind, s.indicator_id, s.name, s.unit, s.time_trunc, s.geo_agg, s.time_zone,
          to_date(from_utc_timestamp(o.at_utc, s.time_zone)) as local_date
        from observation o join series s on s.series_id = o.series_id""")
    ask = lambda sql: [[plain(value) for value in row] for row in spark.sql(sql).collect()]
    answers = ask(TOTALS), {name: ask(sql) for name, sql in recipes.items()}
    return answers


def polars_answers():
    import polars as pl

    values = pl.scan_parquet(f"{root}/observation/", hive_partitioning=True)
    totals = values.group_by("series_id", "year").agg(
        pl.len().alias("n"), pl.col("value").sum().alias("total"), pl.col("value").min().alias("least")
    )
    return [list(row) for row in totals.collect().rows()], {}


def pandas_answers():
    import pandas as pd

    values = pd.read_parquet(f"{root}/observation")
    groups = values.groupby(["series_id", values["year"].astype(int)])["value"]
    totals = pd.concat([groups.size(), groups.sum(), groups.min()], axis=1)
    return [[int(s), int(y), int(n), float(t), plain(float(m))] for (s, y), (n, t, m) in zip(totals.index, totals.values)], {}


totals, answers = {
    "duckdb": duckdb_answers,
    "spark": spark_answers,
    "polars": polars_answers,
    "pandas": pandas_answers,
}[engine]()
print(json.dumps({"totals": totals, "recipes": answers, "seconds": time.monotonic() - started}))
