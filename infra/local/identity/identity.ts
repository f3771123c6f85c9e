import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import * as z from 'zod';
import { bodyOf, json, type LocalRequest, type LocalResponse, problem } from '../machine/answer.ts';
import type { Clock } from '../machine/clock.ts';
import type { State } from '../machine/sqlite.ts';
import { openIdRoutes } from './open-id.ts';
import { type LocalUser, openUsers, type SessionRow } from './users.ts';

/** The local identity service. It finds users by session, token and e-mail address. */
export interface LocalIdentity {
  /** Serves the identity protocol. Returns undefined to send no response, like an unreachable service. */
  answer(ask: LocalRequest): Promise<LocalResponse | undefined>;
  createSession(input: NewSession): Promise<{ session_id: string; user_id: string; token: string }>;
  behave(behaviour: { readonly available: boolean; readonly delayMs: number }): void;
  /** Creates the demo sessions if they are missing. */
  seed(): void;
  /** The OpenID Connect issuer for the demo users. */
  readonly issuer: string;
}

export interface NewSession {
  readonly user_id?: string | undefined;
  readonly email: string;
  readonly name?: string | undefined;
  readonly last_name?: string | undefined;
  readonly picture?: string | undefined;
  readonly organization_id?: string | undefined;
  readonly is_admin?: boolean | undefined;
  readonly staff_role?: string | undefined;
  /** Seconds. */
  readonly expires_in?: number | undefined;
}

export interface LocalIdentityOptions {
  readonly state: State;
  readonly clock: Pick<Clock, 'now'>;
  /** The issuer of the tokens. */
  readonly issuer: string;
  /** The tokens' audience. If empty, tokens have no audience. */
  readonly audience: string;
}

const DAY_SECONDS = 86_400;
const DEMO_SECONDS = 3_650 * DAY_SECONDS;

export const DEMO_SESSIONS = [
  {
    session_id: 'demo-owner',
    user_id: 'user_demo_owner',
    email: 'demo.owner@example.com',
    name: 'Olivia',
    is_admin: false,
  },
  {
    session_id: 'demo-member',
    user_id: 'user_demo_member',
    email: 'demo.member@example.com',
    name: 'Miles',
    is_admin: false,
  },
  {
    session_id: 'demo-admin',
    user_id: 'user_demo_admin',
    email: 'demo.admin@example.com',
    name: 'Ada',
    is_admin: true,
  },
  {
    session_id: 'demo-support',
    user_id: 'user_demo_support',
    email: 'demo.support@example.com',
    name: 'Sam',
    is_admin: false,
    staff_role: 'support',
  },
  {
    session_id: 'demo-finance',
    user_id: 'user_demo_finance',
    email: 'demo.finance@example.com',
    name: 'Fay',
    is_admin: false,
    staff_role: 'finance',
  },
] as const;

export const createIdentity = ({ state, clock, issuer, audience }: LocalIdentityOptions): LocalIdentity => {
  const users = openUsers(state);
  let behaviour = { available: true, delayMs: 0 };
  let key: Promise<SigningKey> | undefined;
  const signingKey = (): Promise<SigningKey> => {
    key ??= loadKey(state);
    return key;
  };

  const create = (input: NewSession & { readonly session_id: string }): SessionRow => {
    const person = users.save({
      ...input,
      id: input.user_id ?? users.byEmail(input.email)?.id ?? `user_${randomUUID()}`,
    });
    return users.open({
      id: input.session_id,
      user_id: person.id,
      email: person.email,
      organization_id: input.organization_id ?? null,
      is_admin: input.is_admin ? 1 : 0,
      staff_role: input.staff_role ?? null,
      expires_at: clock.now() + (input.expires_in ?? DAY_SECONDS) * 1_000,
    });
  };
  const tokenOf = async (session: SessionRow): Promise<string> => {
    const { kid, privateKey } = await signingKey();
    return new SignJWT({
      email: session.email,
      ...(audience !== '' && { aud: audience }),
      is_admin: session.is_admin === 1,
      ...(session.staff_role !== null && { staff_role: session.staff_role }),
      ...(session.organization_id !== null && { organization_id: session.organization_id }),
    })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' })
      .setSubject(session.user_id)
      .setIssuer(issuer)
      .setIssuedAt(Math.floor(clock.now() / 1_000))
      .setExpirationTime(Math.floor(session.expires_at / 1_000))
      .sign(privateKey);
  };
  const openId = openIdRoutes({
    issuer,
    now: clock.now,
    people: DEMO_SESSIONS,
    accessToken: (person, lifeMs) => {
      const session = users.session(person.session_id);
      if (!session) throw new Error(`no session ${person.session_id}`);
      return tokenOf({ ...session, expires_at: clock.now() + lifeMs });
    },
    idToken: async (claims) => signedWith(await signingKey(), claims),
  });
  const route = async (ask: LocalRequest): Promise<LocalResponse> => {
    const signedIn = await openId(ask);
    if (signedIn) return signedIn;
    const session = /^\/sessions\/([^/]+)$/.exec(ask.path)?.[1];
    if (ask.method === 'GET' && session !== undefined) return sessionAnswer(users.session(decodeURIComponent(session)));
    if (ask.method === 'GET' && ask.path === '/users') return personAnswer(users.byEmail(ask.query.get('email') ?? ''));
    if (ask.method === 'POST' && ask.path === '/users/lookup') {
      const { ids } = bodyOf(ask, z.object({ ids: z.array(z.string()).max(1_000) }));
      return json(
        200,
        ids.map(users.byId).filter((person) => person !== undefined),
      );
    }
    if (ask.method === 'GET' && ask.path === '/.well-known/jwks.json') {
      return json(200, { keys: [(await signingKey()).publicJwk] });
    }
    return problem(404, 'the identity service has no such route');
  };

  return {
    answer: async (ask) => {
      if (behaviour.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, behaviour.delayMs));
      return behaviour.available ? route(ask) : undefined;
    },
    createSession: async (input) => {
      const session = create({ ...input, session_id: `sess_${randomUUID()}` });
      return { session_id: session.id, user_id: session.user_id, token: await tokenOf(session) };
    },
    issuer,
    behave: (to) => {
      behaviour = to;
    },
    seed: () => {
      for (const demo of DEMO_SESSIONS) {
        if (!users.session(demo.session_id)) create({ ...demo, expires_in: DEMO_SECONDS });
      }
    },
  };
};

const sessionAnswer = (session: SessionRow | undefined): LocalResponse =>
  session
    ? json(200, {
        user_id: session.user_id,
        email: session.email,
        ...(session.organization_id !== null && { organization_id: session.organization_id }),
        is_admin: session.is_admin === 1,
        ...(session.staff_role !== null && { staff_role: session.staff_role }),
        // The time may be past, because the service distinguishes expired sessions from unknown sessions.
        expires_at: new Date(session.expires_at).toISOString(),
      })
    : problem(404, 'no such session');

const personAnswer = (person: LocalUser | undefined): LocalResponse =>
  person ? json(200, person) : problem(404, 'no such user');

interface SigningKey {
  readonly kid: string;
  readonly privateKey: Awaited<ReturnType<typeof importJWK>>;
  readonly publicJwk: JWK;
}

const signedWith = ({ kid, privateKey }: SigningKey, claims: Readonly<Record<string, unknown>>): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT' }).sign(privateKey);

const keySchema = z.object({ kid: z.string(), kty: z.string(), crv: z.string(), x: z.string(), d: z.string() });

/** The signing key, created on first use and stored, so tokens stay valid after a restart. */
const loadKey = async (state: State): Promise<SigningKey> => {
  const found = state.get('identity key', keySchema);
  const jwk = found ?? keySchema.parse({ ...(await newKey()), kid: randomUUID() });
  if (!found) state.set('identity key', jwk);
  const { kid, kty, crv, x } = jwk;
  return {
    kid,
    privateKey: await importJWK(jwk, 'EdDSA'),
    publicJwk: { kid, kty, crv, x, alg: 'EdDSA', use: 'sig' },
  };
};

const newKey = async (): Promise<JWK> => {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  return exportJWK(privateKey);
};
