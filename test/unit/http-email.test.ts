import { describe, expect, test } from 'vitest';
import { emailSchema } from '../../shared/http/fields.ts';

describe('an e-mail address', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    [' Ada.Lovelace+Shop@Example.COM ', 'ada.lovelace+shop@example.com'],
    ["o'neil@example.ie", "o'neil@example.ie"],
    ['jörg@müller.example', 'jörg@müller.example'],
    ['JÖRG@Müller.Example', 'jörg@müller.example'],
    ['jo\u0308rg@example.com', 'jörg@example.com'],
    ['用户@例子.公司', '用户@例子.公司'],
    ['пользователь@пример.рф', 'пользователь@пример.рф'],
    ['अजय@डाटा.भारत', 'अजय@डाटा.भारत'],
    [`${'a'.repeat(242)}@example.com`, `${'a'.repeat(242)}@example.com`],
  ])('%j is taken, lower-cased', (sent, taken) => {
    expect(emailSchema.parse(sent)).toBe(taken);
  });

  test.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@@example.com',
    'ada@b@example.com',
    'ada@example..com',
    'ada@.example.com',
    'ada@example.com.',
    '.ada@example.com',
    'ada.@example.com',
    'a..b@example.com',
    'a da@example.com',
    'ada@exam ple.com',
    'ada\n@example.com',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada\u0000@example.com',
    'ada\u202e@example.com',
    'ada,eve@example.com',
    'Ada <ada@example.com>',
    '"ada"@example.com',
    'ada@[127.0.0.1]',
    `${'a'.repeat(243)}@example.com`,
  ])('%j is refused', (sent) => {
    expect(emailSchema.safeParse(sent).success).toBe(false);
  });
});
