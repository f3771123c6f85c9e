/** @module Receives webhooks. It is a separate file of the client package, so that browser pages do not load it. */
import { Webhook } from 'standardwebhooks';

type SentHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook and parses its event. A provider's raw event is returned as `{event, data}`.
 * @throws if the signature does not match the secret and the body, or its time is more than five minutes off
 */
export const constructEvent = (body: string | Uint8Array, headers: SentHeaders, secret: string): unknown => {
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const sent = Object.fromEntries(
    (headers instanceof Headers ? [...headers] : Object.entries(headers)).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );
  new Webhook(secret).verify(text, sent, { jsonParse: false });
  const said = jsonOrText(text);
  if (isRecord(said) && typeof said['event'] === 'string') return said;
  return { event: sent['webhook-event'], data: said };
};

const jsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
