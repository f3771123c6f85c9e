import { DomainError } from '../../shared/core/errors.ts';
import { PROVIDER_SLOTS } from '../../shared/core/settings.ts';
import { instant } from '../../shared/core/time.ts';
import { createIntent } from '../../shared/payments/attempts/create-intent.ts';
import { storeReading } from '../../shared/payments/attempts/reconcile.ts';
import { isVisiblePayment, type Payment } from '../../shared/payments/record/payment.ts';
import { type PaymentStore, paymentStore } from '../../shared/payments/record/store.ts';
import { findAlias } from '../../shared/table/alias.ts';
import { NotReachable } from './control.ts';
import { compared, unfinished } from './judge.ts';
import type { Place } from './place.ts';
import type { Report } from './report.ts';

/**
 * One payment, by our id or a provider's: what its provider says is stored, by the rules of POST /payments/sync. One whose
 * creation nobody has answered is carried to its provider once more, as its appointment would.
 */
export const reconcile = async (place: Place, id: string): Promise<Report> => {
  const { deps } = place;
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.load(await ourId(place, id));
  if (!payment) throw new NotReachable(`there is no payment ${id}`);
  if (!isVisiblePayment(payment)) return finish(place, store, payment);
  const { drift, report } = await compared(place, payment);
  const stored = report && (await storeReading(deps, store, payment, report, 'sync'));
  if (stored?.outcome === 'overtaken') return reconcile(place, id);
  const after = stored?.payment ?? payment;
  const outcome = stored?.outcome ?? drift?.kind ?? 'never told to its provider';
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

/** Under the same key as before: it is one intent however often it is asked for. */
const finish = async ({ deps }: Place, store: PaymentStore, payment: Payment): Promise<Report> => {
  const { id, reconcileAt } = payment;
  if (reconcileAt !== undefined && deps.now() < instant(reconcileAt)) {
    throw new NotReachable(`${id} is being created this moment: ask again after ${reconcileAt}`);
  }
  const outcome = await create(deps, store, payment);
  const left = await store.load(id);
  const finding = left && !isVisiblePayment(left) ? unfinished(left) : null;
  const after = left?.status ?? 'removed';
  return {
    json: { payment_id: id, before: payment.status, after, outcome, finding },
    lines: [
      `${id}: ${payment.status} -> ${after} (${outcome})`,
      ...(finding ? ['Its appointment asks again every five minutes.'] : []),
    ],
    exitCode: finding ? 1 : 0,
  };
};

/** @returns `created`, or why not. */
const create = async (deps: Place['deps'], store: PaymentStore, payment: Payment): Promise<string> => {
  try {
    await createIntent(deps, store, await deps.providers.require(payment.providerId, 'payments'), payment);
    return 'created';
  } catch (error) {
    if (error instanceof DomainError) return `${error.code}: ${error.message}`;
    throw error;
  }
};

const ourId = async ({ deps }: Place, id: string): Promise<string> => {
  if (id.startsWith('pay_')) return id;
  for (const slot of PROVIDER_SLOTS) {
    const alias = await findAlias(deps.table, slot, id);
    if (alias?.kind === 'PAY') return alias.id;
  }
  return id;
};
