import { createHash } from 'node:crypto';
import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import type { Clock } from '../../local/machine/clock.ts';
import { finalizeWhenDue } from '../billing/invoice-steps.ts';
import { retryInvoice, settlePayment } from '../billing/invoices.ts';
import { cancelWhenDue, expireSubscription } from '../billing/subscription-end.ts';
import { announceTrialEnd, billSubscription } from '../billing/subscriptions.ts';
import { type Documents, openDocuments } from '../ledger/documents.ts';
import { assessFee } from '../ledger/fees.ts';
import { endHold, settleCapture } from '../ledger/holds.ts';
import { settleLedgerRefund } from '../ledger/refunds.ts';
import {
  type Change,
  type DraftSettings,
  draftSettings,
  type RetrySettings,
  retrySettings,
  type Unit,
  WORK_KINDS,
  type WorkKind,
} from '../ledger/unit.ts';
import type { Store } from '../state/store.ts';
import { DELIVERY_MODES, type Outbox } from './outbox.ts';
import type { Cause, Vendor, VendorEvent } from './vendor.ts';

/** Opens units of work over the ledger, and runs due work. */
export interface Units {
  readonly documents: Documents;
  /** Runs one transaction. Each change announced in it adds events to the outbox. */
  work<T>(slot: ProviderSlot, cause: Cause | undefined, task: (unit: Unit) => T): Done<T>;
  /** Records that this attempt lost its connection before it committed. */
  rememberLost(attempt: string): void;
  nextDueAt(): number | undefined;
  runDue(): void;
  /** Returns 1, 2, 3 … per name. */
  count(name: string): number;
  /** Sets the retry schedule for later failures at all billing providers. */
  useRetries(settings: RetrySettings): void;
  /** Sets how long invoices of later renewals stay drafts, at all billing providers. */
  useDrafts(settings: DraftSettings): void;
  /** Sets the API version of later events, at providers with event versions. */
  useEventsVersion(version: string): void;
  eventsVersion(): string | undefined;
  /** Makes this ledger's ids differ from other ledgers' ids. */
  readonly tag: string;
}

export interface Done<T> {
  readonly result: T;
  readonly answerLost: boolean;
}

interface UnitsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly vendorOf: (slot: ProviderSlot) => Vendor;
  /** Slots with a vendor. Due work of other slots waits until they have a vendor again. */
  readonly served: readonly ProviderSlot[];
  /** The host's public base URL, for the customer's page. */
  readonly siteOf: (slot: ProviderSlot) => string;
  readonly webhookUrlOf: (slot: ProviderSlot) => string;
  /** Part of a new ledger's ids; derived from the time by default. */
  readonly tag?: string | undefined;
}

export const openUnits = (parts: UnitsParts): Units => {
  const { store, clock, outbox, vendorOf, served, siteOf, webhookUrlOf } = parts;
  const documents = openDocuments(store);
  const eventsVersion = (): string | undefined => store.readSetting(EVENTS_VERSION, z.string());
  const tag = ledgerTag(store, parts.tag ?? tagOf(clock.now()));
  const work: Units['work'] = (slot, cause, task) => {
    let answerLost = false;
    const vendor = vendorOf(slot);
    const unit: Unit = {
      slot,
      at: clock.now(),
      documents,
      newId: (kind) => vendor.formatId(kind, store.next(kind), tag),
      count: (name) => store.next(name),
      lostBefore: (name) => store.row('SELECT 1 FROM counter WHERE name = ?', lost(slot, name)) !== undefined,
      loseAnswer: (name) => {
        answerLost = true;
        if (name !== undefined) store.next(lost(slot, name));
      },
      schedule: (dueAt, kind, subject) => {
        store.run('INSERT INTO work (due_at, slot, kind, subject) VALUES (?, ?, ?, ?)', dueAt, slot, kind, subject);
      },
      announce: (change) => announce({ unit, change, cause, vendor, outbox }),
      fees: vendor.fees,
      leastCharge: (currency) => vendor.leastCharge?.(currency) ?? 0,
      retries: () => store.readSetting(RETRIES, retrySettings) ?? DEFAULT_RETRIES,
      drafts: () => store.readSetting(DRAFTS, draftSettings) ?? NO_DRAFTS,
      endpoint: () => ({ url: webhookUrlOf(slot), apiVersion: eventsVersion() }),
      secretOf: (id) => createHash('sha256').update(`${tag}:secret:${id}`).digest('hex').slice(0, 24),
      customerPage: (id) => `${siteOf(slot)}/_local/simulator/payments/${id}/authenticate`,
    };
    return { result: store.transaction(() => task(unit)), answerLost };
  };
  /** Cached, because the clock polls often and usually nothing has been written since. */
  let known: { readonly writes: number; readonly dueAt: number | undefined } | undefined;
  const nextDueAt = (): number | undefined => {
    const writes = store.writes();
    if (known?.writes !== writes) known = { writes, dueAt: firstDueAt(store, served) };
    return known.dueAt;
  };
  return {
    documents,
    tag,
    count: (name) => store.next(name),
    useRetries: (settings) => store.writeSetting(RETRIES, settings),
    useDrafts: (settings) => store.writeSetting(DRAFTS, settings),
    useEventsVersion: (version) => store.writeSetting(EVENTS_VERSION, version),
    eventsVersion,
    work,
    rememberLost: (attempt) => {
      store.next(attempt);
    },
    nextDueAt,
    runDue: () => {
      if ((nextDueAt() ?? Number.POSITIVE_INFINITY) > clock.now()) return;
      const next = () => nextDue(store, clock.now(), served);
      for (let due = next(); due; due = next()) {
        const { seq, slot, kind, subject } = due;
        work(slot, undefined, (unit) => {
          store.run('DELETE FROM work WHERE seq = ?', seq);
          WORK[kind](unit, subject);
        });
      }
    },
  };
};

const RETRIES = 'retries';
const DRAFTS = 'drafts';
const NO_DRAFTS: DraftSettings = { minutes: 0 };
const EVENTS_VERSION = 'events_version';
const DEFAULT_RETRIES: RetrySettings = { days: [1, 3, 7, 14], then: 'cancel' };

export const lost = (slot: ProviderSlot, attempt: string): string => `lost:${slot}:${attempt}`;

const WORK: Readonly<Record<WorkKind, (unit: Unit, subject: string) => void>> = {
  settle_payment: settlePayment,
  settle_refund: settleLedgerRefund,
  bill_subscription: billSubscription,
  announce_trial_end: announceTrialEnd,
  retry_invoice: retryInvoice,
  expire_subscription: expireSubscription,
  cancel_subscription: cancelWhenDue,
  finalize_invoice: finalizeWhenDue,
  assess_fee: assessFee,
  end_hold: endHold,
  settle_capture: settleCapture,
};

const dueAtRow = z.object({ dueAt: z.int().nullable() });
const dueRow = z.object({
  seq: z.int(),
  slot: z.enum(PROVIDER_SLOTS),
  kind: z.enum(WORK_KINDS),
  subject: z.string(),
});

const SERVED = 'slot IN (SELECT value FROM json_each(?))';

const firstDueAt = (store: Store, served: readonly ProviderSlot[]): number | undefined =>
  dueAtRow.parse(store.row(`SELECT min(due_at) AS dueAt FROM work WHERE ${SERVED}`, JSON.stringify(served))).dueAt ??
  undefined;

const nextDue = (store: Store, now: number, served: readonly ProviderSlot[]) => {
  const row = store.row(
    `SELECT seq, slot, kind, subject FROM work WHERE ${SERVED} AND due_at <= ? ORDER BY due_at, seq LIMIT 1`,
    JSON.stringify(served),
    now,
  );
  return row === undefined ? undefined : dueRow.parse(row);
};

/**
 * A tag from the ledger's creation time. Ledger files created at different times have different tags. A test with a
 * fixed clock always gets the same tag.
 */
const tagOf = (now: number): string => now.toString(36).padStart(8, '0').slice(-8);

/** The ledger's stored tag. A new ledger gets the given tag. */
const ledgerTag = (store: Store, tag: string): string => {
  const known = store.readSetting('tag', z.string());
  if (known !== undefined) return known;
  store.writeSetting('tag', tag);
  return tag;
};

interface Announcement {
  readonly unit: Unit;
  readonly change: Change;
  readonly cause: Cause | undefined;
  readonly vendor: Vendor;
  readonly outbox: Outbox;
}

/** Renders events immediately, so they do not show later changes in the same call. */
const announce = ({ unit, change, cause, vendor, outbox }: Announcement): void => {
  for (const event of vendor.webhooks.eventsOf(change, unit)) {
    const id = unit.newId('event');
    const body = JSON.stringify(
      vendor.webhooks.envelope({
        ...{ ...event, id, created: Math.floor(unit.at / 1_000), cause },
        apiVersion: unit.endpoint().apiVersion,
      }),
    );
    unit.documents.events.put({
      id,
      provider: unit.slot,
      metadata: {},
      wire: {},
      createdAt: unit.at,
      type: event.type,
      body,
    });
    outbox.post({ slot: unit.slot, subject: event.subject, body, manner: mannerOf(event) });
  }
};

const WISHES: Readonly<Record<string, string>> = { dup: 'duplicate', badsig: 'forged' };

const mannerOf = ({ manner }: VendorEvent) => {
  if (manner === undefined) return undefined;
  const wish = WISHES[manner] ?? manner;
  return DELIVERY_MODES.find((known) => known === wish);
};
