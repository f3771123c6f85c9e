import * as z from 'zod';
import { type Action, effectiveOrganization, may, standingRefusal } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import { ownerFor } from '../access/owner.ts';
import type { NamedRecord, RecordAliases, RecordKind } from '../access/record-kind.ts';
import { type Standing, standingKeys, standingOf } from '../access/standing.ts';
import { DomainError, notFound } from '../core/errors.ts';
import type { Key, Owner } from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import type { AccessRule } from './endpoint.ts';
import type { WebDeps } from './exchange.ts';
import type { ApiRequest } from './request.ts';

/**
 * The access rule, in front of every use case: loads what the request names in one BatchGet, decides on it, and hands on
 * only records that passed. A standing in a further organization is read only where a decision depends on it.
 */
type AccessDeps = Pick<WebDeps, 'table' | 'standings'>;

const naming = z.looseObject({ organization_id: z.string().nullish() });
const pathId = z.union([
  z.looseObject({ id: z.string() }).transform(({ id }) => id),
  z.looseObject({ provider_payment_id: z.string() }).transform((params) => params.provider_payment_id),
]);

export const checkAccess = async (deps: AccessDeps, rule: AccessRule, request: ApiRequest): Promise<ApiRequest> => {
  const { caller } = request;
  const organizationId = organizationOf(rule, request);
  const owner = rule.organization && ownerFor(caller, organizationId);
  const loaded = await load(deps, rule, request, organizationId, owner);
  const meant = await meantStanding(deps, caller, rule, organizationId, loaded);
  const check = checker(deps, caller, rule.action, meant ?? loaded.standing);
  const path = rule.record && (await check(rule.record, loaded.record));
  const named = new Map<RecordKind, unknown>();
  for (const { kind, item } of loaded.references) named.set(kind, (await check(kind, item)).record);
  for (const { kind, item } of loaded.used) {
    requireSession(caller, kind, item);
    named.set(kind, (await check(kind, item)).record);
  }
  return {
    ...request,
    record: path?.record,
    role: loaded.standing?.role,
    mayChange: path?.mayChange ?? false,
    owner,
    alongside: loaded.alongside,
    // Sound: the entry under a kind was parsed by that very kind.
    named: <T>(kind: RecordKind<T>) => named.get(kind as RecordKind) as T | undefined,
  };
};

const organizationOf = (rule: AccessRule, { caller, body, query }: ApiRequest): string | undefined => {
  if (!rule.organization) return undefined;
  const parsed = naming.safeParse(body ?? query);
  const named = parsed.success ? parsed.data.organization_id : undefined;
  const organizationId = effectiveOrganization(caller, named, rule.organization === 'session by default');
  if (organizationId !== undefined && caller.kind !== 'session') throw new DomainError('ORGANIZATION_ACCESS_DENIED');
  return organizationId;
};

/** An organization's record is used by its members only; a guest learns no more than that. */
const requireSession = (caller: Caller, kind: RecordKind, item: Item | undefined): void => {
  const record = item && kind.parse(item);
  if (record === undefined || caller.kind === 'session') return;
  if (kind.ownedBy(record).organizationId !== undefined) throw new DomainError('ORGANIZATION_ACCESS_DENIED');
};

interface LoadedReference {
  readonly kind: RecordKind;
  readonly item: Item | undefined;
}

interface Loaded {
  readonly record: Item | undefined;
  readonly standing: Standing | undefined;
  readonly references: readonly LoadedReference[];
  readonly used: readonly LoadedReference[];
  readonly alongside: readonly (Item | undefined)[];
}

const load = async (
  deps: AccessDeps,
  rule: AccessRule,
  request: ApiRequest,
  organizationId: string | undefined,
  owner: Owner | undefined,
): Promise<Loaded> => {
  const { caller } = request;
  const input = request.body ?? request.query;
  const references: readonly NamedRecord[] = rule.references?.(input) ?? [];
  const used = usedBy(rule, input);
  const beside = (owner && rule.alongside?.(owner, input)) ?? [];
  const consistent = rule.action !== 'read';
  const id = rule.record && (await recordId(deps, rule.record, request));
  const recordKeys = rule.record && id !== undefined ? [rule.record.key(id)] : [];
  // Where the record is an organization, or is to be changed in one, the standing comes in the same read.
  const standsIn = rule.record?.rule === 'organization' ? id : consistent ? organizationId : undefined;
  const standing: readonly Key[] =
    standsIn !== undefined && caller.kind === 'session' ? standingKeys(caller.userId, standsIn) : [];
  const named = references.map(({ kind, id: name }) => kind.key(name));
  const keys = [...recordKeys, ...standing, ...named, ...used.flatMap((one) => one.keys), ...beside];
  const items = await read(deps, keys, consistent);
  const [afterRecord, afterStanding] = [recordKeys.length, recordKeys.length + standing.length];
  const afterNamed = afterStanding + named.length;
  const afterUsed = keys.length - beside.length;
  return {
    record: rule.record && items[0],
    standing:
      standing.length > 0 && standsIn !== undefined
        ? standingOf(standsIn, items[afterRecord], items[afterRecord + 1])
        : undefined,
    references: references.map(({ kind }, index) => ({ kind, item: items[afterStanding + index] })),
    used: await resolveUsed(deps, used, items.slice(afterNamed, afterUsed)),
    alongside: items.slice(afterUsed),
  };
};

/** A record that is used: by its own key, or by the items that may lead to it from its provider's id. */
interface UsedReference {
  readonly kind: RecordKind;
  readonly aliases: RecordAliases | undefined;
  readonly keys: readonly Key[];
}

const usedBy = (rule: AccessRule, input: unknown): readonly UsedReference[] =>
  (rule.uses?.(input) ?? []).map(({ kind, id }) => {
    const aliases = kind.aliases?.(id);
    return { kind, aliases, keys: aliases?.keys ?? [kind.key(id)] };
  });

/** A provider's id is resolved before anything is decided; only one that leads to a record costs a further read. */
const resolveUsed = async (
  { table }: AccessDeps,
  used: readonly UsedReference[],
  items: readonly (Item | undefined)[],
): Promise<readonly LoadedReference[]> => {
  const loaded: LoadedReference[] = [];
  let at = 0;
  for (const { kind, aliases, keys } of used) {
    const found = items.slice(at, at + keys.length);
    at += keys.length;
    if (!aliases) {
      loaded.push({ kind, item: found[0] });
      continue;
    }
    const id = found.map((item) => item && aliases.idOf(item)).find((target) => target !== undefined);
    const item = id === undefined ? undefined : await table.get(kind.key(id));
    if (item && kind.parse(item) !== undefined) loaded.push({ kind, item });
  }
  return loaded;
};

const recordId = async (deps: AccessDeps, kind: RecordKind, { params }: ApiRequest): Promise<string> => {
  const id = pathId.parse(params);
  const resolved = kind.resolve ? await kind.resolve(deps.table, id) : id;
  if (resolved === undefined) throw notFound(kind.resource);
  return resolved;
};

const read = async (
  { table }: AccessDeps,
  keys: readonly Key[],
  consistent: boolean,
): Promise<readonly (Item | undefined)[]> => {
  const [only] = keys;
  if (!only) return [];
  // A record alone is read as its last write left it: who has just made it, sees it.
  return keys.length === 1 ? [await table.get(only)] : table.getMany(keys, { consistent });
};

/** @throws DomainError where the caller may not act in the organization meant. */
const meantStanding = async (
  deps: AccessDeps,
  caller: Caller,
  rule: AccessRule,
  organizationId: string | undefined,
  loaded: Loaded,
): Promise<Standing | undefined> => {
  if (organizationId === undefined || caller.kind !== 'session') return undefined;
  const standing = loaded.standing ?? (await deps.standings.cached(caller, organizationId));
  const refusal = standingRefusal(standing, rule.action);
  if (refusal) throw refusal;
  return standing;
};

type Check = (
  kind: RecordKind,
  item: Item | undefined,
) => Promise<{ readonly record: unknown; readonly mayChange: boolean }>;

const checker =
  (deps: AccessDeps, caller: Caller, action: Action, meant: Standing | undefined): Check =>
  async (kind, item) => {
    const record = item && kind.parse(item);
    if (record === undefined) throw notFound(kind.resource);
    let verdict = may(caller, action, kind, kind.ownedBy(record), meant);
    if (verdict.kind === 'ask' && caller.kind === 'session') {
      const standing =
        action === 'read'
          ? await deps.standings.cached(caller, verdict.organizationId)
          : await deps.standings.consistent(caller, verdict.organizationId);
      verdict = may(caller, action, kind, kind.ownedBy(record), standing);
    }
    if (verdict.kind === 'refused') throw verdict.error;
    return { record, mayChange: verdict.kind === 'granted' && verdict.mayChange };
  };
