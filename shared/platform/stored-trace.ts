/**
 * @module The trace of the work that wrote an item. Events of that change continue the trace. Most records store their
 * request's id, and the trace derives from it. Any other trace is stored in 23 characters.
 */

import { requestIdOf } from '../core/actor.ts';
import { rowOf } from '../core/rows.ts';
import { currentSpan, type TraceContext, traceIdFrom } from '../core/trace.ts';
import type { Item } from './connection.ts';
import type { PublishedKind } from './keys.ts';

const PUBLISHED: Readonly<Record<PublishedKind, true>> = { PAY: true, CUS: true, SUB: true, MBR: true, EVT: true };

/** Adds the current trace to the item. */
export const inCurrentTrace = ({ tr: _, ...item }: Item): Item => {
  const span = rowOf(PUBLISHED, item['sk']) && currentSpan();
  return !span || follows(span, item) ? item : { ...item, tr: packed(span) };
};

/** @returns undefined for an item without a trace */
export const traceOfItem = (item: Item): TraceContext | undefined => {
  const [, id, sampled] = STORED.exec(textOf(item['tr'])) ?? [];
  if (id === undefined) return traceOfRequest(item);
  return { traceId: Buffer.from(id, 'base64url').toString('hex'), isSampled: sampled === '1' };
};

const traceOfRequest = ({ rq }: Item): TraceContext | undefined => {
  const requestId = requestIdOf(textOf(rq));
  return requestId ? { traceId: traceIdFrom(requestId), isSampled: true } : undefined;
};

const follows = ({ traceId, isSampled }: TraceContext, item: Item): boolean =>
  isSampled && traceOfRequest(item)?.traceId === traceId;

const STORED = /^([\w-]{22})([01])$/;
const packed = ({ traceId, isSampled }: TraceContext): string =>
  `${Buffer.from(traceId, 'hex').toString('base64url')}${isSampled ? '1' : '0'}`;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
