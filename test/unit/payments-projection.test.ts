import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import { PAYMENT_STATUSES, type Payment } from '../../shared/payments/payment.ts';
import { guestPartition } from '../../shared/platform/keys.ts';
import type { TransactionStep } from '../../shared/platform/table.ts';
import { NOON, payment } from '../builders/payment.ts';
import { paymentProjection } from '../builders/projection.ts';

const creating = (fields: Partial<Payment> = {}): Payment => ({
  ...payment(),
  ...fields,
  status: 'creating',
  version: 0,
});

const GUEST = { userId: undefined, guestId: 'guest_1', guestEmail: 'gus@example.com' } as const;

type Counters = Map<string, Map<string, number>>;

/** Applies the steps to the counters. Steps whose history entry exists change nothing, as in the table. */
const apply = (counters: Counters, history: Set<string>, steps: readonly TransactionStep[]): void => {
  for (const step of steps) {
    if ('put' in step) {
      const name = `${step.put['pk']} ${step.put['sk']}`;
      if (history.has(name)) return;
      history.add(name);
    }
    if ('update' in step) {
      const name = `${step.update.pk} ${step.update.sk}`;
      const numbers = counters.get(name) ?? new Map<string, number>();
      for (const [status, by] of Object.entries(step.changes.add ?? {})) {
        numbers.set(status, (numbers.get(status) ?? 0) + by);
      }
      counters.set(name, numbers);
    }
  }
};

/** The expected counters from the records, without zeros. Users and organizations have sums instead of counters. */
const counted = (records: readonly Payment[]): Record<string, Record<string, number>> => {
  const counts: Record<string, Record<string, number>> = {};
  const add = (scope: string, { createdAt, status }: Payment): void => {
    const name = `COUNT#${scope}#PAY ${createdAt.slice(0, 10)}`;
    const day = counts[name] ?? {};
    counts[name] = { ...day, [`n_${status}`]: (day[`n_${status}`] ?? 0) + 1 };
  };
  for (const record of records) {
    if (record.status === 'creating') continue;
    if (record.guestEmail) add(guestPartition(record.guestEmail, 'PAY').replace(/#PAY$/, ''), record);
    if (record.projectId) add(`PROJECT#${record.projectId}`, record);
  }
  return counts;
};

/** The counters without the sums, which have separate tests. */
const ofLists = (counters: Counters): Counters => new Map([...counters].filter(([name]) => name.startsWith('COUNT#')));

const shown = (counters: Counters): Record<string, Record<string, number>> =>
  Object.fromEntries(
    [...counters]
      .map(([name, numbers]) => [name, Object.fromEntries([...numbers].filter(([, count]) => count !== 0))] as const)
      .filter(([, numbers]) => Object.keys(numbers).length > 0),
  );

const change = fc.record({
  of: fc.nat(4),
  status: fc.constantFrom(...PAYMENT_STATUSES),
  projectId: fc.constantFrom(undefined, 'proj_1', 'proj_2'),
  repeats: fc.nat(2),
  silent: fc.boolean(),
});

describe('the counters of payments', () => {
  test('equal the sums over the records after any changes and any repeated messages', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const records = Array.from({ length: 5 }, (_, index) =>
          creating({
            id: `pay_${index}`,
            createdAt: iso(NOON + (index % 2) * DAY_MS),
            ...(index < 2 ? GUEST : { userId: `user_${index % 3}`, organizationId: index === 4 ? 'org_1' : undefined }),
          }),
        );
        const counters: Counters = new Map();
        const history = new Set<string>();
        for (const { of, status, projectId, repeats, silent } of changes) {
          const before = records[of];
          if (!before) continue;
          const after: Payment = silent
            ? { ...before, reconcileAt: iso(NOON) }
            : { ...before, status, projectId, version: before.version + 1 };
          for (let time = 0; time <= repeats; time += 1) apply(counters, history, paymentProjection(before, after));
          records[of] = after;
        }
        expect(shown(ofLists(counters))).toEqual(counted(records));
        expect(history.size).toBe(records.reduce((sum, { version }) => sum + version, 0));
      }),
    );
  });
});

describe('a payment’s change', () => {
  test('is not projected before readers can see the payment', () => {
    expect(paymentProjection(undefined, creating())).toEqual([]);
  });

  test('is not projected if the version stays the same', () => {
    expect(paymentProjection(payment(), { ...payment(), reconcileAt: iso(NOON) })).toEqual([]);
  });

  test('writes its history first, if the history entry does not exist', () => {
    const made = { actor: { type: 'user', id: 'user_1' }, requestId: 'req_1' } as const;
    const answered = { status: 'failed', version: 12, cause: 'answer', attempt: 2, failureCode: 'lost_card' } as const;
    const after = payment({ ...answered, ...made });
    expect(paymentProjection(payment({ status: 'processing', version: 11 }), after)[0]).toEqual({
      put: {
        pk: `PAY#${after.id}`,
        sk: 'HIST#000012',
        status: 'failed',
        cause: 'answer',
        at: after.updatedAt,
        attempt: 2,
        failureCode: 'lost_card',
        anomaly: undefined,
        actor: { type: 'user', id: 'user_1' },
        requestId: 'req_1',
      },
      if: [{ absent: true }],
    });
  });

  test('updates no counter if neither status nor scope changes', () => {
    expect(paymentProjection(payment(), payment({ version: 2, description: 'new' }))).toHaveLength(1);
  });

  test('counts on the day of the payment’s creation, even if the change arrives late', () => {
    const before = payment({ status: 'processing', projectId: 'proj_1' });
    const after = payment({ ...before, status: 'succeeded', version: 2, updatedAt: iso(NOON + 40 * DAY_MS) });
    const counters = paymentProjection(before, after).filter(
      (step) => 'update' in step && step.update.pk.startsWith('COUNT#'),
    );
    expect(counters).toEqual([
      {
        update: { pk: 'COUNT#PROJECT#proj_1#PAY', sk: '2026-03-10' },
        changes: { add: { n_processing: -1, n_succeeded: 1 } },
      },
    ]);
  });
});
