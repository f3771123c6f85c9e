/** @module Invariants about data that must appear nowhere. */
import { LOCAL_SECRETS } from '../../../infra/local/machine/environment.ts';
import type { History, HistoryExchange, HistoryItem, HistoryJson, Oracle, PlantedSecret } from '../model/history.ts';
import { isOfMerchant } from '../model/merchants.ts';
import { modelOf } from '../model/owners.ts';

const SERVICE_SECRETS: readonly PlantedSecret[] = Object.entries(LOCAL_SECRETS)
  // These two texts are part of every provider request, and are not secrets of the service.
  .filter(([name]) => !/CLIENT_ID|WEBHOOK_ID|PUBLIC_KEY/.test(name))
  .map(([name, value]) => ({ what: name, value }));

/** The form of every text from the world's `plant`. One search finds all planted texts. */
const PLANTED = /canary\d+x/g;

interface SoughtSecret extends PlantedSecret {
  /** The planted texts in the value. */
  readonly parts: readonly string[];
}

const soughtOf = (secrets: readonly PlantedSecret[]): readonly SoughtSecret[] =>
  secrets.map((secret) => ({ ...secret, parts: secret.value.match(PLANTED) ?? [] }));

const leaksOf = (secrets: readonly SoughtSecret[], place: string, text: string): readonly string[] => {
  const planted = new Set(text.match(PLANTED));
  return secrets
    .filter(({ value, parts }) => parts.every((part) => planted.has(part)) && text.includes(value))
    .map(({ what }) => `${what} is in ${place}`);
};

const textOf = (items: readonly HistoryItem[]): string => JSON.stringify(items);

export const noSecrets: Oracle = {
  sentence: 'No secret, token or key appears in a log, an event, a stored item or a webhook',
  atRestOnly: false,
  violations: (history) => {
    const canaries = soughtOf([...history.canaries, ...SERVICE_SECRETS]);
    return [
      ...leaksOf(canaries, 'the log', history.logs.join('\n')),
      ...leaksOf(canaries, 'an event', JSON.stringify(history.bus)),
      ...leaksOf(canaries, 'a stored item', textOf(history.items)),
      ...leaksOf(canaries, 'a webhook', history.deliveries.map(({ raw }) => raw).join('\n')),
    ];
  },
};

export const noSecretsInAnswers: Oracle = {
  sentence: 'No response holds a secret of the service, or a session or an idempotency key',
  atRestOnly: false,
  violations: (history) => {
    const given = history.canaries.filter(({ what }) => what !== 'a guest token');
    const secrets = soughtOf([...given, ...SERVICE_SECRETS]);
    return history.exchanges.flatMap(({ number, method, path, body }) =>
      // This response shows the secret once.
      body === undefined || (method === 'POST' && path === '/admin/keys')
        ? []
        : leaksOf(secrets, `answer ${number}`, JSON.stringify(body)),
    );
  },
};

const hasClientSecret = (value: HistoryJson): boolean => {
  if (typeof value === 'string') return value.startsWith('id,') && /_secret_/.test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (/_secret_/.test(value.client_secret)) return true;
  return Object.values(value).some(hasClientSecret);
};

/** True if a person of the merchant neither paid nor ever belonged to the paying organization. */
const isOfMerchantOnly = (history: History, { person: name, body, answeredAt }: HistoryExchange): boolean => {
  const { person, ownerOf, standing } = modelOf(history);
  const asked = person(name);
  if (!asked || !isOfMerchant(asked)) return false;
  const record = body?.details?.payment ?? body?.data ?? body;
  const { userId, organizationId } = ownerOf(record?.id ?? '') ?? {};
  if (organizationId === undefined) return userId !== asked.userId;
  const user = { userId: asked.userId, organizationId };
  return standing.rolesBetween(user, history.startedAt, answeredAt).size === 0;
};

const isList = ({ method, body }: HistoryExchange): boolean =>
  method === 'GET' && (typeof body === 'string' || Array.isArray(body) || Array.isArray(body?.data));

export const clientSecretsStay: Oracle = {
  sentence: 'A client secret is in no list, no event and no response to a person of the merchant who does not pay',
  atRestOnly: false,
  violations: (history) => {
    const { exchanges, bus, deliveries } = history;
    const answers = exchanges.flatMap((exchange) => {
      const isForbidden = isList(exchange) || isOfMerchantOnly(history, exchange);
      return isForbidden && hasClientSecret(exchange.body)
        ? [`answer ${exchange.number} to ${exchange.person}, ${exchange.method} ${exchange.path}`]
        : [];
    });
    const isPublished = bus.some(({ source, detail }) => source === 'payments' && hasClientSecret(detail));
    const sent = deliveries.some(
      ({ headers, body }) => !headers['webhook-event']?.includes(':') && hasClientSecret(body),
    );
    return [...answers, ...(isPublished ? ['an event'] : []), ...(sent ? ['a webhook'] : [])];
  },
};
