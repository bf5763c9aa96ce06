"""A round trip by PyTorch with Amazon's connector for it. Words: endpoint, bucket. Keys come by the environment."""
import sys

import torch
from s3torchconnector import (
    S3Checkpoint,
    S3ClientConfig,
    S3IterableDataset,
    S3MapDataset,
    S3ReaderConstructor,
)

endpoint, bucket = sys.argv[1:]
zone = {
    "region": "us-east-1",
    "endpoint": endpoint,
    "s3client_config": S3ClientConfig(force_path_style=True),
}
checkpoint = S3Checkpoint(**zone)


def same(what, got, want):
    if not torch.equal(got, want):
        sys.exit(f"{what}: other numbers than were written")


def load(sample):
    return sample.key, torch.load(sample)


samples = {f"train/sample {number}.pt": torch.rand(300_000) for number in range(8)}
for key, numbers in samples.items():
    with checkpoint.writer(f"s3://{bucket}/{key}") as file:
        torch.save(numbers, file)
for reader in [S3ReaderConstructor.sequential(), S3ReaderConstructor.range_based()]:
    for kind in [S3MapDataset, S3IterableDataset, S3MapDataset]:
        every = kind.from_prefix(f"s3://{bucket}/train/", transform=load, reader_constructor=reader, **zone)
        read = dict(every[index] for index in range(len(every))) if kind is S3MapDataset else dict(every)
        if read.keys() != samples.keys():
            sys.exit(f"listed {sorted(read)}")
        for key, numbers in read.items():
            same(key, numbers, samples[key])

# In parts.
large = torch.rand(50_000_000)
with checkpoint.writer(f"s3://{bucket}/large.pt") as file:
    torch.save(large, file)
for read in range(1, 4):
    with checkpoint.reader(f"s3://{bucket}/large.pt") as file:
        same(f"a checkpoint, read {read}", torch.load(file), large)
