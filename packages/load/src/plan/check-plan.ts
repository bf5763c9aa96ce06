/**
 * What a plan's keys ask of one another, beyond what each allows by itself.
 *
 * A key that was a fault by itself is missing here, and is not held against the others.
 */
import type { Problems } from 's3-accelerator/config/problems.ts';
import type { Unsure } from 's3-accelerator/config/read-rows.ts';
import type { PlanSettings } from './rows.ts';

/** Where credentials come from that the plan doesn't have. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Read = Unsure<PlanSettings>;
type ReadDataset =
  Unsure<PlanSettings['datasets']> extends ReadonlyMap<string, infer D> ? D : never;
type ReadStep = NonNullable<Read['steps']>[number];

export function checkPlan(plan: Read, environment: Environment, problems: Problems): void {
  checkCredentials(plan.endpoint, environment, problems);
  if (plan.datasets.size === 0) {
    problems.add('[datasets.<name>]: missing; a plan needs the objects that it asks for');
  }
  for (const [name, dataset] of plan.datasets) checkSizes(name, dataset, problems);
  checkPrefixes([...plan.datasets], problems);
  if (plan.steps?.length === 0) problems.add('[[steps]]: missing; a plan needs at least one');
  const names = new Map<string, number>();
  for (const [at, step] of (plan.steps ?? []).entries()) {
    checkStep(`steps[${at}]`, step, plan, problems);
    if (step.name === undefined) continue;
    const first = names.get(step.name);
    if (first === undefined) names.set(step.name, at);
    else problems.add(`steps[${at}].name = "${step.name}": steps[${first}] has it already`);
  }
}

function checkCredentials(
  endpoint: Read['endpoint'],
  environment: Environment,
  problems: Problems,
): void {
  const { accessKeyId, secretAccessKey, sessionToken } = endpoint;
  if (accessKeyId !== undefined || secretAccessKey !== undefined) {
    const missing = accessKeyId === undefined ? 'access_key_id' : 'secret_access_key';
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      problems.add(`endpoint.${missing}: missing; id and secret come together`);
    }
    return;
  }
  if (sessionToken !== undefined) {
    problems.add('endpoint.session_token: needs access_key_id and secret_access_key beside it');
  }
  if (!environment['AWS_ACCESS_KEY_ID'] || !environment['AWS_SECRET_ACCESS_KEY']) {
    problems.add(
      'endpoint.access_key_id: missing; give it with secret_access_key here, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
}

function checkSizes(name: string, { sizes }: ReadDataset, problems: Problems): void {
  const path = `datasets.${name}.sizes`;
  if (sizes?.length === 0) {
    problems.add(
      `${path}: missing; such as [{ bytes = "1MiB" }] or [{ from = "4KiB", to = "1MiB" }]`,
    );
  }
  for (const [at, { bytes, from, to }] of (sizes ?? []).entries()) {
    if (bytes === undefined ? from === undefined || to === undefined : (from ?? to) !== undefined) {
      problems.add(`${path}[${at}]: needs either bytes, or both from and to`);
    } else if (from !== undefined && to !== undefined && from > to) {
      problems.add(`${path}[${at}]: from must not be larger than to`);
    }
  }
}

/** One dataset's keys among another's would make its listings wrong. */
function checkPrefixes(datasets: readonly (readonly [string, ReadDataset])[], problems: Problems) {
  for (const [at, [name, dataset]] of datasets.entries()) {
    for (const [otherName, other] of datasets.slice(0, at)) {
      const [one, two] = [dataset.prefix ?? '', other.prefix ?? ''];
      if (dataset.bucket !== other.bucket || !(one.startsWith(two) || two.startsWith(one)))
        continue;
      problems.add(
        `datasets.${name}.prefix: its keys would lie among those of datasets.${otherName}; give both a prefix, or a bucket of its own`,
      );
    }
  }
}

function checkStep(path: string, step: ReadStep, plan: Read, problems: Problems): void {
  const { dataset, operations, durationS, requests, connections, rate } = step;
  if (dataset !== undefined && !plan.datasets.has(dataset)) {
    const known = [...plan.datasets.keys()].map((name) => `"${name}"`).join(', ');
    problems.add(`${path}.dataset = "${dataset}": there is no such dataset; known here: ${known}`);
  }
  if (operations !== undefined && Object.values(operations).every((share) => share === 0)) {
    problems.add(`${path}.operations: one share must be above 0; known here: get, head, put, list`);
  }
  const pathEnds = [durationS, requests].filter((end) => end !== undefined).length;
  const hasFault = problems.problems.some((line) =>
    /^(duration_s|requests) =/.test(line.slice(path.length + 1)),
  );
  if (pathEnds !== 1 && !hasFault) {
    problems.add(`${path}: needs either duration_s or requests, which says when it ends`);
  }
  const { processes } = plan;
  for (const [key, count] of Object.entries({ connections, rate, requests })) {
    if (processes === undefined || count === undefined || count >= processes) continue;
    problems.add(
      `${path}.${key} = ${count}: each of the ${processes} processes needs at least one`,
    );
  }
}
