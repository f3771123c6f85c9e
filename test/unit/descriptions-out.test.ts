import { describe, expect, test } from 'vitest';
import { withoutDescriptions } from '../../infra/stage/descriptions-out.ts';

describe('a bundle without descriptions', () => {
  test.each([
    ["z.string().describe('A name.').optional()", 'z.string().optional()'],
    [
      "z.object({ a: z.int().meta({ description: 'A.', examples: [1] }) }).meta({ id: 'B' })",
      'z.object({ a: z.int() })',
    ],
    ['z.json().register(z.globalRegistry, { id: "Json" })', 'z.json()'],
    ["settings.describe('At most ' + MAX).default('')", "settings.default('')"],
    ["z.union([z.string().describe('A.'), z.int()]).describe('B.')", 'z.union([z.string(), z.int()])'],
  ])('contains %s as %s', (source, left) => {
    expect(withoutDescriptions(source)).toBe(left);
  });

  test('keeps calls that read a description or are unrelated to schemas', () => {
    const source = "field.meta(); suite.describe('a', run); events.register(handler, 1); other({ summary: 'A' });";
    expect(withoutDescriptions(source)).toBe(source);
  });

  test('omits the texts of an endpoint, and keeps the fields that functions read', () => {
    const source = "endpoint({ id: 'a', summary: 'A', path: '/a', description: `B`, accepted: 'D', status: 200 })";
    expect(withoutDescriptions(source)).toBe("endpoint({ id: 'a',  path: '/a',   status: 200 })");
  });

  test('omits the response schema', () => {
    const source = "endpoint({ id: 'a', response: z.array(viewSchema), status: 200 })";
    expect(withoutDescriptions(source)).toBe("endpoint({ id: 'a',  status: 200 })");
  });

  test('omits a whole text that contains a described schema', () => {
    const source = "endpoint({ meta: z.object({ a: z.int().describe('A.') }).describe('B.'), status: 200 })";
    expect(withoutDescriptions(source)).toBe('endpoint({  status: 200 })');
  });

  test('keeps the number of every line', () => {
    const source = "const a = z.string().meta({\n  description: 'A.',\n});\nconst b = 1;\n";
    expect(withoutDescriptions(source)).toBe('const a = z.string()\n\n;\nconst b = 1;\n');
  });
});
