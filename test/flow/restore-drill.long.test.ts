import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { platformAdmin, requestErasure, untilErased } from './erasures.ts';
import { timesCharged, type User } from './flow.ts';
import { payctlOf } from './payctl.ts';
import { createCustomer } from './payers.ts';
import { PAYING_METHODS, refund } from './refunders.ts';
import { payAt, type RestoreDrill, signInForYear, startRestorable } from './restorers.ts';
import type { ParsedJson } from './routes.ts';
import { payer, subscribe } from './subscribers.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/restore.md'), 'utf8');

interface Step {
  /** The command as on the page, with the time and paths of the page's own run. */
  readonly args: readonly string[];
  readonly exitCode: number;
}

/** The commands of the page's drill in order, each with its exit code on the page. */
const STEPS: readonly Step[] = [
  ...PAGE.matchAll(/^\$ npm run -s payctl -- (.*)\n(?:(?!\$ ).*\n)*?\(exit code (\d)\)$/gm),
].map(([, line = '', exitCode]) => ({ args: line.split(' '), exitCode: Number(exitCode) }));

/** Settings for a restored table. Due work waits for restore-done. */
const RESTORED = { TABLE_NAME: 'payments-restored' } as const;

/** The numbers of succeeded charges in the drill, without the charges of lost payments. */
const [BEFORE_T, OF_STRIPES_SUBSCRIPTION] = [1, 1];

describe('the drill of docs/restore.md', () => {
  let drill: RestoreDrill;
  let folder: string;
  let restoredTo: string;
  let admin: User;
  let lost: readonly ParsedJson[];
  let orphaned: readonly ParsedJson[];
  let atStripe: string;
  const ran: { readonly step: Step; readonly exitCode: number; readonly json: ParsedJson }[] = [];

  const file = (name: string): string => join(folder, name);
  const outputOf = (command: string, nth = 0): ParsedJson =>
    present(ran.filter(({ step }) => step.args[0] === command)[nth]).json;
  const failedOf = (json: ParsedJson): readonly string[] =>
    json.checks.filter(({ state }: ParsedJson) => state === 'fail').map(({ check }: ParsedJson) => check);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'restore-drill-'));
    drill = await startRestorable();
    admin = await platformAdmin(drill.service());
    const user = await signInForYear(drill.service());
    const erased = await signInForYear(drill.service());
    const billed = await payer(drill.service(), user.options);
    const subscriber = await signInForYear(drill.service());
    const ownBilled = await payer(drill.service(), subscriber.options, {
      ...{ token: 'SIM-OK', fields: { provider_id: 'provider_b' } },
    });
    await createCustomer(drill.service(), user.options, { provider_id: 'provider_c' });
    await payAt(drill.service(), erased, { paying: PAYING_METHODS[0] });
    await drill.service().advance(HOUR_SECONDS);
    await drill.copy();
    restoredTo = new Date(drill.service().now()).toISOString();
    await drill.service().advance(HOUR_SECONDS);
    const payments = [];
    for (const paying of PAYING_METHODS) payments.push(await payAt(drill.service(), user, { paying }));
    await refund(drill.service(), present(payments[0]).id, { ...admin.options, body: { amount_cents: 300 } });
    ({ provider_subscription_id: atStripe } = await subscribe(drill.service(), billed));
    const { id: ownBilledId } = await subscribe(drill.service(), ownBilled);
    await drill.service().settle();
    const { body: list } = await drill.service().get('/payments?limit=50', subscriber.options);
    const ofSubscription = list.data.filter((one) => one.subscription_id === ownBilledId);
    lost = [...payments, ...ofSubscription];
    orphaned = lost.filter(({ provider_id: provider }) => provider === 'provider_b');
    const { id } = await requestErasure(drill.service(), admin.options, { user_id: erased.userId });
    await untilErased(drill.service(), admin.options, { id });
    await drill.service().advance(8 * DAY_SECONDS);
    await drill.restore({ ...RESTORED, DUE_WORK: 'off' });
    await writeFile(file('erased'), `user:${erased.userId}\n`);
    await writeFile(file('owners'), orphaned.map((one) => `${one.id} user:${user.userId}\n`).join(''));
    const here = (arg: string): string => {
      if (arg.startsWith('/tmp/')) return file(arg.slice('/tmp/'.length));
      return /^\d{4}-\d{2}-\d{2}T/.test(arg) ? restoredTo : arg;
    };
    for (const step of STEPS) {
      const { exitCode, json } = await payctlOf(drill.service())(step.args.map(here));
      ran.push({ step, exitCode, json });
    }
  });
  afterAll(async () => {
    await drill?.end();
    await rm(folder, { recursive: true, force: true });
  });

  test('runs every command with the exit code stated on the page', () => {
    expect(new Set(STEPS.map(({ args: [command] }) => command))).toEqual(
      new Set(['restore-check', 'drift', 'cancel-lost', 'orphans', 'repeat-erasures', 'restore-done']),
    );
    expect(ran.map(({ step, exitCode }) => ({ args: step.args, exitCode }))).toEqual(STEPS);
  });

  test('finds lost records, and accepts the table only once none is missing', () => {
    expect(failedOf(outputOf('restore-check'))).toEqual(['providers', 'erasures']);
    expect(outputOf('drift').restore).toMatchObject({
      subscriptions_not_here: [{ provider_subscription_id: atStripe, has_record: false }],
    });
    const refused = outputOf('restore-done');
    expect({ accepted: refused.accepted, failed: failedOf(refused.check) }).toEqual({
      accepted: false,
      failed: ['erasures'],
    });
    expect(failedOf(outputOf('restore-check', 1))).toEqual([]);
    expect(outputOf('restore-done', 1)).toMatchObject({ accepted: true });
  });

  test('lists the payments without an owner, including that of a lost service-billed subscription', () => {
    expect(orphaned).toHaveLength(2);
    const listed = outputOf('orphans').payments.map((one: ParsedJson) => one.payment_id);
    expect(listed.toSorted()).toEqual(orphaned.map(({ id }) => id).toSorted());
    expect(outputOf('orphans', 1)).toEqual({ count: 0, payments: [] });
  });

  test('cancels the lost subscription at Stripe, and due work charges nothing again', async () => {
    expect(outputOf('cancel-lost')).toMatchObject({ found: 1, canceled: 1, unlisted: [] });
    await drill.restart(RESTORED);
    await drill.service().advance(DAY_SECONDS);
    const args = ['restore-done', '--restored-to', restoredTo, '--erased', file('erased')];
    expect(await payctlOf(drill.service())(args)).toMatchObject({ exitCode: 0, json: { accepted: false } });
    await drill.service().advance(60 * DAY_SECONDS);
    await drill.service().settle();
    const { charges } = await drill.service().ledger();
    const paid = charges.filter(({ status }) => status === 'succeeded');
    expect(paid).toHaveLength(BEFORE_T + lost.length + OF_STRIPES_SUBSCRIPTION);
    for (const { id } of lost) expect(await timesCharged(drill.service(), id)).toBe(1);
  });
});
