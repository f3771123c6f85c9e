import { paymentStore } from '../../shared/payments/store.ts';
import { storeRead } from '../../shared/payments/sync.ts';
import { PROVIDER_SLOTS } from '../../shared/settings.ts';
import { findAlias } from '../../shared/table/alias.ts';
import { NotReachable } from './control.ts';
import { compared } from './judge.ts';
import type { Place } from './place.ts';
import type { Report } from './report.ts';

/** One payment, by our id or a provider's: what its provider says is stored, by the rules of POST /payments/sync. */
export const reconcile = async (place: Place, id: string): Promise<Report> => {
  const { deps } = place;
  const store = paymentStore(deps.table, deps.now);
  const payment = await store.loadVisible(await ourId(place, id));
  if (!payment) throw new NotReachable(`there is no payment ${id}`);
  const { drift, report } = await compared(place, payment);
  const stored = report && (await storeRead(deps, store, payment, report, 'sync'));
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

const ourId = async ({ deps }: Place, id: string): Promise<string> => {
  if (id.startsWith('pay_')) return id;
  for (const slot of PROVIDER_SLOTS) {
    const alias = await findAlias(deps.table, slot, id);
    if (alias?.kind === 'PAY') return alias.id;
  }
  return id;
};
