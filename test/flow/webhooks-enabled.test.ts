/** @module Outbound webhooks. A target receives events only if webhooks and its node are enabled. */
import { describe, expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { createIntent, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { deliveredTo, nodesAt, sinkUrl } from './targets.ts';

const port = { node: await freePort(), older: await freePort() };

describe('a webhook node with a URL', () => {
  const { WEBHOOK_2_ENABLED: _, ...nodes } = nodesAt(port.node, { enabled: {}, waiting: {} });
  const service = withHost({ frozen: true, port: port.node, env: nodes });

  test('receives nothing unless it is enabled', async () => {
    await createIntent(service, await signIn(service));
    await service.settle();
    expect(await deliveredTo(service, 'enabled')).toHaveLength(1);
    expect(await deliveredTo(service, 'waiting')).toEqual([]);
  });
});

describe('targets without EXTERNAL_WEBHOOKS_ENABLED', () => {
  const env = {
    ...nodesAt(port.older, { node: {} }),
    EXTERNAL_WEBHOOK_URLS: sinkUrl(port.older, 'older'),
    EXTERNAL_WEBHOOKS_ENABLED: '',
  };
  const service = withHost({ frozen: true, port: port.older, env });

  test('receive nothing, whether configured as nodes or in the older form', async () => {
    await createIntent(service, await signIn(service));
    await service.settle();
    expect(await deliveredTo(service, 'node')).toEqual([]);
    expect(await deliveredTo(service, 'older')).toEqual([]);
  });
});
