import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { itemsOf, read, type User } from './flow.ts';
import { payctlOf, spawned } from './payctl.ts';
import { createCustomer } from './payers.ts';
import { PAYING_METHODS } from './refunders.ts';
import { payAt, type RestoreDrill, signInForYear, startRestorable } from './restorers.ts';
import type { ParsedJson, PaymentBody } from './routes.ts';

describe('payctl restore-check', () => {
  let drill: RestoreDrill;
  let folder: string;
  let restoredTo: string;
  let user: User;
  let erased: User;
  let admin: User;
  let lost: PaymentBody;
  const file = (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    return writeFile(path, text).then(() => path);
  };
  const check = async (...args: readonly string[]) => {
    const { exitCode, json } = await payctlOf(drill.service())(['restore-check', '--restored-to', restoredTo, ...args]);
    const failed = json.checks.filter(({ state }: ParsedJson) => state === 'fail');
    return { exitCode, json, failed: failed.map((one: ParsedJson) => one.check) };
  };
  const detailOf = (json: ParsedJson, name: string): string =>
    json.checks.find((one: ParsedJson) => one.check === name).detail;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'restore-check-'));
    drill = await startRestorable();
    const service = drill.service();
    admin = await platformAdmin(service);
    user = await signInForYear(service);
    erased = await signInForYear(service);
    await createCustomer(service, user.options);
    await payAt(service, user, { paying: PAYING_METHODS[0] });
    await payAt(service, erased, { paying: PAYING_METHODS[0], description: 'Lessons for Ann Example' });
    await drill.copy();
    restoredTo = new Date(drill.service().now()).toISOString();
    await drill.service().advance(30 * MINUTE_SECONDS);
    lost = await payAt(drill.service(), user, { paying: ['provider_b', 'SIM-OK'] });
    const { id } = await requestErasure(drill.service(), admin.options, { user_id: erased.userId });
    await untilErased(drill.service(), admin.options, { id });
    await drill.restore();
  });
  afterAll(async () => {
    await drill.end();
    await rm(folder, { recursive: true, force: true });
  });

  test('fails while due work is on and only the provider knows a payment', async () => {
    const { exitCode, json, failed } = await check();
    expect({ exitCode, failed }).toEqual({ exitCode: 1, failed: ['providers', 'due work', 'erasures'] });
    expect(detailOf(json, 'providers')).toContain('1 payments exist only at the providers');
    expect(detailOf(json, 'due work')).toContain('DUE_WORK=on');
    expect(Date.parse(json.newest_record)).toBeLessThanOrEqual(Date.parse(restoredTo));
  });

  test('makes restore-done exit with 1 if the check fails, even if the table has its usual name', async () => {
    const done = await payctlOf(drill.service())(['restore-done', '--restored-to', restoredTo]);
    expect(done).toMatchObject({ exitCode: 1, json: { accepted: false, check: { healthy: false } } });
  });

  test('reports that due work is off, and counts the waiting records', async () => {
    await drill.restart({ DUE_WORK: 'off' });
    await drill.service().advance(26 * 60 * MINUTE_SECONDS);
    const { json, failed } = await check();
    expect(failed).toEqual(['providers', 'erasures']);
    expect(json.overdue).toBeGreaterThan(0);
    expect(detailOf(json, 'due work')).toBe(`off; ${json.overdue} records are overdue, and wait until it is on`);
  });

  test('passes once the payments are back and the erasures are requested again', async () => {
    const payctl = payctlOf(drill.service());
    expect(await payctl(['drift', '--fix', '--restored-to', restoredTo])).toMatchObject({ exitCode: 0 });
    const list = await file('erased', `# since the restore\nuser:${erased.userId}\n`);
    expect((await check('--erased', list)).failed).toEqual(['erasures']);
    const repeat = () => payctl(['repeat-erasures', list, '--restored-to', restoredTo]);
    const first = await repeat();
    expect(first).toMatchObject({ exitCode: 0, json: { requested: 1, erasures: [{ line: 1, status: 'pending' }] } });
    expect((await repeat()).json).toEqual(first.json);
    const requested = await check('--erased', list);
    expect(requested).toMatchObject({ exitCode: 0, failed: [] });
    expect(detailOf(requested.json, 'erasures')).toBe(
      'all 1 are requested again, 0 of them done; no erasure reaches the 1 payments restored without an owner (payctl orphans)',
    );
    await drill.restart();
    const { job } = await untilErased(drill.service(), admin.options, { id: first.json.erasures[0].erasure_id });
    expect(job).toMatchObject({ status: 'done', counts: { payments: 1 } });
    expect(JSON.stringify(await itemsOf(drill.service(), 'PAY#'))).not.toContain('Ann Example');
    expect(await check('--erased', list)).toMatchObject({ exitCode: 0, failed: [] });
  });

  test('assigns a payment without an owner to the owner in the operator’s list', async () => {
    const service = drill.service();
    expect(await service.get(`/payments/${lost.id}`, user.options)).toMatchObject({ status: 404 });
    const owners = await file('owners', `${lost.id} user:${user.userId}\n`);
    const { exitCode } = await payctlOf(service)(['drift', '--fix', '--restored-to', restoredTo, '--owners', owners]);
    expect(exitCode).toBe(0);
    expect(await read(service, lost.id, user.options)).toMatchObject({ total_cents: lost.total_cents });
    const empty = await file('none', '');
    const { json } = await check('--erased', empty);
    expect(detailOf(json, 'erasures')).toBe('all 0 are requested again, 0 of them done');
  });

  test('counts an erasure requested through the API', async () => {
    await drill.restart({ DUE_WORK: 'off' });
    const { userId } = await signInForYear(drill.service());
    const { id } = await requestErasure(drill.service(), admin.options, { user_id: userId });
    const list = await file('requested', `user:${userId}\n`);
    const { json } = await payctlOf(drill.service())(['repeat-erasures', list, '--restored-to', restoredTo]);
    expect(json.erasures).toMatchObject([{ erasure_id: id }]);
    expect(detailOf((await check('--erased', list)).json, 'erasures')).toContain('all 1 are requested again');
  });

  test('refuses an invalid list', async () => {
    const bad = await file('bad', 'ann@example.com\n');
    const { baseUrl } = drill.service().host();
    const refused = await spawned(baseUrl, ['restore-check', '--erased', bad]);
    expect(refused).toMatchObject({ exitCode: 2, stderr: 'ann@example.com: use user:<id> or email:<address>\n' });
  });

  test('refuses an owners list without the time of the restore', async () => {
    const owners = await file('owners', `${lost.id} user:${user.userId}\n`);
    const refused = await spawned(drill.service().host().baseUrl, ['drift', '--fix', '--owners', owners]);
    expect(refused).toMatchObject({ exitCode: 2, stderr: '--owners needs --restored-to\n' });
  });
});
