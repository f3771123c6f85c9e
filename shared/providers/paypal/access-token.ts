/**
 * @module The access token of PayPal's API, kept until a minute before it expires. All waiting calls share one token
 * request. If PayPal refuses the token, the client requests a new one.
 */

import * as z from 'zod';
import type { Exchanged, HttpClient, HttpRequest } from '../vendor-http.ts';
import type { PayPalExchange } from './outcome.ts';

export interface PayPalClient {
  readonly id: string;
  readonly secret: string;
}

const MARGIN_MS = 60_000;
const tokenAnswer = z.looseObject({ access_token: z.string().check(z.minLength(1)), expires_in: z.number() });

interface Token {
  readonly text: string;
  readonly until: number;
}

export const withAccessToken = (http: HttpClient, client: PayPalClient): PayPalExchange => {
  let kept: Token | undefined;
  let buying: Promise<Exchanged<Token>> | undefined;

  const buy = async (): Promise<Exchanged<Token>> => {
    const answer = await http.exchange({
      method: 'POST',
      path: '/v1/oauth2/token',
      headers: {
        authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'grant_type=client_credentials',
      answer: tokenAnswer,
    });
    if (answer.kind !== 'done') return answer;
    const { access_token: text, expires_in: seconds } = answer.value;
    kept = { text, until: Date.now() + seconds * 1_000 - MARGIN_MS };
    return { kind: 'done', value: kept };
  };

  /** The current token, unless PayPal has just refused it. Otherwise a new token, shared by all waiting calls. */
  const token = (refused?: string): Promise<Exchanged<Token>> => {
    if (kept && kept.until > Date.now() && kept.text !== refused) {
      return Promise.resolve({ kind: 'done', value: kept });
    }
    buying ??= buy().finally(() => {
      buying = undefined;
    });
    return buying;
  };

  const send = <T>(request: HttpRequest<T>, { text }: Token): Promise<Exchanged<T>> =>
    http.exchange({ ...request, headers: { authorization: `Bearer ${text}`, ...request.headers } });

  return async (request) => {
    const first = await token();
    if (first.kind !== 'done') return unasked(first);
    const answer = await send(request, first.value);
    if (answer.kind !== 'answered no' || answer.status !== 401) return answer;
    const second = await token(first.value.text);
    return second.kind === 'done' ? send(request, second.value) : unasked(second);
  };
};

/**
 * The outcome of a call without a valid token. PayPal has done nothing, because the request was not sent or was refused
 * unread.
 */
const unasked = <T>(token: Exclude<Exchanged<T>, { kind: 'done' }>): Exclude<Exchanged<T>, { kind: 'done' }> =>
  token.kind === 'unknown' ? { kind: 'not_done', reason: 'unreachable' } : token;
