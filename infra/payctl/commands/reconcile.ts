import * as z from 'zod';
import { DomainError } from '../../../shared/core/errors.ts';
import { instant } from '../../../shared/core/time.ts';
import { storeReading } from '../../../shared/payments/apply-reading.ts';
import { createIntent } from '../../../shared/payments/create-intent.ts';
import { isVisiblePayment, type Payment, type VisiblePayment } from '../../../shared/payments/payment.ts';
import { type PaymentStore, paymentStore } from '../../../shared/payments/payment-store.ts';
import { readApiPayment } from '../compare/api-payment.ts';
import { findPayment } from '../compare/find-payment.ts';
import { compareMoneyBack, storeMoneyBack } from '../compare/money-back.ts';
import { comparePayment, type Drift, reportUnfinished } from '../compare/payment.ts';
import type { Api } from '../installation/api.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import type { Report } from './report.ts';

/**
 * Finds one payment by our id or its provider's, and syncs the payment with its refunds and disputes by the rules of
 * POST /payments/sync. If the creation's outcome is unknown, retries the creation like due work does.
 */
export const reconcile = async (installation: Installation, id: string): Promise<Report> => {
  const { deps } = installation;
  const store = paymentStore(deps.table, deps.now);
  const payment = await findPayment(installation, id);
  if (!isVisiblePayment(payment)) return finishCreation(installation, store, payment);
  const compared = await comparePayment(installation, payment);
  if ('unread' in compared) throw new NotReachable(`${payment.providerId} cannot be read: ${compared.unread}`);
  const { drift, report } = compared;
  const stored = report && (await storeReading(deps, store, { payment, report, cause: 'sync' }));
  if (stored?.outcome === 'overtaken') return reconcile(installation, id);
  const after = stored?.payment ?? payment;
  const outcome = stored?.outcome ?? drift?.kind ?? 'never sent to its provider';
  const isWell = drift === undefined || outcome === 'stored';
  const moneyBack = await reconcileMoneyBack(installation, after);
  return {
    json: {
      payment_id: payment.id,
      before: payment.status,
      after: after.status,
      outcome,
      finding: drift ?? null,
      money_back: moneyBack,
    },
    lines: [
      `${payment.id}: ${payment.status} -> ${after.status} (${outcome})`,
      ...(drift && !isWell ? [`${describeDrift(drift)}. This needs a person.`] : []),
      ...(moneyBack.stored > 0 ? [`${moneyBack.stored} refunds or disputes stored`] : []),
      ...moneyBack.findings.map((one) => `${describeDrift(one)}. This needs a person.`),
    ],
    exitCode: isWell && moneyBack.findings.length === 0 ? 0 : 1,
  };
};

/**
 * Like `reconcile`, but without AWS credentials. Requires the scopes payments:read and payments:operate. The service
 * reads the payment at its provider. The API shows neither payments under creation nor the remaining differences, so
 * this command handles only created payments and reports no differences.
 */
export const reconcileByKey = async (api: Api, id: string): Promise<Report> => {
  const payment = await readApiPayment(api, id);
  if (!payment.provider_payment_id) throw new NotReachable(`${payment.id} was never sent to its provider`);
  const synced = await api.post(`/payments/sync/${encodeURIComponent(payment.provider_payment_id)}`, {});
  const after = syncedSchema.parse(synced.data);
  const outcome = after.status === payment.status ? 'same' : 'stored';
  return {
    json: { payment_id: payment.id, before: payment.status, after: after.status, outcome },
    lines: [`${payment.id}: ${payment.status} -> ${after.status} (${outcome})`],
    exitCode: 0,
  };
};

const syncedSchema = z.object({ status: z.string() });

const describeDrift = ({ kind, provider_object_id = '', here, there }: Drift): string =>
  `${kind}${provider_object_id && ` (${provider_object_id})`}: ${here} here, ${there} there`;

interface MoneyBack {
  /** Number of differences repaired from the provider's refunds and disputes. */
  readonly stored: number;
  /** Remaining differences. */
  readonly findings: readonly Drift[];
}

const reconcileMoneyBack = async (installation: Installation, payment: VisiblePayment): Promise<MoneyBack> => {
  const before = await findMoneyBackDrifts(installation, payment);
  if (before.length === 0) return { stored: 0, findings: [] };
  const { deps } = installation;
  await storeMoneyBack(installation, payment);
  const now = await paymentStore(deps.table, deps.now).loadVisible(payment.id);
  const findings = now ? await findMoneyBackDrifts(installation, now) : [];
  return { stored: before.length - findings.length, findings };
};

/** @throws NotReachable if the provider cannot be read */
const findMoneyBackDrifts = async (installation: Installation, payment: VisiblePayment): Promise<readonly Drift[]> => {
  const compared = await compareMoneyBack(installation, payment);
  if ('unread' in compared)
    throw new NotReachable(`refunds at ${payment.providerId} cannot be read: ${compared.unread}`);
  return compared.drifts;
};

/** Retries the creation under the same idempotency key, so at most one intent exists. */
const finishCreation = async ({ deps }: Installation, store: PaymentStore, payment: Payment): Promise<Report> => {
  const { id, reconcileAt } = payment;
  if (reconcileAt !== undefined && deps.now() < instant(reconcileAt)) {
    throw new NotReachable(`${id} is being created; retry after ${reconcileAt}`);
  }
  const outcome = await create(deps, store, payment);
  const left = await store.load(id);
  const finding = left && !isVisiblePayment(left) ? reportUnfinished(left) : null;
  const after = left?.status ?? 'removed';
  return {
    json: { payment_id: id, before: payment.status, after, outcome, finding },
    lines: [
      `${id}: ${payment.status} -> ${after} (${outcome})`,
      ...(finding ? ['The service retries every five minutes.'] : []),
    ],
    exitCode: finding ? 1 : 0,
  };
};

/** @returns `created`, or the reason for the failure. */
const create = async (deps: Installation['deps'], store: PaymentStore, payment: Payment): Promise<string> => {
  try {
    const provider = await deps.providers.require(payment.providerId, 'payments');
    await createIntent({ deps, store, provider }, payment);
    return 'created';
  } catch (error) {
    if (error instanceof DomainError) return `${error.code}: ${error.message}`;
    throw error;
  }
};
