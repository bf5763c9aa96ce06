/** A plan: what is loaded, with which objects, in which steps. Plain values only, for plans travel to other processes. */

export interface Endpoint {
  /** http or https, with a path at most, without a slash at its end. */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** Sizes from first to last, both inclusive. */
export interface SizeChoice {
  readonly firstBytes: number;
  readonly lastBytes: number;
  readonly weight: number;
}

export interface DatasetPlan {
  readonly name: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly objects: number;
  readonly seed: number;
  readonly sizes: readonly SizeChoice[];
}

export const operations = ['get', 'head', 'put', 'list'] as const;
export type Operation = (typeof operations)[number];

export interface RangePlan {
  readonly bytes: number;
  readonly at: 'random' | 'start' | 'end';
  readonly align: number;
}

export interface StepPlan {
  readonly name: string;
  readonly dataset: string;
  readonly operations: Readonly<Record<Operation, number>>;
  readonly range: RangePlan | null;
  readonly order: 'uniform' | 'zipf' | 'sequential';
  readonly zipfExponent: number;
  readonly connections: number;
  /** Requests a second; null for as fast as answers come. */
  readonly rate: number | null;
  /** One of the two is null. */
  readonly durationS: number | null;
  readonly requests: number | null;
  readonly warmUpS: number;
  readonly timeoutMs: number;
  readonly verify: 'all' | 'edges' | 'none';
  readonly signPayload: boolean;
}

export interface Plan {
  readonly processes: number;
  readonly seed: number;
  readonly endpoint: Endpoint;
  readonly datasets: readonly DatasetPlan[];
  readonly steps: readonly StepPlan[];
}
