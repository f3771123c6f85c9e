/** @module A process of `jobs.ts`. It runs each history that its parent sends, and reports the result. */
import { enableCompileCache } from 'node:module';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { AskedHistory, JobSettings, SeedResult } from './jobs.ts';
import { loadSimulation } from './load.ts';

const { bug, off }: JobSettings = JSON.parse(argv[2] ?? '{}');
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/simulation', import.meta.url)));
const histories: AskedHistory[] = [];
let wake = (): void => undefined;
process.on('message', (asked: AskedHistory) => {
  histories.push(asked);
  wake();
});
const { simulate } = await loadSimulation(bug);
const left = new Set(off);

for (;;) {
  const asked = histories.shift();
  if (asked === undefined) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    continue;
  }
  const before = process.cpuUsage();
  const { seed, digest, problems, operations, counts } = await simulate({ ...asked, off: left });
  const { user, system } = process.cpuUsage(before);
  const processorMs = (user + system) / 1_000;
  const result: SeedResult = { seed, digest, problems, operations, counts, processorMs, isEndless: false };
  process.send?.(result);
}
