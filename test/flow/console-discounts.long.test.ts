import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from './browser.ts';
import {
  enterSession,
  expectNoSidewaysScroll,
  expectNoViolation,
  expectQuiet,
  soon,
  visitConsole,
  WIDTHS,
} from './console-steps.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';

interface Checked {
  readonly status: number;
  readonly body: ParsedJson;
}

describe('discount codes in the console', () => {
  const service = withHost();
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  const priceWith = async (code: string) => {
    const { options } = await signIn(service);
    const body = { code, subtotal_cents: 2_000, currency: 'USD' };
    const answer: Checked = await service.post('/discounts/check', body, options);
    expect(answer.status).toBe(200);
    return answer.body;
  };

  test.each(WIDTHS)('are created, changed and deleted at a width of %i pixels', async (width) => {
    const admin = await signIn(service, { is_admin: true });
    const visit = await visitConsole(browser, service, width);
    const { page, open } = visit;
    await enterSession(visit, admin.session);
    await open('/discounts');
    const code = `SPRING${width}`;
    await page.getByRole('button', { name: 'Create code' }).click();
    const form = page.getByRole('dialog', { name: 'Create code' });
    await form.getByLabel('Code').fill(code);
    await form.getByLabel('Name').fill('Spring');
    await form.getByLabel('Discount').fill('much');
    await form.getByRole('button', { name: 'Save code' }).click();
    await form.getByRole('alert').waitFor();
    await expectNoViolation(page);
    await form.getByLabel('Discount').fill('25');
    await form.getByRole('button', { name: 'Save code' }).click();
    const row = page.getByRole('row').filter({ hasText: code });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/25\s?%/);
    await expectNoViolation(page);
    await expectNoSidewaysScroll(page);
    expect(await priceWith(code)).toMatchObject({ valid: true, discount_cents: 500, total_cents: 1_500 });

    await open(`/discounts/${code}`);
    await page.getByRole('heading', { level: 1, name: `Code ${code}` }).waitFor();
    await page.getByLabel('Discount').fill('4.00 USD');
    await page.getByRole('button', { name: 'Save code' }).click();
    await soon(async () => (await priceWith(code)).total_cents).toBe(1_600);
    await page.getByLabel('Active').uncheck();
    await page.getByRole('button', { name: 'Save code' }).click();
    await soon(async () => (await priceWith(code)).valid).toBe(false);
    await expectNoViolation(page);

    await page.getByRole('button', { name: 'Delete code' }).click();
    const question = page.getByRole('dialog', { name: 'Delete this code?' });
    await expectNoViolation(page);
    await question.getByRole('button', { name: 'Keep code' }).click();
    await question.waitFor({ state: 'hidden' });
    expect(await service.get(`/admin/discounts/${code}`, admin.options)).toMatchObject({ status: 200 });
    await page.getByRole('button', { name: 'Delete code' }).click();
    await question.getByRole('button', { name: 'Delete code' }).click();
    await page.getByRole('heading', { level: 1, name: 'Discounts' }).waitFor();
    await soon(() => page.getByRole('row').filter({ hasText: code }).count()).toBe(0);
    expectQuiet(visit, service);
  });

  test('are not offered to staff without the scope', async () => {
    const visit = await visitConsole(browser, service, WIDTHS[0]);
    await enterSession(visit, (await signIn(service, { staff_role: 'finance' })).session);
    await visit.page.getByRole('link', { name: 'Payments', exact: true }).waitFor();
    expect(await visit.page.getByRole('link', { name: 'Discounts' }).count()).toBe(0);
  });
});
