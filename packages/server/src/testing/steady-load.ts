/**
 * Reads of known objects, some at a time, over and over: every answer is compared with what the object is. If wanted, uploads too,
 * each read back at once.
 */
import { RawConnection, type Answer } from './raw-connection.ts';
import { getOf, type S3Client } from './s3-client.ts';
import { pathOf } from './sign.ts';
import { version } from './versions.ts';

export interface LoadOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What is read, by key. */
  readonly objects: ReadonlyMap<string, Buffer>;
  readonly atATime: number;
  /** Told of each right answer: when it was asked for, and how long its last byte took, in ms. */
  readonly onRead?: (askedAt: number, tookMs: number) => void;
  /** Every how many reads a worker uploads something; never if absent. */
  readonly readsAWrite?: number;
}

const writtenBytes = 150_000;

export class SteadyLoad {
  /** Whole answers that were exactly right. */
  reads = 0;
  writes = 0;
  /** What was wrong with others, in words. */
  readonly failures: string[] = [];
  readonly #options: LoadOptions;
  readonly #workers: Promise<void>[];
  #isStopping = false;
  #next = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#workers = Array.from({ length: options.atATime }, () => this.#work());
  }

  /** Lets answers under way finish. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    const { client, bucket, objects, readsAWrite = Infinity } = this.#options;
    const keys = [...objects.keys()];
    const connection = await RawConnection.open(client.port, client.host);
    try {
      for (let turn = 1; !this.#isStopping; turn++) {
        const at = this.#next++;
        if (turn % readsAWrite === 0) {
          await this.#write(connection, `written-${at}`);
        } else {
          const key = keys[at % keys.length]!;
          await this.#read(connection, key, objects.get(key)!, bucket);
        }
      }
    } catch (error) {
      this.failures.push((error as Error).message);
    }
    connection.close();
  }

  async #read(
    connection: RawConnection,
    key: string,
    expected: Buffer,
    bucket: string,
  ): Promise<void> {
    const request = this.#options.client.bytesOf(getOf(bucket, key));
    const askedAt = performance.now();
    connection.write(request);
    const answer = await connection.answer();
    const tookMs = performance.now() - askedAt;
    if (!this.#isOk(answer, key)) return;
    if (answer.body.equals(expected)) this.reads += 1;
    else this.failures.push(`${key}: other bytes`);
    this.#options.onRead?.(askedAt, tookMs);
  }

  async #write(connection: RawConnection, key: string): Promise<void> {
    const { client, bucket } = this.#options;
    const body = version(key, writtenBytes);
    connection.write(client.bytesOf({ method: 'PUT', target: pathOf(bucket, key), body }));
    if (!this.#isOk(await connection.answer(), `${key} (upload)`)) return;
    this.writes += 1;
    await this.#read(connection, key, body, bucket);
  }

  #isOk({ status, body }: Answer, what: string): boolean {
    if (status === 200) return true;
    this.failures.push(`${what}: ${status} ${body.toString()}`);
    return false;
  }
}
