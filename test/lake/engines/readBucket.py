"""Reads the values of a lake in a bucket by its manifest: readBucket.py s3://bucket/lake. storage.ts compares what it prints."""
import json
import os
import sys

import polars as pl
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs

lake = sys.argv[1]
endpoint = os.environ.get("AWS_ENDPOINT_URL")
storage = fs.S3FileSystem(endpoint_override=endpoint, region=os.environ.get("AWS_REGION", "us-east-1"))
root = lake.removeprefix("s3://")
manifest = json.load(storage.open_input_stream(f"{root}/manifest.json"))
paths = [f"{manifest['folder']}/{file['path']}" for file in manifest["tables"]["observation"]["files"]]

table = ds.dataset([f"{root}/{path}" for path in paths], filesystem=storage, partitioning="hive").to_table(columns=["value", "year"])
values = table["value"]
answers = [["pyarrow", table.num_rows, pc.sum(values).as_py(), pc.min(values).as_py()]]

options = {"aws_endpoint_url": endpoint, "aws_allow_http": "true", "aws_region": os.environ.get("AWS_REGION", "us-east-1")} if endpoint else {}
frame = pl.scan_parquet([f"{lake}/{path}" for path in paths], hive_partitioning=True, storage_options=options)
answers.append(["polars", *frame.select(pl.len(), pl.col("value").sum().alias("s"), pl.col("value").min().alias("m")).collect().row(0)])
print(json.dumps(answers))
