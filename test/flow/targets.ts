/** @module The local host's sinks and an independent verifier, which show outbound webhooks as receivers get them. */

import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import { LOCAL_SECRETS } from '../../infra/local/machine/environment.ts';
import type { SinkRequest, TestHost } from './host.ts';

export const SECRET = LOCAL_SECRETS.WEBHOOK_1_SECRET;

export const sinkUrl = (port: number, sink: string): string => `http://127.0.0.1:${port}/_local/sink/${sink}`;

type Node = Readonly<Record<'ENABLED' | 'EVENTS' | 'EVENT_MODE' | 'SECRET' | 'FORMAT', string>>;

/** Settings of enabled nodes. The n-th node sends to the sink with the n-th name. */
export const nodesAt = (port: number, nodes: Readonly<Record<string, Partial<Node>>>): Record<string, string> => ({
  EXTERNAL_WEBHOOKS_ENABLED: 'true',
  ...Object.fromEntries(
    Object.entries(nodes).flatMap(([sink, node], index) =>
      Object.entries({ ENABLED: 'true', URL: sinkUrl(port, sink), ...node }).map(([field, value]) => [
        `WEBHOOK_${index + 1}_${field}`,
        value,
      ]),
    ),
  ),
});

/** A sink's received webhooks (all, or those of one event), oldest first. */
export const deliveredTo = async (service: TestHost, sink: string, event?: string): Promise<SinkRequest[]> => {
  const all = await service.sink(sink);
  return event === undefined ? all : all.filter(({ headers }) => headers['webhook-event'] === event);
};

export const eventOf = ({ headers }: SinkRequest): string => headers['webhook-event'] ?? '';
export const webhookIdOf = ({ headers }: SinkRequest): string => headers['webhook-id'] ?? '';

/** Verifies a webhook like its receiver, at its sending time. @throws if the signature has another secret */
export const verified = ({ headers, raw }: Pick<SinkRequest, 'headers' | 'raw'>, secret: string = SECRET) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Number(headers['webhook-timestamp']) * 1_000 });
  try {
    return new Webhook(secret).verify(raw, { ...headers });
  } finally {
    vi.useRealTimers();
  }
};
