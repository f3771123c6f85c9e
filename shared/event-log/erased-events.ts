/**
 * @module Our ids and the provider's ids of erased persons' records. An event's ids are looked up here before the event
 * is stored or sent, so a late event never restores personal data.
 */

import { idsIn, withoutPerson } from '../core/person-fields.ts';
import { iso } from '../core/time.ts';
import { erasedKey, erasedPartition, type Key, listSort, providerEventKey } from '../platform/keys.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';
import { packed, type StoredEvent } from './stored-event.ts';

export const markErased = async (
  { table, now }: StoreDeps,
  erasureId: string,
  ids: readonly (string | undefined)[],
): Promise<void> => {
  const at = iso(now());
  const known = new Set(ids.filter((id) => id !== undefined));
  const itemOf = (id: string): Item => ({
    ...erasedKey(id),
    owner: erasedPartition(erasureId),
    sort: listSort(at, id),
  });
  await Promise.all([...known].map((id) => table.put(itemOf(id), [{ absent: true }])));
};

/** Marks the user, because the user's events about an organization's record contain the user's e-mail. */
export const markUserErased = async ({ table, now }: StoreDeps, userId: string): Promise<void> => {
  await table.put({ ...erasedUserKey(userId), at: iso(now()) });
};

const erasedUserKey = (userId: string): Key => erasedKey(`user:${userId}`);

export const erasedIds = async (table: Table, erasureId: string): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for await (const { pk } of table.eachInIndex({ index: 'owner', partition: erasedPartition(erasureId) })) {
    ids.add(String(pk).slice('GONE#'.length));
  }
  return ids;
};

/** The form of an id in a payload. An id has a digit and at least ten characters, and words of the payload do not. */
const LIKE_AN_ID = /^(?=.*\d)[\w-]{10,64}$/;
/**
 * The maximum number of ids in one lookup. One BatchGet reads 100 items, which are 99 ids and the user. The ids of an
 * event's objects come early in the payload.
 */
const MAX_IDS = 99;

/** True if the payload has the id of an erased person's record. */
export const namesErased = async (table: Table, payload: string): Promise<boolean> => {
  const ids = idsOf(payload);
  if (ids.length === 0) return false;
  const found = await table.getMany(ids.map(erasedKey));
  return found.some((item) => item !== undefined);
};

const idsOf = (payload: string): readonly string[] =>
  [...idsIn(payload)].filter((id) => LIKE_AN_ID.test(id)).slice(0, MAX_IDS);

interface SentEvent {
  readonly body: string;
  /** ISO time of the version that the event reports. */
  readonly timestamp: string;
  readonly userId: string | undefined;
}

/** Like `namesErased`, and also true if the event's user was erased after the reported version. */
export const tellsOfErased = async (table: Table, { body, timestamp, userId }: SentEvent): Promise<boolean> => {
  const keys = [...idsOf(body).map(erasedKey), ...(userId === undefined ? [] : [erasedUserKey(userId)])];
  const found = (await table.getMany(keys)).filter((item) => item !== undefined);
  return found.some(({ at }) => at === undefined || String(at) >= timestamp);
};

/** The JSON text without personal data; `{}` if it cannot be parsed. */
export const withoutPersonText = (json: string): string => {
  try {
    return JSON.stringify(withoutPerson(JSON.parse(json)));
  } catch {
    return '{}';
  }
};

/** Blanks a stored provider event whose person was erased. */
export const blankStoredEvent = async (
  table: Table,
  { providerId, eventId, raw }: Pick<StoredEvent, 'providerId' | 'eventId' | 'raw'>,
): Promise<void> => {
  const blanked = packed(withoutPersonText(raw.toString('utf8')));
  await table.update(providerEventKey(providerId, eventId), { set: { raw: blanked, isBlanked: true } }, [
    { exists: true },
  ]);
};
