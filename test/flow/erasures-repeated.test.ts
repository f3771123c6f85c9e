import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platformAdmin, requestErasure } from './erasures.ts';
import { itemsOf, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { payctlOf } from './payctl.ts';
import type { ParsedJson } from './routes.ts';

/** A restore undoes erasures. An erasure counts as repeated only if it will reach all restored payments. */
const service = withHost({ frozen: true, env: { DUE_WORK: 'off' } });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'erasures-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts an erasure and sets the progress of its job. @returns the operator's list with only that person */
const listOfJob = async (fields: ParsedJson): Promise<string> => {
  const admin = await platformAdmin(service);
  const { userId } = await signIn(service);
  const { id } = await requestErasure(service, admin.options, { user_id: userId });
  const [job] = await itemsOf(service, `ERA#${id}`);
  await service.host().connection.putItem({ ...job, ...fields }, []);
  const list = join(folder, id);
  await writeFile(list, `user:${userId}\n`);
  return list;
};

const checkOf = async (list: string) => {
  const restored = ['--restored-to', new Date(service.now()).toISOString()];
  const { json } = await payctlOf(service)(['restore-check', ...restored, '--erased', list]);
  return json.checks.find(({ check }: ParsedJson) => check === 'erasures');
};

describe('payctl restore-check --erased', () => {
  test('counts an erasure that has not started, because it will reach every restored payment', async () => {
    expect(await checkOf(await listOfJob({}))).toMatchObject({
      detail: expect.stringContaining('all 1 are requested again'),
    });
  });

  test.each([
    ['its first step', { step: 0 }],
    ['a later step', { step: 3 }],
    ['its last step', { step: 5 }],
  ])('does not count an erasure that runs in %s, because it may have skipped restored payments', async (_, fields) => {
    expect(await checkOf(await listOfJob({ status: 'running', ...fields }))).toMatchObject({ state: 'fail' });
  });
});
