import { describe, expect, test } from 'vitest';
import { type CancelLostOptions, cancelLost } from '../../infra/payctl/restore/cancel-lost.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { ListedSubscription } from '../../shared/providers/listing-port.ts';
import { type Subscription, subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { subscription } from '../builders/subscription.ts';

const RESTORED_TO = '2026-11-26T12:00:00.000Z';
const idOf = (at: number): string => `subs_${String(at).padStart(24, '0')}`;
const listed = (at: number): ListedSubscription => ({
  ...{ subscriptionId: `sub_${at}`, ourSubscriptionId: idOf(at), createdAt: '2026-11-26T13:00:00.000Z' },
});

interface Given extends Partial<CancelLostOptions> {
  readonly atStripe?: Outcome<readonly ListedSubscription[]>;
  readonly here?: readonly Subscription[];
  readonly cancels?: Outcome<unknown>;
}

const TWO: Outcome<readonly ListedSubscription[]> = { kind: 'done', value: [listed(1), listed(2)] };

const run = async ({ atStripe = TWO, here = [], cancels = { kind: 'done', value: {} }, ...options }: Given = {}) => {
  const canceled: unknown[] = [];
  const asked: string[] = [];
  const listedSince: string[] = [];
  const items = new Map(
    here.map((one) => recordItem(subscriptionShape, one)).map((item) => [String(item['pk']), item]),
  );
  const stripe = {
    listing: {
      listSubscriptions: async (since: string) => {
        listedSince.push(since);
        return atStripe;
      },
    },
    subscriptions: {
      cancel: async (input: unknown) => {
        canceled.push(input);
        return cancels;
      },
    },
  };
  const installation = {
    deps: {
      table: { get: async ({ pk }: { readonly pk: string }) => items.get(pk) },
      providers: { find: async (slot: string) => (slot === 'provider_a' ? stripe : { listing: {} }) },
    },
  } as never;
  const ask = async (question: string): Promise<boolean> => {
    asked.push(question);
    return question.startsWith('sub_1 ');
  };
  const report = await cancelLost(installation, { restoredTo: RESTORED_TO, only: [], ask, ...options });
  return { report, canceled, asked, listedSince };
};

describe('payctl cancel-lost', () => {
  test('cancels each confirmed subscription under its own key, and exits with 1 while any remains', async () => {
    const { report, canceled, asked, listedSince } = await run();
    expect(listedSince).toEqual(['2026-11-26T11:50:00.000Z']);
    expect(asked).toEqual([
      expect.stringContaining(`sub_1 at provider_a, made 2026-11-26T13:00:00.000Z: ${idOf(1)} has no record`),
      expect.stringContaining('sub_2 at provider_a'),
    ]);
    expect(canceled).toEqual([{ subscriptionId: 'sub_1', idempotencyKey: 'payctl cancel-lost sub_1' }]);
    expect(report).toMatchObject({
      exitCode: 1,
      json: { found: 2, canceled: 1, subscriptions: [{ outcome: 'canceled' }, { outcome: 'kept' }] },
      lines: expect.arrayContaining(['2 subscriptions that no record follows, 1 canceled, 1 left']),
    });
  });

  test('exits with 0 once no lost subscription remains', async () => {
    const { report, canceled } = await run({ ask: async () => true });
    expect({ exitCode: report.exitCode, canceled: canceled.length }).toEqual({ exitCode: 0, canceled: 2 });
  });

  test('cancels only the named subscriptions', async () => {
    const { canceled, report } = await run({ only: ['sub_2'], ask: async () => true });
    expect(canceled).toMatchObject([{ subscriptionId: 'sub_2' }]);
    expect(report).toMatchObject({ exitCode: 1, json: { found: 2, canceled: 1 } });
  });

  test('never cancels a subscription that a record follows or that due work will find', async () => {
    const followed = subscription({ id: idOf(1), status: 'active', providerSubscriptionId: 'sub_1' });
    const creating = subscription({ id: idOf(2), status: 'creating' });
    const { report, canceled } = await run({ here: [followed, creating], ask: async () => true });
    expect({ exitCode: report.exitCode, canceled }).toEqual({ exitCode: 0, canceled: [] });
    await expect(run({ here: [followed], only: ['sub_1'] })).rejects.toThrow(/^sub_1 is not a lost subscription/);
  });

  test('asks before it cancels a subscription with another provider id in its record', async () => {
    const other = subscription({ id: idOf(1), status: 'canceled', providerSubscriptionId: 'sub_0' });
    const { asked } = await run({ here: [other] });
    expect(asked[0]).toContain(`${idOf(1)} does not follow it`);
  });

  test('cancels nothing without a terminal for its question', async () => {
    await expect(run({ ask: undefined })).rejects.toThrow('--yes cancels without asking');
    expect((await run({ ask: undefined, atStripe: { kind: 'done', value: [] } })).report.exitCode).toBe(0);
  });

  test('exits with 1 if a cancellation or the list fails at the provider', async () => {
    const refused = await run({ ask: async () => true, cancels: { kind: 'unknown', reason: 'timeout' } });
    expect(refused.report).toMatchObject({ exitCode: 1, json: { subscriptions: [{ outcome: 'timeout' }, {}] } });
    const unlisted = await run({ atStripe: { kind: 'unknown', reason: 'timeout' } });
    expect(unlisted.report).toMatchObject({
      exitCode: 1,
      json: { unlisted: [{ provider: 'provider_a', unread: 'timeout' }] },
    });
  });
});
