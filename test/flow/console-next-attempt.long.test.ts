import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { startBrowser } from './browser.ts';
import { type ConsoleVisit, enterSession, expectAccessible, soon, visitConsole, WIDTHS } from './console-steps.ts';
import { createIntent, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { signInAdmin } from './refunders.ts';
import type { PaymentBody } from './routes.ts';

describe.each(WIDTHS)('a delivery that waits for its next attempt, at %i pixels', (width) => {
  const service = withHost({ env: { EXTERNAL_WEBHOOKS_ENABLED: 'true', EXTERNAL_WEBHOOK_RETRY_SCHEDULE: '7200' } });
  let browser: Browser;
  let visit: ConsoleVisit;
  let admin: User;
  let payment: PaymentBody;

  beforeAll(async () => {
    browser = await startBrowser();
    admin = await signInAdmin(service);
    visit = await visitConsole(browser, service, width);
    await service.control('POST', '/sink/default/behaviour', { status: 500 });
    payment = await createIntent(service, await signIn(service, { expires_in: YEAR_SECONDS }));
    await service.settle();
    await enterSession(visit, admin.session);
  });
  afterAll(() => browser?.close());

  test('shows the time of the attempt on its own page and in the timeline of its payment', async () => {
    const { page, open } = visit;
    const { body: logs } = await service.get('/webhooks/logs?event_type=payment.created', admin.options);
    const log = present(logs.find(({ payload }) => payload.data.payment_id === payment.id));
    expect(Date.parse(log.next_attempt_at) - Date.parse(log.created_at)).toBeGreaterThanOrEqual(7_200_000);
    await open(`/webhooks/${log.id}`);
    const next = page.getByText('Next attempt', { exact: true });
    await next.waitFor();
    expect(await page.locator(`time[datetime="${log.next_attempt_at}"]`).count()).toBe(1);
    await expectAccessible(page);
    await open(`/payments/${payment.id}`);
    await soon(() => page.locator('.entry-delivery').first().innerText()).toContain('next attempt');
    await expectAccessible(page);
  });
});
