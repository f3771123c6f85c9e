/**
 * @module One stored payment, a clock moved by the test, and a provider with scripted responses. Calls without a
 * script have an unknown outcome.
 */
import type { Outcome } from '../../shared/core/outcome.ts';
import { type Instant, iso, MINUTE_MS } from '../../shared/core/time.ts';
import type { Payment, VisiblePayment } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { paymentStore } from '../../shared/payments/payment-store.ts';
import { paymentKey } from '../../shared/platform/keys.ts';
import type { Item } from '../../shared/platform/table.ts';
import type { ProviderPayment, ReportedStatus } from '../../shared/providers/payment-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import type { Providers } from '../../shared/providers/registry.ts';
import { testIds } from './ids.ts';
import { logLines } from './log-lines.ts';
import { memoryTable } from './memory-table.ts';
import { NOON } from './payment.ts';
import { answers, stripeThatAnswers } from './stripe.ts';

export type Script = Partial<PaymentProvider>;

/** The outcome of a provider call that reports the builders' payment. */
export const reported = (
  status: ReportedStatus,
  fields: Partial<ProviderPayment> = {},
): { readonly kind: 'done'; readonly value: ProviderPayment } => ({
  kind: 'done',
  value: {
    ...{ intentId: 'pi_1', paymentId: 'pi_1', status, amountCents: 2_500, currency: 'USD', attemptRef: 'ch_2' },
    ...{ failureCode: undefined, clientSecret: undefined, nextAction: undefined, methodId: undefined },
    ...{ ourPaymentId: undefined, ...fields },
  },
});

export const UNKNOWN: Outcome<never> = { kind: 'unknown', reason: 'timeout' };

const LEASE_MS = 15 * MINUTE_MS;

export const paymentWork = async (record: Payment, script: Script, others: readonly Item[] = []) => {
  const clock = { at: NOON };
  const now = (): Instant => clock.at;
  const { table } = memoryTable({ now });
  const { log, lines } = logLines();
  const calls: string[] = [];
  const whole = { ...stripeThatAnswers(answers(500, {})).provider(), ...script };
  const noted = Object.entries(whole).map(([name, part]) => {
    if (typeof part !== 'function' || name === 'isStoredMethod') return [name, part];
    return [
      name,
      (...input: unknown[]) => {
        calls.push(name);
        return Reflect.apply(part, whole, input);
      },
    ];
  });
  const provider = Object.fromEntries(noted) as PaymentProvider;
  const opened: string[] = [];
  const providers: Providers = {
    find: async () => provider,
    require: async (slot, capability) => {
      opened.push(`${slot} for ${capability}`);
      return provider;
    },
    openSlots: async () => undefined,
  };
  for (const item of [paymentItem(record, NOON), ...others]) await table.put(item);
  const load = async (): Promise<Item | undefined> => table.get(paymentKey(record.id));
  return {
    clock,
    table,
    lines,
    /** The names of the provider calls, in order. */
    calls,
    /** The opened provider slots, each with the required capability. */
    opened,
    load,
    deps: { table, now, log, providers, ids: testIds, isChargeOpen: async () => true },
    /** The due time in epoch milliseconds; undefined without due work. */
    dueAt: async (): Promise<number | undefined> => {
      const dueAt = (await load())?.['due_at'];
      return dueAt === undefined ? undefined : Date.parse(String(dueAt));
    },
    /** Moves the due time, as the sweep does when it queues the work. */
    lease: () => table.update(paymentKey(record.id), { set: { due_at: iso(now() + LEASE_MS) } }),
    /** Commits a version of the payment, as a concurrent function would. */
    overtake: async (fields: Partial<VisiblePayment>): Promise<void> => {
      const found = await paymentStore(table, now).loadVisible(record.id);
      if (!found) throw new Error('no payment');
      await table.put(paymentItem({ ...found, ...fields, version: found.version + 1, updatedAt: iso(now()) }, now()));
    },
  };
};
