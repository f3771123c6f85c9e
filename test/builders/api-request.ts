import type { GuestCaller, SessionCaller } from '../../shared/access/caller.ts';
import { NO_CONDITIONS } from '../../shared/access/right.ts';
import type { ApiRequest, ArrivedRequest } from '../../shared/http/request.ts';

export const session = (fields: Partial<SessionCaller> = {}): SessionCaller => ({
  kind: 'session',
  userId: 'user_1',
  email: 'ada@example.com',
  organizationId: undefined,
  isAdmin: false,
  ...fields,
});

export const guest = (fields: Partial<GuestCaller> = {}): GuestCaller => ({
  kind: 'guest',
  email: 'ada@example.com',
  guestId: 'gst_1',
  name: undefined,
  phone: undefined,
  byToken: true,
  ...fields,
});

export const arrived = (fields: Partial<ArrivedRequest> = {}): ArrivedRequest => ({
  requestId: 'req-1',
  endpointId: 'payments.get',
  rawBody: Buffer.alloc(0),
  headers: {},
  sourceNetwork: '203.0.113.7',
  ...fields,
});

/** A parsed request, as rules and use cases receive it. */
export const apiRequest = (fields: Partial<ApiRequest> = {}): ApiRequest => ({
  caller: session(),
  params: {},
  query: {},
  body: {},
  record: undefined,
  role: undefined,
  canWrite: false,
  asAdmin: false,
  sendsBack: false,
  right: NO_CONDITIONS,
  owner: undefined,
  named: () => undefined,
  alongside: [],
  idempotency: undefined,
  http: arrived(),
  ...fields,
});
