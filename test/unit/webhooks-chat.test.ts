import { describe, expect, test } from 'vitest';
import { CANONICAL_EVENTS } from '../../shared/platform/bus-event.ts';
import { chatMessage } from '../../shared/webhooks/chat.ts';
import { SAMPLES } from '../../shared/webhooks/event-samples.ts';

const canonical = (event: string, data: object) => ({ event, provider: 'provider_a', timestamp: '', data });

describe('a message for a chat service', () => {
  test('says what happened in words, followed by the facts', () => {
    const data = { ...SAMPLES['payment.succeeded'], payment_id: 'pay_1', amount: 2_550, project: { id: 'proj_1' } };
    expect(chatMessage('payment.succeeded', canonical('payment.succeeded', data))).toEqual({
      text: 'Payment succeeded: 25.50 USD',
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: '*Payment succeeded: 25.50 USD*' } },
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: [
              '*payment id*: pay_1',
              '*status*: succeeded',
              '*user*: t***@example.com',
              '*project*: proj_1',
              '*provider payment id*: test',
            ].join('\n'),
          },
        },
        { type: 'section', text: { type: 'mrkdwn', text: '`payment.succeeded`' } },
      ],
    });
  });

  test('shows no order and no address, but the product of a subscription', () => {
    const order = {
      reference_code: 'R-1',
      metadata: { cart: 'c1' },
      product_id: 'prod_1',
      quantity: 2,
      subtotal: 900,
      tax: 100,
      discount: 0,
      billing_address: { id: 'addr_1', name: 'Jane Roe' },
    };
    const textsOf = (event: string) => JSON.stringify(chatMessage(event, canonical(event, { ...order, id: 'x' })));
    expect(textsOf('payment.succeeded')).not.toMatch(/R-1|c1|prod_1|quantity|subtotal|tax|discount|Jane|addr_1/);
    expect(textsOf('subscription.created')).toMatch(/prod_1.*quantity/);
    expect(textsOf('subscription.created')).not.toMatch(/R-1|c1|subtotal|tax|discount|Jane|addr_1/);
  });

  test('marks a test event', () => {
    const data = { test: true, ...SAMPLES['payment.succeeded'] };
    const { text, blocks } = chatMessage('payment.succeeded', {
      ...canonical('payment.succeeded', data),
      test: true,
    });
    expect(text).toBe('Test: Payment succeeded: 10.00 USD');
    expect(blocks[1]?.text.text).toMatch(/^\*test\*: true$/m);
  });

  test.each([
    [2_550, 'JPY', '2550 JPY'],
    [2_550, 'kwd', '2.550 KWD'],
    [5, 'EUR', '0.05 EUR'],
  ])('writes %s %s as %s', (amount, currency, written) => {
    const { text } = chatMessage('payment.failed', canonical('payment.failed', { amount, currency }));
    expect(text).toBe(`Payment failed: ${written}`);
  });

  test.each(CANONICAL_EVENTS)('is readable for %s', (event) => {
    const { text, blocks } = chatMessage(event, canonical(event, SAMPLES[event]));
    expect(text).toMatch(
      /^(Payment|Payment refund|Payment dispute|Subscription|Membership|Customer) (created|updated|succeeded|failed|\w+ed|pending|capture due|capture failed|release failed)/,
    );
    expect(blocks).toHaveLength(3);
    expect(blocks[1]?.text.text).toMatch(/^\*\w+ id\*: \w+_test$/m);
    expect(JSON.stringify(blocks)).not.toMatch(/null|undefined|\[object/);
  });

  const stripe = {
    id: 'evt_1',
    data: { object: { id: 'pi_1', amount: 2_500, currency: 'usd', status: 'succeeded', metadata: { a: 'b' } } },
  };
  test.each<[string, unknown, string, string]>([
    ['provider_a:payment_intent.succeeded', stripe, 'Payment intent succeeded (provider_a): 25.00 USD', '*id*: pi_1'],
    [
      'provider_b:PAYMENT.CAPTURE.COMPLETED',
      { id: 'WH-1', resource: { id: 'cap_1', status: 'COMPLETED', amount: { value: '25.00' } } },
      'Payment capture completed (provider_b)',
      '*status*: COMPLETED',
    ],
    [
      'provider_c:payment.updated',
      { event_id: 'e1', merchant_id: 'm1' },
      'Payment updated (provider_c)',
      '*merchant id*: m1',
    ],
  ])('is readable for %s', (...[event, body, text, fact]) => {
    const message = chatMessage(event, body);
    expect(message.text).toBe(text);
    expect(message.blocks[1]?.text.text).toContain(fact);
  });

  test('shows user text without markup, up to the limit of a section', () => {
    const name = '<!channel> & <https://evil.example|here>';
    const { blocks } = chatMessage('customer.created', canonical('customer.created', { name }));
    expect(blocks[1]?.text.text).toBe('*name*: &lt;!channel&gt; &amp; &lt;https://evil.example|here&gt;');
    const long = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field_${at}`, 'x'.repeat(1_000)]));
    const texts = chatMessage('customer.created', canonical('customer.created', long)).blocks.map(
      ({ text }) => text.text,
    );
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(3_000);
  });

  test.each([
    ['line breaks', 'Ada\n*status*: succeeded\r\n\u2028x', 'Ada ∗status∗: succeeded x'],
    ['marks of formatting', '*bold* _italic_ ~struck~ `code`', '∗bold∗ ＿italic＿ ∼struck∼ ˋcodeˋ'],
    ['an underscore within a word', 'pay_1_2', 'pay_1_2'],
    ['marks of direction', 'a\u202Eb\u2066c', 'abc'],
    ['a control character', 'a\u0000\tb', 'a b'],
    ['a long text with an emoji at the limit', `${'x'.repeat(199)}😀y`, `${'x'.repeat(199)}😀`],
    ['a lone surrogate', 'x\ud83d', 'x\ufffd'],
  ])('shows %s in a name as plain text on one line', (_, name, shown) => {
    const { blocks } = chatMessage('customer.created', canonical('customer.created', { name, status: 'open' }));
    expect(blocks[1]?.text.text).toBe(`*name*: ${shown}\n*status*: open`);
  });

  test('has only whole lines, characters and escapes in a section', () => {
    const long = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}`, '&😀'.repeat(200)]));
    const { blocks } = chatMessage('customer.created', canonical('customer.created', { ...long, status: 'open' }));
    for (const { text } of blocks) {
      expect(text.text.length).toBeLessThanOrEqual(3_000);
      expect(text.text.isWellFormed()).toBe(true);
      expect(text.text.replaceAll('&amp;', '')).not.toContain('&');
    }
    expect(blocks[1]?.text.text.split('\n').every((line) => /^\*\w+\*: .+$/u.test(line))).toBe(true);
  });

  test('uses no markup from the name of an event or a currency', () => {
    const { text, blocks } = chatMessage('provider_a:a\n*b*', { data: { object: { amount: 1, currency: '<\n>' } } });
    expect(text).toBe('A ∗b∗ (provider_a): 0.01 &lt; &gt;');
    expect(blocks.at(-1)?.text.text).toBe('`provider_a:a ∗b∗`');
  });

  test('contains no secret', () => {
    const object = { id: 'pi_1', client_secret: 'pi_1_secret_canary', note: 'canary@example.com', status: 'created' };
    const { blocks } = chatMessage('provider_a:payment_intent.created', { data: { object } });
    expect(blocks[1]?.text.text).toBe('*id*: pi_1\n*note*: c***@example.com\n*status*: created');
  });

  test.each([undefined, null, 1, 'text', [], {}, { data: null }])('exists for a body such as %j', (body) => {
    expect(chatMessage('provider_a:x', body)).toMatchObject({ text: 'X (provider_a)', blocks: [{}, {}] });
  });
});
