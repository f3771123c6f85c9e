import { test } from 'vitest';
import { startBrowser } from './browser.ts';
import { signIn } from './flow.ts';
import { withHost } from './host.ts';
import { approveAtPayPal, payableAt, visitPage } from './pay-page-steps.ts';
const service = withHost({ env: { PAGE_NAME: 'Corner Shop' } });
test('x', async () => {
  const browser = await startBrowser();
  const user = await signIn(service);
  const { id, token } = await payableAt(service, user, 'paypal');
  const { page, complaints, asked } = await visitPage(browser, service, token);
  await approveAtPayPal(page);
  await new Promise((r) => setTimeout(r, 4000));
  console.log(page.url(), await page.innerText('body'), complaints, asked.slice(-8));
  console.log(JSON.stringify((await service.get('/pay/state', { headers: { 'x-link-token': token } })).body));
  await browser.close();
});
