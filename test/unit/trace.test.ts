import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { makerAttributes } from '../../shared/core/actor.ts';
import { jsonLog } from '../../shared/core/logger.ts';
import {
  currentSpan,
  remainingTimeMs,
  runInSpan,
  traceContextOf,
  traceIdFrom,
  traceparentOf,
} from '../../shared/core/trace.ts';
import { atDoor, newSpan, traceOfMessage } from '../../shared/platform/doors.ts';
import { inCurrentTrace, traceOfItem } from '../../shared/platform/stored-trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

describe('traceContextOf', () => {
  test.each([
    ['a sampled trace', VALID, true],
    ['a trace that is not sampled', `00-${TRACE}-${SPAN}-00`, false],
    ['flags of a later version', `00-${TRACE}-${SPAN}-ff`, true],
    ['a later version', `01-${TRACE}-${SPAN}-00`, false],
    ['a later version with more fields', `cc-${TRACE}-${SPAN}-01-what-follows`, true],
  ])('continues %s', (_, header, isSampled) => {
    expect(traceContextOf(header)).toEqual({ traceId: TRACE, isSampled });
  });

  test.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['more fields in version 00', `${VALID}-more`],
    ['a later version with characters after its flags', `01-${TRACE}-${SPAN}-01x`],
    ['upper case', VALID.toUpperCase()],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a digit that is not hexadecimal', `00-${TRACE.replace('4', 'g')}-${SPAN}-01`],
    ['two headers, which the gateway joins', `${VALID},${VALID}`],
    ['a space before it', ` ${VALID}`],
  ])('ignores %s', (_, header) => {
    expect(traceContextOf(header)).toBeUndefined();
  });

  test.each([
    'congo=t61rcWkgMzE',
    'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    'tenant@vendor=a b, other=c',
    `a=${'x'.repeat(256)}`,
    'a=1,,b=2',
  ])('keeps the valid tracestate %s unchanged', (state) => {
    expect(traceContextOf(VALID, state)).toEqual({ traceId: TRACE, isSampled: true, state });
  });

  test.each([
    '',
    'no value',
    'Upper=1',
    'a=1,a=2',
    'a=ä',
    `a=${'x'.repeat(257)}`,
    `a=${'x'.repeat(250)},b=${'x'.repeat(255)},c=3`,
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(),
  ])('drops the invalid tracestate %s, and continues the trace', (state) => {
    expect(traceContextOf(VALID, state)).toEqual({ traceId: TRACE, isSampled: true });
  });

  test('keeps no tracestate without a valid traceparent', () => {
    expect(traceContextOf('00', 'congo=1')).toBeUndefined();
  });

  test('reads any text without an error, and its own header back', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (header, state) => void traceContextOf(header, state)));
    const span = newSpan(undefined);
    expect(traceContextOf(traceparentOf(span))).toEqual({ traceId: span.traceId, isSampled: true });
  });
});

describe('a span', () => {
  test('has its own id in the trace of its context, or begins a trace', () => {
    const context = { traceId: TRACE, isSampled: false, state: 'a=1' };
    const [one, other, fresh] = [newSpan(context), newSpan(context), newSpan(undefined)];
    expect(one).toMatchObject(context);
    expect(one.spanId).toMatch(/^[\da-f]{16}$/);
    expect(other.spanId).not.toBe(one.spanId);
    expect(fresh.traceId).toMatch(/^[\da-f]{32}$/);
    expect(fresh.traceId).not.toBe(TRACE);
  });

  test('knows the time that its function has left', () => {
    expect(atDoor({ getRemainingTimeInMillis: () => 7 }, newSpan(undefined), remainingTimeMs)).toBe(7);
    expect(atDoor({}, newSpan(undefined), remainingTimeMs)).toBe(Number.POSITIVE_INFINITY);
    const within = () => runInSpan(newSpan(undefined), remainingTimeMs);
    expect(atDoor({ getRemainingTimeInMillis: () => 7 }, newSpan(undefined), within)).toBe(7);
    expect([currentSpan(), remainingTimeMs()]).toEqual([undefined, Number.POSITIVE_INFINITY]);
  });

  test('is in the log line of its work', () => {
    const written: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    const write = () => jsonLog({ level: 'INFO', stage: 'dev' }).info('due work done', {});
    runInSpan({ traceId: TRACE, spanId: SPAN, isSampled: true }, write);
    write();
    vi.restoreAllMocks();
    const [within, outside] = written.map((line) => JSON.parse(line));
    expect(within).toMatchObject({ trace_id: TRACE, span_id: SPAN });
    expect(outside).not.toHaveProperty('trace_id');
  });
});

describe('the trace of a stored item', () => {
  const stored = (item: Readonly<Record<string, unknown>>, context: Parameters<typeof newSpan>[0], id?: string) =>
    runInSpan(newSpan(context, id), () => inCurrentTrace({ sk: 'PAY', ...item }));
  const maker = (requestId: string) => makerAttributes({ requestId }, {});

  test.each([true, false])('is short, and is read back without the state of the caller (sampled: %s)', (isSampled) => {
    const item = stored(maker('req-1'), { traceId: TRACE, isSampled, state: 'a=1' }, 'req-1');
    expect(item['tr']).toHaveLength(23);
    expect(traceOfItem(item)).toEqual({ traceId: TRACE, isSampled });
  });

  test.each(['req-1', '0b9c6f0e-5f0a-4d2f-9d3c-3f6f6a1f7f11'])('is not stored if request id %s implies it', (id) => {
    const item = stored({ ...maker(id), tr: 'of an earlier version' }, undefined, id);
    expect(item).not.toHaveProperty('tr');
    expect(traceOfItem(item)).toEqual({ traceId: traceIdFrom(id), isSampled: true });
  });

  test('is not stored with items of other kinds, nor outside of a function', () => {
    expect(stored({ sk: 'IDEM' }, undefined)).toEqual({ sk: 'IDEM' });
    expect(inCurrentTrace({ sk: 'PAY' })).toEqual({ sk: 'PAY' });
  });

  test.each([{}, { tr: 1 }, { tr: '' }, { tr: 'x'.repeat(23) }])('is absent from %o', (item) => {
    expect(traceOfItem(item)).toBeUndefined();
  });
});

describe('the trace of a message', () => {
  const context = { traceId: TRACE, isSampled: true };

  test.each([
    ['a delivery', { traceparent: VALID }, context],
    ['an event of the bus', { detail: { traceparent: VALID } }, context],
    ['due work', { pk: 'PAY#1' }, undefined],
    ['an invalid header', { traceparent: 'x' }, undefined],
    ['a text', 'text', undefined],
  ])('is read correctly from %s', (_, message, expected) => {
    expect(traceOfMessage(message)).toEqual(expected);
  });
});
