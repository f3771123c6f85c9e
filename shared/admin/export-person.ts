/**
 * @module Exports all stored data of one person, found in the same way as for an erasure. This includes the person's
 * records, and copies in logs, events and stored responses. Omits secrets and one-time tokens.
 */

import * as z from 'zod';
import { withoutSecrets } from '../core/redaction.ts';
import { rowOf } from '../core/rows.ts';
import { normalizedEmail } from '../core/text.ts';
import { SECOND_MS } from '../core/time.ts';
import { payloadOf } from '../event-log/packed-payload.ts';
import { unpacked } from '../event-log/stored-event.ts';
import { boundedText, emailSchema } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { decodePlace, encodePlace } from '../platform/cursor.ts';
import { guestPartition, keyOf, type OwnedKind, ownerPartition } from '../platform/keys.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';
import { cursorParameter } from '../queries/parameters.ts';
import { type ErasedKind, isPersonsRecord, RECORD_ERASURES } from '../removal/erase-records.ts';
import type { Subject } from '../removal/erasure-job.ts';
import { isTraceOf, type Sought } from '../removal/erasure-traces.ts';

const GUEST = 'guest:';
const USER = 'user:';

/** @returns undefined unless the text names a user or a guest */
const personIn = (text: string): Subject | undefined => {
  if (text.startsWith(USER) && text.length > USER.length) return { kind: 'user', userId: text.slice(USER.length) };
  const email = emailSchema.safeParse(text.startsWith(GUEST) ? text.slice(GUEST.length) : '');
  return email.success ? { kind: 'email', email: email.data } : undefined;
};

export const personParams = z.object({
  id: boundedText(300)
    .refine((text) => personIn(text) !== undefined, 'must be user:<id> or guest:<e-mail>')
    .describe('The person: `user:<id>`, or `guest:<e-mail>` for the guests with that address.'),
});

export const personExportQuery = z.object({ cursor: cursorParameter });

const LISTED = ['SUB', 'PAY', 'PM', 'CUS', 'ADDR'] as const satisfies readonly OwnedKind[];
const SCANNED_PER_PAGE = 250;
const ENOUGH = 100;
const MAX_RUN_MS = 12 * SECOND_MS;

const placeSchema = z.tuple([z.string().min(1), z.string().min(1)]);

export const exportPerson = async (
  { table, now }: StoreDeps,
  { params, query }: ApiRequest<{ id: string }, z.output<typeof personExportQuery>>,
): Promise<Reply> => {
  const subject = personIn(params.id);
  if (subject === undefined) throw new Error('the path names no person');
  const list = `person ${params.id}`;
  let after: Item | undefined;
  if (query.cursor !== undefined) {
    const [pk, sk] = decodePlace(query.cursor, list, placeSchema);
    after = { pk, sk };
  }
  const sought = await soughtOf(table, subject);
  const until = now() + MAX_RUN_MS;
  const found: unknown[] = [];
  do {
    const page = await table.scanItems({ after, limit: SCANNED_PER_PAGE });
    found.push(...page.items.flatMap((item) => entryOf(subject, sought, item) ?? []));
    after = page.next;
  } while (after !== undefined && found.length < ENOUGH && now() < until);
  const cursor = after && encodePlace([String(after['pk']), String(after['sk'])], list);
  return {
    data: found,
    meta: { limit: ENOUGH, has_more: cursor !== undefined, next_cursor: cursor ?? null },
    ...(cursor !== undefined && { next: { cursor } }),
  };
};

/** The ids and e-mail addresses in the person's records. Every copy contains at least one of them. */
const soughtOf = async (table: Table, subject: Subject): Promise<Sought> => {
  const ids = new Set<string>();
  const emails = new Set<string>(subject.kind === 'email' ? [normalizedEmail(subject.email)] : []);
  for (const kind of LISTED) {
    const partition = subject.kind === 'user' ? ownerPartition(subject, kind) : guestPartition(subject.email, kind);
    const keys: Item[] = [];
    for await (const row of table.eachInIndex({ index: 'owner', partition })) keys.push(row);
    for (const item of await table.getMany(keys.map(keyOf))) if (item) noteValues(item, { ids, emails });
  }
  return { userId: subject.kind === 'user' ? subject.userId : undefined, emails: [...emails], ids };
};

const EMAIL_FIELDS = ['userEmail', 'guestEmail', 'email'] as const;
const PROVIDER_IDS = /^provider\w*Id$|^attemptRef$/;

const noteValues = (item: Item, { ids, emails }: { readonly ids: Set<string>; readonly emails: Set<string> }): void => {
  for (const id of idsOfRecord(item)) ids.add(id);
  for (const name of EMAIL_FIELDS) {
    const email = item[name];
    if (typeof email === 'string') emails.add(normalizedEmail(email));
  }
};

/** Our id, the provider's ids, and former ids of a record and its attempts. */
const idsOfRecord = (item: Item): readonly string[] => {
  const { pk } = keyOf(item);
  const ofProvider = Object.entries(item).filter(([name]) => PROVIDER_IDS.test(name) && name !== 'providerId');
  const earlier = [item['priorAttemptRefs'], item['formerProviderIds']].flat();
  return [pk.slice(pk.indexOf('#') + 1), ...ofProvider.map(([, id]) => id), ...earlier].filter(
    (id) => typeof id === 'string',
  );
};

const entryOf = (subject: Subject, sought: Sought, item: Item) => {
  const { pk, sk } = keyOf(item);
  if (item['tombstone'] === true) return undefined;
  const isRecord = rowOf(RECORD_ERASURES, sk) !== undefined;
  const isTheirs = isRecord ? isPersonsRecord(subject, sought.emails, item) : isTraceOf(sought, item);
  return isTheirs
    ? { kind: KIND_NAMES[sk] ?? 'other', id: pk.slice(pk.indexOf('#') + 1), data: dataOf(item) }
    : undefined;
};

const KIND_NAMES: Readonly<Record<string, string>> = {
  ...({
    SUB: 'subscription',
    PAY: 'payment',
    RFD: 'refund',
    PM: 'payment_method',
    CUS: 'customer',
    ADDR: 'address',
    MBR: 'membership',
  } satisfies Record<ErasedKind, string>),
  ...{ LOG: 'webhook_log', EVT: 'provider_event', DLV: 'webhook_delivery', IDEM: 'stored_answer' },
};

/** Attributes omitted from an export (table keys, index keys and internal references). */
const INTERNAL = new Set([
  'pk',
  'sk',
  'owner',
  'project',
  'sort',
  'f',
  'due',
  'due_at',
  'ttl',
  'methodRef',
  'requestHash',
]);
const SECRET = /secret|token|password|authorization|signature|api_?key/i;

const dataOf = (item: Item): unknown => {
  const { raw, payload, body, content, ...rest } = item;
  const opened = {
    ...rest,
    ...(raw instanceof Uint8Array && { raw: parsed(unpacked(raw)) }),
    ...(payload !== undefined && { payload: payloadOf(payload) }),
    ...(body !== undefined && { body: parsed(String(body)) }),
    ...(content !== undefined && { content: openedContent(content) }),
  };
  return withoutSecretsIn(Object.fromEntries(Object.entries(opened).filter(([name]) => !INTERNAL.has(name))));
};

const openedContent = (content: unknown): unknown =>
  typeof content === 'object' && content !== null && 'body' in content ? parsed(String(content.body)) : content;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Removes secret fields, and secrets in texts, such as the address of a provider's page. */
const withoutSecretsIn = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutSecrets(value);
  if (Array.isArray(value)) return value.map(withoutSecretsIn);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (SECRET.test(name) ? [] : [[name, withoutSecretsIn(inner)]])),
  );
};

export const personExportSchema = z.array(
  z
    .object({
      kind: z.string().describe('The kind of entry: a record, or a copy in a log, an event or a stored response.'),
      id: z.string().describe('Id of the record or the copy.'),
      data: z.unknown().describe('All stored fields, without secrets and table keys.'),
    })
    .meta({ id: 'PersonExportEntry', description: 'One record or copy that holds data of the person.' }),
);
