/** Reads of known objects, some at a time, over and over: every answer is compared with what the object is. */
import { RawConnection } from './raw-connection.ts';
import { getOf, type S3Client } from './s3-client.ts';

export interface LoadOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** What is read, by key. */
  readonly objects: ReadonlyMap<string, Buffer>;
  readonly atATime: number;
}

export class SteadyLoad {
  /** Whole answers that were exactly right. */
  reads = 0;
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
    const { client, bucket, objects } = this.#options;
    const keys = [...objects.keys()];
    const connection = await RawConnection.open(client.port);
    while (!this.#isStopping) {
      const key = keys[this.#next++ % keys.length]!;
      connection.write(client.bytesOf(getOf(bucket, key)));
      try {
        const { status, body } = await connection.answer();
        if (status !== 200) this.failures.push(`${key}: ${status} ${body.toString()}`);
        else if (!body.equals(objects.get(key)!)) this.failures.push(`${key}: other bytes`);
        else this.reads += 1;
      } catch (error) {
        this.failures.push(`${key}: ${(error as Error).message}`);
        break;
      }
    }
    connection.close();
  }
}
