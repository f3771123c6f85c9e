/** @module Builds the request of a use case (checked parts, caller and Idempotency-Key) from the gateway's event. */

import { type Caller, principalOf } from '../access/caller.ts';
import { NO_CONDITIONS } from '../access/right.ts';
import { refuseCardNumbers, withoutCardData } from '../core/card-number.ts';
import type { Problem } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import { requirePayer } from './acting.ts';
import {
  guestOf,
  hasCredential,
  namesGuest,
  organizationOfSession,
  requireCredential,
  sourceNetworkOf,
} from './callers.ts';
import { impliedOrganization } from './check-access.ts';
import type { CsvPage, CsvRenderer } from './csv.ts';
import type { Endpoint } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { tokenFieldsOf } from './fields.ts';
import { canonicalJson, checkKey, idempotencyScope } from './idempotency.ts';
import { requireReadable } from './json-body.ts';
import { unknownFields } from './known-fields.ts';
import { checkAll, missingField, withoutAbsentFields } from './parse.ts';
import type { ApiRequest } from './request.ts';
import { isSentBack, sentBackOf } from './sent-back.ts';

/** On an update, null clears a field; on a create or a command, null means absent. */
const NULL_CLEARS: ReadonlySet<string> = new Set(['PUT', 'PATCH']);

/** @throws DomainError for an invalid request, or if the route needs a credential */
export const requestOf = (exchange: Exchange, json: unknown): ApiRequest => {
  const { spec } = exchange;
  requireReadable(json);
  const body = spec.body && withoutAbsentFields(spec.body, json, NULL_CLEARS.has(spec.method));
  requireCredential(exchange, body);
  requirePayer(exchange, namesGuest(body));
  const sent = { params: exchange.event.pathParameters ?? {}, query: exchange.query, body };
  const parts = checkAll(spec, sent, fieldProblems(spec, json));
  const said = { params: parts.params, body: json, tokenFields: tokenFieldsOf(spec.body) };
  refuseCardNumbers(said, exchange.deps.allowsCardNumbers === true);
  const caller = guestOf(exchange, parts.body);
  return {
    caller,
    ...parts,
    sendsBack: sendsBack(spec, json),
    record: undefined,
    role: undefined,
    canWrite: false,
    asAdmin: spec.auth === 'platform-admin' || caller.kind === 'key',
    right: NO_CONDITIONS,
    owner: undefined,
    named: () => undefined,
    alongside: [],
    csvPage: csvPageOf(exchange),
    idempotency: idempotencyOf(exchange, caller, { ...parts, json }),
    http: {
      requestId: exchange.requestId,
      endpointId: spec.id,
      rawBody: exchange.rawBody,
      headers: exchange.headers,
      sourceNetwork: sourceNetworkOf(exchange),
      payerNetwork: exchange.payerNetwork,
      opened: exchange.opened,
    },
  };
};

/** Problems of unknown fields; else the problem of a body without known fields. */
const fieldProblems = (spec: Endpoint, json: unknown): readonly Problem[] => {
  if (!spec.body) return [];
  const unknown = unknownFields(spec.body, json, { isAlsoKnown: (name, value) => isSentBack(spec, name, value) });
  return unknown.length > 0 || sendsBack(spec, json) ? unknown : missingField(spec.body, json);
};

const sendsBack = (spec: Endpoint, json: unknown): boolean => Object.keys(sentBackOf(spec, json)).length > 0;

const idempotencyOf = (
  exchange: Exchange,
  caller: Caller,
  { params, query, body, json }: Pick<ApiRequest, 'params' | 'query' | 'body'> & { readonly json: unknown },
): ApiRequest['idempotency'] => {
  const key = exchange.headers['idempotency-key'];
  if (key === undefined || exchange.spec.method !== 'POST') return undefined;
  const { method, path, access: rule } = exchange.spec;
  // The same body is a different request if the session's organization has changed.
  const isDecidedLater = rule === undefined && exchange.spec.idempotent === 'stored';
  const organizationId = isDecidedLater
    ? organizationOfSession(caller)
    : impliedOrganization(rule, { caller, body, query });
  return {
    scope: idempotencyScope({
      principal: principalOf(caller),
      route: `${method} ${path}`,
      params,
      key: checkKey(key, !hasCredential(exchange.spec, caller)),
    }),
    requestHash: fingerprint(
      canonicalJson(withoutCardData(json)),
      ...(organizationId === undefined ? [] : [organizationId]),
    ).slice(0, 40),
  };
};

/** The requested page of a list as CSV; undefined for JSON. */
const csvPageOf = (exchange: Exchange): CsvPage | undefined => {
  if (!exchange.spec.csv) return undefined;
  const { prefersCsv, csvPageAt } = rendererOf(exchange);
  return prefersCsv(exchange.headers['accept']) ? csvPageAt(exchange.query['cursor']) : undefined;
};

export const rendererOf = ({ csv, spec }: Exchange): CsvRenderer => {
  if (!csv) throw new Error(`${spec.id} declares CSV and has nothing that writes it`);
  return csv;
};
