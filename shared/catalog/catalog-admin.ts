/**
 * @module Platform admins write reference records, which other services own. The path names the kind, and all kinds
 * share the same functions. A record stores the admin of its last change; the log has every change and removal.
 */

import * as z from 'zod';
import { currentMaker, makerAttributes, makerOf, makerSchema } from '../core/actor.ts';
import { DomainError, notFound, type Problem } from '../core/errors.ts';
import type { Log } from '../core/logger.ts';
import { iso } from '../core/time.ts';
import { canonicalJson } from '../http/idempotency.ts';
import { unknownFields } from '../http/known-fields.ts';
import { type OffsetPage, offsetReply, runList } from '../http/paging.ts';
import { checkAll, withoutAbsentFields } from '../http/parse.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { listSort, REFERENCE_KINDS, type ReferenceKind, referenceKey, referencePartition } from '../platform/keys.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';
import { listCounted } from '../platform/totals.ts';
import { REFERENCES, type StoredReference } from './catalog-kinds.ts';

interface AdminDeps extends StoreDeps {
  readonly log: Log;
}

export interface OfKind {
  readonly kind: string;
}
export interface OneOfKind extends OfKind {
  readonly id: string;
}

/** @throws DomainError ROUTE_NOT_FOUND for an unknown kind. */
const kindOf = ({ kind }: OfKind): ReferenceKind => {
  const known = REFERENCE_KINDS.find((name) => name === kind);
  if (!known) throw new DomainError('ROUTE_NOT_FOUND');
  return known;
};

/** Creates or replaces a record; a repeat with the same body changes nothing. */
export const putRecord = async (
  { table, now, log }: AdminDeps,
  { params, body }: ApiRequest<OneOfKind, unknown, unknown>,
): Promise<Reply> => {
  const kind = kindOf(params);
  const id = idOf(kind, params.id);
  const fields = checkedBody(kind, body, id);
  const found = await table.get(referenceKey(kind, id));
  const was = found && REFERENCES[kind].parse(found);
  if (found && was && canonicalJson(fieldsOf(was)) === canonicalJson(fields)) return oneReply(table, kind, found);
  const item = itemOf(kind, fields, { id, was, at: iso(now()) });
  const written = await table.put(item, [was ? { equals: ['version', was.version] } : { absent: true }]);
  if (!written.ok) throw new DomainError('VERSION_CONFLICT');
  logChange(log, { kind, id, outcome: 'stored' });
  return oneReply(table, kind, item);
};

const idOf = (kind: ReferenceKind, sent: string): string => REFERENCES[kind].ids?.canonical(sent) ?? sent;

const anything = z.unknown();
const fieldsSchema = z.looseObject({});

/** The checked body of a write. A write replaces the whole record, so a null field becomes absent. */
const checkedBody = (kind: ReferenceKind, sent: unknown, id: string) => {
  const schemas = { params: anything, query: anything, body: REFERENCES[kind].body };
  const body = withoutAbsentFields(schemas.body, sent, false);
  const unknown = unknownFields(schemas.body, sent, { isAlsoKnown: (name) => READ_ONLY.has(name) });
  const found = [...malformedId(kind, id), ...unknown, ...otherId(kind, fieldsSchema.parse(sent), id)];
  return fieldsSchema.parse(checkAll(schemas, { params: undefined, query: undefined, body }, found).body);
};

const malformedId = (kind: ReferenceKind, id: string): readonly Problem[] => {
  const { ids } = REFERENCES[kind];
  return ids && !ids.isValid(id) ? [{ path: 'id', rule: 'invalid_format', message: ids.form }] : [];
};

const otherId = (
  kind: ReferenceKind,
  { id: sent }: Readonly<Record<string, unknown>>,
  id: string,
): readonly Problem[] =>
  sent === undefined || sent === null || (typeof sent === 'string' && idOf(kind, sent) === id)
    ? []
    : [{ path: 'id', rule: 'read_only', message: 'must be the id of the path' }];

/** Read-only fields, which a client may send back unchanged. */
const READ_ONLY: ReadonlySet<string> = new Set([
  ...['id', 'created_at', 'updated_at', 'updated_by'],
  ...['reserved', 'redeemed'],
]);

/** The record as an admin sees it, with the id of the last admin to change it. */
const viewOf = (kind: ReferenceKind, item: Item, counter?: Item): unknown => ({
  ...fieldsSchema.parse(REFERENCES[kind].view(item, counter)),
  updated_by: makerOf(makerSchema.parse(item), {}).actor?.id ?? null,
});

/** The views of records. Their counters, if any, are read in one BatchGet. */
const viewsOf = async (table: Table, kind: ReferenceKind, items: readonly Item[]): Promise<readonly unknown[]> => {
  const { counterKey } = REFERENCES[kind];
  const counters = counterKey ? await table.getMany(items.map(({ id }) => counterKey(String(id)))) : [];
  return items.map((item, at) => viewOf(kind, item, counters[at]));
};

const oneReply = async (table: Table, kind: ReferenceKind, item: Item): Promise<Reply> => ({
  data: (await viewsOf(table, kind, [item]))[0],
});

const logChange = (
  log: Log,
  changed: { readonly kind: ReferenceKind; readonly id: string; readonly outcome: string },
) => {
  const { actor, requestId } = currentMaker();
  log.info('reference record changed', {
    record: `${changed.kind}/${changed.id}`,
    outcome: changed.outcome,
    ...(actor && { actor_id: actor.id }),
    ...(requestId !== undefined && { request_id: requestId }),
  });
};

const fieldsOf = ({ id, version, created_at, updated_at, ...fields }: StoredReference): unknown => fields;

const itemOf = (
  kind: ReferenceKind,
  fields: Item,
  { id, was, at }: { readonly id: string; readonly was: StoredReference | undefined; readonly at: string },
): Item => {
  const createdAt = was?.created_at ?? at;
  return {
    ...fields,
    ...referenceKey(kind, id),
    id,
    version: (was?.version ?? 0) + 1,
    created_at: createdAt,
    updated_at: at,
    owner: referencePartition(kind),
    sort: listSort(createdAt, id),
    f: REFERENCES[kind].listFields(fields),
    ...makerAttributes(currentMaker(), {}),
  };
};

export const getRecord = async ({ table }: AdminDeps, { params }: ApiRequest<OneOfKind>): Promise<Reply> => {
  const kind = kindOf(params);
  const item = await table.get(referenceKey(kind, idOf(kind, params.id)));
  if (!item) throw notFound(REFERENCES[kind].resource);
  return oneReply(table, kind, item);
};

export const deleteRecord = async ({ table, log }: AdminDeps, { params }: ApiRequest<OneOfKind>): Promise<Reply> => {
  const kind = kindOf(params);
  const id = idOf(kind, params.id);
  const removed = await table.remove(referenceKey(kind, id), [{ exists: true }]);
  if (!removed.ok) throw notFound(REFERENCES[kind].resource);
  logChange(log, { kind, id, outcome: 'removed' });
  return { data: undefined };
};

/** Lists the records of the kind, newest first. */
export const listRecords = async (
  { table }: AdminDeps,
  { params, query }: ApiRequest<OfKind, OffsetPage>,
): Promise<Reply> => {
  const kind = kindOf(params);
  return runList(table, {
    findPage: () =>
      listCounted(table, {
        index: 'owner',
        partition: referencePartition(kind),
        descending: true,
        filter: [],
        offset: query.offset,
        limit: query.limit,
      }),
    recordOf: (item) => item,
    viewsOf: (items) => viewsOf(table, kind, items),
    replyOf: (views, listed, total) => offsetReply(views, { listed, page: query, total }),
  });
};
