// An identity service in Node 24, without packages: `node identity.mjs`. Replace the two maps with your own database.
import { createServer } from 'node:http';
import { env, stdout } from 'node:process';

const DAY_MS = 86_400_000;
const users = new Map([
  ['u-1', { id: 'u-1', email: 'ada@example.com', name: 'Ada', last_name: null, picture: null }],
  ['u-2', { id: 'u-2', email: 'ben@example.com', name: 'Ben', last_name: null, picture: null }],
  ['u-3', { id: 'u-3', email: 'cleo@example.com', name: 'Cleo', last_name: null, picture: null }],
]);
const sessions = new Map([
  ['s-ada', { user_id: 'u-1', is_admin: true, lives: DAY_MS }],
  ['s-ben', { user_id: 'u-2', lives: DAY_MS }],
  ['s-cleo', { user_id: 'u-3', staff_role: 'support', lives: DAY_MS }],
  ['s-old', { user_id: 'u-2', lives: -DAY_MS }],
]);

const sessionOf = (id) => {
  const { lives, ...session } = sessions.get(id) ?? {};
  if (lives === undefined) return undefined;
  return {
    ...session,
    email: users.get(session.user_id).email,
    expires_at: new Date(Date.now() + lives).toISOString(),
  };
};
const byEmail = (email) => users.values().find((user) => user.email === email.toLowerCase());

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://127.0.0.1');
  const [, first, second] = url.pathname.split('/').map(decodeURIComponent);
  const text = (await request.toArray()).join('');
  const found =
    request.method === 'POST' && url.pathname === '/users/lookup'
      ? JSON.parse(text).ids.flatMap((id) => users.get(id) ?? [])
      : first === 'sessions'
        ? sessionOf(second)
        : byEmail(url.searchParams.get('email') ?? '');
  response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}));
});
server.listen(Number(env.PORT ?? 4002), '127.0.0.1', () => {
  stdout.write(`The identity service listens on http://127.0.0.1:${server.address().port}\n`);
});
