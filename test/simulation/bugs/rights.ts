import type { Bug } from './bug.ts';

/** Mistakes in the rights to see and to charge. */
export const RIGHTS_BUGS: readonly Bug[] = [
  {
    name: 'revoked-key-acts',
    what: 'A revoked service key is accepted',
    file: 'shared/admin/service-keys.ts',
    text: '{ ...key, revokedAt: iso(deps.now()), secrets: [] }',
    replacement: '{ ...key }',
  },
  {
    name: 'key-without-scope',
    what: 'A service key acts for a payer without the scope',
    file: 'shared/http/acting.ts',
    text: '  if (scope === undefined || !scopes.includes(scope)) throw scopeMissing(scope);',
    replacement: '  if (scope === undefined) throw scopeMissing(scopes[0]);',
  },
  {
    name: 'everybody-owns',
    what: 'Every signed-in user counts as the owner of a personal record',
    file: 'shared/access/access.ts',
    text: `const isOwn = record.userId !== undefined && record.userId === userOf(caller);
  if (record.organizationId`,
    replacement: `const isOwn = record.userId !== undefined;
  if (record.organizationId`,
  },
  {
    name: 'member-may-charge',
    what: 'A member without a financial role may charge for the organization',
    file: 'shared/access/permissions.ts',
    text: '  member: new Set(),',
    replacement: '  member: new Set(MONEY),',
  },
  {
    name: 'removed-member-may-charge',
    what: 'The maker of an organization’s payment may confirm it after removal',
    file: 'shared/access/access.ts',
    text: "if (action === 'read' && isOwn) return granted(permits(standing, 'canManagePayments'));",
    replacement: 'if (isOwn) return granted(true);',
  },
  {
    name: 'stale-cache-for-a-write',
    what: 'A write is authorized by the cached membership',
    file: 'shared/http/check-access.ts',
    text: "const read = action === 'read' ? deps.standings.cached : deps.standings.consistent;",
    replacement: 'const read = deps.standings.cached;',
  },
  {
    name: 'cache-never-expires',
    what: 'A cached membership never expires',
    file: 'shared/access/standing.ts',
    text: 'if (known && known.until > deps.now()) return known.standing;',
    replacement: 'if (known) return known.standing;',
  },
  {
    name: 'guest-by-e-mail',
    what: 'A guest token opens every record of the same e-mail address',
    file: 'shared/access/access.ts',
    text: 'const isOfToken = caller.byToken && record.guestId === caller.guestId;',
    replacement: 'const isOfToken = caller.byToken;',
  },
  {
    name: 'guest-list-shows-all',
    what: 'The list that needs no credential shows the whole payment',
    file: 'shared/payments/payment-view.ts',
    text: `export const guestPaymentView = (payment: VisiblePayment) => ({
  id: payment.id,`,
    replacement: `export const guestPaymentView = (payment: VisiblePayment) => ({
  ...paymentView(payment, 'payer'),`,
  },
  {
    name: 'client-secret-in-lists',
    what: 'Lists show the client secret',
    file: 'shared/payments/payment-view.ts',
    text: '  provider_intent_id: payment.providerIntentId ?? null,',
    replacement: '  provider_intent_id: payment.providerIntentId ?? null, client_secret: payment.clientSecret,',
  },
  {
    name: 'answer-of-another-caller',
    what: 'An idempotency key returns the first caller’s record to every caller',
    file: 'shared/http/idempotency.ts',
    text: 'fingerprint(principal, route,',
    replacement: 'fingerprint(route,',
  },
  {
    name: 'key-ignored',
    what: 'A retry under the same idempotency key creates a second record',
    file: 'shared/http/create-once.ts',
    text: 'let id = await idUnderKey(deps, kind, idempotency.scope);',
    replacement: 'let id = deps.newId(kind);',
  },
  {
    name: 'member-may-delete',
    what: 'Every member of an organization may change and delete it, and its members',
    file: 'functions/organizations/endpoints.ts',
    text: "const byItsOwner = { action: 'owner only',",
    replacement: "const byItsOwner = { action: 'member',",
  },
  {
    name: 'everybody-changes',
    what: 'The owner of a personal record is compared for reads only',
    file: 'shared/access/access.ts',
    text: 'return isOwn ? granted(true) : refused(notFound(kind.resource));',
    replacement: "return isOwn || action !== 'read' ? granted(true) : refused(notFound(kind.resource));",
  },
  {
    name: 'everybody-erases',
    what: 'Every user may have a person erased',
    file: 'functions/admin/erasure-endpoints.ts',
    text: `stay. The job waits for a charge that is under way. A repeat while the job runs returns that job.\`,
  auth: 'platform-admin',`,
    replacement: `stay.\`,
  auth: 'session',`,
  },
  {
    name: 'payer-may-refund',
    what: 'Any caller who may pay a payment may refund it',
    // Both the route and the rule of own payments refuse a payer, so the mistake opens both.
    file: 'functions/refunds/create.ts',
    text: 'lambda(createRefundEndpoint, moneyDeps, createRefund)',
    replacement: `lambda(
  {
    ...createRefundEndpoint,
    auth: 'session',
    access: { action: 'canManagePayments', record: createRefundEndpoint.access.record },
  },
  moneyDeps,
  (deps, request) =>
    createRefund(deps, { ...request, caller: { ...request.caller, userId: 'user_other', isAdmin: true } }),
)`,
  },
  {
    name: 'named-records-unchecked',
    what: 'A customer or project that a body only names may belong to another',
    file: 'shared/http/check-access.ts',
    text: 'for (const { kind, item } of loaded.references) named.set(kind, (await check(kind, item)).record);',
    replacement: `for (const { kind, item } of loaded.references)
    named.set(kind, rule.action === 'read' ? (await check(kind, item)).record : item && kind.parse(item));`,
  },
  {
    name: 'summary-for-all',
    what: 'Every user may read the sums of all payments',
    file: 'functions/admin/endpoints.ts',
    text: `or CSV.\`,
  auth: 'platform-admin',`,
    replacement: `or CSV.\`,
  auth: 'session',`,
  },
  {
    name: 'log-of-others',
    what: 'A log entry opens for everyone who knows its id',
    file: 'shared/webhooks/log-access.ts',
    text: "if (organizationId === undefined) return caller.kind === 'session' && userId === caller.userId;",
    replacement: 'if (organizationId === undefined) return true;',
  },
  {
    name: 'permission-by-session',
    what: 'A session that names an organization has all rights in it',
    file: 'shared/http/check-access.ts',
    text: 'const standing = loaded.standing ?? (await deps.standings.cached(caller, organizationId));',
    replacement: `const known = loaded.standing ?? (await deps.standings.cached(caller, organizationId));
  const standing = caller.organizationId === organizationId ? { ...known, exists: true, role: 'owner' as const } : known;`,
  },
  {
    name: 'session-organization-ignored',
    what: 'A request that names no organization is personal, whatever its session names',
    file: 'shared/access/access.ts',
    text: "return implied && caller.kind === 'session' ? caller.organizationId : undefined;",
    replacement: 'return undefined;',
  },
  {
    name: 'key-of-another-organization',
    what: 'A key returns its response again although the session names another organization',
    file: 'shared/http/read-request.ts',
    text: '...(organizationId === undefined ? [] : [organizationId]),',
    replacement: '',
  },
  {
    name: 'members-send-events',
    what: 'Every member of an organization may send its events again',
    file: 'shared/webhooks/log-access.ts',
    text: "if (standing.role === 'owner' || standing.role === 'admin') return undefined;",
    replacement: 'return undefined;',
  },
  {
    name: 'memberships-of-others',
    what: 'The memberships of a user open for every user',
    file: 'shared/memberships/read-memberships.ts',
    text: "if (type === 'user' && !mayReadUser(caller, id, 'subscriptions:read')) throw notFound('user');",
    replacement: '',
  },
  {
    name: 'project-unchecked',
    what: 'The list of a project does not ask whose project it is',
    file: 'shared/catalog/catalog-kinds.ts',
    text: 'return parsed.success ? [{ kind: projectRecord, id: parsed.data.project_id }] : [];',
    replacement: 'return [];',
  },
  {
    name: 'project-shown-whole',
    what: 'Buyers see all of a project',
    file: 'shared/catalog/catalog-view.ts',
    text: 'buyersView: buyersProjectView,',
    replacement: 'buyersView: projectView,',
  },
  {
    name: 'guest-goes-on-for-ever',
    what: 'A guest may continue with an id of any age and no guest token',
    file: 'shared/access/continue-guest.ts',
    text: 'seconds > 0 && createdAt + seconds * SECOND_MS >= now',
    replacement: 'seconds > 0 && createdAt <= now',
  },
];
