/**
 * @module The trace of the current work and its remaining time. The entry of a function sets both once. Log lines
 * contain the trace, and retry waits stay within the remaining time. Source: https://www.w3.org/TR/trace-context/
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { fingerprint } from './ids.ts';

/** The trace context of a caller or a message. */
export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  readonly isSampled: boolean;
  /** The unchanged header tracestate; undefined if it is missing or invalid. */
  readonly state?: string | undefined;
}

/** A trace with the span of the current work. */
export interface Span extends TraceContext {
  /** 16 lower-case hex digits, not all zero. */
  readonly spanId: string;
}

interface Running {
  readonly span: Span;
  /** Milliseconds until Lambda stops the function. */
  readonly remainingMs: () => number;
}

const running = new AsyncLocalStorage<Running>();

const ENDLESS = (): number => Number.POSITIVE_INFINITY;

/** Runs the function and all its asynchronous work in this span, within the remaining time of the enclosing work. */
export const runInSpan = <T>(span: Span, run: () => T, remainingMs = running.getStore()?.remainingMs ?? ENDLESS): T =>
  running.run({ span, remainingMs }, run);

/** undefined outside of a function. */
export const currentSpan = (): Span | undefined => running.getStore()?.span;

/** Infinity outside of a function, where no time-out applies. */
export const remainingTimeMs = (): number => (running.getStore()?.remainingMs ?? ENDLESS)();

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?=-|$)/;
const FIRST_VERSION_LENGTH = '00-00000000000000000000000000000000-0000000000000000-00'.length;
const SAMPLED = 1;

/** Reads the trace headers. An invalid header counts as absent, as the standard requires. */
export const traceContextOf = (traceparent: string | undefined, tracestate?: string): TraceContext | undefined => {
  const [, version, traceId = '', parentId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (version === undefined || version === 'ff') return undefined;
  if (version === '00' && traceparent?.length !== FIRST_VERSION_LENGTH) return undefined;
  if (isZero(traceId) || isZero(parentId)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  return { traceId, isSampled, ...(isTraceState(tracestate) && { state: tracestate }) };
};

const isZero = (digits: string): boolean => /^0+$/.test(digits);

const LONGEST_STATE = 512;
const MOST_MEMBERS = 32;
const MEMBER =
  /^(?:[a-z][a-z\d_*/-]{0,255}|[a-z\d][a-z\d_*/-]{0,240}@[a-z][a-z\d_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

const isTraceState = (state: string | undefined): boolean => {
  if (state === undefined || state.length > LONGEST_STATE) return false;
  const members = state.split(',').map((member) => member.replace(/^[ \t]+/, '').trimEnd());
  const names = members.filter((member) => member !== '').map((member) => member.split('=')[0]);
  const isUnique = names.length > 0 && new Set(names).size === names.length;
  return isUnique && members.length <= MOST_MEMBERS && members.every((member) => member === '' || MEMBER.test(member));
};

/** The traceparent header of this span's outbound calls. */
export const traceparentOf = ({ traceId, spanId, isSampled }: Span): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** The new trace of a request or message without a trace. It derives from the id, so it needs no storage. */
export const traceIdFrom = (requestId: string): string => fingerprint('trace', requestId).slice(0, 32);
