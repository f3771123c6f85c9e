/** @module The W3C trace context of a request in its log lines, events and webhooks. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { withHost } from './host.ts';
import { deliveredTo, nodesAt, SECRET, verified } from './targets.ts';

const port = await freePort();
const ORIGIN = 'https://shop.example';
const service = withHost({
  port,
  env: { ...nodesAt(port, { target: { SECRET } }), LOG_LEVEL: 'info', ALLOWED_ORIGINS: ORIGIN },
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const TRACEPARENT = /^00-([\da-f]{32})-([\da-f]{16})-0[01]$/;
const PAYMENT = { total_cents: 2_500, currency: 'USD', payment_method_id: 'pm_card_visa' };

interface Line {
  readonly message: string;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly request_id?: string;
  readonly event_type?: string;
  readonly trigger?: string;
}
let lines: Line[] = [];

beforeEach(() => {
  lines = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      if (String(text).startsWith('{')) lines.push(JSON.parse(String(text)));
      return true;
    });
  }
});

const create = async (headers: Readonly<Record<string, string>>) => {
  const { session_id: session } = await service.session();
  const created = await service.post('/payments/intents', PAYMENT, { session, headers });
  expect(created.status).toBe(201);
  await service.settle();
  const posted = (await deliveredTo(service, 'target', 'payment.created')).find(({ raw }) =>
    raw.includes(created.body.id),
  );
  return { requestId: created.headers.get('x-request-id'), id: created.body.id, session, posted };
};

const partsOf = (traceparent: string | undefined) => {
  const [, traceId = '', spanId = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  return { traceId, spanId };
};

describe('a request with a traceparent', () => {
  test('shares its trace with log lines, event and webhook, with a span per unit of work', async () => {
    const { requestId, posted } = await create({ traceparent: `00-${TRACE}-${SPAN}-01` });
    const served = lines.filter(({ request_id: id }) => id === requestId);
    expect(served.map(({ message, trace_id }) => [message, trace_id])).toEqual([['request served', TRACE]]);
    const ofTrace = lines.filter(({ trace_id }) => trace_id === TRACE);
    expect(ofTrace.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['request served', 'provider called', 'webhook dispatched', 'webhook delivered']),
    );
    const { traceId, spanId } = partsOf(posted?.headers['traceparent']);
    expect(traceId).toBe(TRACE);
    const delivered = ofTrace.find(({ message }) => message === 'webhook delivered');
    expect(spanId).toBe(delivered?.span_id);
    expect([SPAN, served[0]?.span_id]).not.toContain(spanId);
    const [event] = await service.busEvents('payment.created');
    expect(JSON.stringify(event)).toContain(TRACE);
  });

  test('uses one span for its own log lines', async () => {
    const { requestId } = await create({ traceparent: `00-${TRACE}-${SPAN}-01` });
    const served = lines.find(({ request_id: id }) => id === requestId);
    const called = lines.filter(({ message }) => message === 'provider called');
    expect(served?.span_id).toMatch(/^[\da-f]{16}$/);
    expect(called.map(({ span_id }) => span_id)).toContain(served?.span_id);
  });

  test('does not change the body and signature of its webhooks', async () => {
    const { posted } = await create({ traceparent: `00-${TRACE}-${SPAN}-01` });
    if (!posted) throw new Error('the webhook is delivered');
    expect(verified(posted)).toMatchObject({ event: 'payment.created' });
    expect(posted.raw).not.toContain(TRACE);
  });
});

describe('a request without a valid traceparent', () => {
  test.each([
    ['without a header', undefined],
    ['with version ff', `ff-${TRACE}-${SPAN}-01`],
    ['with an empty header', ''],
  ])('starts a new trace %s, and its webhook continues the trace', async (_, traceparent) => {
    const { requestId, posted } = await create(traceparent === undefined ? {} : { traceparent });
    const served = lines.find(({ request_id: id }) => id === requestId);
    expect(served?.trace_id).toMatch(/^[\da-f]{32}$/);
    expect(served?.trace_id).not.toBe(TRACE);
    expect(partsOf(posted?.headers['traceparent']).traceId).toBe(served?.trace_id);
  });
});

describe('the trace of background work', () => {
  test('equals the trace of the provider’s webhook request', async () => {
    const { id, session } = await create({});
    lines = [];
    await service.post(`/payments/confirm/${id}`, {}, { session });
    await service.settle();
    const applied = lines.filter(({ message }) => message === 'provider event applied');
    const received = new Set(lines.filter(({ message }) => message === 'request served').map((line) => line.trace_id));
    expect(applied.length).toBeGreaterThan(0);
    for (const { trace_id } of applied) expect(received).toContain(trace_id);
  });

  test('is in every log line, including due work', async () => {
    await create({});
    await service.advance(2 * 86_400);
    await service.settle();
    expect(lines.some(({ message }) => message === 'due work queued')).toBe(true);
    expect(lines.filter(({ trace_id, span_id }) => !trace_id || !span_id)).toEqual([]);
  });
});

describe('a test event', () => {
  test('passes its request’s tracestate on unchanged, and drops an invalid tracestate', async () => {
    const { session_id: session } = await service.session({ is_admin: true });
    const send = async (tracestate: string) => {
      const headers = { traceparent: `00-${TRACE}-${SPAN}-00`, tracestate };
      const sent = await service.post('/webhooks/test', { event: 'payment.succeeded' }, { session, headers });
      expect(sent.status).toBe(200);
      return (await deliveredTo(service, 'target', 'payment.succeeded')).at(-1)?.headers ?? {};
    };
    const passed = await send('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
    expect(passed['tracestate']).toBe('rojo=00f067aa0ba902b7,congo=t61rcWkgMzE');
    expect(passed['traceparent']).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-00$`));
    expect(await send('Not Valid')).not.toHaveProperty('tracestate');
  });
});

describe('a provider', () => {
  test('receives no trace context', async () => {
    const called: { readonly path: string; readonly names: readonly string[] }[] = [];
    const note = (message: unknown): void => {
      const { request } = message as { readonly request: ClientRequest };
      called.push({ path: request.path, names: request.getHeaderNames() });
    };
    subscribe('http.client.request.start', note);
    const { id, session } = await create({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=1' });
    await service.post(`/payments/confirm/${id}`, {}, { session, headers: { traceparent: `00-${TRACE}-${SPAN}-01` } });
    const atPayPal = { ...PAYMENT, payment_method_id: undefined, provider_id: 'provider_b', return_url: ORIGIN };
    await service.post('/payments/intents', atPayPal, { session });
    for (const provider of ['provider_c', 'provider_d']) {
      await service.post('/customers', { provider_id: provider, email: 'a@example.com' }, { session });
    }
    await service.settle();
    unsubscribe('http.client.request.start', note);
    const toProviders = called.filter(({ path }) => path.startsWith('/_local/providers/'));
    const vendors = new Set(toProviders.map(({ path }) => path.split('/')[3]));
    expect([...vendors].sort()).toEqual(['braintree', 'paypal', 'square', 'stripe']);
    expect(toProviders.flatMap(({ names }) => names).filter((name) => name.startsWith('trace'))).toEqual([]);
    expect(called.some(({ names }) => names.includes('traceparent'))).toBe(true);
  });
});

describe('a browser of another origin', () => {
  test('can send the trace context', async () => {
    const answer = await service.request('OPTIONS', '/payments/intents', {
      headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
    });
    const allowed = answer.headers.get('access-control-allow-headers')?.split(',');
    expect(allowed).toEqual(expect.arrayContaining(['traceparent', 'tracestate']));
  });
});
