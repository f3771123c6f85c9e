/** @module Starts the span of a function's work, in the trace of its caller or message, or else in a new trace. */

import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { runInSpan, type Span, type TraceContext, traceContextOf, traceIdFrom } from '../core/trace.ts';

/** The part of Lambda's context with the function's remaining time. */
export interface Timed {
  readonly getRemainingTimeInMillis?: () => number;
}

/**
 * Random hexadecimal digits, for names that are no secrets. They come from UUIDs, which Node draws in advance.
 * @param digits at most 32
 */
const hex = (digits: number): string => randomUUID().replaceAll('-', '').slice(-digits);

/**
 * A new span in the given trace. Without a trace, the span is the first span of a new trace. The id of the new trace
 * derives from `requestId`, or is random without a `requestId`.
 */
export const newSpan = (context: TraceContext | undefined, requestId?: string): Span => ({
  traceId: context?.traceId ?? (requestId === undefined ? hex(32) : traceIdFrom(requestId)),
  spanId: hex(16),
  // A new trace is marked as recorded, because the log keeps every span.
  isSampled: context?.isSampled ?? true,
  ...(context?.state !== undefined && { state: context.state }),
});

/** Runs an invocation's work in the span, which knows the invocation's remaining time. */
export const atDoor = <T>(timed: Timed | undefined, span: Span, run: () => T): T =>
  runInSpan(span, run, () => timed?.getRemainingTimeInMillis?.() ?? Number.POSITIVE_INFINITY);

const carrierSchema = z.lazy(() =>
  z.object({
    traceparent: z.string().optional(),
    /** The traceparent field of an event from the bus. */
    detail: z.object({ traceparent: z.string().optional() }).optional(),
  }),
);

/** The trace in a message. */
export const traceOfMessage = (message: unknown): TraceContext | undefined => {
  const { traceparent, detail } = carrierSchema.safeParse(message).data ?? {};
  return traceContextOf(traceparent ?? detail?.traceparent);
};
