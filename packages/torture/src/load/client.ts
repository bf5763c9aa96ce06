/**
 * One client of a life: reads and writes at random over one connection at a time, and has every answer judged. It goes on until the
 * life ends; what the end of a life, damage or a change of the object excuses is counted, everything else that isn't right is a finding.
 */
import { RawConnection, type Answer } from 's3-accelerator/testing/raw-connection.ts';
import { S3Client, type Call } from 's3-accelerator/testing/s3-client.ts';
import { pathOf } from 's3-accelerator/testing/sign.ts';
import type { Dice } from '../dice.ts';
import { maxReadMs, type ObjectHistory } from '../origin/history.ts';
import { drawSize, type Origin } from '../origin/origin.ts';
import { judge, type Wanted } from './judge.ts';
import type { Tally } from './tally.ts';

/** What a client must know of the life that it talks to. */
export interface LifeUnderLoad {
  readonly gatewayPort: number;
  /** Whether its files were damaged before it began: it may then refuse or cut short. */
  readonly isDamaged: boolean;
  /** Milliseconds: since when it is being ended; Infinity while it isn't. */
  readonly endingSince: number;
}

const requestsOfConnection = 12;
const identity = { accessKeyId: 'local-identity', secretAccessKey: 'local-credential' };

export class Client {
  readonly #life: LifeUnderLoad;
  readonly #origin: Origin;
  readonly #tally: Tally;
  readonly #dice: Dice;
  readonly #s3: S3Client;
  #connection: RawConnection | null = null;
  #left = 0;

  constructor(life: LifeUnderLoad, origin: Origin, tally: Tally, dice: Dice) {
    this.#life = life;
    this.#origin = origin;
    this.#tally = tally;
    this.#dice = dice;
    this.#s3 = new S3Client(life.gatewayPort, identity);
  }

  /** Resolves once the life is being ended and what was under way has come back. */
  async run(): Promise<void> {
    while (this.#life.endingSince === Infinity) {
      const action = this.#dice.weighted({ read: 88, put: 6, overwrite: 6 });
      if (action === 'read') await this.#read();
      else if (action === 'put') await this.#put();
      else this.#overwrite();
    }
    this.#close();
  }

  async #read(): Promise<void> {
    const object = this.#anyObject();
    const wanted = this.#drawWanted(object.newest.size);
    const began = performance.now();
    const answer = await this.#exchange(callOf(object, wanted), this.#dice.chance(0.03));
    const ended = performance.now();
    const possible = object.possible(began, ended);
    const verdict =
      answer instanceof Error
        ? ({ kind: 'short', why: answer.message } as const)
        : judge(object, possible, wanted, answer);
    if (!(answer instanceof Error)) {
      this.#tally.reads++;
      this.#tally.bytes += answer.body.length;
    }
    if (verdict.kind === 'right') return;
    this.#close();
    if (verdict.kind === 'short' && (possible.length > 1 || this.#isExcused(ended))) {
      this.#tally.excused++;
      return;
    }
    this.#find(object, `${JSON.stringify(wanted)}: ${verdict.why}`);
  }

  async #put(): Promise<void> {
    const object = this.#writable();
    if (object === null) return;
    const version = object.begin(performance.now(), drawSize(this.#dice));
    const target = pathOf(object.name.bucket, object.name.key);
    const answer = await this.#exchange({ method: 'PUT', target, body: object.contentOf(version) });
    const ended = performance.now();
    if (!(answer instanceof Error) && answer.status === 200) {
      object.done(ended, version, 'through the gateway');
      this.#tally.puts++;
      return;
    }
    object.lost();
    this.#close();
    if (this.#isExcused(ended)) this.#tally.excused++;
    else {
      const why = answer instanceof Error ? answer.message : `answered ${answer.status}`;
      this.#find(object, `PUT: ${why}`);
    }
  }

  #overwrite(): void {
    const object = this.#writable();
    if (object === null) return;
    this.#origin.overwrite(object, drawSize(this.#dice));
    this.#tally.overwrites++;
  }

  #isExcused(ended: number): boolean {
    return this.#life.isDamaged || ended >= this.#life.endingSince;
  }

  #find(object: ObjectHistory, what: string): void {
    const { bucket, key, id } = object.name;
    this.#tally.wrong.push(`life ${this.#tally.lives}: ${bucket}/${key} (object ${id}) ${what}`);
  }

  /** Few objects are read often, most now and then: some stay stored, others are evicted and come back. */
  #anyObject(): ObjectHistory {
    const { objects } = this.#origin;
    const place = Math.floor(this.#dice.share() ** 2 * objects.length);
    // Spreads the popular ones over the buckets.
    return objects[(place * 53) % objects.length]!;
  }

  #writable(): ObjectHistory | null {
    const writable = this.#origin.writable();
    return writable.length === 0 ? null : this.#dice.pick(writable);
  }

  #drawWanted(size: number): Wanted {
    const dice = this.#dice;
    switch (dice.weighted({ whole: 44, range: 40, suffix: 8, head: 8 })) {
      case 'whole':
        return { kind: 'whole' };
      case 'head':
        return { kind: 'head' };
      case 'suffix':
        return { kind: 'suffix', length: dice.between(1, dice.chance(0.5) ? 70_000 : 2 * size) };
      case 'range': {
        const first = dice.below(size);
        const length = dice.chance(0.5) ? dice.between(1, 5000) : dice.between(1, size);
        return { kind: 'range', first, last: first + length - 1 };
      }
    }
  }

  /** One request and its answer, or why there is none. A slow one takes its answer only after a while. */
  async #exchange(call: Call, isSlow = false): Promise<Answer | Error> {
    const timeout = Promise.withResolvers<Error>();
    const timer = setTimeout(() => {
      timeout.resolve(new Error(`no whole answer within ${maxReadMs} ms`));
    }, maxReadMs);
    try {
      const connection = await this.#connect();
      connection.write(this.#s3.bytesOf(call));
      if (isSlow) {
        const pause = this.#dice.between(20, 300);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
      const answered = connection.answer({ method: call.method });
      // Should the time run out first, the connection is closed under it.
      answered.catch(() => undefined);
      const answer = await Promise.race([answered, timeout.promise]);
      if (answer instanceof Error) return answer;
      if (answer.isCut || --this.#left <= 0 || answer.header('connection') === 'close') {
        this.#close();
      }
      return answer;
    } catch (error) {
      return error as Error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #connect(): Promise<RawConnection> {
    if (this.#connection === null) {
      this.#connection = await RawConnection.open(this.#life.gatewayPort);
      this.#left = this.#dice.between(1, requestsOfConnection);
    }
    return this.#connection;
  }

  #close(): void {
    this.#connection?.close();
    this.#connection = null;
  }
}

function callOf({ name }: ObjectHistory, wanted: Wanted): Call {
  const target = pathOf(name.bucket, name.key);
  switch (wanted.kind) {
    case 'whole':
      return { method: 'GET', target };
    case 'head':
      return { method: 'HEAD', target };
    case 'range':
      return {
        method: 'GET',
        target,
        headers: [['range', `bytes=${wanted.first}-${wanted.last}`]],
      };
    case 'suffix':
      return { method: 'GET', target, headers: [['range', `bytes=-${wanted.length}`]] };
  }
}
