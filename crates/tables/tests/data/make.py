"""Writes the Parquet files of this folder, as pandas and pyarrow write them. Needs pandas and pyarrow; the tests do not."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

os.chdir(os.path.dirname(os.path.abspath(__file__)))
n = 50
i = np.arange(n)
frame = pd.DataFrame(
    {
        "k": 0.1 * i,
        "f32": (0.5 * i).astype("float32"),
        "i64": i.astype("int64") - 10,
        "i32": (i * 2).astype("int32"),
        "u32": (4_000_000_000 + i).astype("uint32"),
        "i8": (i - 25).astype("int8"),
        "flag": i % 2 == 0,
        "text": [f"row {at}" for at in i],
        "hole": np.where(i % 7 == 3, np.nan, i / 4),
    }
)
frame.to_parquet("pandas.parquet")
frame.to_parquet("pandas-gzip.parquet", compression="gzip")
frame.to_parquet("pandas-zstd.parquet", compression="zstd")
nulls = pa.table({"k": pa.array([1.5, None, 2.5]), "n": pa.array([None, 7, 8], pa.int32()), "when": pa.array([1, 2, 3], pa.timestamp("ms"))})
pq.write_table(nulls, "nulls.parquet", row_group_size=2, compression="none")
pq.write_table(pa.table({"k": [1.0, 2.0], "list": [[1.0], [2.0, 3.0]]}), "nested.parquet")
pq.write_table(pa.table({"k": pa.array([1.0, 2.0]), "s": pa.array([3.0, 4.0])}).rename_columns(["k", "k"]), "twice.parquet")
