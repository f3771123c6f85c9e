import { randomUUID } from 'node:crypto';
import { runAs } from '../../../shared/core/actor.ts';
import { DomainError } from '../../../shared/core/errors.ts';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';
import { instant } from '../../../shared/core/time.ts';
import { createIntent } from '../../../shared/payments/attempts/create-intent.ts';
import { storeReading } from '../../../shared/payments/attempts/reconcile.ts';
import { isVisiblePayment, type Payment } from '../../../shared/payments/record/payment.ts';
import { type PaymentStore, paymentStore } from '../../../shared/payments/record/store.ts';
import { findAlias } from '../../../shared/table/alias.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import { compareWithProvider, reportUnfinished } from './compare.ts';
import type { Report } from './report.ts';

/**
 * Syncs one payment, found by our id or its provider's, by the rules of POST /payments/sync. Where the outcome of its
 * creation is unknown, the creation is retried, as the due work would.
 */
export const reconcile = (installation: Installation, id: string): Promise<Report> =>
  runAs({ requestId: randomUUID(), actor: { type: 'system', id: 'payctl' } }, () => reconcileOne(installation, id));

const reconcileOne = async (installation: Installation, id: string): Promise<Report> => {
  const { deps } = installation;
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.load(await findPaymentId(installation, id));
  if (!payment) throw new NotReachable(`there is no payment ${id}`);
  if (!isVisiblePayment(payment)) return finishCreation(installation, store, payment);
  const { drift, report } = await compareWithProvider(installation, payment);
  const stored = report && (await storeReading(deps, store, { payment, report, cause: 'sync' }));
  if (stored?.outcome === 'overtaken') return reconcileOne(installation, id);
  const after = stored?.payment ?? payment;
  const outcome = stored?.outcome ?? drift?.kind ?? 'never sent to its provider';
  const isWell = drift === undefined || outcome === 'stored';
  return {
    json: { payment_id: payment.id, before: payment.status, after: after.status, outcome, finding: drift ?? null },
    lines: [
      `${payment.id}: ${payment.status} -> ${after.status} (${outcome})`,
      ...(drift && !isWell ? [`${drift.kind}: ${drift.here} here, ${drift.there} there. This needs a person.`] : []),
    ],
    exitCode: isWell ? 0 : 1,
  };
};

/** Retries under the same key, so that at most one intent exists. */
const finishCreation = async ({ deps }: Installation, store: PaymentStore, payment: Payment): Promise<Report> => {
  const { id, reconcileAt } = payment;
  if (reconcileAt !== undefined && deps.now() < instant(reconcileAt)) {
    throw new NotReachable(`${id} is being created: retry after ${reconcileAt}`);
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

/** @returns `created`, or why not. */
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

const findPaymentId = async ({ deps }: Installation, id: string): Promise<string> => {
  if (id.startsWith('pay_')) return id;
  for (const slot of PROVIDER_SLOTS) {
    const alias = await findAlias(deps.table, slot, id);
    if (alias?.kind === 'PAY') return alias.id;
  }
  return id;
};
