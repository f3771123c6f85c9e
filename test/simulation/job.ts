import { argv } from 'node:process';
import type { JobSettings, SeedResult } from './jobs.ts';
import { loadSimulation } from './load.ts';

/** A process of `jobs.ts`: runs the seeds that its parent sends, and reports each. */
const { bug, off }: JobSettings = JSON.parse(argv[2] ?? '{}');
const seeds: number[] = [];
let wake = (): void => undefined;
process.on('message', (seed: number) => {
  seeds.push(seed);
  wake();
});
const { simulate } = await loadSimulation(bug);
const left = new Set(off);

for (;;) {
  const seed = seeds.shift();
  if (seed === undefined) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    continue;
  }
  const before = process.cpuUsage();
  const { digest, problems, operations, counts } = await simulate({ seed, off: left });
  const { user, system } = process.cpuUsage(before);
  const processorMs = (user + system) / 1_000;
  const result: SeedResult = { seed, digest, problems, operations, counts, processorMs, isEndless: false };
  process.send?.(result);
}
