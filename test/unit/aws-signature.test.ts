import { expect, test } from 'vitest';
import { awsSignedHeaders } from '../../shared/platform/aws-signature.ts';

const REQUEST = { url: new URL('https://example.amazonaws.com/'), headers: {}, body: '' };
const SIGNER = {
  service: 'service',
  region: 'us-east-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
};
const AT = new Date('2015-08-30T12:36:00Z');
/** The request post-vanilla of AWS's own examples of Signature Version 4. */
const SIGNATURE = '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b';

const signature = (signer = SIGNER, at = AT): string | undefined =>
  /Signature=(\w+)$/.exec(awsSignedHeaders(REQUEST, signer, at)['authorization'] ?? '')?.[1];

test('a request is signed as AWS’s own example', () => {
  expect(signature()).toBe(SIGNATURE);
});

test.each([
  ['day', () => signature(SIGNER, new Date('2015-08-31T12:36:00Z'))],
  ['service', () => signature({ ...SIGNER, service: 'sqs' })],
  ['region', () => signature({ ...SIGNER, region: 'eu-central-1' })],
  ['secret', () => signature({ ...SIGNER, secretAccessKey: 'another' })],
])('a request of another %s has another key, and leaves the first key as it was', (_, other) => {
  const [first, second, third, fourth] = [signature(), other(), signature(), other()];
  expect([first, third]).toEqual([SIGNATURE, SIGNATURE]);
  expect(second).not.toBe(SIGNATURE);
  expect(fourth).toBe(second);
});
