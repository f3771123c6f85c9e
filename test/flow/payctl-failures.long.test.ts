import { describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import { loadEntry } from '../../infra/local/machine/invoke.ts';
import { createIntent, signIn } from './flow.ts';
import { withHost } from './host.ts';
import { payctlOf } from './payctl.ts';

const READERS = ['workers.publish-changes', 'workers.project-changes'];

/** A catalogue for a host, and a switch that makes its stream readers fail. */
const breakable = () => {
  let broken = false;
  const load: Catalogue['load'] = async (id) => {
    const handler = await loadEntry(id);
    if (!READERS.includes(id)) return handler;
    return (event, context) => {
      if (broken) throw new Error('out of order');
      return handler(event, context);
    };
  };
  return {
    catalogue: { endpoints, triggers, load },
    breakDown: (isBroken: boolean): void => {
      broken = isBroken;
    },
  };
};

describe('payctl after failures', () => {
  const { catalogue, breakDown } = breakable();
  const service = withHost({ frozen: true, catalogue, env: { EXTERNAL_WEBHOOKS_ENABLED: 'true' } });
  const payctl = payctlOf(service);

  test('redelivers failed batches to the repaired reader, and the event is sent and counted once', async () => {
    await service.webhookMode('drop');
    const user = await signIn(service);
    expect(await payctl(['failures', 'list'])).toMatchObject({ exitCode: 0, json: { total: 0 } });
    breakDown(true);
    const payment = await createIntent(service, user);
    await service.settle();
    expect(await service.busEvents()).toEqual([]);

    const listed = await payctl(['failures', 'list']);
    const { failures } = listed.json;
    expect(listed.exitCode).toBe(1);
    expect(new Set(failures.map(({ reader }: { reader: string }) => reader))).toEqual(new Set(READERS));
    for (const { about } of failures) expect(about).toEqual([`PAY#${payment.id}`]);

    const { total } = listed.json;
    const again = await payctl(['failures', 'redo']);
    expect(again).toMatchObject({ exitCode: 1, json: { count: 0 } });
    expect(again.json.left).toHaveLength(total);
    expect(again.json.left[0].reason).toContain('out of order');

    breakDown(false);
    expect(await payctl(['failures', 'redo', '--dry-run'])).toMatchObject({ exitCode: 0, json: { count: total } });
    expect((await payctl(['failures', 'list'])).json).toEqual(listed.json);
    expect(await payctl(['failures', 'redo'])).toMatchObject({ exitCode: 0, json: { count: total, left: [] } });
    await service.settle();
    expect(await payctl(['failures', 'list'])).toMatchObject({ exitCode: 0, json: { total: 0 } });
    expect(await service.busEvents('payment.created')).toHaveLength(1);
    expect(await service.sink()).toMatchObject([
      { body: { event: 'payment.created', data: { payment_id: payment.id } } },
    ]);
    expect((await service.get('/payments', user.options)).body).toMatchObject({ meta: { total: 1 } });
    expect((await service.get(`/payments/${payment.id}/timeline`, user.options)).body.data[0]).toMatchObject({
      kind: 'change',
    });
  });
});
