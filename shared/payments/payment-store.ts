/** @module Stores payments, with their list keys and due times. Readers see only changes that commit a new version. */

import { CALL_LEASE_MS, FIRST_LOOK_MS } from '../calls/call-times.ts';
import { currentMaker } from '../core/actor.ts';
import { DomainError, notFound } from '../core/errors.ts';
import { type Instant, instant, iso, type Now } from '../core/time.ts';
import { putAlias } from '../platform/alias.ts';
import { type Changed, type Committed, changeRecord, type Decide } from '../platform/change.ts';
import type { Changes } from '../platform/expression.ts';
import { paymentKey } from '../platform/keys.ts';
import type { Table, TransactionStep, Written } from '../platform/table.ts';
import { recordTimes, type VersionedShape, versionedRecord } from '../platform/versioned-record.ts';
import {
  type Draft,
  type HistoryCause,
  isVisiblePayment,
  type Payment,
  type PaymentStatus,
  paymentOf,
  type VisiblePayment,
} from './payment.ts';
import { newAliases, type ProviderIds } from './payment-aliases.ts';
import type { ReportedAmount } from './payment-amounts.ts';
import { draftGuard, paymentShape } from './payment-item.ts';
import { isAhead, type PaymentCause, requireTransition } from './payment-states.ts';
import { advancePayment } from './payment-versions.ts';
import { afterFactLook, sameFactLook } from './recorded-facts.ts';

/** Every stored version names its actor and request. */
const stampedShape = (now: Now): VersionedShape<Payment> => {
  const shape = paymentShape(now);
  return { ...shape, stored: (payment) => ({ ...shape.stored(payment), ...currentMaker() }) };
};

export type PaymentStore = ReturnType<typeof paymentStore>;

export const paymentStore = (table: Table, now: Now) => {
  const payments = versionedRecord({ table }, stampedShape(now));
  const { load, setTimes, putOff } = payments;

  const loadVisible = async (id: string): Promise<VisiblePayment | undefined> => {
    const payment = await load(id);
    return payment && isVisiblePayment(payment) ? payment : undefined;
  };

  /** @param beside steps in the same transaction */
  const insertOrFind = async (payment: Payment, beside?: readonly TransactionStep[]): Promise<Payment | undefined> => {
    const found = await payments.insertOrFind(payment, beside);
    return found?.kind === 'record' ? found.record : undefined;
  };

  /** Stores aliases for new provider ids, such as a capture's id. */
  const learnIds = async (payment: Payment, learnt: ProviderIds): Promise<void> => {
    await Promise.all(
      newAliases(payment, { ...payment, ...learnt }).map(({ target, ...id }) => putAlias(table, id, target)),
    );
  };

  /** Tries once; `change` retries. @throws Error if the transition table does not allow the change of status */
  const commit = async <P extends Payment>(
    was: Payment,
    decided: P,
    { by, onlyIf = [] }: CommitOptions = {},
  ): Promise<Committed<Payment, P>> => {
    requireTransition(was, decided, by);
    // The commit and the aliases are written in parallel, and only the commit's result counts. `project-changes` adds
    // missing aliases. Until then, an event finds the payment by our id at the provider.
    const [committed] = await Promise.allSettled([payments.commit(was, decided, onlyIf), learnIds(was, decided)]);
    if (committed.status === 'rejected') throw committed.reason;
    return committed.value;
  };

  /**
   * Decides and commits. If another commit was faster, decides again on the newer payment.
   * @throws DomainError RESOURCE_NOT_FOUND if the payment has been removed, or VERSION_CONFLICT
   */
  const change = (payment: VisiblePayment, decide: DecidePayment): Promise<Changed<VisiblePayment>> =>
    changeRecord(
      async (was, decided) => {
        const { next, ...options } = 'next' in decided ? decided : { next: decided };
        const committed = await commit(was, next, options);
        if (committed.ok) return committed;
        const { found, unmet = false } = committed;
        if (!found || !isVisiblePayment(found)) throw notFound('payment');
        return { ok: false, found, unmet };
      },
      payment,
      decide,
    );

  /** Like `change`, by the payment's id. @returns undefined if no visible payment has the id */
  const changeById = async (id: string, decide: DecidePayment): Promise<Changed<VisiblePayment> | undefined> => {
    const payment = await loadVisible(id);
    return payment && change(payment, decide);
  };

  /** Records that the payment's method cannot be saved. Adds no version, because readers do not see this change. */
  const giveUpMethod = (payment: Payment): Promise<Written> =>
    table.update(paymentKey(payment.id), { set: { methodNotKept: true } }, [{ equals: ['version', payment.version] }]);

  return {
    load,
    loadVisible,
    insertOrFind,
    learnIds,
    commit,
    change,
    changeById,
    setTimes,
    putOff,
    ...creations(table),
    ...lookups(table, now),
    ...drafts(table, now),
    giveUpMethod,
  };
};

/** The writes to a payment that does not exist at the provider yet. */
const creations = (table: Table) => {
  const removeCreating = (id: string): Promise<Written> =>
    table.remove(paymentKey(id), [{ equals: ['status', 'creating'] }]);

  /** Takes over a creation whose function has timed out. */
  const takeOver = async (payment: Payment, busyUntil: string): Promise<boolean> => {
    const taken = await table.update(paymentKey(payment.id), { set: { busyUntil } }, [
      { equals: ['status', 'creating'] },
      { equals: ['busyUntil', payment.busyUntil ?? null] },
    ]);
    return taken.ok;
  };

  return { removeCreating, takeOver };
};

/** A draft adds no version, because readers see it only once it is applied. */
const drafts = (table: Table, now: () => Instant) => {
  const change = async (payment: VisiblePayment, changes: Changes): Promise<VisiblePayment | undefined> => {
    const written = await table.update(paymentKey(payment.id), changes, draftGuard(payment));
    const changed = written.ok ? paymentOf(written.item) : undefined;
    return changed && isVisiblePayment(changed) ? changed : undefined;
  };

  /**
   * Claims and holds a draft. A payment has one draft at most. Due work finishes an abandoned draft.
   * @returns undefined if another commit came first @throws DomainError VERSION_CONFLICT if only `onlyIf` failed
   */
  const claimDraft = async <P extends VisiblePayment>(
    payment: P,
    draft: Draft,
    onlyIf: readonly TransactionStep[] = [],
  ): Promise<(P & { readonly draft: Draft }) | undefined> => {
    const at = iso(now() + FIRST_LOOK_MS);
    const held = { draft, draftBusyUntil: iso(now() + CALL_LEASE_MS), draftVersion: payment.version };
    const patch = { ...held, reconcileAt: at };
    const options = { onlyIf: [{ lacks: 'draft' }], wait: { now: now(), until: at } } as const;
    const times = recordTimes({ table }, paymentShape(now));
    if (onlyIf.length === 0) return (await times.setTimes(payment, patch, options)) && { ...payment, ...patch };
    const written = await table.transact([times.timesStep(payment, patch, options), ...onlyIf]);
    if (!written.ok && !written.failed.includes(0)) throw new DomainError('VERSION_CONFLICT');
    return written.ok ? { ...payment, ...patch } : undefined;
  };

  /**
   * Holds a draft that no function works on.
   * @returns the current payment; undefined if another function holds the draft
   */
  const holdDraft = async (payment: VisiblePayment): Promise<VisiblePayment | undefined> => {
    const { draftBusyUntil: until } = payment;
    if (until !== undefined && instant(until) > now()) return undefined;
    return change(payment, { set: { draftBusyUntil: iso(now() + CALL_LEASE_MS) } });
  };

  /** Releases the held draft after an unknown outcome, so the next function may work on it immediately. */
  const releaseDraft = (held: VisiblePayment): Promise<VisiblePayment | undefined> =>
    change(held, { remove: ['draftBusyUntil'] });

  /** Removes the held draft, which the provider has not accepted. Other fields may have changed since. */
  const dropDraft = (held: VisiblePayment): Promise<VisiblePayment | undefined> =>
    change(held, { remove: ['draft', 'draftBusyUntil', 'draftVersion'] });

  return { claimDraft, holdDraft, releaseDraft, dropDraft };
};

/**
 * The writes about reads of the provider: the next lookup, the count of reads for facts, and the id of the attempt.
 * These writes add no version, because readers do not see them.
 */
const lookups = (table: Table, now: Now) => {
  const { setTimes } = recordTimes({ table }, paymentShape(now));

  /** Sets the next lookup. Other due work waits for the lookup, because it needs the same provider. */
  const reschedule = (payment: Payment, at: string, step = payment.reconcileStep ?? 0): Promise<Payment | undefined> =>
    setTimes(payment, { reconcileAt: at, reconcileStep: step }, { wait: { now: now(), until: at } });

  /** Counts the due read for facts before the read, so a crashed function does not repeat the read. */
  const claimFactLook = (payment: VisiblePayment): Promise<VisiblePayment | undefined> =>
    setTimes(payment, afterFactLook(payment), { onlyIf: sameFactLook(payment) });

  /** Stores the provider's id of the attempt under way, for later lookups. Adds no version. */
  const learnAttempt = async (payment: Payment, attemptRef: string | undefined): Promise<void> => {
    if (attemptRef === undefined || attemptRef === payment.attemptRef) return;
    await table.update(paymentKey(payment.id), { set: { attemptRef } }, [{ equals: ['version', payment.version] }]);
  };

  return { reschedule, claimFactLook, learnAttempt };
};

interface CommitOptions {
  /** The cause in the transition table, if it differs from the cause in the history. */
  readonly by?: PaymentCause | undefined;
  readonly onlyIf?: readonly TransactionStep[] | undefined;
}

export interface PaymentCommit extends CommitOptions {
  readonly next: VisiblePayment;
}

type DecidePayment = Decide<VisiblePayment, VisiblePayment | PaymentCommit>;

interface Advance {
  readonly now: Instant;
  readonly status: PaymentStatus;
  readonly cause: HistoryCause;
  readonly by?: PaymentCause;
  readonly reported?: ReportedAmount | undefined;
  readonly facts: Partial<Payment>;
}

/**
 * Commits a status that the provider reports. If another commit was faster, this status applies only to the same
 * attempt, and only if it is later in ORDER.
 */
export const advanceStored = async (
  store: PaymentStore,
  payment: VisiblePayment,
  { now, status, cause, by, reported, facts }: Advance,
): Promise<VisiblePayment> => {
  const { record } = await store.change(payment, (current) => {
    const isOvertaken = current !== payment;
    if (isOvertaken && (current.attempt !== payment.attempt || !isAhead(current.status, status))) return undefined;
    return { next: advancePayment(current, { to: status, now, cause, reported }, facts), by };
  });
  return record;
};
