/**
 * @module The trace of the running work and the end of its time. The doors of a function set both once. The log names
 * the trace, and calls that wait for a retry keep within the time.
 * Source: https://www.w3.org/TR/trace-context/
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { fingerprint } from './ids.ts';

/** The context that a caller or a message carries. */
export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  readonly isSampled: boolean;
  /** The header tracestate, unchanged. Undefined if the caller sent none or an invalid one. */
  readonly state?: string | undefined;
}

/** A trace with the span of the running work. */
export interface Span extends TraceContext {
  /** 16 lower-case hex digits, not all zero. */
  readonly spanId: string;
}

interface Running {
  readonly span: Span;
  /** The time until the function is stopped, ms. */
  readonly remainingMs: () => number;
}

const running = new AsyncLocalStorage<Running>();

const ENDLESS = (): number => Number.POSITIVE_INFINITY;

/** Runs the function, and everything that it starts, as this span, within the time of the work around it. */
export const runInSpan = <T>(span: Span, run: () => T, remainingMs = running.getStore()?.remainingMs ?? ENDLESS): T =>
  running.run({ span, remainingMs }, run);

/** undefined outside of a function. */
export const currentSpan = (): Span | undefined => running.getStore()?.span;

/** Infinity outside of a function, whose time has no end. */
export const remainingTimeMs = (): number => (running.getStore()?.remainingMs ?? ENDLESS)();

const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?=-|$)/;
const FIRST_VERSION_LENGTH = '00-00000000000000000000000000000000-0000000000000000-00'.length;
const SAMPLED = 1;

/** Reads the header leniently: an invalid header counts as absent, as the standard asks. */
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

/** The header traceparent of a call that this span makes. */
export const traceparentOf = ({ traceId, spanId, isSampled }: Span): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

/** The trace of a request or message that continues no other trace. It follows from the id, so it needs no storage. */
export const traceIdFrom = (requestId: string): string => fingerprint('trace', requestId).slice(0, 32);
