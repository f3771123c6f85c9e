import { ownerOfRecord } from '../../access/owner.ts';
import { DomainError } from '../../core/errors.ts';
import { epochSeconds, type Instant, instant, iso, SECOND } from '../../core/time.ts';
import { putAlias } from '../../table/alias.ts';
import type { Changes, Clause } from '../../table/expression.ts';
import { dueShard, listSort, ownerPartition, paymentKey, projectPartition } from '../../table/keys.ts';
import type { Item, Table, TransactionStep, Written } from '../../table/table.ts';
import { FIRST_LOOK_MS, nextPaymentDue } from './due.ts';
import {
  type Draft,
  forgottenAt,
  type HistoryCause,
  isShown,
  isVisiblePayment,
  liveSecret,
  type Payment,
  type PaymentStatus,
  paymentOf,
  storedFields,
  type VisiblePayment,
} from './payment.ts';
import { isAhead } from './states.ts';
import { advance } from './versions.ts';

/** A payment in the table: its item, its list keys, its appointment. Only commits of a version are visible changes. */
const DESCRIPTION_IN_INDEX = 200;

/** What lists filter and order by, beside `sort`; short names, because it is written with every change. */
const listFields = (payment: Payment) => ({
  s: payment.status,
  a: payment.totalCents,
  u: payment.updatedAt,
  o: payment.organizationId,
  j: payment.projectId,
  d: payment.productId,
  g: payment.guestId,
  c: payment.customerId,
  e: (payment.guestEmail ?? payment.userEmail)?.toLowerCase(),
  t: payment.description?.slice(0, DESCRIPTION_IN_INDEX).toLowerCase(),
});

export const paymentItem = (payment: Payment, now: Instant): Item => {
  const endsAt = forgottenAt(payment);
  // What is forgotten keeps no appointment.
  const kept: Payment = { ...payment, clientSecret: endsAt === undefined ? liveSecret(payment, now) : undefined };
  const owner = ownerOfRecord(payment);
  const dueAt = nextPaymentDue(kept);
  const listed = isShown(payment) && owner !== undefined;
  return {
    ...paymentKey(payment.id),
    ...storedFields(kept, listed),
    ...(listed && {
      owner: ownerPartition(owner, 'PAY'),
      sort: listSort(payment.createdAt, payment.id),
      f: listFields(payment),
      ...(payment.projectId && { project: projectPartition(payment.projectId, 'PAY') }),
    }),
    ...(dueAt && { due: dueShard(payment.id), due_at: dueAt }),
    ...(endsAt !== undefined && { ttl: epochSeconds(endsAt) }),
  };
};

export type PaymentStore = ReturnType<typeof paymentStore>;

export const paymentStore = (table: Table, now: () => Instant) => {
  const parsed = (item: Item | undefined): Payment | undefined => item && paymentOf(item);

  /** Any payment, one still being created too. */
  const load = async (id: string): Promise<Payment | undefined> => parsed(await table.get(paymentKey(id)));

  const loadVisible = async (id: string): Promise<VisiblePayment | undefined> => {
    const payment = await load(id);
    return payment && isVisiblePayment(payment) ? payment : undefined;
  };

  /** Stores a new payment, or answers the one that stands under its id. */
  const insertOrFind = async (payment: Payment): Promise<Payment | undefined> => {
    const written = await table.put(paymentItem(payment, now()), [{ absent: true }]);
    if (written.ok) return undefined;
    if (!written.found) throw new Error('a payment vanished while its id was claimed');
    return paymentOf(written.found);
  };

  /** Ids that its provider gives a payment only late (a capture's, say) lead to it before anything else tells of them. */
  const learnIds = async (payment: Payment, learnt: Pick<Payment, ProviderIds>): Promise<void> => {
    const known = [payment.providerIntentId, payment.providerPaymentId];
    for (const id of new Set([learnt.providerIntentId, learnt.providerPaymentId])) {
      if (id === undefined || known.includes(id)) continue;
      await putAlias(table, { providerId: payment.providerId, externalId: id }, { kind: 'PAY', id: payment.id });
    }
  };

  /**
   * Replaces version `was` by the next; tells what stands there where another commit came first, or where one of the
   * conditions beside it does not hold.
   */
  const commit = async (
    was: Payment,
    next: Payment,
    onlyIf: readonly TransactionStep[] = [],
  ): Promise<CommitResult> => {
    await learnIds(was, next);
    const guard: Clause[] = [
      { equals: ['version', was.version] },
      { equals: ['status', was.status] },
      { equals: ['attempt', was.attempt] },
      ...draftGuard(was),
    ];
    if (onlyIf.length > 0) {
      const all = await table.transact([{ put: paymentItem(next, now()), if: guard }, ...onlyIf]);
      if (all.ok) return { ok: true, payment: next };
      const isOvertaken = all.failed.includes(0);
      return { ok: false, found: isOvertaken ? parsed(all.found[0]) : was, unmet: !isOvertaken };
    }
    const written = await table.put(paymentItem(next, now()), guard);
    if (written.ok) return { ok: true, payment: next };
    return { ok: false, found: parsed(written.found), unmet: false };
  };

  const removeCreating = (id: string): Promise<Written> =>
    table.remove(paymentKey(id), [{ equals: ['status', 'creating'] }]);

  /** Nothing that a reader sees: no version. */
  const giveUpMethod = (payment: Payment): Promise<Written> =>
    table.update(paymentKey(payment.id), { set: { methodNotKept: true } }, [{ equals: ['version', payment.version] }]);

  /** Takes over a creation whose function must have ended. */
  const takeOver = async (payment: Payment, busyUntil: string): Promise<boolean> => {
    const taken = await table.update(paymentKey(payment.id), { set: { busyUntil } }, [
      { equals: ['status', 'creating'] },
      { equals: ['busyUntil', payment.busyUntil ?? null] },
    ]);
    return taken.ok;
  };

  return {
    load,
    loadVisible,
    insertOrFind,
    learnIds,
    commit,
    removeCreating,
    ...appointments(table),
    ...drafts(table, now),
    giveUpMethod,
    takeOver,
  };
};

/** What stood there when the record was read: no draft, or a draft in the hands of the same function. */
const draftGuard = ({ draft, draftBusyUntil }: Payment): readonly Clause[] => {
  if (!draft) return [{ lacks: 'draft' }];
  return [{ has: 'draft' }, busyGuard(draftBusyUntil)];
};

const busyGuard = (until: string | undefined): Clause =>
  until === undefined ? { lacks: 'draftBusyUntil' } : { equals: ['draftBusyUntil', until] };

/** A function that carries a draft to the provider has ended by then. */
const DRAFT_BUSY_MS = 25 * SECOND;

/** Nothing of a draft is visible before it is in force: no version. */
const drafts = (table: Table, now: () => Instant) => {
  const change = async (payment: VisiblePayment, changes: Changes): Promise<VisiblePayment | undefined> => {
    const written = await table.update(paymentKey(payment.id), changes, draftGuard(payment));
    const changed = written.ok ? paymentOf(written.item) : undefined;
    return changed && isVisiblePayment(changed) ? changed : undefined;
  };

  /** Claims the one update that may be under way, and holds it; its appointment finishes it, should nobody else. */
  const claimDraft = async <P extends VisiblePayment>(
    payment: P,
    draft: Draft,
  ): Promise<(P & { readonly draft: Draft }) | undefined> => {
    const at = iso(now() + FIRST_LOOK_MS);
    const held = { draft, draftBusyUntil: iso(now() + DRAFT_BUSY_MS), draftVersion: payment.version };
    const claimed = await table.update(
      paymentKey(payment.id),
      { set: { ...held, reconcileAt: at, due: dueShard(payment.id), due_at: at } },
      [{ equals: ['version', payment.version] }, { lacks: 'draft' }],
    );
    return claimed.ok ? { ...payment, ...held, reconcileAt: at } : undefined;
  };

  /** Takes up a draft that no function works on: the payment as it stands; undefined where that is no longer so. */
  const holdDraft = async (payment: VisiblePayment): Promise<VisiblePayment | undefined> => {
    const { draftBusyUntil: until } = payment;
    if (until !== undefined && instant(until) > now()) return undefined;
    return change(payment, { set: { draftBusyUntil: iso(now() + DRAFT_BUSY_MS) } });
  };

  /** The provider gave no answer: the next function may work on the draft at once. */
  const releaseDraft = (held: VisiblePayment): Promise<VisiblePayment | undefined> =>
    change(held, { remove: ['draftBusyUntil'] });

  /** The provider has not taken the held draft; an event may have moved the rest on. */
  const dropDraft = (held: VisiblePayment): Promise<VisiblePayment | undefined> =>
    change(held, { remove: ['draft', 'draftBusyUntil', 'draftVersion'] });

  return { claimDraft, holdDraft, releaseDraft, dropDraft };
};

/** Appointments move without a version: nothing of them is visible. */
const appointments = (table: Table) => {
  /** Sets the next look at an unclear payment. */
  const reschedule = (payment: Payment, at: string, step = payment.reconcileStep ?? 0): Promise<Written> => {
    const [dueAt = at] = [at, nextPaymentDue({ ...payment, reconcileAt: at }) ?? at].sort();
    return table.update(
      paymentKey(payment.id),
      { set: { reconcileAt: at, reconcileStep: step, due: dueShard(payment.id), due_at: dueAt } },
      [{ equals: ['version', payment.version] }],
    );
  };

  /** Moves the appointment itself; what it is about stays as it is. */
  const postpone = (payment: Payment, dueAt: string): Promise<Written> =>
    table.update(paymentKey(payment.id), { set: { due: dueShard(payment.id), due_at: dueAt } }, [
      { equals: ['version', payment.version] },
    ]);

  /** Removes the client secret from the item and sets the next appointment, if any is left. */
  const removeSecret = (payment: Payment): Promise<Written> => {
    const next = nextPaymentDue({ ...payment, clientSecret: undefined });
    return table.update(
      paymentKey(payment.id),
      next ? { set: { due_at: next }, remove: ['clientSecret'] } : { remove: ['clientSecret', 'due', 'due_at'] },
      [{ equals: ['version', payment.version] }],
    );
  };

  const dropAppointment = (payment: Payment): Promise<Written> =>
    table.update(paymentKey(payment.id), { remove: ['due', 'due_at'] }, [{ equals: ['version', payment.version] }]);

  return { reschedule, postpone, removeSecret, dropAppointment };
};

type ProviderIds = 'providerIntentId' | 'providerPaymentId';

export type CommitResult =
  | { readonly ok: true; readonly payment: Payment }
  | {
      readonly ok: false;
      readonly found: Payment | undefined;
      /** The payment stands as it was read; a condition beside it does not hold. */
      readonly unmet: boolean;
    };

export interface Move {
  readonly store: PaymentStore;
  readonly now: Instant;
  readonly payment: VisiblePayment;
  readonly status: PaymentStatus;
  readonly cause: HistoryCause;
  readonly facts: Partial<Payment>;
}

/**
 * Commits a state that the caller has decided on. Where another commit came first (the event of the same attempt, say),
 * the further state stands: the move is made from there only if it leads further on.
 */
export const advanceStored = async ({ store, now, payment, status, cause, facts }: Move): Promise<VisiblePayment> => {
  let current = payment;
  for (;;) {
    const next = advance(current, status, now, cause, facts);
    const committed = await store.commit(current, next);
    if (committed.ok) return next;
    if (!committed.found || !isVisiblePayment(committed.found)) throw new DomainError('VERSION_CONFLICT');
    current = committed.found;
    if (current.attempt !== payment.attempt || !isAhead(current.status, status)) return current;
  }
};
