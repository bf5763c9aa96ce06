// Moves one file by the minio package: put FILE KEY, get KEY FILE, keys PREFIX, remove KEY. Package, endpoint and bucket come first.
import { createRequire } from 'node:module';

const [folder, endpoint, bucket, verb, ...words] = process.argv.slice(2);
const { Client } = createRequire(`${folder}/`)('minio');
const { hostname, port } = new URL(endpoint);
const client = new Client({
  endPoint: hostname,
  port: Number(port),
  useSSL: false,
  region: 'us-east-1',
  accessKey: process.env.AWS_ACCESS_KEY_ID,
  secretKey: process.env.AWS_SECRET_ACCESS_KEY,
});
const verbs = {
  put: (file, key) => client.fPutObject(bucket, key, file),
  get: (key, file) => client.fGetObject(bucket, key, file),
  keys: async (prefix) => {
    const keys = [];
    for await (const { name } of client.listObjectsV2(bucket, prefix, true)) keys.push(name);
    console.log(JSON.stringify(keys));
  },
  remove: (key) => client.removeObject(bucket, key),
};
await verbs[verb](...words);
