/**
 * @module Checks the access rule before every use case. Loads all named records in one BatchGet, and passes on only
 * records usable by the caller. A guest without a token may name records to prove an earlier guest_id, and then
 * continues as that guest.
 */

import * as z from 'zod';
import { type Action, decideAccess, decideScope, effectiveOrganization } from '../access/access.ts';
import { type Caller, isMemberCaller, keyPermits } from '../access/caller.ts';
import { continueGuest, type NamedByGuest } from '../access/continue-guest.ts';
import { type NamedRecord, type Owned, ownerFor, type RecordAliases, type RecordKind } from '../access/record-kind.ts';
import { type CallerRight, NO_CONDITIONS, rightOf } from '../access/right.ts';
import { type RouteScopes, scopesOfRoute, writeScopeOf } from '../access/scopes.ts';
import { type Standing, standingIn, standingKeysOf } from '../access/standing.ts';
import { DomainError, notFound } from '../core/errors.ts';
import { fieldAt, textAt } from '../core/rows.ts';
import { type Instant, instant } from '../core/time.ts';
import type { Key, Owner } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { idUnderKey, isKeyInForce } from './create-once.ts';
import type { AccessRule } from './endpoint.ts';
import type { ChainDeps } from './exchange.ts';
import { keyReusedError } from './idempotency.ts';
import type { ApiRequest } from './request.ts';

type AccessDeps = Pick<ChainDeps, 'table' | 'standings' | 'now' | 'guestContinueSeconds' | 'ids'>;

export const checkAccess = async (deps: AccessDeps, rule: AccessRule, sent: ApiRequest): Promise<ApiRequest> => {
  const asked = sent.sendsBack ? await withoutKnownIds(deps, rule, sent) : sent;
  const scopes = scopesOfRoute(asked.http.endpointId);
  const loaded = await load(deps, { ...scopeOf(rule, asked), rule, request: asked });
  await requireOrganization(deps, asked.caller, loaded);
  const { request, alongside } = await continued(deps, { rule, request: asked, loaded });
  const { caller } = request;
  const scope = scopeOf(rule, request);
  const inScope = await requireScope(deps, scope.organizationId, { caller, action: rule.action, loaded, scopes });
  const context = { caller, action: rule.action, standing: inScope?.standing ?? loaded.standing };
  // For a list, check the query's owner with the list's scope.
  const check = checkerFor(deps, { ...context, scopes: rule.action === 'read' ? scopes : undefined });
  const checkPath = checkerFor(deps, { ...context, scopes });
  const path = rule.record && (await checkPath(rule.record, loaded.record));
  const named = new Map<RecordKind, unknown>();
  for (const { kind, item } of loaded.references) named.set(kind, (await check(kind, item)).record);
  const checkUsed = checkerFor(deps, { ...context, caller: reachingMethodOf(caller, path?.record) });
  for (const { kind, item } of loaded.used) {
    requireSession(caller, kind, item);
    named.set(kind, (await checkUsed(kind, item)).record);
  }
  return {
    ...request,
    record: path?.record,
    role: loaded.standing?.role,
    canWrite: path?.canWrite ?? false,
    asAdmin: path?.asAdmin ?? inScope?.asAdmin ?? false,
    right: path
      ? path.right
      : rightOf(deps.standings, { caller, action: rule.action, organizationId: scope.organizationId }),
    owner: scope.owner,
    alongside,
    // Sound, because each kind parsed its own record.
    named: <T>(kind: RecordKind<T>) => named.get(kind as RecordKind) as T | undefined,
  };
};

/**
 * Removes the record's existing ids from a body sent back by a client. The request does not change them, so the caller
 * needs no right to their possibly deleted records.
 */
const withoutKnownIds = async (deps: AccessDeps, { record }: AccessRule, sent: ApiRequest): Promise<ApiRequest> => {
  const id = record && (await recordId(deps, record, sent));
  const item = record && id !== undefined ? await deps.table.get(record.key(id)) : undefined;
  const fields = Object.entries(bodySchema.parse(sent.body));
  const isKnown = ([name, value]: [string, unknown]) => name.endsWith('_id') && item?.[attributeOf(name)] === value;
  return { ...sent, body: Object.fromEntries(fields.filter((field) => !isKnown(field))) };
};

const bodySchema = z.record(z.string(), z.unknown());

/** `payment_method_id` becomes the stored name `paymentMethodId`. */
const attributeOf = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** @throws DomainError ORGANIZATION_ACCESS_DENIED if a key acts for a deleted organization */
const requireOrganization = async ({ standings }: AccessDeps, caller: Caller, { standing }: Loaded): Promise<void> => {
  if (caller.kind !== 'organization') return;
  const { exists } = standing ?? (await standings.cached(caller, caller.organizationId));
  if (!exists) throw new DomainError('ORGANIZATION_ACCESS_DENIED');
};

interface ToContinue {
  readonly rule: AccessRule;
  readonly request: ApiRequest;
  readonly loaded: Loaded;
}

/** Sets the proven guest as the caller and reads the `alongside` items of that guest. */
const continued = async (
  deps: AccessDeps,
  { rule, request, loaded }: ToContinue,
): Promise<Pick<ApiRequest, 'alongside'> & { readonly request: ApiRequest }> => {
  const named = [...loaded.used, ...loaded.references];
  const continuedAt = (now: Instant, network: string | undefined) =>
    continueGuest(request.caller, named, { now, network, seconds: deps.guestContinueSeconds });
  const present = continuedAt(deps.now(), request.caller.kind === 'guest' ? request.caller.network : undefined);
  const first = present.isComplete ? undefined : await firstCreation(deps, rule, request);
  const { caller } = first ? continuedAt(first.createdAt, first.network) : present;
  if (caller === request.caller) return { request, alongside: loaded.alongside };
  const { owner } = scopeOf(rule, { ...request, caller });
  const keys = alongsideOf(rule, owner, request);
  return { request: { ...request, caller }, alongside: await readItems(deps, keys, true) };
};

/** A listed payment stores its creation time only as part of its `sort` attribute. */
const creationSchema = z.looseObject({
  createdAt: z.string().optional(),
  sort: z.string().default(''),
  requestHash: z.string().optional(),
  guestNetwork: z.string().optional(),
});

interface FirstCreation {
  readonly createdAt: Instant;
  readonly network: string | undefined;
}

/**
 * The time and network of the create request that first used the Idempotency-Key.
 * @returns undefined if this request is the first
 * @throws DomainError IDEMPOTENCY_KEY_REUSED if the first request was a different request
 */
const firstCreation = async (
  deps: AccessDeps,
  { createdUnder }: AccessRule,
  { idempotency }: ApiRequest,
): Promise<FirstCreation | undefined> => {
  if (!createdUnder || !idempotency) return undefined;
  const id = await idUnderKey(deps, createdUnder.kind, idempotency.scope);
  const item = await deps.table.get(createdUnder.key(id));
  if (!item) return undefined;
  const { createdAt, sort, requestHash, guestNetwork } = creationSchema.parse(item);
  const at = createdAt ?? sort.slice(0, sort.indexOf('#'));
  if (!isKeyInForce(at, deps.now())) return undefined;
  if (requestHash !== idempotency.requestHash) throw keyReusedError();
  return { createdAt: instant(at), network: guestNetwork };
};

const alongsideOf = (rule: AccessRule, owner: Owner | undefined, { body, query }: ApiRequest): readonly Key[] =>
  (owner && rule.alongside?.(owner, body ?? query)) ?? [];

interface Scope {
  readonly organizationId: string | undefined;
  readonly owner: Owner | undefined;
}

type Input = Pick<ApiRequest, 'caller' | 'body' | 'query'>;

const namedOrganization = ({ body, query }: Input): string | null | undefined => {
  const named = fieldAt(body ?? query, 'organization_id');
  return typeof named === 'string' || named === null ? named : undefined;
};

/** The session's organization, if the request uses it by default. */
export const impliedOrganization = (rule: AccessRule | undefined, input: Input): string | undefined =>
  rule?.organization === 'session by default' && namedOrganization(input) === undefined
    ? effectiveOrganization(input.caller, undefined, true)
    : undefined;

const scopeOf = (rule: AccessRule, request: ApiRequest): Scope => {
  const { caller } = request;
  if (!rule.organization) return { organizationId: undefined, owner: undefined };
  const named = namedOrganization(request);
  const organizationId = effectiveOrganization(caller, named, rule.organization === 'session by default');
  if (organizationId !== undefined && !mayNameOrganization(caller)) throw new DomainError('ORGANIZATION_ACCESS_DENIED');
  return { organizationId, owner: ownerFor(caller, organizationId) };
};

const mayNameOrganization = (caller: Caller): boolean => isMemberCaller(caller) || caller.kind === 'key';

/** Only members may use an organization's records. A guest gets an access error without further details. */
const requireSession = (caller: Caller, kind: RecordKind, item: Item | undefined): void => {
  const record = item && kind.parse(item);
  if (record === undefined || isMemberCaller(caller)) return;
  if (kind.ownedBy(record).organizationId !== undefined) throw new DomainError('ORGANIZATION_ACCESS_DENIED');
};

interface Loaded {
  readonly record: Item | undefined;
  readonly standing: Standing | undefined;
  readonly references: readonly NamedByGuest[];
  readonly used: readonly NamedByGuest[];
  readonly alongside: readonly (Item | undefined)[];
}

interface ToLoad extends Scope {
  readonly rule: AccessRule;
  readonly request: ApiRequest;
}

const load = async (deps: AccessDeps, { rule, request, organizationId, owner }: ToLoad): Promise<Loaded> => {
  const { caller } = request;
  const input = request.body ?? request.query;
  const references: readonly NamedRecord[] = rule.references?.(input) ?? [];
  const used = usedBy(rule, input);
  const alongside = alongsideOf(rule, owner, request);
  const consistent = rule.action !== 'read';
  const id = rule.record && (await recordId(deps, rule.record, request));
  const recordKeys = rule.record && id !== undefined ? [rule.record.key(id)] : [];
  const inOrganization = organizationId ?? (caller.kind === 'organization' ? caller.organizationId : undefined);
  const membership = rule.record?.rule === 'organization' ? id : consistent ? inOrganization : undefined;
  const standing: readonly Key[] =
    membership !== undefined && isMemberCaller(caller) ? standingKeysOf(caller, membership) : [];
  const named = references.map(({ kind, id: name }) => kind.key(name));
  const keys = [...recordKeys, ...standing, ...named, ...used.flatMap((one) => one.keys), ...alongside];
  const items = await readItems(deps, keys, consistent);
  const [afterRecord, afterStanding] = [recordKeys.length, recordKeys.length + standing.length];
  const afterNamed = afterStanding + named.length;
  const afterUsed = keys.length - alongside.length;
  return {
    record: rule.record && items[0],
    standing:
      standing.length > 0 && membership !== undefined && isMemberCaller(caller)
        ? standingIn(caller, membership, items.slice(afterRecord, afterStanding))
        : undefined,
    references: references.map(({ kind }, index) => ({ kind, item: items[afterStanding + index], isOurId: true })),
    used: await resolveUsed(deps, used, items.slice(afterNamed, afterUsed)),
    alongside: items.slice(afterUsed),
  };
};

/** A record used by the request. The keys to read are the record's own key, or the aliases of the provider's id. */
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

/**
 * Resolves providers' ids before the access decision. Only an id with an alias needs another read. A reference to a
 * removed record stays in the list without an item, so the access check refuses it.
 */
const resolveUsed = async (
  { table }: AccessDeps,
  used: readonly UsedReference[],
  items: readonly (Item | undefined)[],
): Promise<readonly NamedByGuest[]> => {
  const loaded: NamedByGuest[] = [];
  let at = 0;
  for (const { kind, aliases, keys } of used) {
    const found = items.slice(at, at + keys.length);
    at += keys.length;
    if (!aliases) {
      loaded.push({ kind, item: found[0], isOurId: true });
      continue;
    }
    const id = found.map((item) => item && aliases.idOf(item)).find((target) => target !== undefined);
    if (id === undefined) continue;
    const item = await table.get(kind.key(id));
    loaded.push({ kind, item: item && aliases.isNamed(item) ? item : undefined, isOurId: false });
  }
  return loaded;
};

const recordId = async (deps: AccessDeps, kind: RecordKind, { params, http }: ApiRequest): Promise<string> => {
  const id = http.opened?.id ?? textAt(params, 'id') ?? textAt(params, 'provider_payment_id');
  if (id === undefined) throw new Error('the path names no record');
  const resolved = kind.resolve ? await kind.resolve(deps.table, id) : id;
  if (resolved === undefined) throw notFound(kind.resource);
  return resolved;
};

const readItems = async (
  { table }: AccessDeps,
  keys: readonly Key[],
  consistent: boolean,
): Promise<readonly (Item | undefined)[]> => {
  const [only] = keys;
  if (!only) return [];
  // A single record is read consistently, so its creator sees the record immediately.
  return keys.length === 1 ? [await table.get(only)] : table.getMany(keys, { consistent });
};

interface ToScope {
  readonly caller: Caller;
  readonly action: Action;
  readonly loaded: Loaded;
  readonly scopes: RouteScopes | undefined;
}

interface InScope {
  readonly standing: Standing | undefined;
  readonly asAdmin: boolean;
}

/** @throws DomainError if the caller may not act in the request's organization */
const requireScope = async (
  deps: AccessDeps,
  organizationId: string | undefined,
  { caller, action, loaded, scopes }: ToScope,
): Promise<InScope | undefined> => {
  if (organizationId === undefined || action === 'merchant') return undefined;
  // The merchant may read the lists of every organization.
  if (caller.kind === 'key') return { standing: undefined, asAdmin: true };
  if (!isMemberCaller(caller)) return undefined;
  const standing = loaded.standing ?? (await deps.standings.cached(caller, organizationId));
  const decision = decideScope(action, { caller, standing, scopes });
  if (decision.kind === 'refused') throw decision.error;
  return { standing, asAdmin: decision.asAdmin ?? false };
};

interface CheckedRecord {
  readonly record: unknown;
  readonly canWrite: boolean;
  readonly asAdmin: boolean;
  readonly right: CallerRight;
}

interface CheckContext {
  readonly caller: Caller;
  readonly action: Action;
  readonly standing: Standing | undefined;
  readonly scopes?: RouteScopes | undefined;
}

const checkerFor =
  (deps: AccessDeps, { caller, action, standing, scopes }: CheckContext) =>
  async (kind: RecordKind, item: Item | undefined): Promise<CheckedRecord> => {
    const record = item && kind.parse(item);
    if (record === undefined) throw advised(caller, kind, notFound(kind.resource));
    const request = { caller, kind, record: kind.ownedBy(record), id: textAt(record, 'id'), standing, scopes };
    let decision = decideAccess(action, request);
    if (decision.kind === 'needs standing' && isMemberCaller(caller)) {
      const read = action === 'read' ? deps.standings.cached : deps.standings.consistent;
      decision = decideAccess(action, { ...request, standing: await read(caller, decision.organizationId) });
    }
    if (decision.kind === 'refused') throw advised(caller, kind, decision.error);
    if (decision.kind !== 'granted') throw new Error('the access rule did not decide');
    const { asAdmin = false } = decision;
    // A key with read access only gets no payer secrets, such as a client secret.
    const canWrite = decision.canWrite && keyPermits(caller, kind.readScope && writeScopeOf(kind.readScope));
    return { record, canWrite, asAdmin, right: rightTo(deps, { ...request, action, asAdmin }) };
  };

/** A token that opens only one payment also gives access to that payment's current method. */
const reachingMethodOf = (caller: Caller, payment: unknown): Caller => {
  const method = textAt(payment, 'paymentMethodId');
  const isLimited = caller.kind === 'guest' && caller.onlyRecord !== undefined;
  return isLimited && method !== undefined ? { ...caller, onlyRecord: method } : caller;
};

/**
 * Conditions apply only to records under the rule `owned`, because no other record is charged, changed or saved for an
 * organization.
 */
const rightTo = ({ standings }: AccessDeps, { caller, action, asAdmin, kind, record }: Granted): CallerRight =>
  asAdmin || kind.rule !== 'owned'
    ? NO_CONDITIONS
    : rightOf(standings, { caller, action, organizationId: record.organizationId });

interface Granted {
  readonly caller: Caller;
  readonly action: Action;
  readonly asAdmin: boolean;
  readonly kind: Pick<RecordKind, 'rule'>;
  readonly record: Owned;
}

/** Advises a guest without a token how to continue, without revealing whether the record exists. */
const advised = (caller: Caller, { resource, provesGuest }: RecordKind, error: DomainError): DomainError => {
  const needsToken = caller.kind === 'guest' && !caller.byToken && provesGuest !== undefined;
  return needsToken && error.code === 'RESOURCE_NOT_FOUND'
    ? notFound(resource, 'Send the guest_token of the guest who created it, or create it again')
    : error;
};
