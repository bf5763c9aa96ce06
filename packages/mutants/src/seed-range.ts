/** Runs the simulator's default seeds from 0 on, as many as the argument says, until one fails. Started by layers.ts. */
import { optionsOf, simulate } from '@s3-accelerator/sim/simulation.ts';

const count = Number(process.argv[2]);
for (let seed = 0; seed < count; seed += 1) {
  const { failure } = simulate(optionsOf(seed));
  if (failure === null) continue;
  console.log(`seed ${seed} failed: ${failure.checker}: ${failure.what}`);
  process.exit(1);
}
