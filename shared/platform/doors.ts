/** @module Begins the span of a function's work, in the trace of its caller or message, or else in a new trace. */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { runInSpan, type Span, type TraceContext, traceContextOf, traceIdFrom } from '../core/trace.ts';

/** The part of Lambda's context that says when the function is stopped. */
export interface Timed {
  readonly getRemainingTimeInMillis?: () => number;
}

/** Random digits for a name that opens nothing. Node draws UUIDs in advance. @param digits 32 at most */
const hex = (digits: number): string => randomUUID().replaceAll('-', '').slice(-digits);

/** A span of its own in the trace; without a trace, the first span of a new trace, which follows from the id. */
export const newSpan = (context: TraceContext | undefined, requestId?: string): Span => ({
  traceId: context?.traceId ?? (requestId === undefined ? hex(32) : traceIdFrom(requestId)),
  spanId: hex(16),
  // The log keeps every span, so the trace is recorded.
  isSampled: context?.isSampled ?? true,
  ...(context?.state !== undefined && { state: context.state }),
});

/** Runs the work of an invocation within its time. */
export const atDoor = <T>(timed: Timed | undefined, span: Span, run: () => T): T =>
  runInSpan(span, run, () => timed?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY);

const carrierSchema = z.lazy(() =>
  z.object({
    traceparent: z.string().optional(),
    /** The field of an event from the bus. */
    detail: z.object({ traceparent: z.string().optional() }).optional(),
  }),
);

/** The trace that a message carries. */
export const traceOfMessage = (message: unknown): TraceContext | undefined => {
  const { traceparent, detail } = carrierSchema.safeParse(message).data ?? {};
  return traceContextOf(traceparent ?? detail?.traceparent);
};
