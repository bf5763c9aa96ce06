/** Every client that the round trips know. */
import { awsCli } from './aws-cli.ts';
import { boto3 } from './boto3.ts';
import { clickHouse } from './clickhouse.ts';
import { minio } from './minio.ts';
import { pyTorch } from './pytorch.ts';
import { rclone } from './rclone.ts';
import type { RealClient } from './real-client.ts';
import { restic } from './restic.ts';
import { s3cmd } from './s3cmd.ts';
import { s3fs } from './s3fs.ts';

export const allClients: readonly RealClient[] = [
  awsCli,
  boto3,
  s3cmd,
  rclone,
  minio,
  restic,
  s3fs,
  clickHouse,
  pyTorch,
];
