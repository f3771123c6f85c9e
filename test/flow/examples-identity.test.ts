import { execPath } from 'node:process';
import { describe, expect, test } from 'vitest';
import { intentBody } from '../builders/intent.ts';
import { startExample } from './example-process.ts';
import { startTestHost } from './host.ts';
import { actingFor, createKey } from './keys.ts';

/** Starts a host with the identity service of docs/identity.md. The caller stops the host. */
const withExample = async () => {
  const { url } = await startExample(execPath, 'identity/identity.mjs', {});
  return startTestHost({ env: { IDENTITY_URL: url } });
};

describe('the identity service of docs/identity.md', () => {
  test('signs users in, authorizes their requests, and refuses unknown sessions', async () => {
    const service = await withExample();
    try {
      const as = (session: string) => ({ session });
      expect(await service.get('/me', as('s-ada'))).toMatchObject({
        status: 200,
        body: { data: { user_id: 'u-1', email: 'ada@example.com', is_admin: true } },
      });
      const made = await service.post('/payments/intents', intentBody(), as('s-ben'));
      expect(made).toMatchObject({ status: 201, body: { user_id: 'u-2' } });
      expect(await service.get(`/payments/${made.body.id}`, { bearer: 's-ben' })).toMatchObject({ status: 200 });
      expect(await service.get('/admin/payments', as('s-cleo'))).toMatchObject({ status: 200 });
      expect(await service.get('/admin/payments', as('s-ben'))).toMatchObject({
        status: 403,
        body: { code: 'ADMIN_REQUIRED' },
      });
      expect(await service.get('/me', as('s-old'))).toMatchObject({ status: 401, body: { code: 'SESSION_EXPIRED' } });
      expect(await service.get('/me', as('guess'))).toMatchObject({ status: 401, body: { code: 'SESSION_INVALID' } });
      const key = await createKey(service, { userId: 'u-1', session: 's-ada', token: '', options: as('s-ada') });
      const forBen = await service.post('/payments/intents', intentBody(), actingFor(key, 'user:u-2'));
      expect(forBen).toMatchObject({ status: 201, body: { user_id: 'u-2' } });
      expect(await service.post('/payments/intents', intentBody(), actingFor(key, 'user:u-9'))).toMatchObject({
        status: 404,
        body: { code: 'USER_NOT_FOUND' },
      });
      const { body: organization } = await service.post('/organizations', { name: 'Acme' }, as('s-ben'));
      const members = `/organizations/${organization.data.id}/members`;
      const added = await service.post(members, { email: 'Cleo@example.com', role: 'billing' }, as('s-ben'));
      expect(added).toMatchObject({ status: 201, body: { data: { user_id: 'u-3' } } });
      const listed = await service.get(members, as('s-ben'));
      expect(listed.body.data).toMatchObject([{ user_name: 'Ben' }, { user_name: 'Cleo' }]);
    } finally {
      await service.stop();
    }
  });
});
