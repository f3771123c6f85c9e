/**
 * @module Blanks a person's data in items that are not records. An item that names a record of the person, or belongs
 * to the person, loses all personal data. In other items, only the person's e-mail addresses are replaced.
 */

import * as z from 'zod';
import { idsIn, withoutEmails, withoutPerson } from '../core/person-fields.ts';
import { redact } from '../core/redaction.ts';
import { rowOf } from '../core/rows.ts';
import { comparableText, normalizedEmail } from '../core/text.ts';
import { guestPayer } from '../discounts/redemption.ts';
import { erasedIds } from '../event-log/erased-events.ts';
import { inboundLogKey } from '../event-log/log-entry.ts';
import { packedPayload, payloadOf } from '../event-log/packed-payload.ts';
import { packed, unpacked } from '../event-log/stored-event.ts';
import {
  countKey,
  discountUseKey,
  erasureKey,
  guestPartition,
  keyOf,
  ownerCustomerKey,
  type PayloadKind,
  payerKey,
  SOUGHT_PREFIX,
  soughtKey,
} from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { ownerKeyOf } from '../platform/table-defaults.ts';
import type { Counted, ErasureJob } from './erasure-job.ts';

/** The values that an erasure searches for. The e-mail addresses are removed when the erasure is done. */
export interface Sought {
  readonly userId: string | undefined;
  /** Normalized. */
  readonly emails: readonly string[];
  /** Ids of the person's records, ours and the providers'. */
  readonly ids: ReadonlySet<string>;
}

export const seekEmails = async (
  table: Table,
  erasureId: string,
  emails: readonly (string | undefined)[],
): Promise<void> => {
  const found = new Set(emails.filter((email) => email !== undefined).map(normalizedEmail));
  await Promise.all([...found].map((email) => table.put({ ...soughtKey(erasureId, email), email })));
};

const soughtSchema = z.object({ pk: z.string(), sk: z.string(), email: z.string() });

const soughtItems = async (table: Table, erasureId: string) => {
  const items: z.infer<typeof soughtSchema>[] = [];
  const range = { from: SOUGHT_PREFIX, to: `${SOUGHT_PREFIX}~` };
  for await (const item of table.eachItem({ partition: erasureKey(erasureId).pk, ...range, consistent: true })) {
    items.push(soughtSchema.parse(item));
  }
  return items;
};

export const soughtBy = async (table: Table, { id, userId, email }: ErasureJob): Promise<Sought> => {
  const [items, ids] = await Promise.all([soughtItems(table, id), erasedIds(table, id)]);
  const emails = new Set([...(email === undefined ? [] : [email]), ...items.map((item) => item.email)]);
  return { userId, emails: [...emails], ids };
};

export const forgetSought = async (table: Table, erasureId: string): Promise<void> => {
  for (const { pk, sk } of await soughtItems(table, erasureId)) await table.remove({ pk, sk });
};

interface Trace {
  readonly counted: Counted;
  /** The changed attributes; undefined if nothing changes. Pure, so a repeat finds nothing to change. */
  readonly blanked: (sought: Sought, item: Item) => Readonly<Record<string, unknown>> | undefined;
}

/** How an erasure blanks each kind of copy, by sort key. */
const TRACES: Readonly<Record<PayloadKind, Trace>> = {
  LOG: { counted: 'webhook_logs', blanked: (sought, item) => blankedLog(sought, item) },
  EVT: { counted: 'provider_events', blanked: (sought, item) => blankedEvent(sought, item) },
  DLV: { counted: 'webhook_deliveries', blanked: (sought, item) => blankedDelivery(sought, item) },
  IDEM: { counted: 'stored_answers', blanked: (sought, item) => blankedAnswer(sought, item) },
};

/** True if an erasure would change or remove the copy. */
export const isTraceOf = (sought: Sought, item: Item): boolean =>
  rowOf(TRACES, item['sk'])?.blanked(sought, item) !== undefined || isClaimOf(sought, item);

/** @returns the counter of the changed item; undefined if the item did not change */
export const blankTrace = async (table: Table, sought: Sought, item: Item): Promise<Counted | undefined> => {
  const trace = rowOf(TRACES, item['sk']);
  const found = trace?.blanked(sought, item);
  if (!trace || found === undefined) return undefined;
  const isNeeded = 'isBlanked' in found && !(await isApplied(table, item));
  const set = isNeeded ? markedToBlank(sought, item) : found;
  if (set === undefined) return undefined;
  const written = await table.update(keyOf(item), { set }, [{ has: 'pk' }]);
  return written.ok ? trace.counted : undefined;
};

/** True if the event's log entry exists, because it is written when the event is applied or given up. */
const isApplied = async (table: Table, { providerId, eventId }: Item): Promise<boolean> =>
  (await table.get(inboundLogKey({ provider: String(providerId), eventId: String(eventId) }))) !== undefined;

/**
 * Removes only e-mail addresses while a record needs the event. The function that applies the event blanks the rest.
 */
const markedToBlank = (sought: Sought, item: Item): Readonly<Record<string, unknown>> | undefined => {
  const withoutMails = blankedEvent(sought, item, () => false);
  return item['isToBlank'] === true ? withoutMails : { ...withoutMails, isToBlank: true };
};

const isNamed = ({ ids }: Sought, text: string): boolean => {
  for (const id of idsIn(text)) if (ids.has(id)) return true;
  return false;
};

type Owned = Readonly<Record<'userId' | 'organizationId', unknown>>;

const ownerOf = (item: Item): Owned => ({ userId: item['userId'], organizationId: item['organizationId'] });

/** True if an erasure blanks all personal data of the item. An organization's entries lose only e-mail addresses. */
const isPersonal = (sought: Sought, { userId, organizationId }: Owned, text: string): boolean =>
  organizationId === undefined &&
  ((sought.userId !== undefined && userId === sought.userId) || (userId === undefined && isNamed(sought, text)));

const ERASED_FIELDS = ['payload', 'response'] as const;

const blankedLog = (sought: Sought, item: Item): Readonly<Record<string, unknown>> | undefined => {
  const owner = ownerOf(item);
  const payload = payloadOf(item['payload']);
  const text = JSON.stringify([payload, item['response']]);
  const isAll = isPersonal(sought, owner, text);
  const masked = owner.userId === sought.userId ? sought.emails.flatMap(maskedForms) : [];
  const emails = [...sought.emails, ...masked];
  const next = {
    payload: isAll ? withoutPerson(payload) : withoutEmails(payload, emails),
    response: isAll ? withoutAnswer(item['response']) : withoutEmails(item['response'], emails),
  };
  if (JSON.stringify(ERASED_FIELDS.map((field) => next[field])) === text) return undefined;
  return { ...next, payload: packedPayload(next.payload) };
};

/**
 * The forms in which the log may have masked an address. The form depends on the Unicode normalization of the masked
 * address, which is unknown here.
 */
const maskedForms = (email: string): readonly string[] =>
  ['NFC', 'NFD'].map((form) => comparableText(String(redact(email.normalize(form)))));

/** Blanks the body that a target returned. The service's own words about the attempt stay. */
const withoutAnswer = (response: unknown): unknown => {
  if (typeof response !== 'object' || response === null || Array.isArray(response)) return response;
  // Keeps the order of the fields, so that a repeat finds no difference.
  return Object.fromEntries(
    Object.entries(response).map(([name, value]) => [name, name === 'body' ? withoutPerson(value, true) : value]),
  );
};

/**
 * Blanks a JSON text. A provider may escape any letter, so parsed texts are compared. Unchanged JSON keeps its bytes.
 */
const blankedText = (sought: Sought, json: string, isAll: boolean): string => {
  if (!isAll && sought.emails.length === 0) return json;
  const value: unknown = JSON.parse(json);
  if (isAll) return JSON.stringify(withoutPerson(value));
  const blanked = JSON.stringify(withoutEmails(value, sought.emails));
  return blanked === JSON.stringify(value) ? json : blanked;
};

const blankedEvent = (sought: Sought, item: Item, isWhole = isNamed) => {
  const { raw } = item;
  if (!(raw instanceof Uint8Array)) return undefined;
  const json = unpacked(raw);
  const isAll = isWhole(sought, json);
  const blanked = blankedText(sought, json, isAll);
  return blanked === json ? undefined : { raw: packed(blanked), ...(isAll && { isBlanked: true }) };
};

const blankedDelivery = (sought: Sought, item: Item) => {
  const { content } = item;
  if (typeof content !== 'object' || content === null || !('body' in content)) return undefined;
  const json = String(content.body);
  const body = blankedText(sought, json, isPersonal(sought, ownerOf(item), json));
  return body === json ? undefined : { content: { body } };
};

const blankedAnswer = (sought: Sought, item: Item) => {
  if (item['body'] === undefined) return undefined;
  const json = String(item['body']);
  const body = blankedText(sought, json, isNamed(sought, json));
  return body === json ? undefined : { body };
};

const CLAIM_PREFIX = ownerCustomerKey('', '').sk;

/** Removes the claim to create a customer. The claim holds the customer's fields until the provider has responded. */
export const removeClaim = async (table: Table, sought: Sought, item: Item): Promise<boolean> =>
  isClaimOf(sought, item) && (await table.remove(keyOf(item), [{ has: 'claim' }])).ok;

const isClaimOf = ({ userId, emails }: Sought, { pk, sk, claim }: Item): boolean => {
  if (!String(sk).startsWith(CLAIM_PREFIX) || claim === undefined) return false;
  const isUsers = userId !== undefined && pk === `OWNER#${ownerKeyOf({ kind: 'user', userId })}`;
  const text = comparableText(JSON.stringify(claim));
  return isUsers || emails.some((email) => text.includes(JSON.stringify(email)));
};

/** Removes the counters of a guest's list, whose key holds a hash of the e-mail address. The list is empty by then. */
export const removeCounter = async (table: Table, { userId, emails }: Sought, item: Item): Promise<boolean> => {
  const { pk, sk, ...counts } = item;
  const isGuests = userId === undefined && emails.some((email) => pk === countKey(guestPartition(email, 'PAY'), '').pk);
  if (!isGuests || Object.values(counts).some((count) => count !== 0)) return false;
  const unchanged = Object.keys(counts).map((name) => ({ equals: [name, 0] }) as const);
  return (await table.remove({ pk: String(pk), sk: String(sk) }, unchanged)).ok;
};

/** Removes the item of a guest's discount code use or first payment. Its key holds a hash of the e-mail address. */
export const removeUse = async (table: Table, { userId, emails }: Sought, item: Item): Promise<boolean> => {
  const { pk, sk } = keyOf(item);
  if ((sk !== USE_OF_CODE && sk !== FIRST_PAYMENT) || userId !== undefined) return false;
  if (!emails.some((email) => pk.endsWith(`#${guestPayer(email)}`))) return false;
  return (await table.remove({ pk, sk }, [{ has: 'pk' }])).ok;
};

const USE_OF_CODE = discountUseKey('', '').sk;
const FIRST_PAYMENT = payerKey('').sk;
