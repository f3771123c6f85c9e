import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseForm } from '../../infra/local/simulator/stripe/wire/form.ts';

const parse = (text: string) => parseForm(new URLSearchParams(text));

describe("the parser of Stripe's form encoding", () => {
  it.each([
    ['a=1&b=two', { a: '1', b: 'two' }],
    ['a[b]=1&a[c][d]=2', { a: { b: '1', c: { d: '2' } } }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[1]=y&a[0]=x', { a: ['x', 'y'] }],
    ['items[0][price]=p&items[0][n]=1&items[1][price]=q', { items: [{ price: 'p', n: '1' }, { price: 'q' }] }],
    ['metadata=', { metadata: '' }],
    ['metadata[k%5B]=v', { metadata: { 'k[': 'v' } }],
    ['a=1&a=2', { a: '2' }],
    ['a=1&a[b]=2', { a: { b: '2' } }],
    ['', {}],
  ])('reads %s', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it('never changes prototypes', () => {
    parse('__proto__[polluted]=1&a[__proto__][polluted]=1&constructor[prototype][polluted]=1');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('reads any nested fields back unchanged', () => {
    const key = fc.stringMatching(/^[a-z_]{1,8}$/);
    const value = fc.string();
    const nested = fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value, { minKeys: 1 })));
    fc.assert(
      fc.property(nested, (form) => {
        const written = new URLSearchParams();
        for (const [name, inner] of Object.entries(form)) {
          if (typeof inner === 'string') written.append(name, inner);
          else for (const [field, text] of Object.entries(inner)) written.append(`${name}[${field}]`, text);
        }
        expect(parseForm(new URLSearchParams(written.toString()))).toEqual({ ...form });
      }),
    );
  });
});
