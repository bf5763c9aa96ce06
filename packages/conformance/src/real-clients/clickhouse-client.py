"""A round trip by chDB, which is ClickHouse without a server. Words: endpoint, bucket, a folder of its own. Keys come by the environment."""
import os
import sys

import chdb

endpoint, bucket, folder = sys.argv[1:]
identity, credential = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
connection = chdb.connect(folder)


def ask(sql):
    return str(connection.query(sql, "TSV")).strip()


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r} instead of {want!r}")


def files(name, form):
    return f"s3('{endpoint}/{bucket}/{name}', '{identity}', '{credential}', '{form}')"


sums = "SELECT count(), sum(id), sum(cityHash64(text)) FROM "
rows = "SELECT number AS id, hex(cityHash64(number)) AS text FROM numbers(1000000)"
want = ask(f"{sums} ({rows})")

ask(f"INSERT INTO FUNCTION {files('data.parquet', 'Parquet')} {rows}")
ask(f"INSERT INTO FUNCTION {files('parts/{_partition_id}.csv', 'CSVWithNames')} PARTITION BY id % 7 {rows}")
for read in range(1, 4):
    same(f"Parquet, read {read}", ask(sums + files("data.parquet", "Parquet")), want)
    same(f"CSV, read {read}", ask(sums + files("parts/*.csv", "CSVWithNames")), want)

ask(
    f"""CREATE TABLE rows (id UInt64, text String) ENGINE = MergeTree ORDER BY id
    SETTINGS disk = disk(type = s3, endpoint = '{endpoint}/{bucket}/disk/', access_key_id = '{identity}',
                         secret_access_key = '{credential}', region = 'us-east-1')"""
)
for half in range(2):
    ask(f"INSERT INTO rows SELECT * FROM ({rows}) WHERE id % 2 = {half}")
for read in range(1, 4):
    same(f"a disk, read {read}", ask(sums + "rows"), want)
ask("OPTIMIZE TABLE rows FINAL")
same("a disk, merged", ask(sums + "rows"), want)
ask("ALTER TABLE rows DELETE WHERE id % 2 = 0 SETTINGS mutations_sync = 2")
same("a disk, the odd rows", ask(sums + "rows"), ask(f"{sums} ({rows}) WHERE id % 2 = 1"))
ask("DROP TABLE rows SYNC")
