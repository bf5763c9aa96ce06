"""Moves one file by boto3: put FILE KEY, get KEY FILE, keys PREFIX, remove KEY. Endpoint and bucket come first."""
import json
import sys

import boto3
from botocore.config import Config

endpoint, bucket, verb, *words = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=endpoint, config=Config(s3={"addressing_style": "path"}))
if verb == "put":
    s3.upload_file(words[0], bucket, words[1])
elif verb == "get":
    s3.download_file(bucket, words[0], words[1])
elif verb == "keys":
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=words[0])
    print(json.dumps([one["Key"] for page in pages for one in page.get("Contents", [])]))
elif verb == "remove":
    s3.delete_object(Bucket=bucket, Key=words[0])
else:
    sys.exit("no such verb: " + verb)
