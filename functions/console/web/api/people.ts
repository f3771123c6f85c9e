/** @module The names for user ids in timelines. Each id is looked up once per session. */

import { effect, signal } from '@preact/signals';
import { searchEverything } from './search.ts';
import { may, session } from './session.ts';

const names = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

effect(() => {
  if (session.value) return;
  asked.clear();
  names.value = new Map();
});

/** The e-mail address or name of a user; undefined while unknown or if the caller may not see it. */
export const personName = (userId: string): string | undefined =>
  userId === session.value?.userId ? session.value.name : names.value.get(userId);

const readName = async (userId: string): Promise<readonly [id: string, name: string] | undefined> => {
  const found = await searchEverything(userId).catch(() => undefined);
  const user = found?.hits.find(({ kind, id }) => kind === 'user' && id === userId);
  const name = user?.user_email ?? user?.label;
  return name === undefined || name === userId ? undefined : [userId, name];
};

/** Looks up each user at most once, across all calls. */
export const readNames = async (userIds: readonly string[]): Promise<void> => {
  if (!may('payments:read')) return;
  const unknown = [...new Set(userIds)].filter((id) => !asked.has(id) && personName(id) === undefined);
  for (const id of unknown) asked.add(id);
  const found = await Promise.all(unknown.map(readName));
  const known = found.filter((entry) => entry !== undefined);
  if (known.length > 0) names.value = new Map([...names.value, ...known]);
};
