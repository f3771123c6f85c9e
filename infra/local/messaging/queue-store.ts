/**
 * @module The messages of all queues, in the host's SQLite file. A message stays until it is deleted. It is visible,
 * delayed or in flight (received, within its visibility timeout). `held` marks in-flight messages of the host's own
 * poller. They have no visibility timeout, and become visible immediately after a crash.
 */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { State } from '../machine/sqlite.ts';
import type { NewMessageId } from './message-ids.ts';

const messageSchema = z.object({
  seq: z.number(),
  id: z.string(),
  queue: z.string(),
  body: z.string(),
  attributes: z.string(),
  grp: z.string(),
  sent_at: z.number(),
  first_received_at: z.number().nullable(),
  visible_at: z.number(),
  /** Time of the latest receive; null before the first. */
  received_at: z.number().nullable(),
  receives: z.number(),
  held: z.number(),
  /** Position in the receive order. */
  turn: z.number(),
  /** The message's previous queue; null for a message sent here directly. */
  source: z.string().nullable(),
});
export type Message = z.infer<typeof messageSchema>;

export interface NewMessage {
  readonly body: string;
  /** Milliseconds until the message becomes visible. */
  readonly delayMs?: number;
  /** The message's own attributes, as JSON. */
  readonly attributes?: string;
  readonly group?: string;
}

export interface QueueCounts {
  readonly visible: number;
  readonly delayed: number;
  readonly in_flight: number;
}

export interface Moved {
  readonly moved: number;
  /** True if a message of unknown origin stopped the move. */
  readonly isOriginUnknown: boolean;
}

export type QueueStore = ReturnType<typeof openQueueStore>;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, body TEXT NOT NULL,
    attributes TEXT NOT NULL, grp TEXT NOT NULL, sent_at INTEGER NOT NULL, first_received_at INTEGER,
    visible_at INTEGER NOT NULL, receives INTEGER NOT NULL DEFAULT 0, held INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL);
  DROP INDEX IF EXISTS messages_in_turn;
  CREATE INDEX IF NOT EXISTS messages_ready ON messages (queue, held, turn, seq, visible_at, grp);
  CREATE INDEX IF NOT EXISTS messages_by_time ON messages (queue, held, visible_at);
  CREATE INDEX IF NOT EXISTS messages_by_group ON messages (queue, grp, turn);`;

const COLUMNS =
  'seq, id, queue, body, attributes, grp, sent_at, first_received_at, visible_at, received_at, receives, held, turn, source';
/**
 * Selects visible messages in turn order, through an index by turn. With an index by time, each receive would sort all
 * visible messages of the queue.
 */
const ready = (condition = ''): string => `SELECT ${COLUMNS} FROM messages WHERE seq IN (
    SELECT seq FROM messages INDEXED BY messages_ready WHERE queue = ?1 AND held = 0 AND visible_at <= ?2 ${condition}
    ORDER BY turn, seq LIMIT ?3) ORDER BY turn, seq`;
const HAS_COLUMN = "SELECT name FROM pragma_table_info('messages') WHERE name = ?";
/** Columns that files of older hosts lack. */
const LATER_COLUMNS = { source: 'TEXT', received_at: 'INTEGER' } as const;

/**
 * Computes the turn of a new message. Messages of one group take turns in sequence. Groups, and messages without a
 * group, do not wait for each other.
 */
const TURN = `SELECT max(
    coalesce((SELECT min(turn) FROM messages WHERE queue = :queue AND held = 0), 0),
    coalesce((SELECT max(turn) + 1 FROM messages WHERE queue = :queue AND grp = :grp AND :grp <> ''), 0)) AS turn`;

export const openQueueStore = (state: State, newId: NewMessageId = () => randomUUID()) => {
  state.define(SCHEMA);
  for (const [name, type] of Object.entries(LATER_COLUMNS)) {
    const column = state.read(HAS_COLUMN, z.object({})).first(name);
    if (!column) state.define(`ALTER TABLE messages ADD COLUMN ${name} ${type}`);
  }
  const sql = prepare(state);

  const next = rememberNext((queue) => sql.nextVisible.first(queue)?.at ?? undefined);

  return {
    /** @returns the ids, in order. */
    addAll: (queue: string, messages: readonly NewMessage[], now: number): readonly string[] => {
      next.forget(queue);
      return state.together(() =>
        messages.map((message) => insert(sql, queue, { message, now, id: newId(message.body) })),
      );
    },
    /** Receives up to `max` visible messages. A message moves to the dead-letter queue after `maxReceives` receives. */
    take: (queue: string, how: TakeOptions): readonly Message[] => {
      if ((next.of(queue) ?? Number.POSITIVE_INFINITY) > how.now) return [];
      for (;;) {
        const found = readyIn(sql, queue, how);
        if (found.length === 0) return found;
        next.forget();
        const taken = state.together(() => found.flatMap((message) => receive(sql, message, how)));
        if (taken.length > 0) return taken;
      }
    },
    find: (id: string): Message | undefined => sql.find.first(id),
    setVisible: (id: string, at: number): boolean => {
      next.forget();
      return sql.setVisible(at, id) > 0;
    },
    /** @returns the time at which the message becomes visible. */
    release: (id: string): number => {
      next.forget();
      sql.release(id);
      return sql.find.first(id)?.visible_at ?? 0;
    },
    remove: (id: string): boolean => {
      const removed = sql.remove.first(id);
      // Most removed messages were held by the poller and did not wait, so the cache stays valid for them.
      if (removed?.held === 0) next.forget();
      return removed !== undefined;
    },
    /** Moves all visible messages to `to` as new messages; without `to`, each to its source queue. */
    moveAll: (from: string, to: string | undefined, now: number): Moved =>
      state.together(() => {
        next.forget();
        let moved = 0;
        for (const { seq, source } of sql.ready.all(from, now, -1)) {
          const destination = to ?? source;
          if (destination === null) return { moved, isOriginUnknown: true };
          sql.move(destination, null, now, seq);
          sql.renew(randomUUID(), now, seq);
          moved += 1;
        }
        return { moved, isOriginUnknown: false };
      }),
    /** The time at which the next hidden message becomes visible; undefined if none is hidden. */
    nextVisibleAfter: (queue: string, now: number): number | undefined =>
      sql.nextVisibleAfter.first(queue, now)?.at ?? undefined,
    nextVisibleAt: next.of,
    count: (queue: string, now: number): QueueCounts =>
      sql.count.first(queue, now) ?? { visible: 0, delayed: 0, in_flight: 0 },
    /** Releases held messages at start, because their poller no longer runs. */
    releaseAll: (now: number): void => {
      next.forget();
      state.write('UPDATE messages SET held = 0, visible_at = ? WHERE held = 1')(now);
    },
  };
};

type Sql = ReturnType<typeof prepare>;

interface Insertion {
  readonly message: NewMessage;
  readonly now: number;
  readonly id: string;
}

const insert = (sql: Sql, queue: string, { message, now, id }: Insertion): string => {
  const { body, attributes = '{}', group = '', delayMs = 0 } = message;
  sql.insert(id, queue, body, attributes, group, now, now + delayMs, sql.turn.first(queue, group)?.turn ?? 0);
  return id;
};

const readyIn = (sql: Sql, queue: string, { now, max, busyGroups = [] }: TakeOptions): readonly Message[] =>
  busyGroups.length === 0
    ? sql.ready.all(queue, now, max)
    : sql.readyOfGroups.all(queue, now, max, JSON.stringify(busyGroups));

/**
 * Moves a message to the dead-letter queue if it exhausted its receives. @returns the received message, or nothing if
 * it moved
 */
const receive = (sql: Sql, message: Message, { now, visibilityMs, held, deadLetter }: TakeOptions): Message[] => {
  const received: Message = {
    ...message,
    receives: message.receives + 1,
    first_received_at: message.first_received_at ?? now,
    visible_at: now + visibilityMs,
    received_at: now,
    held: held ? 1 : 0,
  };
  const { seq, receives, first_received_at, visible_at } = received;
  if (deadLetter !== undefined && receives > deadLetter.maxReceives) {
    sql.move(deadLetter.queue, message.queue, now, seq);
    return [];
  }
  sql.receive(receives, first_received_at, visible_at, now, received.held, seq);
  return [received];
};

/** Caches when a queue's next message becomes visible. The clock polls often, and usually nothing has changed. */
const rememberNext = (find: (queue: string) => number | undefined) => {
  const known = new Map<string, number | undefined>();
  return {
    of: (queue: string): number | undefined => {
      if (!known.has(queue)) known.set(queue, find(queue));
      return known.get(queue);
    },
    /** Clears the cache of this queue, or of all queues. */
    forget: (queue?: string): void => {
      if (queue === undefined) known.clear();
      else known.delete(queue);
    },
  };
};

export interface TakeOptions {
  readonly now: number;
  readonly max: number;
  readonly visibilityMs: number;
  readonly held: boolean;
  readonly deadLetter: { readonly queue: string; readonly maxReceives: number } | undefined;
  /** Groups whose messages must wait. */
  readonly busyGroups?: readonly string[];
}

const prepare = (state: State) => ({
  turn: state.read(TURN.replaceAll(':queue', '?1').replaceAll(':grp', '?2'), z.object({ turn: z.number() })),
  insert: state.write(
    'INSERT INTO messages (id, queue, body, attributes, grp, sent_at, visible_at, turn) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  ),
  ready: state.read(ready(), messageSchema),
  readyOfGroups: state.read(ready('AND grp NOT IN (SELECT value FROM json_each(?4))'), messageSchema),
  receive: state.write(
    'UPDATE messages SET receives = ?, first_received_at = ?, visible_at = ?, received_at = ?, held = ? WHERE seq = ?',
  ),
  find: state.read(`SELECT ${COLUMNS} FROM messages WHERE id = ?`, messageSchema),
  setVisible: state.write('UPDATE messages SET visible_at = ? WHERE id = ?'),
  release: state.write('UPDATE messages SET held = 0 WHERE id = ?'),
  remove: state.read('DELETE FROM messages WHERE id = ? RETURNING held', z.object({ held: z.number() })),
  move: state.write(
    `UPDATE messages SET queue = ?, source = ?, visible_at = ?, receives = 0, first_received_at = NULL, received_at = NULL, held = 0
     WHERE seq = ?`,
  ),
  renew: state.write('UPDATE messages SET id = ?, sent_at = ? WHERE seq = ?'),
  nextVisible: state.read(
    'SELECT min(visible_at) AS at FROM messages WHERE queue = ? AND held = 0',
    z.object({ at: z.number().nullable() }),
  ),
  nextVisibleAfter: state.read(
    'SELECT min(visible_at) AS at FROM messages WHERE queue = ? AND held = 0 AND visible_at > ?',
    z.object({ at: z.number().nullable() }),
  ),
  count: state.read(
    `SELECT coalesce(sum(held = 0 AND visible_at <= ?2), 0) AS visible,
       coalesce(sum(held = 0 AND visible_at > ?2 AND receives = 0), 0) AS delayed,
       coalesce(sum(held = 1 OR (visible_at > ?2 AND receives > 0)), 0) AS in_flight
     FROM messages WHERE queue = ?1`,
    z.object({ visible: z.number(), delayed: z.number(), in_flight: z.number() }),
  ),
});
